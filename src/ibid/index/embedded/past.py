"""The past of a library: what its documents were, version by version."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from ibid.index.columns import read_revision
from ibid.index.embedded.reads import INFO_COLUMNS, in_parts, marks
from ibid.protocols import Revision
from ibid.records import OWNER, Principals

_REVISIONS: Final = f"""SELECT r.id, r.document, c.hash, v.created_at, r.removed_in, {INFO_COLUMNS}
    FROM revisions r JOIN documents d ON d.id = r.document JOIN contents c ON c.id = r.content
    LEFT JOIN versions v ON v.version = r.version"""


def read_revisions(connection: sqlite3.Connection, ids: Sequence[int]) -> list[Revision]:
    """The revisions of these numbers, in their order; one that is gone meanwhile is absent."""
    found = {
        id: read_revision(columns)
        for some in in_parts(ids)
        for id, *columns in connection.execute(f"{_REVISIONS} WHERE r.id IN ({marks(some)})", some)
    }
    return [found[id] for id in ids if id in found]


def read_history(
    connection: sqlite3.Connection, name: str, principals: Principals
) -> list[Revision]:
    """All revisions of the documents that ever bore this name and that the caller may see."""
    found = [
        read_revision(columns)
        for _, *columns in connection.execute(
            f"{_REVISIONS} WHERE r.document IN (SELECT document FROM revisions WHERE name = ?)"
            " ORDER BY r.id",
            (name,),
        )
    ]
    if principals is OWNER:
        return found
    return [one for one in found if one.info.allow is None or one.info.allow & principals]
