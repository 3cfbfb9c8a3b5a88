"""Every invariant of an embedded library, checked: tables, vector files and postings agree.

The checks read the whole library and change nothing. The caller holds the writer's lock, so that
nothing moves meanwhile.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from ibid.errors import Corrupt
from ibid.index.embedded import reads
from ibid.index.embedded.lexical import Postings
from ibid.index.embedded.vectors import MappedSegment, find_faults, has_whole_clusters
from ibid.protocols import Problem

_SUMMED: Final = (".term", ".idx", ".pos", ".store", ".fast", ".fieldnorm")
"""Files of tantivy that end with a sum of their bytes."""

_MAGIC: Final = 1337
"""What tantivy ends such a file with."""

MOST: Final = 20
"""Cases of one kind that are told one by one."""


@dataclass(frozen=True, slots=True)
class Library:
    """What is checked: the database, and the folder that it lies in."""

    connection: sqlite3.Connection
    folder: Path


def check_library(connection: sqlite3.Connection, folder: Path) -> list[Problem]:
    """The problems found, the truth's own first; an unreadable database is the only one told."""
    library = Library(connection, folder)
    damages = [
        Problem("database", "library.db", message, repairable=False)
        for (message,) in connection.execute(f"PRAGMA integrity_check({MOST})")
        if message != "ok"
    ]
    if damages:
        return damages
    return [problem for check in CHECKS for problem in check(library)]


def _check_tables(library: Library) -> Iterator[Problem]:
    """What the tables say of one another."""
    for table, row, parent, _ in library.connection.execute("PRAGMA foreign_key_check"):
        yield Problem("tables", f"{table} row {row}", f"points at nothing in {parent}", False)
    for name, (message, repairable, query) in _RULES.items():
        for (where,) in library.connection.execute(f"{query} LIMIT {MOST}"):
            yield Problem(name, str(where), message, repairable)


_RULES: Final[dict[str, tuple[str, bool, str]]] = {
    "versions": (
        "is published, and the last version is another one",
        False,
        "SELECT 'version ' || max(version) FROM versions HAVING max(version) !="
        " (SELECT CAST(value AS INTEGER) FROM library WHERE key = 'version')",
    ),
    "revisions": (
        "holds two documents of this name at one version",
        False,
        "SELECT DISTINCT a.name FROM revisions a JOIN revisions b"
        " ON a.name = b.name AND a.id < b.id AND b.version < coalesce(a.removed_in, 9e18)"
        " AND a.version < coalesce(b.removed_in, 9e18)",
    ),
    "unwritten": (
        "belongs to a version that was never published",
        False,
        "SELECT name FROM revisions WHERE max(version, coalesce(removed_in, 0)) >"
        " (SELECT CAST(value AS INTEGER) FROM library WHERE key = 'version')",
    ),
    "contents": (
        "is held, and no document has it",
        True,
        "SELECT 'content ' || id FROM contents WHERE id NOT IN (SELECT content FROM revisions)",
    ),
    "documents": (
        "is held, and was nothing at any version",
        True,
        "SELECT 'document ' || id FROM documents WHERE id NOT IN (SELECT document FROM revisions)",
    ),
    "passages": (
        "has other passages than it should",
        False,
        "SELECT 'content ' || c.id FROM contents c WHERE c.rows !="
        " (SELECT count(*) FROM passages p WHERE p.content = c.id"
        " AND p.row >= c.first_row AND p.row < c.first_row + c.rows)",
    ),
    "rows": (
        "lies in rows that another content has too, or beyond the last row",
        False,
        "SELECT 'content ' || id FROM (SELECT id, first_row + rows AS end_row,"
        " lead(first_row, 1, (SELECT CAST(value AS INTEGER) FROM library WHERE key = 'next_row'))"
        " OVER (ORDER BY first_row) AS next_row FROM contents) WHERE end_row > next_row",
    ),
    "spans": (
        "has a passage outside its text",
        False,
        "SELECT DISTINCT 'content ' || p.content FROM passages p"
        " JOIN contents c ON c.id = p.content JOIN texts t ON t.content = c.id"
        " WHERE p.start < 0 OR p.end <= p.start OR p.end > length(t.text)",
    ),
    "texts": (
        "has a text of another length than it should",
        False,
        "SELECT 'content ' || c.id FROM contents c LEFT JOIN texts t ON t.content = c.id"
        " WHERE c.characters IS NOT length(t.text)",
    ),
}
"""Part -> what is wrong, whether it can be mended, and the query that finds where."""


