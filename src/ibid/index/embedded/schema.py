"""The tables of a library on disk: SQLite is its truth and the only place where it commits.

A document keeps its identity (`documents.id`) through edits and moves; what it was at a version is
a revision, live from `added_in` until `removed_in`. A content is a text with its passages, which
lie in consecutive rows; rows number the passages of the library in the order of insertion. No row,
and no id of these three, is ever used twice: a snapshot knows them by it. Access stands on the
document, not on the revision: it is today's at every version. A document that takes the name of one
that is gone opens nothing of that one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from ibid.errors import Corrupt, FormatTooNew, LibraryError, LibraryLocked, LibraryNotFound
from ibid.index.embedded.reads import REMEDY

FORMAT: Final = 3
"""Version of these tables, kept in SQLite's user_version; `migrate.py` leads here from others."""

BUSY_SECONDS: Final = 30.0
"""How long a reader waits for SQLite itself; writers queue at the library's own lock before."""

FIRST_GENERATION: Final = 1
"""The number of the first folder of postings."""

MENTIONS: Final = """
CREATE TABLE mentions (          -- the graph: what a passage names; the name stays in its text
    entity INTEGER NOT NULL,
    row INTEGER NOT NULL,
    role INTEGER NOT NULL,
    PRIMARY KEY (entity, row)
) WITHOUT ROWID;
"""

CLOSED: Final = """
CREATE TABLE closed (            -- documents that were not for everyone, and are no more
    name BLOB PRIMARY KEY        -- a hash of it
) WITHOUT ROWID;
"""

_TABLES: Final = f"""
CREATE TABLE library (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE versions (version INTEGER PRIMARY KEY, created_at REAL NOT NULL);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    source TEXT,
    allow TEXT,                  -- JSON list of principals; NULL: public
    overrides TEXT NOT NULL      -- JSON: what `set` and flags said
);
CREATE INDEX documents_by_source ON documents (source);

CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    language TEXT,
    first_row INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    characters INTEGER NOT NULL
);

CREATE TABLE texts (             -- apart, so that what is read at every opening is small
    content INTEGER PRIMARY KEY REFERENCES contents (id),
    text TEXT NOT NULL,
    blocks TEXT NOT NULL         -- JSON, one list a block
);

CREATE TABLE revisions (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id),
    content INTEGER NOT NULL REFERENCES contents (id),
    name TEXT NOT NULL,          -- the document's id, as its users say it
    version INTEGER NOT NULL,    -- live from this version
    removed_in INTEGER,          -- until this one
    title TEXT,
    source_uri TEXT,
    media_type TEXT NOT NULL,
    modified_at REAL,            -- seconds since 1970, UTC
    archived INTEGER NOT NULL,
    tags TEXT NOT NULL,          -- JSON
    metadata TEXT NOT NULL       -- JSON
);
CREATE UNIQUE INDEX live_names ON revisions (name) WHERE removed_in IS NULL;
CREATE INDEX revisions_by_name ON revisions (name);
CREATE INDEX revisions_by_document ON revisions (document);
CREATE INDEX revisions_by_content ON revisions (content);

CREATE TABLE attributes (        -- tags and metadata, one row for each value, for filters
    revision INTEGER NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    text TEXT,
    number REAL
);
CREATE INDEX attributes_by_text ON attributes (name, text, revision);
CREATE INDEX attributes_by_number ON attributes (name, number, revision);
CREATE INDEX attributes_by_revision ON attributes (revision);

CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    content INTEGER NOT NULL REFERENCES contents (id),
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    body INTEGER NOT NULL,
    prefix TEXT NOT NULL,
    headings TEXT NOT NULL,      -- JSON
    lead TEXT NOT NULL,
    page INTEGER,
    place TEXT,
    rule TEXT NOT NULL,
    context TEXT NOT NULL,
    context_key BLOB NOT NULL,
    text_hash BLOB NOT NULL
);
CREATE INDEX passages_by_hash ON passages (text_hash);
CREATE INDEX passages_by_context ON passages (context_key) WHERE context_key != x'';

{MENTIONS}
CREATE TABLE segments (          -- the live vector files
    file TEXT PRIMARY KEY,
    first_row INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    clusters TEXT,               -- the file of the clusters of its rows, where there is one
    hash TEXT,                   -- BLAKE3 of the file; NULL where an older ibid wrote it
    clusters_hash TEXT
) WITHOUT ROWID;

CREATE TABLE sources (
    name TEXT PRIMARY KEY,
    location TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL UNIQUE,
    synced_at REAL,
    recipe TEXT NOT NULL
);

CREATE TABLE files (
    source TEXT NOT NULL REFERENCES sources (name) ON DELETE CASCADE,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    status TEXT NOT NULL,
    bytes_hash TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    error TEXT NOT NULL,
    message TEXT NOT NULL,
    container TEXT NOT NULL,     -- the path of the file that an attachment came in, or ''
    changed_ns INTEGER NOT NULL DEFAULT 0,  -- 0: not known, so the file is read again
    tag TEXT NOT NULL DEFAULT '',  -- what a server calls this state of it, such as an ETag
    PRIMARY KEY (source, path)
) WITHOUT ROWID;

{CLOSED}
CREATE TABLE erasures (          -- purged documents that the answers may still have to forget
    name TEXT NOT NULL,
    version INTEGER NOT NULL,    -- as in revisions
    removed_in INTEGER
);

INSERT INTO library VALUES
    ('version', '0'), ('next_row', '0'), ('last_id', '0'), ('lexical', '{FIRST_GENERATION}');
INSERT INTO versions VALUES (0, unixepoch());
"""


