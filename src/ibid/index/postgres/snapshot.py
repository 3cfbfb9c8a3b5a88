"""One version of a library in PostgreSQL, held still while it is searched.

It holds numbers and no connection: which version, which rows, and the statistics of BM25 there. All
else is looked up by each call, in one transaction and in the caller's role.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ibid.errors import UnknownDocument
from ibid.index.columns import read_stored
from ibid.index.options import Approximation
from ibid.index.postgres import reads
from ibid.index.postgres.database import Database, is_storable
from ibid.index.postgres.scope import (
    Condition,
    Generation,
    compile_documents,
    compile_scope,
    compile_within,
)
from ibid.protocols import Mention, Revision, Scope, Scored, StoredDocument
from ibid.records import OWNER, DocumentInfo, Passage

if TYPE_CHECKING:
    from ibid.protocols import Vectors

_EVERYTHING: Final = Scope(principals=OWNER, include_archived=True)


class PostgresSnapshot:
    """A `Snapshot` of the PostgreSQL engine; cheap to make, safe to use from several threads."""

    def __init__(
        self, database: Database, held: Generation, *, approximation: Approximation
    ) -> None:
        """Hold a version."""
        self._database = database
        self._held = held
        self._approximation = approximation

    @property
    def version(self) -> int:
        """The library version that this is."""
        return self._held.version

    # -- searching ------------------------------------------------------------------------------

    def search_lexical(self, terms: str, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_lexical`."""
        from ibid.index.postgres.search import rank_passages  # noqa: PLC0415 - loads numpy

        with self._database.reading(scope.principals) as connection:
            within = compile_within(connection, scope, self._held)
            return rank_passages(connection, terms.split(), k, within)

    def search_documents(self, terms: str, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_documents`."""
        from ibid.index.postgres.search import rank_documents  # noqa: PLC0415 - loads numpy

        within = compile_documents(scope, self._held)
        with self._database.reading(scope.principals) as connection:
            return rank_documents(connection, terms.split(), k, within)

    def search_dense(self, vector: Vectors, k: int, scope: Scope) -> list[Scored]:
        """See `Snapshot.search_dense`."""
        from ibid.index.postgres.search import has_near_index, search_dense  # noqa: PLC0415 - numpy

        large = self._held.passages >= self._approximation.min_rows
        with self._database.reading(scope.principals) as connection:
            within = compile_within(connection, scope, self._held)
            walk = large and has_near_index(connection, self._held)
            return search_dense(connection, vector, k, within, walk=walk)

    def measure_rarity(self, terms: Sequence[str]) -> dict[str, float]:
        """See `Snapshot.measure_rarity`."""
        from ibid.index.postgres.search import measure_rarity  # noqa: PLC0415 - loads numpy

        with self._database.asking() as connection:
            return measure_rarity(connection, terms, self._held)

    def find_mentions(self, entities: Sequence[int], most: int, scope: Scope) -> list[Mention]:
        """See `Snapshot.find_mentions`."""
        from ibid.index.postgres.search import find_mentions  # noqa: PLC0415 - loads numpy

        with self._database.reading(scope.principals) as connection:
            within = compile_within(connection, scope, self._held)
            return find_mentions(connection, entities, most, within)

    # -- reading --------------------------------------------------------------------------------

    def first_rows(self, rows: Sequence[int]) -> list[int]:
        """See `Snapshot.first_rows`."""
        with self._database.asking() as connection:
            found = dict(
                connection.execute(
                    "SELECT row, first_row FROM passages WHERE row = ANY (%s::bigint[])",
                    (list(rows),),
                ).fetchall()
            )
        return [found.get(row, row) for row in rows]

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """See `Snapshot.vectors`."""
        with self._database.asking() as connection:
            return reads.read_vectors(connection, rows)

    def passages(self, rows: Sequence[int]) -> dict[int, tuple[Passage, DocumentInfo]]:
        """See `Snapshot.passages`."""
        if not rows:
            return {}
        live = compile_scope(_EVERYTHING, self.version)
        with self._database.asking() as connection:
            return reads.read_found(connection, rows, live)

    def documents(self, scope: Scope) -> list[DocumentInfo]:
        """See `Snapshot.documents`."""
        condition = compile_scope(scope, self.version)
        with self._database.reading(scope.principals) as connection:
            return reads.list_infos(connection, condition)

    def revisions(self, scope: Scope) -> list[Revision]:
        """See `Snapshot.revisions`."""
        condition = compile_scope(scope, self.version)
        with self._database.reading(scope.principals) as connection:
            return reads.list_revisions(connection, condition)

    def document(self, id: str, scope: Scope) -> StoredDocument:
        """See `Snapshot.document`."""
        condition = _name(id, scope, self.version)
        with self._database.reading(scope.principals) as connection:
            row = connection.execute(
                "SELECT t.text, t.blocks, c.hash, c.language, d.source, d.overrides,"
                f" {reads.INFO_COLUMNS}"
                " FROM revisions r JOIN documents d ON d.id = r.document"
                " JOIN contents c ON c.id = r.content JOIN texts t ON t.content = c.id"
                f" WHERE {condition.sql}",
                condition.values,
            ).fetchone()
        if row is None:
            raise unknown_document(id)
        return read_stored(row)

    def document_passages(self, id: str, scope: Scope) -> list[Passage]:
        """See `Snapshot.document_passages`."""
        condition = _name(id, scope, self.version)
        with self._database.reading(scope.principals) as connection:
            row = connection.execute(
                "SELECT r.content FROM revisions r JOIN documents d ON d.id = r.document"
                f" WHERE {condition.sql}",
                condition.values,
            ).fetchone()
            if row is None:
                raise unknown_document(id)
            return reads.read_content_passages(connection, row[0], id)

    def content_hashes(self, source: str) -> dict[str, str]:
        """See `Snapshot.content_hashes`."""
        live = compile_scope(_EVERYTHING, self.version)
        with self._database.asking() as connection:
            found = connection.execute(
                "SELECT r.name, c.hash FROM documents d JOIN revisions r ON r.document = d.id"
                f" JOIN contents c ON c.id = r.content WHERE d.source = %s AND {live.sql}",
                (source, *live.values),
            )
            return dict(found.fetchall())


def _name(id: str, scope: Scope, version: int) -> Condition:
    """The condition of one document in a scope. Raises BadQuery, and UnknownDocument at once for
    an id that no document can have."""
    condition = compile_scope(scope, version)
    if not is_storable(id):
        raise unknown_document(id)
    return Condition("r.name = %s", (id,)) & condition


def unknown_document(id: str) -> UnknownDocument:
    """The error for a document that isn't there, or that the caller may not see."""
    return UnknownDocument(f"no document {id!r}", hint="`ibid list` shows the ids")