def _check_vectors(library: Library) -> Iterator[Problem]:
    """Every passage has one vector, and the files hold what was written to them."""
    held: list[tuple[int, int]] = []
    for segment in reads.read_segments(library.connection):
        held.append((segment.first_row, segment.end_row))
        try:
            mapped = MappedSegment(segment, library.folder / "vectors")
            mapped.check_bytes()
        except FileNotFoundError:
            yield Problem("vectors", segment.file, "is missing", True)
        except (OSError, Corrupt):
            yield Problem("vectors", segment.file, "is damaged", True)
        else:
            rows = reads.read_passage_rows(library.connection, segment.first_row, segment.end_row)
            for fault in find_faults(mapped, rows):
                yield Problem("vectors", segment.file, fault, True)
            if segment.clusters and not has_whole_clusters(segment, library.folder / "vectors"):
                yield Problem("vectors", segment.clusters, "is missing or damaged", True)
    for (start, end), (after, _) in pairwise(held):
        if end > after:
            yield Problem("vectors", f"rows {start} to {end}", "are held twice", True)
    for content, first_row, end_row in library.connection.execute(
        "SELECT id, first_row, first_row + rows FROM contents WHERE rows > 0 ORDER BY first_row"
    ):
        if not any(start <= first_row and end_row <= end for start, end in _join(held)):
            yield Problem("vectors", f"content {content}", "has passages without a vector", True)


def _join(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _check_postings(library: Library) -> Iterator[Problem]:
    """Every passage has one posting, under its own content, and there is none of anything else."""
    generation = reads.read_generation(library.connection)
    try:
        found = Postings(library.folder / "lexical" / str(generation)).list_rows()
    except Corrupt as error:
        yield Problem("postings", f"lexical/{generation}", error.message, True)
        return
    # What a re-index has replaced stays until the next writer comes, for those who read it.
    first = reads.read_first_row(library.connection)
    last = reads.read_next_row(library.connection)
    rows = np.array(reads.read_passage_rows(library.connection, first, last), np.int64)
    for word, wrong in (
        ("have no postings", np.setdiff1d(rows, found)),
        ("have postings, and are no passages", np.setdiff1d(found, rows)),
        ("have postings twice", found[1:][found[1:] == found[:-1]]),
    ):
        if len(wrong):
            where = f"{len(wrong)} rows from {int(wrong[0])} on"
            yield Problem("postings", where, word, True)


def _check_sums(library: Library) -> Iterator[Problem]:
    """The postings' files are as tantivy wrote them: each ends with the sum of what is before."""
    generation = reads.read_generation(library.connection)
    for meta in sorted((library.folder / "lexical" / str(generation)).rglob("meta.json")):
        names = _list_segments(meta)
        for file in sorted(meta.parent.iterdir()):
            committed = file.suffix in _SUMMED and file.name.partition(".")[0] in names
            if committed and not _holds_sum(file):
                where = str(file.relative_to(library.folder))
                yield Problem("postings", where, "is damaged", True)


def _list_segments(meta: Path) -> set[str]:
    """The names of what was committed; a kill leaves other files, which are never read."""
    try:
        found = json.loads(meta.read_text())
        return {segment["segment_id"].replace("-", "") for segment in found["segments"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _holds_sum(file: Path) -> bool:
    """Whether the sum at the end of a file is that of its bytes: JSON, its length, a magic word."""
    try:
        data = file.read_bytes()
    except OSError:
        return False
    length, magic = struct.unpack("<II", data[-8:]) if len(data) >= 8 else (0, 0)
    if magic != _MAGIC or length > len(data) - 8:
        return False
    body = data[: -8 - length]
    try:
        footer = json.loads(data[-8 - length : -8])
    except ValueError:
        return False
    return bool(footer.get("crc") == zlib.crc32(body))


def _check_folder(library: Library) -> Iterator[Problem]:
    """No file lies there that nothing names."""
    segments = reads.read_segments(library.connection)
    live = {file for segment in segments for file in (segment.file, segment.clusters)}
    for file in sorted((library.folder / "vectors").iterdir()):
        if file.name not in live:
            yield Problem("folder", f"vectors/{file.name}", "is named by nothing", True)
    generation = str(reads.read_generation(library.connection))
    for folder in sorted((library.folder / "lexical").iterdir()):
        if folder.name != generation:
            yield Problem("folder", f"lexical/{folder.name}", "is named by nothing", True)


CHECKS: Final[tuple[Callable[[Library], Iterator[Problem]], ...]] = (
    _check_tables,
    _check_vectors,
    _check_postings,
    _check_sums,
    _check_folder,
)
