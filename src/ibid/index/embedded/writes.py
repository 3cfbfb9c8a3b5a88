"""Rows in: how documents, contents, passages and files are written to SQLite.

Plain functions over a connection; the caller holds the transaction.
"""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence

from ibid.index.closed import hash_name
from ibid.index.codec import dump_blocks, dump_json, read_allow
from ibid.index.columns import list_file, list_revision
from ibid.index.embedded.graph import insert_mentions
from ibid.index.embedded.reads import Segment
from ibid.index.filter_tree import attribute_values
from ibid.protocols import FileState, IndexedPassage, Manifest, PutDocument, SourceInfo
from ibid.records import JSON, Document


def insert_content(connection: sqlite3.Connection, put: PutDocument, first_row: int) -> int:
    """The id of the content written with its passages, in rows from `first_row` on."""
    document = put.document
    content = _take_id(connection)
    connection.execute(
        "INSERT INTO contents VALUES (?,?,?,?,?,?)",
        (content, put.content_hash, put.language, first_row, len(put.passages), len(document.text)),
    )
    connection.execute(
        "INSERT INTO texts VALUES (?,?,?)",
        (content, document.text, dump_blocks(document.blocks)),
    )
    insert_passages(connection, content, first_row, put.passages)
    return content


def insert_passages(
    connection: sqlite3.Connection,
    content: int,
    first_row: int,
    passages: Sequence[IndexedPassage],
) -> None:
    """Write the passages of a content, in rows from `first_row` on."""
    connection.executemany(
        "INSERT INTO passages VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            (
                first_row + number,
                content,
                indexed.passage.ordinal,
                indexed.passage.start,
                indexed.passage.end,
                indexed.passage.body,
                indexed.passage.prefix,
                json.dumps(indexed.passage.headings, ensure_ascii=False),
                indexed.passage.lead,
                indexed.passage.page,
                indexed.passage.place,
                indexed.passage.rule,
                indexed.passage.context,
                indexed.passage.context_key,
                indexed.text_hash,
            )
            for number, indexed in enumerate(passages)
        ),
    )
    insert_mentions(connection, first_row, (indexed.entities for indexed in passages))


def replace_passages(
    connection: sqlite3.Connection,
    content: int,
    first_row: int,
    passages: Sequence[IndexedPassage],
    *,
    content_hash: str,
    language: str | None,
) -> None:
    """Give a content other passages; the old ones stay in their rows, for who reads them now.

    What is known of its file follows, so that the next sync takes it for unchanged.
    """
    connection.execute(
        "UPDATE files SET content_hash = ? WHERE content_hash ="
        " (SELECT hash FROM contents WHERE id = ?)",
        (content_hash, content),
    )
    connection.execute(
        "UPDATE contents SET hash = ?, language = ?, first_row = ?, rows = ? WHERE id = ?",
        (content_hash, language, first_row, len(passages), content),
    )
    insert_passages(connection, content, first_row, passages)


def insert_document(connection: sqlite3.Connection, source: str | None) -> int:
    """The identity of a new document."""
    identity = _take_id(connection)
    connection.execute("INSERT INTO documents VALUES (?,?,NULL,'{}')", (identity, source))
    return identity


def read_last_access(connection: sqlite3.Connection, name: str) -> frozenset[str] | None:
    """Who could see the last document of this name, which is no more; None: everyone.

    Of one that was erased it is known only whether that was everyone.
    """
    found = connection.execute(
        "SELECT d.allow FROM revisions r JOIN documents d ON d.id = r.document"
        " WHERE r.name = ? ORDER BY r.id DESC LIMIT 1",
        (name,),
    ).fetchone()
    if found is not None:
        return read_allow(found[0])
    closed = connection.execute("SELECT 1 FROM closed WHERE name = ?", (hash_name(name),))
    return None if closed.fetchone() is None else frozenset()


def narrow_past(
    connection: sqlite3.Connection, name: str, identity: int, allow: frozenset[str] | None
) -> None:
    """Let nobody see more of the earlier documents of this name than of today's one.

    What they were restricted to stays as well: a new document opens nothing of an old one.
    """
    if allow is None:
        return
    for past, before in connection.execute(
        "SELECT DISTINCT d.id, d.allow FROM revisions r JOIN documents d ON d.id = r.document"
        " WHERE r.name = ? AND d.id != ? AND NOT EXISTS"
        " (SELECT 1 FROM revisions l WHERE l.document = d.id AND l.removed_in IS NULL)",
        (name, identity),
    ):
        restricted = read_allow(before)
        both = allow if restricted is None else allow & restricted
        connection.execute(
            "UPDATE documents SET allow = ? WHERE id = ?", (dump_json(sorted(both)), past)
        )


def insert_revision(
    connection: sqlite3.Connection, document: Document, identity: int, content: int, version: int
) -> None:
    """Make a content what the document is from this version on."""
    revision = _take_id(connection)
    connection.execute(
        f"INSERT INTO revisions VALUES ({','.join('?' * 13)})",
        list_revision(
            document, revision=revision, identity=identity, content=content, version=version
        ),
    )
    connection.executemany(
        "INSERT INTO attributes VALUES (?,?,?,?)",
        [
            (revision, f"{kind}.{name}", *columns)
            for kind, values in (("tag", document.tags), ("metadata", document.metadata))
            for name, value in values.items()
            for columns in attribute_values(value)
        ],
    )


