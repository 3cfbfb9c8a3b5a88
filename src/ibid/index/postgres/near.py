"""The index of vectors of a large library: HNSW over float16, made beside those who read and write.

It holds the live generation, whose vectors have one shape; `CREATE INDEX CONCURRENTLY` lets commits
go on while it is built, and PostgreSQL keeps it up with them from then on.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ibid.errors import LibraryLocked
from ibid.index.postgres import reads
from ibid.index.postgres.search import NEAR_INDEX, has_near_index, name_index

if TYPE_CHECKING:
    from ibid.index.options import Approximation
    from ibid.index.postgres.database import Connection, Database
    from ibid.index.postgres.scope import Generation

LOCK: Final = "near"
MOST_DIMENSIONS: Final = 4_000
"""Numbers of the longest float16 vectors that pgvector indexes; of longer ones all are read."""


def make_near_index(database: Database, approximation: Approximation) -> None:
    """Make the index where the library is large enough and has none, and drop older ones."""
    with database.changing() as connection:
        if _find_wanted(connection, approximation) is None:
            return
    with suppress(LibraryLocked), database.holding(LOCK, wait=False):  # else it is being made
        with database.changing() as connection:
            wanted = _find_wanted(connection, approximation)
        if wanted is None:  # another one was first
            return
        held, dimension = wanted
        database.run_alone(f"DROP INDEX IF EXISTS {name_index(held.first_row)}")
        database.run_alone(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name_index(held.first_row)} ON vectors"
            f" USING hnsw ((embedding::halfvec({dimension})) halfvec_ip_ops)"
            f" WHERE row >= {held.first_row}"
        )
        for other in _list_others(database, held):
            database.run_alone(f"DROP INDEX IF EXISTS {other}")


def _find_wanted(
    connection: Connection, approximation: Approximation
) -> tuple[Generation, int] | None:
    """The generation that should have an index and has none, and the length of its vectors."""
    held, _ = reads.read_generation(connection, None)
    if held is None or held.passages < approximation.min_rows or has_near_index(connection, held):
        return None
    found = connection.execute(
        "SELECT vector_dims(embedding) FROM vectors WHERE row >= %s LIMIT 1", (held.first_row,)
    ).fetchone()
    return (held, found[0]) if found is not None and found[0] <= MOST_DIMENSIONS else None


def _list_others(database: Database, held: Generation) -> list[str]:
    """The indexes of generations that are no more."""
    with database.changing() as connection:
        found = connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relkind = 'i'"
            " AND c.relnamespace = current_schema()::regnamespace AND c.relname LIKE %s"
            " AND c.relname != %s",
            (f"{NEAR_INDEX}\\_%", name_index(held.first_row)),
        ).fetchall()
    return [name for (name,) in found]
