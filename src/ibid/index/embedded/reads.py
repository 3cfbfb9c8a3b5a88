"""Rows out: how documents, passages and what a library knows of itself are read from SQLite.

Plain functions over a connection; the caller holds the transaction where several must agree.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from ibid.index.codec import read_time
from ibid.index.columns import LANGUAGES, PUBLIC_LANGUAGES, read_info, read_passage, unsigned
from ibid.protocols import FileStat, FileState, Manifest, SourceInfo
from ibid.record import record
from ibid.records import DocumentInfo, Passage

T = TypeVar("T")

REMEDY: Final = "restore the library from a backup, or sync into a new one"
"""What to do about damage to the truth."""

REBUILD: Final = "`ibid verify --repair` makes it anew from the documents"
"""What to do about a lost or damaged file that is derived from it."""

LIVE: Final = "r.version <= ? AND (r.removed_in IS NULL OR r.removed_in > ?)"
"""The condition that a revision is live at a version, which is given twice."""

INFO_COLUMNS: Final = """r.name, r.title, r.source_uri, r.media_type, r.version, r.modified_at,
    r.archived, d.allow, r.tags, r.metadata, c.rows, c.characters"""
"""What `read_info` takes, from revisions r, documents d and contents c."""

_PARAMETERS: Final = 500
"""Values in one statement, below the least limit that SQLite is built with (999)."""


@record
class Segment:
    """A vector file and the rows that it holds, with the file of their clusters, if it has one.

    The hashes are those of the files' bytes in BLAKE3, None where they were never taken.
    """

    file: str
    first_row: int
    rows: int
    clusters: str | None = None
    hash: str | None = None
    clusters_hash: str | None = None

    @property
    def end_row(self) -> int:
        """The row after its last one."""
        return self.first_row + self.rows


_PASSAGES: Final = """c.hash, p.ordinal, p.start, p.end, p.body, p.prefix, p.headings, p.lead,
    p.page, p.place, p.rule, p.context, p.context_key,
    substr(t.text, p.start + 1, p.end - p.start)
    FROM passages p JOIN contents c ON c.id = p.content JOIN texts t ON t.content = c.id"""
"""What `read_passage` takes, and where from."""


def read_passages(
    connection: sqlite3.Connection, rows: Sequence[int], names: Mapping[int, str]
) -> dict[int, Passage]:
    """The passages of these rows; `names` gives the document's id for each row."""
    found: dict[int, Passage] = {}
    for some in in_parts(rows):
        for row, *columns in connection.execute(
            f"SELECT p.row, {_PASSAGES} WHERE p.row IN ({marks(some)})", some
        ):
            found[row] = read_passage(names[row], columns)
    return found


def read_content_passages(
    connection: sqlite3.Connection, content: int, name: str
) -> list[tuple[Passage, bytes]]:
    """The passages of a content in its order, each with the hash of its indexed text."""
    return [
        (read_passage(name, columns), text_hash)
        for text_hash, *columns in connection.execute(
            f"SELECT p.text_hash, {_PASSAGES} WHERE c.id = ?"
            " AND p.row >= c.first_row AND p.row < c.first_row + c.rows ORDER BY p.row",
            (content,),
        )
    ]


def read_infos(connection: sqlite3.Connection, revisions: Sequence[int]) -> dict[int, DocumentInfo]:
    """The listing entries of these revisions."""
    found: dict[int, DocumentInfo] = {}
    for some in in_parts(revisions):
        for id, *columns in connection.execute(
            f"SELECT r.id, {INFO_COLUMNS} FROM revisions r JOIN documents d ON d.id = r.document"
            f" JOIN contents c ON c.id = r.content WHERE r.id IN ({marks(some)})",
            some,
        ):
            found[id] = read_info(columns)
    return found


def read_passage_rows(connection: sqlite3.Connection, start: int, end: int) -> list[int]:
    """The rows from `start` on and before `end` that are passages, in order."""
    found = connection.execute(
        "SELECT row FROM passages WHERE row >= ? AND row < ? ORDER BY row", (start, end)
    )
    return [row for (row,) in found]


def read_rows_of(connection: sqlite3.Connection, hashes: Sequence[bytes]) -> dict[bytes, int]:
    """For each text hash that is held, a row whose vector is that text's."""
    found: dict[bytes, int] = {}
    for some in in_parts(hashes):
        found.update(
            connection.execute(
                "SELECT p.text_hash, min(p.row) FROM passages p JOIN contents c ON c.id = p.content"
                " AND p.row >= c.first_row AND p.row < c.first_row + c.rows"
                f" WHERE p.text_hash IN ({marks(some)}) GROUP BY p.text_hash",
                some,
            )
        )
    return found


