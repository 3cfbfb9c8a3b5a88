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
from ibid.index.embedded import reads, vectors, writes
from ibid.index.embedded.commit import cluster_segments
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
        erased = _erase_rows(connection, documents)
        replaced, written = _rewrite_segments(connection, folder / "vectors", erased, version)
        rebuild_postings(connection, folder / "lexical" / str(generation), analyze)
        writes.replace_segments(connection, replaced, written)
        cluster_segments(connection, folder / "vectors", approximation)
        writes.publish(connection, version, reads.read_next_row(connection))
    return version


def empty_log(connection: sqlite3.Connection, folder: Path) -> None:
    """Bring the write-ahead log into the database and cut it, so that no old page is left in it.

    Raises LibraryLocked when another process reads for longer than SQLite waits.
    """
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
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


def _erase_rows(connection: sqlite3.Connection, documents: Sequence[int]) -> list[tuple[int, int]]:
    """Delete the documents from the tables; the first row and number of rows of each content."""
    erased: list[tuple[int, int]] = []
    for document in documents:
        contents = connection.execute(
            "SELECT DISTINCT c.id, c.first_row, c.rows FROM revisions r"
            " JOIN contents c ON c.id = r.content WHERE r.document = ?",
            (document,),
        ).fetchall()
        writes.forget_files_of(connection, document)
        connection.execute(
            "INSERT INTO erasures SELECT name, version, removed_in FROM revisions"
            " WHERE document = ?",
            (document,),
        )
        connection.execute("DELETE FROM revisions WHERE document = ?", (document,))
        for content, first_row, rows in contents:
            connection.execute("DELETE FROM passages WHERE content = ?", (content,))
            delete_mentions(connection, first_row, rows)
            connection.execute("DELETE FROM texts WHERE content = ?", (content,))
            connection.execute("DELETE FROM contents WHERE id = ?", (content,))
            erased.append((first_row, rows))
        connection.execute("DELETE FROM documents WHERE id = ?", (document,))
    return erased


def _rewrite_segments(
    connection: sqlite3.Connection,
    folder: Path,
    erased: Sequence[tuple[int, int]],
    version: int,
) -> tuple[list[reads.Segment], list[reads.Segment]]:
    """The segments that held erased rows, and the same written anew with zeros in their place."""
    replaced: list[reads.Segment] = []
    written: list[reads.Segment] = []
    for segment in reads.read_segments(connection):
        inside = [
            (max(first, segment.first_row), min(first + rows, segment.end_row))
            for first, rows in erased
            if first < segment.end_row and first + rows > segment.first_row
        ]
        if inside:
            kept = vectors.MappedSegment(segment, folder).codes.copy()
            for start, end in inside:
                kept[start - segment.first_row : end - segment.first_row] = 0
            name = f"{segment.first_row}-{segment.end_row}-v{version}.faiss"
            vectors.write_segment(folder / name, [kept])
            replaced.append(segment)
            written.append(reads.Segment(name, segment.first_row, segment.rows))
    return replaced, written


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
