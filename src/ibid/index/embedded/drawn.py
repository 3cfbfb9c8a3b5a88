"""What answers were drawn from, in the library's tables: documents at versions, and their files.

Who may see a document is today's; at which version it was cited does not change that.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ibid.errors import UnknownDocument
from ibid.index.codec import read_allow
from ibid.index.columns import read_document as build_document
from ibid.index.columns import read_info, unsigned
from ibid.index.embedded.reads import INFO_COLUMNS, LIVE
from ibid.protocols import FileOrigin, FileStat
from ibid.records import OWNER, Document, Principals

Drawn: TypeAlias = tuple[str, int]
"""A document by its id, and the version it was read at."""


def find_held(connection: sqlite3.Connection, drawn: Iterable[Drawn]) -> set[Drawn]:
    """Those of these documents that the library still holds."""
    return find_readable(connection, drawn, OWNER)


def find_readable(
    connection: sqlite3.Connection, drawn: Iterable[Drawn], principals: Principals
) -> set[Drawn]:
    """Those of these documents that a caller may see; one that was purged is none."""
    found: set[Drawn] = set()
    for name, version in drawn:
        row = connection.execute(
            "SELECT d.allow FROM revisions r JOIN documents d ON d.id = r.document"
            f" WHERE r.name = ? AND {LIVE}",
            (name, version, version),
        ).fetchone()
        if row is not None and _lets(row[0], principals):
            found.add((name, version))
    return found


def read_document(
    connection: sqlite3.Connection, id: str, version: int, principals: Principals
) -> Document:
    """A document as it was at a version. Raises UnknownDocument."""
    row = connection.execute(
        f"SELECT d.allow, t.text, t.blocks, {INFO_COLUMNS}"
        " FROM revisions r JOIN documents d ON d.id = r.document"
        " JOIN contents c ON c.id = r.content JOIN texts t ON t.content = c.id"
        f" WHERE r.name = ? AND {LIVE}",
        (id, version, version),
    ).fetchone()
    if row is None or not _lets(row[0], principals):
        raise UnknownDocument(f"no document {id!r}", hint="`ibid list` shows the ids")
    _, text, blocks, *columns = row
    return build_document(read_info(columns), text, blocks)


def read_text(connection: sqlite3.Connection, id: str, version: int) -> str:
    """The text that a document had at a version which is still held of it."""
    (text,) = connection.execute(
        "SELECT t.text FROM revisions r JOIN texts t ON t.content = r.content"
        f" WHERE r.name = ? AND {LIVE}",
        (id, version, version),
    ).fetchone()
    return str(text)


def find_origins(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, FileOrigin]:
    """The files of these documents of the last version, where a source knows them."""
    found: dict[str, FileOrigin] = {}
    for id in ids:
        row = connection.execute(
            "SELECT s.location, f.path, f.container, f.size, f.modified_ns, f.inode"
            " FROM revisions r JOIN documents d ON d.id = r.document"
            " JOIN sources s ON s.name = d.source JOIN files f ON f.source = s.name AND f.path ="
            " CASE s.prefix WHEN '' THEN r.name ELSE substr(r.name, length(s.prefix) + 2) END"
            " WHERE r.name = ? AND r.removed_in IS NULL AND f.status = 'read'",
            (id,),
        ).fetchone()
        if row is not None:
            location, path, container, size, modified_ns, inode = row
            stat = FileStat(size, modified_ns, unsigned(inode))
            found[id] = FileOrigin(location, container or path, stat)
    return found


def read_erasures(connection: sqlite3.Connection) -> list[tuple[str, int, int | None]]:
    """The names and versions of purged documents that answers may still hold something of."""
    return connection.execute("SELECT name, version, removed_in FROM erasures").fetchall()


def drop_erasures(connection: sqlite3.Connection) -> None:
    """Note that no answer holds anything of them any more."""
    connection.execute("DELETE FROM erasures")


def _lets(allow: object, principals: Principals) -> bool:
    """Whether a stored list of principals lets a caller see what it stands on."""
    allowed = read_allow(allow)
    return principals is OWNER or allowed is None or bool(allowed & principals)
