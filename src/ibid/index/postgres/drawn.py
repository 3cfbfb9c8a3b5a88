"""What answers were drawn from, in the library's tables: documents at versions, and their files.

Who may see a document is today's; at which version it was cited does not change that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ibid.index.columns import read_document as build_document
from ibid.index.columns import read_info, unsigned
from ibid.index.postgres.database import is_storable
from ibid.index.postgres.reads import INFO_COLUMNS
from ibid.index.postgres.scope import compile_scope
from ibid.index.postgres.snapshot import unknown_document
from ibid.protocols import FileOrigin, FileStat, Scope
from ibid.records import OWNER, Document, Principals

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection

Drawn: TypeAlias = tuple[str, int]
"""A document by its id, and the version it was read at."""


def find_held(connection: Connection, drawn: Iterable[Drawn]) -> set[Drawn]:
    """Those of these documents that the library still holds."""
    return find_readable(connection, drawn, OWNER)


def find_readable(
    connection: Connection, drawn: Iterable[Drawn], principals: Principals
) -> set[Drawn]:
    """Those of these documents that a caller may see; one that was purged is none."""
    found: set[Drawn] = set()
    for name, version in drawn:
        seen = compile_scope(Scope(principals, include_archived=True), version)
        row = connection.execute(
            "SELECT FROM revisions r JOIN documents d ON d.id = r.document"
            f" WHERE r.name = %s AND {seen.sql}",
            (name, *seen.values),
        ).fetchone()
        if row is not None:
            found.add((name, version))
    return found


def read_document(
    connection: Connection, id: str, version: int, principals: Principals
) -> Document:
    """A document as it was at a version. Raises UnknownDocument."""
    seen = compile_scope(Scope(principals, include_archived=True), version)
    row = (
        connection.execute(
            f"SELECT t.text, t.blocks, {INFO_COLUMNS}"
            " FROM revisions r JOIN documents d ON d.id = r.document"
            " JOIN contents c ON c.id = r.content JOIN texts t ON t.content = c.id"
            f" WHERE r.name = %s AND {seen.sql}",
            (id, *seen.values),
        ).fetchone()
        if is_storable(id)
        else None
    )
    if row is None:
        raise unknown_document(id)
    text, blocks, *columns = row
    return build_document(read_info(columns), text, blocks)


def read_text(connection: Connection, id: str, version: int) -> str:
    """The text that a document had at a version which is still held of it."""
    live = compile_scope(Scope(OWNER, include_archived=True), version)
    ((text,),) = connection.execute(
        "SELECT t.text FROM revisions r JOIN texts t ON t.content = r.content"
        f" WHERE r.name = %s AND {live.sql}",
        (id, *live.values),
    ).fetchall()
    return str(text)


def find_origins(connection: Connection, ids: Sequence[str]) -> dict[str, FileOrigin]:
    """The files of these documents of the last version, where a source knows them."""
    found = connection.execute(
        "SELECT r.name, s.location, f.path, f.container, f.size, f.modified_ns, f.inode"
        " FROM revisions r JOIN documents d ON d.id = r.document"
        " JOIN sources s ON s.name = d.source JOIN files f ON f.source = s.name AND f.path ="
        " CASE s.prefix WHEN '' THEN r.name ELSE substr(r.name, length(s.prefix) + 2) END"
        " AND f.digest = md5(f.path)"
        " WHERE r.name = ANY (%s) AND r.removed_in IS NULL AND f.status = 'read'",
        ([id for id in ids if is_storable(id)],),
    )
    return {
        name: FileOrigin(location, container or path, FileStat(size, modified_ns, unsigned(inode)))
        for name, location, path, container, size, modified_ns, inode in found
    }