def read_contexts(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, str]:
    """The contexts that are held under these keys."""
    found: dict[bytes, str] = {}
    for some in in_parts(keys):
        found.update(
            connection.execute(
                "SELECT context_key, context FROM passages"
                f" WHERE context_key != x'' AND context_key IN ({marks(some)})",
                some,
            )
        )
    return found


def read_files(connection: sqlite3.Connection, source: str) -> dict[str, FileState]:
    """What a source knows of its files, by path."""
    return {
        path: FileState(path, FileStat(size, modified_ns, unsigned(inode), changed_ns, tag), *rest)
        for path, size, modified_ns, inode, changed_ns, tag, *rest in connection.execute(
            "SELECT path, size, modified_ns, inode, changed_ns, tag, status, bytes_hash,"
            " content_hash, error, message, container FROM files WHERE source = ?",
            (source,),
        )
    }


def read_sources(connection: sqlite3.Connection) -> list[SourceInfo]:
    """The recorded sources in the order they were put, with the number of their documents."""
    return [
        SourceInfo(name, location, prefix, documents, read_time(synced_at), recipe)
        for name, location, prefix, synced_at, recipe, documents in connection.execute(
            "SELECT s.name, s.location, s.prefix, s.synced_at, s.recipe,"
            " (SELECT count(*) FROM documents d JOIN revisions r ON r.document = d.id"
            "  WHERE d.source = s.name AND r.removed_in IS NULL)"
            " FROM sources s ORDER BY s.rowid"
        )
    ]


def count_languages(connection: sqlite3.Connection) -> dict[str, int]:
    """How many live documents are in each language."""
    return dict(connection.execute(LANGUAGES))


def count_public_languages(connection: sqlite3.Connection) -> dict[str, int]:
    """How many of those that everyone may see; of all, if none are."""
    return dict(connection.execute(PUBLIC_LANGUAGES)) or count_languages(connection)


def read_segments(connection: sqlite3.Connection) -> list[Segment]:
    """The live vector files in the order of their rows."""
    return [
        Segment(*row)
        for row in connection.execute(
            "SELECT file, first_row, rows, clusters, hash, clusters_hash FROM segments"
            " ORDER BY first_row"
        )
    ]


def read_version(connection: sqlite3.Connection) -> int:
    """The last published version."""
    return int(_read_value(connection, "version") or 0)


def read_next_row(connection: sqlite3.Connection) -> int:
    """The row that the next passage takes."""
    return int(_read_value(connection, "next_row") or 0)


def read_first_row(connection: sqlite3.Connection) -> int:
    """The row with which the live generation of passages begins; a re-index moves it."""
    return int(_read_value(connection, "first_row") or 0)


def read_end_row(connection: sqlite3.Connection) -> int:
    """The row after the last passage."""
    (last,) = connection.execute("SELECT coalesce(max(row) + 1, 0) FROM passages").fetchone()
    return int(last)


def read_generation(connection: sqlite3.Connection) -> int:
    """The live generation of postings."""
    return int(_read_value(connection, "lexical") or 0)


def read_replaced_at(connection: sqlite3.Connection) -> float:
    """When a re-index last replaced passages, in seconds since 1970; 0 for never."""
    return float(_read_value(connection, "replaced_at") or 0)


def is_erasing(connection: sqlite3.Connection) -> bool:
    """Whether an erasure was begun and not brought to its end: files may hold what it erases."""
    return _read_value(connection, "erasing") is not None


def read_manifest(connection: sqlite3.Connection) -> Manifest | None:
    """What the library was made with; None before the first document."""
    stored = _read_value(connection, "manifest")
    return None if stored is None else Manifest(**json.loads(stored))


def holds_version(connection: sqlite3.Connection, version: int) -> bool:
    """Whether this version can still be searched."""
    if not 0 <= version <= read_version(connection):
        return False
    found = connection.execute("SELECT 1 FROM versions WHERE version = ?", (version,)).fetchone()
    return found is not None


def _read_value(connection: sqlite3.Connection, key: str) -> str | None:
    found = connection.execute("SELECT value FROM library WHERE key = ?", (key,)).fetchone()
    return None if found is None else str(found[0])


def in_parts(values: Sequence[T]) -> Iterable[Sequence[T]]:
    """The values in parts that one statement takes."""
    for start in range(0, len(values), _PARAMETERS):
        yield values[start : start + _PARAMETERS]


def marks(values: Sequence[object]) -> str:
    """A question mark for each value."""
    return ",".join("?" * len(values))
