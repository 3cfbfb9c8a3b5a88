"""Erasing documents from every version: one transaction takes them out of every table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from ibid.errors import UnknownDocument
from ibid.index.closed import hash_name
from ibid.index.postgres import reads, writes
from ibid.index.postgres.database import is_storable
from ibid.index.postgres.postings import erase_postings
from ibid.index.postgres.writes import Sizes

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection

POSTINGS: Final = ("postings", "document_postings")
BY_ROW: Final = ("vectors", "mentions")
"""The tables of what is derived from passages, by their rows."""

ERASED: Final = (
    *POSTINGS,
    *BY_ROW,
    "passages",
    "texts",
    "contents",
    "attributes",
    "revisions",
    "documents",
)
"""The tables from which an erasure deletes."""


def purge_documents(connection: Connection, ids: Sequence[str]) -> int:
    """The new version after the documents that ever bore these ids were erased.

    The caller publishes. Raises UnknownDocument, with nothing changed.
    """
    documents = sorted({document for id in ids for document in _find_identities(connection, id)})
    contents = connection.execute(
        "SELECT DISTINCT content FROM revisions WHERE document = ANY (%s)", (documents,)
    ).fetchall()
    writes.forget_files_of(connection, documents)
    note_erasures(connection, "document = ANY (%s)", documents)
    connection.execute("DELETE FROM revisions WHERE document = ANY (%s)", (documents,))
    erase_contents(connection, [content for (content,) in contents])
    connection.execute("DELETE FROM documents WHERE id = ANY (%s)", (documents,))
    ((version, next_row),) = connection.execute(
        "SELECT version + 1, next_row FROM library"
    ).fetchall()
    writes.publish(connection, version, next_row=next_row, added=Sizes())
    recount_versions(connection)
    drop_staged(connection)
    return int(version)


def _find_identities(connection: Connection, id: str) -> list[int]:
    found = connection.execute(
        "SELECT DISTINCT document FROM revisions WHERE name = %s", (id if is_storable(id) else "",)
    ).fetchall()
    if not found:
        raise UnknownDocument(f"no version holds a document {id!r}", hint="nothing was erased")
    return [document for (document,) in found]


def note_erasures(connection: Connection, condition: str, *values: object) -> None:
    """Note the revisions of which no answer may keep anything; the log of answers reads that.

    That they were not for everyone is noted too, for the case that the names come back.
    """
    connection.execute(
        f"INSERT INTO erasures SELECT name, version, removed_in FROM revisions WHERE {condition}",
        values,
    )
    last: dict[str, list[str] | None] = dict(
        connection.execute(
            "SELECT name, (SELECT allow FROM documents d WHERE d.id = document) FROM revisions"
            f" WHERE {condition} ORDER BY id",
            values,
        ).fetchall()
    )
    connection.execute("DELETE FROM closed WHERE name = ANY (%s)", ([*map(hash_name, last)],))
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO closed VALUES (%s)",
            [(hash_name(name),) for name, allow in last.items() if allow is not None],
        )


def erase_contents(connection: Connection, contents: Sequence[int]) -> int:
    """Delete texts with their passages and all that is derived; how many passages there were."""
    held = list(contents)
    rows = connection.execute("SELECT row FROM passages WHERE content = ANY (%s)", (held,))
    erased = [row for (row,) in rows]
    for table in POSTINGS:
        erase_postings(connection, table, erased)
    for table in BY_ROW:
        connection.execute(f"DELETE FROM {table} WHERE row = ANY (%s::bigint[])", (erased,))
    connection.execute("DELETE FROM passages WHERE content = ANY (%s)", (held,))
    connection.execute("DELETE FROM texts WHERE content = ANY (%s)", (held,))
    connection.execute("DELETE FROM contents WHERE id = ANY (%s)", (held,))
    return len(erased)


def erase_unused(connection: Connection) -> int:
    """Delete what no revision has any more; how many passages that were."""
    unused = connection.execute(
        "SELECT id FROM contents c"
        " WHERE NOT EXISTS (SELECT FROM revisions r WHERE r.content = c.id)"
    ).fetchall()
    erased = erase_contents(connection, [content for (content,) in unused])
    connection.execute(
        "DELETE FROM documents d WHERE NOT EXISTS (SELECT FROM revisions r WHERE r.document = d.id)"
    )
    return erased


def recount_versions(connection: Connection) -> None:
    """Take the statistics of every version anew, from the passages of the live generation."""
    ends = [
        end
        for (end,) in connection.execute("SELECT DISTINCT end_row FROM versions ORDER BY end_row")
    ]
    passages = _count_between(connection, ends, "count(*), sum(terms)")
    documents = _count_between(
        connection, ends, "count(*) FILTER (WHERE p.row = p.first_row), sum(lead_terms)"
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE versions SET passages = %s, terms = %s, documents = %s, document_terms = %s"
            " WHERE end_row = %s",
            [
                (*found, *whole, end)
                for end, found, whole in zip(ends, passages, documents, strict=True)
            ],
        )


def _count_between(
    connection: Connection, ends: Sequence[int], counted: str
) -> list[tuple[int, int]]:
    """What is counted in the rows before each of these ends: two numbers."""
    found = {
        place: (int(count), int(total or 0))
        for place, count, total in connection.execute(
            f"SELECT width_bucket(p.row, %s::bigint[]), {counted} FROM passages p, library l"
            f" WHERE p.row >= l.first_row GROUP BY 1",
            (list(ends),),
        )
    }
    parts = [found.get(place, (0, 0)) for place in range(len(ends))]
    return list(accumulate(parts, lambda before, part: (before[0] + part[0], before[1] + part[1])))


def drop_staged(connection: Connection) -> None:
    """Drop what is staged, by a killed run too, as it holds texts that are to be erased."""
    for table in ("staging", "staged_contents", "staged_vectors"):
        connection.execute(f"DELETE FROM {table}")


def find_problem_rows(connection: Connection) -> list[int]:
    """The rows of passages of the live generation that have no vector, or a damaged one."""
    made = reads.read_manifest(connection)
    found = connection.execute(
        "SELECT p.row FROM library l JOIN passages p ON p.row >= l.first_row"
        " LEFT JOIN vectors v ON v.row = p.row"
        " WHERE v.row IS NULL OR vector_dims(v.embedding) != coalesce(%s, vector_dims(v.embedding))"
        " OR NOT (l2_norm(v.embedding) < 0.001 OR abs(l2_norm(v.embedding) - 1) < 0.02)"
        " ORDER BY p.row",
        (made.dimension if made is not None else None,),
    )
    return [row for (row,) in found]