def set_blocks(connection: sqlite3.Connection, content: int, document: Document) -> None:
    """Keep the blocks of a text that stayed the same: their lines in the file may have moved."""
    connection.execute(
        "UPDATE texts SET blocks = ? WHERE content = ?", (dump_blocks(document.blocks), content)
    )


def set_access(
    connection: sqlite3.Connection,
    identity: int,
    allow: frozenset[str] | None,
    overrides: Mapping[str, JSON],
) -> None:
    """Set who may see a document, at every version, and what was said of it by hand."""
    connection.execute(
        "UPDATE documents SET allow = ?, overrides = ? WHERE id = ?",
        (dump_json(sorted(allow)) if allow is not None else None, dump_json(overrides), identity),
    )


def end_revision(connection: sqlite3.Connection, revision: int, version: int) -> None:
    """Let a revision live no more from this version on."""
    connection.execute("UPDATE revisions SET removed_in = ? WHERE id = ?", (version, revision))


def write_files(connection: sqlite3.Connection, source: str, files: Iterable[FileState]) -> None:
    """Remember what a source knows of these files."""
    connection.executemany(
        "INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (list_file(source, file) for file in files),
    )


def write_source(connection: sqlite3.Connection, source: SourceInfo) -> None:
    """Record a source, or what changed of it."""
    connection.execute(
        "INSERT INTO sources VALUES (?,?,?,?,?) ON CONFLICT (name) DO UPDATE SET"
        " location = excluded.location, prefix = excluded.prefix,"
        " synced_at = excluded.synced_at, recipe = excluded.recipe",
        (
            source.name,
            source.location,
            source.prefix,
            source.synced_at.timestamp() if source.synced_at else None,
            source.recipe,
        ),
    )


def forget_files(connection: sqlite3.Connection, source: str, paths: Iterable[str]) -> None:
    """Remember nothing of these files any more."""
    connection.executemany(
        "DELETE FROM files WHERE source = ? AND path = ?", ((source, path) for path in paths)
    )


def forget_files_of(connection: sqlite3.Connection, document: int) -> None:
    """Remember nothing any more of the file that this document came from."""
    connection.execute(
        "DELETE FROM files WHERE (source, path) IN (SELECT s.name,"
        " CASE s.prefix WHEN '' THEN r.name ELSE substr(r.name, length(s.prefix) + 2) END"
        " FROM revisions r"
        " JOIN documents d ON d.id = r.document JOIN sources s ON s.name = d.source"
        " WHERE d.id = ?)",
        (document,),
    )


def replace_segments(
    connection: sqlite3.Connection, old: Iterable[Segment], new: Iterable[Segment]
) -> None:
    """Name other vector files as the live ones."""
    connection.executemany("DELETE FROM segments WHERE file = ?", ((s.file,) for s in old))
    connection.executemany(
        "INSERT INTO segments VALUES (?,?,?,?,?,?)",
        ((s.file, s.first_row, s.rows, s.clusters, s.hash, s.clusters_hash) for s in new),
    )


def set_clusters(
    connection: sqlite3.Connection, segment: Segment, file: str | None, hash: str | None
) -> None:
    """Name the file of a segment's clusters, and its hash; after None the next commit makes one."""
    connection.execute(
        "UPDATE segments SET clusters = ?, clusters_hash = ? WHERE file = ?",
        (file, hash, segment.file),
    )


def publish(connection: sqlite3.Connection, version: int, next_row: int) -> None:
    """Make this the last version; with the transaction's commit, readers see it."""
    connection.execute("INSERT INTO versions VALUES (?, ?)", (version, time.time()))
    _write_value(connection, "version", version)
    _write_value(connection, "next_row", next_row)


def write_generation(connection: sqlite3.Connection, generation: int) -> None:
    """Name another folder of postings as the live one."""
    _write_value(connection, "lexical", generation)


def write_first_row(connection: sqlite3.Connection, row: int) -> None:
    """Name the row with which the live generation of passages begins."""
    _write_value(connection, "first_row", row)


def mark_replaced(connection: sqlite3.Connection) -> None:
    """Note that passages were replaced now: who reads them is given some time."""
    _write_value(connection, "replaced_at", time.time())


def mark_erasing(connection: sqlite3.Connection) -> None:
    """Note that files and logs may hold what is to be erased, until `unmark_erasing`."""
    _write_value(connection, "erasing", 1)


def unmark_erasing(connection: sqlite3.Connection) -> None:
    """Note that no file and no log holds anything that was erased."""
    connection.execute("DELETE FROM library WHERE key = 'erasing'")


def write_manifest(connection: sqlite3.Connection, manifest: Manifest) -> None:
    """Record what the library is made with."""
    _write_value(connection, "manifest", dump_json(dataclasses.asdict(manifest)))


def _write_value(connection: sqlite3.Connection, key: str, value: object) -> None:
    connection.execute("INSERT OR REPLACE INTO library VALUES (?, ?)", (key, str(value)))


def _take_id(connection: sqlite3.Connection) -> int:
    """A number that no document, content or revision of this library ever had."""
    ((id,),) = connection.execute(
        "UPDATE library SET value = value + 1 WHERE key = 'last_id' RETURNING value"
    ).fetchall()
    return int(id)
