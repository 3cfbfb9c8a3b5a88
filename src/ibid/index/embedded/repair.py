"""What is derived from the documents, made anew: postings, lost or damaged vectors, leftovers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ibid.errors import Corrupt
from ibid.index.embedded import reads, vectors, writes
from ibid.index.embedded.purge import erase_contents, rebuild_postings
from ibid.index.embedded.schema import transacting
from ibid.protocols import EmbedTexts

if TYPE_CHECKING:
    from ibid.index.embedded.vectors import Codes


def repair_library(
    connection: sqlite3.Connection,
    folder: Path,
    *,
    analyze: Callable[[str, str | None], str],
    embed: EmbedTexts,
) -> None:
    """Make the library whole from its texts; the caller holds the lock and clears old files."""
    generation = reads.read_generation(connection) + 1
    mark = f"v{reads.read_version(connection)}g{generation}"
    with transacting(connection):
        unused = connection.execute(
            "SELECT id FROM contents WHERE id NOT IN (SELECT content FROM revisions)"
        ).fetchall()
        erase_contents(connection, [content for (content,) in unused])
        connection.execute("DELETE FROM documents WHERE id NOT IN (SELECT document FROM revisions)")
        rebuild_postings(connection, folder / "lexical" / str(generation), analyze)
        _rebuild_vectors(connection, folder / "vectors", embed, mark)


def _rebuild_vectors(
    connection: sqlite3.Connection, folder: Path, embed: EmbedTexts, mark: str
) -> None:
    """Replace the segments that aren't whole, and give every passage without a vector one."""
    held = reads.read_segments(connection)
    whole = [segment for segment in held if _is_whole(connection, segment, folder)]
    lost = [segment for segment in held if segment not in whole]
    written = []
    for rows in _uncovered_rows(connection, whole):
        codes = _embed_rows(connection, rows, embed)
        name = f"{rows[0]}-{rows[-1] + 1}-{mark}.faiss"
        hash = vectors.write_segment(folder / name, codes)
        written.append(reads.Segment(name, rows[0], len(rows), hash=hash))
    writes.replace_segments(connection, lost, written)
    for segment in whole:
        if segment.clusters and not vectors.has_whole_clusters(segment, folder):
            writes.set_clusters(connection, segment, None, None)


def _is_whole(connection: sqlite3.Connection, segment: reads.Segment, folder: Path) -> bool:
    """Whether a file is there, and sound in the rows that are passages."""
    try:
        mapped = vectors.MappedSegment(segment, folder)
        mapped.check_bytes()
    except (OSError, Corrupt):
        return False
    rows = reads.read_passage_rows(connection, segment.first_row, segment.end_row)
    return not vectors.find_faults(mapped, rows)


def _uncovered_rows(
    connection: sqlite3.Connection, whole: Sequence[reads.Segment]
) -> Iterator[list[int]]:
    """The passages' rows that no whole segment holds, in runs of consecutive ones."""
    run: list[int] = []
    for row in reads.read_passage_rows(connection, 0, reads.read_next_row(connection)):
        if any(segment.first_row <= row < segment.end_row for segment in whole):
            continue
        if run and (row != run[-1] + 1 or len(run) == vectors.SEGMENT_ROWS):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _embed_rows(
    connection: sqlite3.Connection, rows: Sequence[int], embed: EmbedTexts
) -> list[Codes]:
    """The codes of a run of rows, embedded anew from their passages."""
    codes = []
    for some in reads.in_parts(rows):
        passages = reads.read_passages(connection, some, dict.fromkeys(some, ""))
        codes.append(vectors.encode_rows(embed([passages[row].indexed_text for row in some])))
    return codes
