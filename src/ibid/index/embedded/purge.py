"""Erasing documents from every version: from the tables, the postings and the vectors.

The derived files are made anew without the erased passages beside the old ones; the database's
transaction then switches to them, and only then are the old files removed. So a kill at any moment
leaves either everything or nothing of the erasure, and nothing half.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ibid.errors import LibraryLocked, UnknownDocument
from ibid.index.closed import hash_name
from ibid.index.embedded import reads, vectors, writes
from ibid.index.embedded.commit import cluster_segments, read_codes
from ibid.index.embedded.graph import delete_mentions
from ibid.index.embedded.lexical import create_postings
from ibid.index.embedded.schema import transacting
from ibid.index.options import Approximation


def purge_documents(
    connection: sqlite3.Connection,
    folder: Path,
    ids: Sequence[str],
    *,
    analyze: Callable[[str, str | None], str],
    approximation: Approximation,
) -> int:
    """The new version after the documents that ever bore these ids were erased.

    The caller holds the writer's lock. Raises UnknownDocument, with nothing changed.
    """
    documents = sorted({document for id in ids for document in _identities(connection, id)})
    version = reads.read_version(connection) + 1
    generation = reads.read_generation(connection) + 1
    with transacting(connection):
        erased = _erase_documents(connection, documents)
        replaced, written = rewrite_segments(connection, folder / "vectors", erased, f"v{version}")
        rebuild_postings(connection, folder / "lexical" / str(generation), analyze)
        writes.replace_segments(connection, replaced, written)
        cluster_segments(connection, folder / "vectors", approximation)
        writes.publish(connection, version, reads.read_next_row(connection))
    return version


def empty_log(connection: sqlite3.Connection, folder: Path, *, wait: bool = True) -> None:
    """Bring the write-ahead log into the database and cut it, so that no old page is left in it.

    Raises LibraryLocked when another process reads, with `wait` for longer than SQLite waits.
    """
    (waited,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {waited if wait else 0}")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {waited}")
    if busy:
        raise LibraryLocked(
            f"the documents are erased, but another process still reads an old state of {folder}",
            hint="purge again when it is done, to erase the log of changes too",
        )


def _identities(connection: sqlite3.Connection, id: str) -> list[int]:
    found = connection.execute("SELECT DISTINCT document FROM revisions WHERE name = ?", (id,))
    identities = [document for (document,) in found]
    if not identities:
        raise UnknownDocument(f"no version holds a document {id!r}", hint="nothing was erased")
    return identities


def _erase_documents(
    connection: sqlite3.Connection, documents: Sequence[int]
) -> list[tuple[int, int]]:
    """Delete the documents from the tables; the first row and number of rows of each content."""
    erased: list[tuple[int, int]] = []
    for document in documents:
        contents = connection.execute(
            "SELECT DISTINCT content FROM revisions WHERE document = ?", (document,)
        ).fetchall()
        writes.forget_files_of(connection, document)
        note_erasures(connection, "document = ?", document)
        connection.execute("DELETE FROM revisions WHERE document = ?", (document,))
        erased += erase_contents(connection, [content for (content,) in contents])
        connection.execute("DELETE FROM documents WHERE id = ?", (document,))
    return erased


def note_erasures(connection: sqlite3.Connection, condition: str, *values: object) -> None:
    """Note the revisions of which no answer may keep anything; the log of answers reads that.

    That they were not for everyone is noted too, for the case that the names come back.
    """
    connection.execute(
        f"INSERT INTO erasures SELECT name, version, removed_in FROM revisions WHERE {condition}",
        values,
    )
    for name, allow in connection.execute(
        "SELECT name, (SELECT allow FROM documents d WHERE d.id = document) FROM revisions"
        f" WHERE {condition} ORDER BY id",
        values,
    ).fetchall():
        if allow is None:
            connection.execute("DELETE FROM closed WHERE name = ?", (hash_name(name),))
        else:
            connection.execute("REPLACE INTO closed VALUES (?)", (hash_name(name),))


def erase_contents(
    connection: sqlite3.Connection, contents: Sequence[int]
) -> list[tuple[int, int]]:
    """Delete texts with their passages; the first row and number of rows of each."""
    erased = [
        connection.execute(
            "SELECT first_row, rows FROM contents WHERE id = ?", (content,)
        ).fetchone()
        for content in contents
    ]
    for statement in (
        "DELETE FROM passages WHERE content = ?",
        "DELETE FROM texts WHERE content = ?",
        "DELETE FROM contents WHERE id = ?",
    ):
        connection.executemany(statement, ((content,) for content in contents))
    if erased:
        delete_mentions(connection)
    return erased


def rewrite_segments(
    connection: sqlite3.Connection,
    folder: Path,
    erased: Sequence[tuple[int, int]],
    mark: str,
) -> tuple[list[reads.Segment], list[reads.Segment]]:
    """The segments that held erased rows, and the same written anew with zeros in their place.

    One without any passage left is not written anew. `mark` ends the names of the new files.
    """
    replaced: list[reads.Segment] = []
    written: list[reads.Segment] = []
    for segment in reads.read_segments(connection):
        inside = [
            (max(first, segment.first_row), min(first + rows, segment.end_row))
            for first, rows in erased
            if first < segment.end_row and first + rows > segment.first_row
        ]
        if inside:
            replaced.append(segment)
        if inside and _holds_passages(connection, segment):
            kept = read_codes(segment, folder).copy()
            for start, end in inside:
                kept[start - segment.first_row : end - segment.first_row] = 0
            name = f"{segment.first_row}-{segment.end_row}-{mark}.faiss"
            hash = vectors.write_segment(folder / name, [kept])
            written.append(reads.Segment(name, segment.first_row, segment.rows, hash=hash))
    return replaced, written


def _holds_passages(connection: sqlite3.Connection, segment: reads.Segment) -> bool:
    found = connection.execute(
        "SELECT 1 FROM passages WHERE row >= ? AND row < ?", (segment.first_row, segment.end_row)
    )
    return found.fetchone() is not None


def rebuild_postings(
    connection: sqlite3.Connection, folder: Path, analyze: Callable[[str, str | None], str]
) -> None:
    """Write the postings of every passage as a new generation, in the folder that is its number."""
    postings = create_postings(folder)
    postings.add(_analyzed_passages(connection, analyze))
    postings.finish()
    writes.write_generation(connection, int(folder.name))


def _analyzed_passages(
    connection: sqlite3.Connection, analyze: Callable[[str, str | None], str]
) -> Iterator[tuple[int, int, str]]:
    contents = connection.execute("SELECT id, first_row, language FROM contents ORDER BY first_row")
    for content, first_row, language in contents.fetchall():
        passages = reads.read_content_passages(connection, content, "")
        for number, (passage, _) in enumerate(passages):
            yield first_row + number, content, analyze(passage.indexed_text, language)
