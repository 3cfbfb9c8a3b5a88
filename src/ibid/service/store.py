"""What the service keeps beside a library: keys and jobs, in `service.db`."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    name TEXT NOT NULL,
    principals TEXT NOT NULL,
    scopes TEXT NOT NULL,
    prefix TEXT NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT
);
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    caller TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    work TEXT NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    report TEXT NOT NULL,
    error TEXT
);
CREATE INDEX IF NOT EXISTS open_jobs ON jobs (state, number);
"""


def find_folder(location: str) -> Path:
    """Where the service of a library keeps things: its folder; of one in a database, one of ours.

    It is made, for its user alone.
    """
    folder = Path(location)
    if "://" in location:
        import platformdirs  # noqa: PLC0415 - not for a library in a folder

        name = hashlib.blake2b(location.encode(), digest_size=8).hexdigest()
        folder = platformdirs.user_data_path("ibid", appauthor=False) / "services" / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


class Store:
    """The database of the service, for all threads of it; several processes may have it open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / "service.db"
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._mutex = threading.RLock()
        self._connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=30
        )
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA secure_delete = ON")  # what is dropped may not stay behind
        self._connection.executescript(_TABLES)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Holds the connection for one change, which is kept whole or not at all."""
        with self._mutex:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def read(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._mutex:
            return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Let go of the database."""
        with self._mutex:
            self._connection.close()
