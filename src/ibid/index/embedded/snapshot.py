"""One version of an embedded library, held still while it is searched.

What is live is the version's; who may see it is today's. Both become one flag for each row, made
once for a scope and handed into the keyword and the vector search alike. What a search needs is
loaded by the first one.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ibid.errors import UnknownDocument
from ibid.index.columns import read_stored
from ibid.index.embedded import reads
from ibid.index.embedded.files import SearchFiles
from ibid.index.embedded.reads import LIVE
from ibid.index.embedded.schema import reading_one_state
from ibid.index.options import Approximation
from ibid.protocols import Mention, Revision, Scope, Scored, StoredDocument
from ibid.records import OWNER, DocumentInfo, Passage, Principals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ibid.index.embedded.rows import AllowedRows, LiveRows, Restricted
    from ibid.protocols import Vectors

SCOPES_KEPT: Final = 32
"""Scopes whose rows a snapshot keeps, the last used ones; each costs a byte a row."""


class EmbeddedSnapshot:
    """A `Snapshot` of the embedded engine; cheap to keep, safe to use from several threads."""

    def __init__(
        self,
        version: int,
        *,
        connect: Callable[[], sqlite3.Connection],
        open_files: Callable[[], SearchFiles],
        approximation: Approximation,
    ) -> None:
        """Hold a version; `connect` gives each thread its connection."""
        self._version = version
        self._connect = connect
        self._open_files = open_files
        self._approximation = approximation
        self._pinned: tuple[LiveRows, SearchFiles | None] | None = None
        self._access: tuple[int, Sequence[Restricted]] = (-1, ())
        self._scopes: OrderedDict[tuple[int, Scope], AllowedRows] = OrderedDict()

    @property
    def version(self) -> int:
        """The library version that this is."""
        return self._version

    @property
    def first_row(self) -> int:
        """The row with which the generation begins that this one reads."""
        return self._live.first_row

    # -- searching ------------------------------------------------------------------------------

    def search_lexical(self, terms: str, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_lexical`."""
        files = self._pin_files()
        allowed = self._allow(scope)
        return files.postings.search(files.searcher, terms.split(), k, allowed)

    def search_documents(self, terms: str, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_documents`."""
        files = self._pin_files()
        allowed = self._allow(scope)
        return files.postings.search_documents(files.searcher, terms.split(), k, allowed)

    def search_dense(self, vector: Vectors, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_dense`."""
        from ibid.index.embedded.vectors import search_segments  # noqa: PLC0415 - loads numpy

        files = self._pin_files()
        allowed = self._allow(scope).rows
        return search_segments(files.segments, vector, k, allowed, self._approximation)

    def measure_rarity(self, terms: Sequence[str]) -> dict[str, float]:
        """See `Snapshot.measure_rarity`."""
        files = self._pin_files()
        return files.postings.measure_rarity(files.searcher, terms)

    def find_mentions(self, entities: Sequence[int], most: int, scope: Scope) -> list[Mention]:
        """See `Snapshot.find_mentions`."""
        from ibid.index.embedded.graph import find_mentions  # noqa: PLC0415 - not in every search

        return find_mentions(self._connect(), entities, most, self._allow(scope).rows)

    @property
    def _live(self) -> LiveRows:
        """The live rows, read once."""
        live, _ = self._pin()
        return live

    def _pin(self) -> tuple[LiveRows, SearchFiles | None]:
        if self._pinned is None:
            from ibid.index.embedded.rows import LiveRows  # noqa: PLC0415 - loads numpy

            self._pinned = LiveRows(self._connect(), self._version), None
        return self._pinned

    def _pin_files(self) -> SearchFiles:
        """The files to search, of the same generation as the rows: a re-index may come between."""
        from ibid.index.embedded.rows import LiveRows  # noqa: PLC0415 - loads numpy

        live, files = self._pin()
        while files is None:
            opened = self._open_files()
            if opened.first_row == live.first_row:
                files = opened
            else:
                live = LiveRows(self._connect(), self._version)
                self._scopes.clear()
            self._pinned = live, files
        return files

    # -- reading --------------------------------------------------------------------------------

    def first_rows(self, rows: Sequence[int]) -> list[int]:
        """See `Snapshot.first_rows`."""
        return self._live.find_first_rows(rows)

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """See `Snapshot.vectors`."""
        from ibid.index.embedded.vectors import read_rows  # noqa: PLC0415 - loads numpy

        return read_rows(self._pin_files().segments, rows)

    def passages(self, rows: Sequence[int]) -> dict[int, tuple[Passage, DocumentInfo]]:
        """See `Snapshot.passages`."""
        if not rows:
            return {}
        located = self._live.locate(rows)
        connection = self._connect()
        with reading_one_state(connection):  # a purge between takes a document whole
            infos = reads.read_infos(connection, sorted(set(located.values())))
            found = {row: infos[revision] for row, revision in located.items() if revision in infos}
            names = {row: info.id for row, info in found.items()}
            passages = reads.read_passages(connection, list(found), names)
        return {row: (passages[row], info) for row, info in found.items() if row in passages}

    def documents(self, scope: Scope) -> list[DocumentInfo]:
        """See `Snapshot.documents`."""
        revisions = self._live.list_revisions(self._allow(scope).revisions)
        infos = reads.read_infos(self._connect(), revisions)
        return [infos[revision] for revision in revisions if revision in infos]

    def document(self, id: str, scope: Scope) -> StoredDocument:
        """See `Snapshot.document`."""
        revision, _ = self._find(id, scope)
        row = (
            self._connect()
            .execute(
                "SELECT t.text, t.blocks, c.hash, c.language, d.source, d.overrides,"
                f" {reads.INFO_COLUMNS}"
                " FROM revisions r JOIN documents d ON d.id = r.document"
                " JOIN contents c ON c.id = r.content JOIN texts t ON t.content = c.id"
                " WHERE r.id = ?",
                (revision,),
            )
            .fetchone()
        )
        if row is None:
            raise _unknown(id)
        return read_stored(row)

    def document_passages(self, id: str, scope: Scope) -> list[Passage]:
        """See `Snapshot.document_passages`."""
        _, content = self._find(id, scope)
        return [p for p, _ in reads.read_content_passages(self._connect(), content, id)]

    def content_hashes(self, source: str) -> dict[str, str]:
        """See `Snapshot.content_hashes`."""
        return dict(
            self._connect().execute(
                "SELECT r.name, c.hash FROM documents d JOIN revisions r ON r.document = d.id"
                f" JOIN contents c ON c.id = r.content WHERE d.source = ? AND {LIVE}",
                (source, self._version, self._version),
            )
        )

    def revisions(self, scope: Scope) -> list[Revision]:
        """See `Snapshot.revisions`."""
        from ibid.index.embedded.past import read_revisions  # noqa: PLC0415 - seldom needed

        ids = self._live.list_revisions(self._allow(scope).revisions)
        return read_revisions(self._connect(), ids)

    def _find(self, id: str, scope: Scope) -> tuple[int, int]:
        """The live revision of a document and its content, where the scope lets it through."""
        found = (
            self._connect()
            .execute(
                f"SELECT r.id, r.content FROM revisions r WHERE r.name = ? AND {LIVE}",
                (id, self._version, self._version),
            )
            .fetchone()
        )
        place = self._live.find_place(found[0]) if found is not None else None
        if place is None or not self._allow(scope).revisions[place]:
            raise _unknown(id)
        return int(found[0]), int(found[1])

    # -- scope ----------------------------------------------------------------------------------

    def _allow(self, scope: Scope) -> AllowedRows:
        """The rows that a scope lets through, with the access rules of this moment."""
        last = reads.read_version(self._connect())
        if (known := self._scopes.get((last, scope))) is not None:
            with suppress(KeyError):  # another thread may have dropped it since
                self._scopes.move_to_end((last, scope))
            return known
        hidden = self._find_hidden(scope.principals, last)
        if scope.excluded:
            from ibid.index.embedded.phrases import find_titled  # noqa: PLC0415 - seldom asked for

            hidden = [*hidden, find_titled(self._connect(), self._version, scope.excluded)]
        found = self._live.allow(
            archived=scope.include_archived,
            hidden=hidden,
            chosen=None if scope.filter is None else self._filter(scope.filter),
        )
        if scope.phrases or scope.excluded:
            found = self._narrow(found, scope)
        self._scopes[last, scope] = found
        while len(self._scopes) > SCOPES_KEPT:
            self._scopes.popitem(last=False)
        return found

    def _narrow(self, found: AllowedRows, scope: Scope) -> AllowedRows:
        """Of those rows the ones that hold each phrase of a scope, and nothing excluded."""
        from ibid.index.embedded.phrases import flag_holding  # noqa: PLC0415 - seldom asked for

        files, rows = self._pin_files(), found.rows.copy()
        for phrase in scope.phrases:
            rows &= flag_holding(phrase, rows, files, self._connect(), exactly=True)
        for phrase in scope.excluded:
            rows &= ~flag_holding(phrase, rows, files, self._connect(), exactly=False)
        return replace(found, rows=rows)

    def _filter(self, expression: str) -> NDArray[np.int64]:
        """The live revisions that a filter expression lets through."""
        from ibid.index.embedded.filter_sql import compile_filter  # noqa: PLC0415 - seldom needed
        from ibid.index.embedded.rows import read_filtered  # noqa: PLC0415 - loads numpy
        from ibid.index.filters import parse_filter  # noqa: PLC0415 - seldom needed

        condition, values = compile_filter(parse_filter(expression))
        return read_filtered(self._connect(), self._version, condition, values)

    def _find_hidden(self, principals: Principals, last: int) -> list[NDArray[np.int64]]:
        """The revisions that a caller may not see, by what the library's last version says."""
        if principals is OWNER:
            return []
        from ibid.index.embedded.rows import read_restricted  # noqa: PLC0415 - loads numpy

        access = self._access
        if access[0] != last:
            access = self._access = (last, read_restricted(self._connect(), self._version))
        return [revisions for allow, revisions in access[1] if not allow & principals]


def _unknown(id: str) -> UnknownDocument:
    return UnknownDocument(f"no document {id!r}", hint="`ibid list` shows the ids")
