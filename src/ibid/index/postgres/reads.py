"""Rows out: how documents, passages and what a library knows of itself are read.

Plain functions over a connection; the caller holds the transaction, and with it the role.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ibid.index.codec import read_time
from ibid.index.columns import (
    LANGUAGES,
    PUBLIC_LANGUAGES,
    read_info,
    read_passage,
    read_revision,
    unsigned,
)
from ibid.index.postgres.scope import IN_SCOPE, Condition, Generation
from ibid.protocols import FileStat, FileState, Manifest, Revision, SourceInfo
from ibid.records import DocumentInfo, Passage

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors

INFO_COLUMNS: Final = """r.name, r.title, r.source_uri, r.media_type, r.version, r.modified_at,
    r.archived, array_to_json(d.allow)::text, r.tags, r.metadata, c.rows, c.characters"""
"""What `read_info` takes, from revisions r, documents d and contents c."""

PASSAGE_COLUMNS: Final = """c.hash, p.ordinal, p.start_at, p.end_at, p.body, p.prefix, p.headings,
    p.lead, p.page, p.place, p.rule, p.context, p.context_key,
    substr(t.text, p.start_at + 1, p.end_at - p.start_at)"""
"""What `read_passage` takes, from passages p, contents c and texts t."""

PASSAGES: Final = """passages p JOIN contents c ON c.id = p.content
    JOIN texts t ON t.content = c.id"""

_REVISIONS: Final = f"""SELECT r.document, c.hash, v.created_at, r.removed_in, {INFO_COLUMNS}
    FROM revisions r JOIN documents d ON d.id = r.document JOIN contents c ON c.id = r.content
    LEFT JOIN versions v ON v.version = r.version"""


# -- the library --------------------------------------------------------------------------------


def read_version(connection: Connection) -> int:
    """The last published version."""
    ((version,),) = connection.execute("SELECT version FROM library").fetchall()
    return int(version)


def read_generation(connection: Connection, version: int | None) -> tuple[Generation | None, int]:
    """What a snapshot of this version reads, None for one that isn't held; and the last version.

    Without a version it is the last one.
    """
    ((last, *found),) = connection.execute(
        "SELECT l.version, v.version, l.first_row, v.end_row, v.passages, v.terms, v.documents,"
        " v.document_terms"
        " FROM library l LEFT JOIN versions v ON v.version = coalesce(%s, l.version)",
        (version,),
    ).fetchall()
    return None if found[0] is None else Generation(*found), last


def read_manifest(connection: Connection) -> Manifest | None:
    """What the library was made with; None before the first document."""
    ((stored,),) = connection.execute("SELECT manifest FROM library").fetchall()
    return None if stored is None else Manifest(**json.loads(stored))


def count_languages(connection: Connection) -> dict[str, int]:
    """How many live documents are in each language."""
    return dict(connection.execute(LANGUAGES).fetchall())


def count_public_languages(connection: Connection) -> dict[str, int]:
    """How many of those that everyone may see; of all, if none are."""
    return dict(connection.execute(PUBLIC_LANGUAGES).fetchall()) or count_languages(connection)


def read_sources(connection: Connection) -> list[SourceInfo]:
    """The recorded sources in the order they were put, with the number of their documents."""
    return [
        SourceInfo(name, location, prefix, documents, read_time(synced_at), recipe)
        for name, location, prefix, synced_at, recipe, documents in connection.execute(
            "SELECT s.name, s.location, s.prefix, s.synced_at, s.recipe,"
            " (SELECT count(*) FROM documents d JOIN revisions r ON r.document = d.id"
            "  WHERE d.source = s.name AND r.removed_in IS NULL)"
            " FROM sources s ORDER BY s.number"
        )
    ]


def read_files(connection: Connection, source: str) -> dict[str, FileState]:
    """What a source knows of its files, by path."""
    return {
        path: FileState(
            path, FileStat(size, modified_ns, unsigned(inode), changed_ns, tag), status, *rest
        )
        for path, size, modified_ns, inode, changed_ns, tag, status, *rest in connection.execute(
            "SELECT path, size, modified_ns, inode, changed_ns, tag, status, bytes_hash,"
            " content_hash, error, message, container FROM files WHERE source = %s",
            (source,),
        )
    }


def read_contexts(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, str]:
    """The contexts that are held under these keys."""
    return dict(
        connection.execute(
            "SELECT context_key, context FROM passages"
            " WHERE context_key != ''::bytea AND context_key = ANY (%s)",
            (list(keys),),
        ).fetchall()
    )


# -- documents ----------------------------------------------------------------------------------


def list_infos(connection: Connection, condition: Condition) -> list[DocumentInfo]:
    """The documents that a condition lets through, in the order of insertion."""
    found = connection.execute(
        f"SELECT {INFO_COLUMNS} FROM revisions r JOIN documents d ON d.id = r.document"
        f" JOIN contents c ON c.id = r.content WHERE {condition.sql} ORDER BY c.first_row, r.id",
        condition.values,
    )
    return [read_info(columns) for columns in found]


def list_revisions(connection: Connection, condition: Condition) -> list[Revision]:
    """What each document that a condition lets through is, in the order of insertion."""
    found = connection.execute(
        f"{_REVISIONS} WHERE {condition.sql} ORDER BY c.first_row, r.id", condition.values
    )
    return [read_revision(columns) for columns in found]


def read_history(connection: Connection, name: str, seen: Condition) -> list[Revision]:
    """All revisions of the documents that ever bore this name and that the caller may see."""
    found = connection.execute(
        f"{_REVISIONS} WHERE r.document IN (SELECT document FROM revisions WHERE name = %s)"
        f" AND {seen.sql} ORDER BY r.id",
        (name, *seen.values),
    )
    return [read_revision(columns) for columns in found]


# -- passages -----------------------------------------------------------------------------------


def read_passages(
    connection: Connection, rows: Iterable[int], names: dict[int, str] | None = None
) -> dict[int, tuple[int, Passage]]:
    """The contents and passages of these rows; `names` gives the document's id for each row."""
    named = names or {}
    found = connection.execute(
        f"SELECT p.row, c.id, {PASSAGE_COLUMNS} FROM {PASSAGES} WHERE p.row = ANY (%s::bigint[])",
        (list(rows),),
    )
    return {
        row: (content, read_passage(named.get(row, ""), columns))
        for row, content, *columns in found
    }


