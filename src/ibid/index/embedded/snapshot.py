"""One version of an embedded library, held still while it is searched.

What is live is the version's; who may see it is today's. Both become one flag for each row, made
once for a scope and handed into the keyword and the vector search alike.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import faiss
import numpy as np
import tantivy
from numpy.typing import NDArray

from ibid.errors import UnknownDocument
from ibid.index.embedded import reads
from ibid.index.embedded.codec import load_json, read_allow
from ibid.index.embedded.filter_sql import compile_filter
from ibid.index.embedded.lexical import Postings
from ibid.index.embedded.vectors import Segment, search_segments
from ibid.index.filters import parse_filter
from ibid.protocols import Scope, Scored, StoredDocument
from ibid.records import OWNER, DocumentInfo, Passage

if TYPE_CHECKING:
    from ibid.protocols import Vectors

SCOPES_KEPT: Final = 32
"""Scopes whose rows a snapshot keeps, the last used ones; each costs a byte a row."""

LIVE: Final = "r.version <= ? AND (r.removed_in IS NULL OR r.removed_in > ?)"
"""The condition that a revision is live at a version, which is given twice."""


@dataclass(frozen=True, slots=True)
class LiveRevisions:
    """The revisions of a version in the order of their rows, column by column."""

    ids: NDArray[np.int64]
    contents: NDArray[np.int64]
    first_rows: NDArray[np.int64]
    rows: NDArray[np.int64]
    archived: NDArray[np.bool_]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScopeRows:
    """What a scope lets through: flags by revision and by row, and the contents of those rows."""

    revisions: NDArray[np.bool_]
    rows: NDArray[np.bool_]
    contents: NDArray[np.int64]


def load_live(connection: sqlite3.Connection, version: int) -> LiveRevisions:
    """The live revisions of a version."""
    found = connection.execute(
        "SELECT r.id, c.id, c.first_row, c.rows, r.archived, r.name"
        f" FROM revisions r JOIN contents c ON c.id = r.content WHERE {LIVE} ORDER BY c.first_row",
        (version, version),
    ).fetchall()
    ids, contents, first_rows, rows, archived, names = (
        zip(*found, strict=True) if found else [()] * 6
    )
    return LiveRevisions(
        np.array(ids, np.int64),
        np.array(contents, np.int64),
        np.array(first_rows, np.int64),
        np.array(rows, np.int64),
        np.array(archived, np.bool_),
        tuple(names),
    )


class EmbeddedSnapshot:
    """A `Snapshot` of the embedded engine; cheap to keep, safe to use from several threads."""

    def __init__(
        self,
        version: int,
        live: LiveRevisions,
        *,
        connect: Callable[[], sqlite3.Connection],
        postings: Postings,
        searcher: tantivy.Searcher,
        segments: Sequence[tuple[Segment, faiss.Index]],
    ) -> None:
        """Hold what was read in one transaction; `connect` gives each thread its connection."""
        self._version = version
        self._live = live
        self._connect = connect
        self._postings = postings
        self._searcher = searcher
        self._segments = segments
        self._access: tuple[int, dict[int, frozenset[str]]] = (-1, {})
        self._scopes: OrderedDict[tuple[int, Scope], ScopeRows] = OrderedDict()

    @property
    def version(self) -> int:
        """The library version that this is."""
        return self._version

    # -- searching ------------------------------------------------------------------------------

    def search_lexical(self, terms: str, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_lexical`."""
        allowed = self._rows_in(scope)
        return self._postings.search(
            self._searcher, terms.split(), k, allowed.rows, allowed.contents
        )

    def search_dense(self, vector: Vectors, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_dense`."""
        return search_segments(self._segments, vector, k, self._rows_in(scope).rows)

    # -- reading --------------------------------------------------------------------------------

    def passages(self, rows: Sequence[int]) -> dict[int, tuple[Passage, DocumentInfo]]:
        """See `Snapshot.passages`."""
        places = {
            row: int(np.searchsorted(self._live.first_rows, row, side="right")) - 1 for row in rows
        }
        names = {row: self._live.names[place] for row, place in places.items()}
        passages = reads.read_passages(self._connect(), list(rows), names)
        infos = self._infos({int(self._live.ids[place]) for place in places.values()})
        return {
            row: (passages[row], infos[revision])
            for row, place in places.items()
            if row in passages and (revision := int(self._live.ids[place])) in infos
        }

    def documents(self, scope: Scope) -> list[DocumentInfo]:
        """See `Snapshot.documents`."""
        allowed = self._live.ids[self._rows_in(scope).revisions].tolist()
        infos = self._infos(set(allowed))
        return [infos[revision] for revision in allowed if revision in infos]

    def document(self, id: str, scope: Scope) -> StoredDocument:
        """See `Snapshot.document`."""
        revision, _ = self._find(id, scope)
        row = (
            self._connect()
            .execute(
                f"SELECT t.text, t.blocks, c.hash, d.source, d.overrides, {reads.INFO_COLUMNS}"
                " FROM revisions r JOIN documents d ON d.id = r.document"
                " JOIN contents c ON c.id = r.content JOIN texts t ON t.content = c.id"
                " WHERE r.id = ?",
                (revision,),
            )
            .fetchone()
        )
        if row is None:
            raise _unknown(id)
        text, blocks, content_hash, source, overrides, *columns = row
        info = reads.read_info(columns)
        return StoredDocument(
            info,
            reads.read_document(info, text, blocks),
            content_hash,
            source,
            load_json(overrides),
        )

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
        if found is not None:
            place = int(np.flatnonzero(self._live.ids == found[0])[0])
            if self._rows_in(scope).revisions[place]:
                return int(found[0]), int(found[1])
        raise _unknown(id)

    def _infos(self, revisions: set[int]) -> dict[int, DocumentInfo]:
        return reads.read_infos(self._connect(), sorted(revisions))

    # -- scope ----------------------------------------------------------------------------------

    def _rows_in(self, scope: Scope) -> ScopeRows:
        """The rows that a scope lets through, with the access rules of this moment."""
        current, restricted = self._read_access()
        if (known := self._scopes.get((current, scope))) is not None:
            return known
        live = self._live
        flags = np.ones(len(live.ids), np.bool_)
        if not scope.include_archived:
            flags &= ~live.archived
        if scope.principals is not OWNER and restricted:
            hidden = [id for id, allow in restricted.items() if not allow & scope.principals]
            flags &= ~np.isin(live.ids, hidden)
        if scope.filter is not None:
            flags &= np.isin(live.ids, self._filtered(scope.filter))
        found = ScopeRows(flags, self._flag_rows(flags), live.contents[flags])
        self._scopes[current, scope] = found
        while len(self._scopes) > SCOPES_KEPT:
            self._scopes.popitem(last=False)
        return found

    def _flag_rows(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """One flag for each row of the library, true for those of the flagged revisions."""
        first, count = self._live.first_rows[flags], self._live.rows[flags]
        edges = np.zeros(int((self._live.first_rows + self._live.rows).max(initial=0)) + 1, np.int8)
        edges[first] += 1
        edges[first + count] -= 1
        return np.cumsum(edges[:-1], dtype=np.int8).astype(np.bool_)

    def _filtered(self, expression: str) -> NDArray[np.int64]:
        """The live revisions that a filter expression lets through."""
        condition, values = compile_filter(parse_filter(expression))
        found = self._connect().execute(
            f"SELECT r.id FROM revisions r WHERE {LIVE} AND ({condition})",
            (self._version, self._version, *values),
        )
        return np.fromiter((id for (id,) in found), np.int64)

    def _read_access(self) -> tuple[int, dict[int, frozenset[str]]]:
        """The library's last version, and who may by it see the revisions that aren't public."""
        connection = self._connect()
        access = self._access
        if access[0] != (last := reads.read_version(connection)):
            restricted = connection.execute(
                "SELECT r.id, d.allow FROM revisions r JOIN documents d ON d.id = r.document"
                f" WHERE d.allow IS NOT NULL AND {LIVE}",
                (self._version, self._version),
            )
            access = (last, {id: read_allow(allow) or frozenset() for id, allow in restricted})
            self._access = access
        return access


def _unknown(id: str) -> UnknownDocument:
    return UnknownDocument(f"no document {id!r}", hint="`ibid list` shows the ids")
