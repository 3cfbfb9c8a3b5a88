"""Older libraries brought to today's tables, step by step, with a copy of what was kept beside.

All steps that a library needs are one transaction: a kill leaves its old format whole. A library
made anew and one that was brought here have the same tables, which a test holds.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ibid.errors import LibraryError
from ibid.index.embedded.graph import fill_mentions
from ibid.index.embedded.schema import CLOSED, FORMAT, MENTIONS, read_format, transacting

STEPS: Final[Mapping[int, Sequence[str]]] = {
    1: (
        """
        CREATE TABLE erasures (
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            removed_in INTEGER
        )
        """,
        MENTIONS,
        "ALTER TABLE segments ADD COLUMN clusters TEXT",
        "ALTER TABLE segments ADD COLUMN hash TEXT",
        "ALTER TABLE segments ADD COLUMN clusters_hash TEXT",
        "ALTER TABLE files ADD COLUMN changed_ns INTEGER NOT NULL DEFAULT 0",
        """
        INSERT INTO library SELECT 'last_id', coalesce(max(id), 0) FROM
            (SELECT id FROM documents UNION SELECT id FROM contents UNION SELECT id FROM revisions)
        """,
    ),
    2: ("ALTER TABLE files ADD COLUMN tag TEXT NOT NULL DEFAULT ''", CLOSED),
}
"""The statements that lead from each format to the next."""

FILLS: Final[Mapping[int, Callable[[sqlite3.Connection], None]]] = {1: fill_mentions}
"""What makes the rows of the new tables from those that are there, after the statements."""


def migrate_database(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the database at `path` to today's format; the caller holds the writer's lock.

    It stays whole in its old format when a statement or the copy fails; LibraryError says why.
    """
    found = read_format(connection)
    if found == FORMAT:  # another process was first
        return
    try:
        _keep_copy(connection, name_copy(path, found))
    except (OSError, sqlite3.Error) as error:
        raise LibraryError(
            f"{path} has format {found} and can't be copied before it is brought to {FORMAT}"
            f" ({error})",
            hint="make room on the disk, or let its owner open it, then try again",
        ) from error
    with transacting(connection):
        for step in range(found, FORMAT):
            for statement in STEPS[step]:
                connection.execute(statement)
            if step in FILLS:
                FILLS[step](connection)
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def name_copy(path: Path, format: int) -> Path:
    """Where the database is kept as it was in a format."""
    return path.with_name(f"{path.name}.format{format}")


def drop_copies(path: Path) -> None:
    """Remove the copies of older formats, which hold what is to be erased."""
    for format in range(1, FORMAT):
        name_copy(path, format).unlink(missing_ok=True)


def _keep_copy(connection: sqlite3.Connection, copy: Path) -> None:
    """Write the database as it is now, its write-ahead log included, into a file of its own."""
    part = copy.with_name(f"{copy.name}.part")
    part.unlink(missing_ok=True)
    target = sqlite3.connect(part)
    try:
        connection.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # else two more files would belong to it
    finally:
        target.close()
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(copy)