def read_found(
    connection: Connection, rows: Sequence[int], condition: Condition
) -> dict[int, tuple[Passage, DocumentInfo]]:
    """The passages of these rows with their documents; one that is not there is absent."""
    found = connection.execute(
        f"SELECT p.row, {PASSAGE_COLUMNS}, {INFO_COLUMNS} FROM {PASSAGES} {IN_SCOPE}"
        f" WHERE p.row = ANY (%s::bigint[]) AND {condition.sql}",
        (list(rows), *condition.values),
    )
    by_row = {}
    for row, *columns in found:
        passage, info = columns[:14], read_info(columns[14:])
        by_row[row] = (read_passage(info.id, passage), info)
    return {row: by_row[row] for row in dict.fromkeys(rows) if row in by_row}


def read_content_passages(connection: Connection, content: int, name: str) -> list[Passage]:
    """The passages of a content in its order."""
    found = connection.execute(
        f"SELECT {PASSAGE_COLUMNS} FROM {PASSAGES} WHERE c.id = %s"
        " AND p.row >= c.first_row AND p.row < c.first_row + c.rows ORDER BY p.row",
        (content,),
    )
    return [read_passage(name, columns) for columns in found]


def read_vectors(connection: Connection, rows: Sequence[int]) -> Vectors:
    """The vectors of these rows in their order, one row as often as it is asked for.

    Zeros stand for a row that was erased since it was found.
    """
    import numpy as np  # noqa: PLC0415 - not for a search by keywords

    found = {
        row: embedding.to_numpy()
        for row, embedding in connection.cursor(binary=True)
        .execute("SELECT row, embedding FROM vectors WHERE row = ANY (%s::bigint[])", (list(rows),))
        .fetchall()
    }
    if not found:
        return np.empty((0, 0), np.float32)
    erased = np.zeros_like(next(iter(found.values())))
    return np.stack([found.get(row, erased) for row in rows]).astype(np.float32)


def find_vectors(connection: Connection, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
    """The vectors of the live generation for these texts."""
    import numpy as np  # noqa: PLC0415 - as above

    found = connection.cursor(binary=True).execute(
        "SELECT DISTINCT ON (p.text_hash) p.text_hash, v.embedding"
        " FROM passages p JOIN vectors v ON v.row = p.row, library l"
        " WHERE p.text_hash = ANY (%s) AND p.row >= l.first_row ORDER BY p.text_hash, p.row",
        (list(dict.fromkeys(text_hashes)),),
    )
    return {text_hash: embedding.to_numpy().astype(np.float32) for text_hash, embedding in found}