def create_database(path: Path) -> None:
    """Write an empty library's database; what a crash leaves half made is never seen."""
    part = path.with_name(path.name + ".new")
    part.unlink(missing_ok=True)
    connection = sqlite3.connect(part, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {FORMAT}; COMMIT;")
    finally:
        connection.close()
    part.replace(path)


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a library's database, for one thread at a time.

    Raises LibraryNotFound, FormatTooNew, or Corrupt when the file is no such database; a damage
    that is met later is Corrupt too.
    """
    try:
        there = path.exists()
    except OSError as error:
        raise refuse_reading(path, error.strerror) from error
    if not there:
        raise LibraryNotFound(
            f"no library at {path.parent}", hint="sync a folder or add a document to make one"
        )
    connection = open_database(path)
    try:
        _check_format(read_format(connection), path)
    except BaseException:
        connection.close()
        raise
    return connection


def open_database(path: Path, *, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """A connection to any database of a library, made when it is missing; damage is Corrupt.

    In a folder that can't be written it is read as it lies: SQLite keeps its log and its locks in
    files, so nobody may write there meanwhile. LibraryError where another one does.
    """
    if not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
        return _connect(f"{path.absolute().as_uri()}?immutable=1", path, busy_seconds, ())
    return _connect(f"{path.absolute().as_uri()}?mode=rwc", path, busy_seconds, _SETTINGS)


def _connect(
    uri: str, path: Path, busy_seconds: float, settings: Sequence[str]
) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            uri,
            uri=True,
            isolation_level=None,
            timeout=busy_seconds,
            check_same_thread=False,
            factory=_Connection,
        )
    except sqlite3.OperationalError as error:
        raise _translate(error, path) from error
    connection.path = path
    try:
        for setting in settings:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def read_format(connection: sqlite3.Connection) -> int:
    """The version of the tables that a database has."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def transacting(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A transaction that commits at the end of the `with`, or takes everything back."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def reading_one_state(connection: sqlite3.Connection) -> Iterator[None]:
    """A read transaction: all statements inside see one state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


_SETTINGS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
)


def _check_format(found: int, path: Path) -> None:
    if found > FORMAT:
        raise FormatTooNew(
            f"{path.parent} has format {found}; this ibid reads up to {FORMAT}",
            hint="install a newer ibid",
        )
    if found < 1:
        raise _corrupt(path, "it holds no library")


def _corrupt(path: Path, reason: object) -> Corrupt:
    return Corrupt(f"{path} is damaged ({reason})", hint=_REMEDIES.get(path.name, REMEDY))


_REMEDIES: Final[Mapping[str, str]] = {
    "answers.db": "`ibid verify --repair` sets it aside and begins a new log of answers",
    "staging.db": "remove it, and re-index again",
}
"""What to do about damage to what is not the truth, by the name of its file."""


def refuse_reading(path: Path, reason: object) -> LibraryError:
    """The error of a file that is there and can't be read."""
    return LibraryError(
        f"{path} can't be read or written ({reason})",
        hint="look at the room on the disk and at the rights of the folder, then try again",
    )


def _translate(error: sqlite3.OperationalError, path: Path) -> LibraryError:
    """What SQLite could not do with its file, as the error of a library."""
    if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LibraryLocked(f"{path} is held by another process ({error})", hint="try again")
    if path.is_dir():
        return _corrupt(path, "it is a folder")
    return refuse_reading(path, error)


class _Cursor(sqlite3.Cursor):
    """A cursor whose damaged pages are the error of a library."""

    def execute(self, *arguments: Any) -> Self:
        return self._guard(super().execute, *arguments)  # type: ignore[no-any-return]

    def executemany(self, *arguments: Any) -> Self:
        return self._guard(super().executemany, *arguments)  # type: ignore[no-any-return]

    def fetchone(self) -> Any:
        return self._guard(super().fetchone)

    def fetchall(self) -> list[Any]:
        return self._guard(super().fetchall)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]  # read at once, guarded once
        return iter(self.fetchall())

    def _guard(self, call: Callable[..., Any], *arguments: Any) -> Any:
        assert isinstance(self.connection, _Connection)
        try:
            return call(*arguments)
        except sqlite3.OperationalError as error:
            raise _translate(error, self.connection.path) from error
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # its subclasses are no damage
                raise
            raise _corrupt(self.connection.path, error) from error


class _Connection(sqlite3.Connection):
    """A connection with such cursors, which knows its file."""

    path: Path

    def execute(self, *arguments: Any) -> _Cursor:
        return self.cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> _Cursor:
        return self.cursor(_Cursor).executemany(*arguments)
