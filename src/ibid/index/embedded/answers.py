"""The log of answers: a database of its own beside the library's, with its own short transactions.

A commit or a purge of documents may hold the library's database for long; an answer is kept
meanwhile. What is purged is first noted in `erasures`, in the purge's own transaction, then erased
here, and then the note goes: after a kill the next writer does what is left. An answer is kept
inside a transaction that looks whether its documents are still there, so none slips in between.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Final

from ibid.errors import Corrupt, FormatTooNew, LibraryLocked, UnknownAnswer
from ibid.index.answers import (
    erase,
    list_drawn,
    pack_answer,
    pack_principals,
    read_kept,
    unpack_answer,
)
from ibid.index.embedded import drawn
from ibid.index.embedded.connections import Connections
from ibid.index.embedded.drawn import Drawn
from ibid.index.embedded.schema import open_database, read_format, reading_one_state, transacting
from ibid.protocols import FileOrigin
from ibid.records import OWNER, Answer, Document, Feedback, KeptAnswer, Principals

ANSWERS_FORMAT: Final = 1
"""Version of these tables, kept in SQLite's user_version."""

DAMAGED: Final = ".damaged"
"""What ends the name of a log that was set aside, before its number."""

BUSY_SECONDS: Final = 5.0
"""How long a call waits for another one that keeps, rates or erases answers."""

_TABLES: Final = (
    """
    CREATE TABLE answers (
        number INTEGER PRIMARY KEY,  -- in the order they were kept
        id TEXT NOT NULL UNIQUE,
        asked_at REAL NOT NULL,
        principals TEXT NOT NULL,    -- JSON
        version INTEGER NOT NULL,
        key TEXT NOT NULL,
        text_hash BLOB NOT NULL,     -- finds an answer that came back as history
        options TEXT NOT NULL,       -- JSON
        body TEXT NOT NULL           -- JSON: the answer
    )
    """,
    "CREATE INDEX answers_by_time ON answers (asked_at)",
    "CREATE INDEX answers_by_key ON answers (key) WHERE key != ''",
    "CREATE INDEX answers_by_text ON answers (text_hash, principals)",
    "CREATE INDEX answers_by_principals ON answers (principals, number)",
    """
    CREATE TABLE drawn (         -- the documents that an answer's words may come from
        answer INTEGER NOT NULL REFERENCES answers (number) ON DELETE CASCADE,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        PRIMARY KEY (answer, name, version)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX drawn_by_name ON drawn (name, version)",
    """
    CREATE TABLE feedback (
        number INTEGER PRIMARY KEY,
        answer INTEGER NOT NULL REFERENCES answers (number) ON DELETE CASCADE,
        given_at REAL NOT NULL,
        good INTEGER NOT NULL,
        comment TEXT NOT NULL
    )
    """,
    "CREATE INDEX feedback_by_answer ON feedback (answer, number)",
)

_ROWS: Final = "SELECT number, asked_at, key, options, body FROM answers a"

_LAST_RATING: Final = """(SELECT good FROM feedback f WHERE f.answer = a.number
    ORDER BY f.number DESC LIMIT 1)"""


class EmbeddedAnswers:
    """The `AnswerLog` of the embedded engine; safe to use from several threads."""

    def __init__(self, folder: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        """Keep answers in `folder`; `connect` gives the thread's connection to the library."""
        self._path = folder / "answers.db"
        self._library = connect
        self._connections = Connections(self._open)

    # -- keeping --------------------------------------------------------------------------------

    def put(self, kept: KeptAnswer, *, oldest: datetime | None = None) -> None:
        """See `AnswerLog.put`."""
        answer = kept.answer
        principals = pack_principals(answer.request.principals)
        with transacting(self._connections.get()) as connection:
            if oldest is not None:
                connection.execute("DELETE FROM answers WHERE asked_at < ?", (oldest.timestamp(),))
            answer, earlier = _trace_history(connection, answer, principals)
            sources = {(id, answer.version) for id in list_drawn(answer)} | earlier
            if sources - drawn.find_held(self._library(), sources):
                answer, kept, sources = erase(answer), replace(kept, key=""), set()
            number = connection.execute(
                "INSERT INTO answers (id, asked_at, principals, version, key, text_hash, options,"
                " body) VALUES (?,?,?,?,?,?,?,?)",
                (
                    answer.id,
                    kept.asked_at.timestamp(),
                    principals,
                    answer.version,
                    kept.key,
                    _hash_text(answer.text),
                    json.dumps(dict(kept.options), sort_keys=True),
                    pack_answer(answer),
                ),
            ).lastrowid
            connection.executemany(
                "INSERT INTO drawn VALUES (?,?,?)", ((number, *source) for source in sources)
            )

    def rate(self, id: str, feedback: Feedback, principals: Principals) -> None:
        """See `AnswerLog.rate`."""
        if not self._path.exists():
            raise _unknown(id)
        given_at = feedback.given_at or datetime.now(UTC)
        with transacting(self._connections.get()) as connection:
            connection.execute(
                "INSERT INTO feedback (answer, given_at, good, comment) VALUES (?,?,?,?)",
                (
                    _find_number(connection, id, principals),
                    given_at.timestamp(),
                    feedback.good,
                    feedback.comment,
                ),
            )

    # -- reading --------------------------------------------------------------------------------

    def newest(
        self, principals: Principals, *, most: int, good: bool | None = None
    ) -> list[KeptAnswer]:
        """See `AnswerLog.newest`."""
        conditions: list[str] = ["1"]
        values: list[object] = []
        if principals is not OWNER:
            conditions.append("principals = ?")
            values.append(pack_principals(principals))
        if good is not None:
            conditions.append(f"{_LAST_RATING} = ?")
            values.append(good)
        return self._read(
            f"{_ROWS} WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT ?",
            (*values, most),
            principals,
        )

    def find(self, id: str, principals: Principals) -> KeptAnswer:
        """See `AnswerLog.find`."""
        for kept in self._read(f"{_ROWS} WHERE id = ?", (id,), principals):
            if principals in (OWNER, kept.answer.request.principals):
                return kept
        raise _unknown(id)

    def find_same(self, key: str, principals: Principals) -> KeptAnswer | None:
        """See `AnswerLog.find_same`."""
        found = self._read(
            f"{_ROWS} WHERE key != '' AND key = ? AND principals = ? ORDER BY number DESC LIMIT 1",
            (key, pack_principals(principals)),
            principals,
        )
        return next((kept for kept in found if kept.key), None)

    def find_told(self, text: str, principals: Principals) -> KeptAnswer | None:
        """See `AnswerLog.find_told`."""
        found = self._read(
            f"{_ROWS} WHERE text_hash = ? AND principals = ? ORDER BY number DESC LIMIT 1",
            (_hash_text(text), pack_principals(principals)),
            principals,
        )
        return found[0] if text and found else None

    def read_document(self, id: str, version: int, principals: Principals) -> Document:
        """See `AnswerLog.read_document`."""
        return drawn.read_document(self._library(), id, version, principals)

    def find_origins(self, ids: Sequence[str]) -> dict[str, FileOrigin]:
        """See `AnswerLog.find_origins`."""
        return drawn.find_origins(self._library(), ids)

    def list_drawn(self) -> list[Drawn]:
        """See `AnswerLog.list_drawn`."""
        if not self._path.exists():
            return []
        found = self._connections.get().execute(
            "SELECT DISTINCT name, version FROM drawn ORDER BY name, version"
        )
        return found.fetchall()

    def _read(
        self, statement: str, values: Sequence[object], principals: Principals
    ) -> list[KeptAnswer]:
        """The answers of these rows, each as far as the caller may see it today."""
        if not self._path.exists():
            return []
        connection = self._connections.get()
        with reading_one_state(connection):
            rows = connection.execute(statement, values).fetchall()
            sources = {number: _read_drawn(connection, number) for number, *_ in rows}
            feedback = {number: _read_feedback(connection, number) for number, *_ in rows}
        library = self._library()
        with reading_one_state(library):
            readable = drawn.find_readable(
                library, {one for some in sources.values() for one in some}, principals
            )
            read_text = cache(partial(drawn.read_text, library))
            return [
                read_kept(
                    columns, feedback[number], read_text if readable >= sources[number] else None
                )
                for number, *columns in rows
            ]

    # -- health ---------------------------------------------------------------------------------

    def check(self) -> str | None:
        """What is wrong with the log; None when it is whole, or was never begun.

        Raises FormatTooNew for one that a newer ibid keeps.
        """
        if not self._path.exists():
            return None
        try:
            (found,) = self._connections.get().execute("PRAGMA integrity_check(1)").fetchone()
        except Corrupt as error:
            return error.message
        return None if found == "ok" else str(found)

    def set_aside(self) -> Path:
        """Where a damaged log lies from now on; the next answer begins a new one.

        The copy may hold what is purged later, and goes with the next purge or vacuum.
        """
        self._connections.close()
        self._connections = Connections(self._open)
        names = (f"{self._path.name}{DAMAGED}{number}" for number in count(1))
        copy = next(path for path in map(self._path.with_name, names) if not path.exists())
        self._path.rename(copy)
        for ending in ("-wal", "-shm"):  # SQLite finds them by the name of their database
            with suppress(FileNotFoundError):
                self._path.with_name(f"{self._path.name}{ending}").rename(f"{copy}{ending}")
        return copy

    def _drop_damaged(self) -> None:
        for path in self._path.parent.glob(f"{self._path.name}{DAMAGED}*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    # -- forgetting -----------------------------------------------------------------------------

    def forget_purged(self) -> None:
        """Erase what purges have noted, and then the notes; the caller holds the writer's lock.

        Raises LibraryLocked when another process reads the answers for longer than this waits.
        """
        library = self._library()
        erasures = drawn.read_erasures(library)
        if not erasures:
            return
        self._drop_damaged()
        if self._path.exists():
            connection = self._connections.get()
            with transacting(connection):
                for name, first, last in erasures:
                    _erase_drawn(connection, name, first, last)
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise LibraryLocked(
                    f"another process still reads an old state of {self._path}",
                    hint="the answers are erased; the next change of the library clears its log",
                )
        with transacting(library):
            drawn.drop_erasures(library)

    def close(self) -> None:
        """Let go of the database; calling it again does nothing."""
        self._connections.close()

    def _open(self) -> sqlite3.Connection:
        connection = open_database(self._path, busy_seconds=BUSY_SECONDS)
        try:
            found = read_format(connection)
            if found > ANSWERS_FORMAT:
                raise FormatTooNew(
                    f"{self._path} has format {found}; this ibid reads up to {ANSWERS_FORMAT}",
                    hint="install a newer ibid",
                )
            if found < ANSWERS_FORMAT:
                _create_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _create_tables(connection: sqlite3.Connection) -> None:
    with transacting(connection):
        if read_format(connection) == ANSWERS_FORMAT:  # another one was first
            return
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {ANSWERS_FORMAT}")


def _trace_history(
    connection: sqlite3.Connection, answer: Answer, principals: str
) -> tuple[Answer, set[Drawn]]:
    """The answer with what is known of its history, and what that was drawn from."""
    history = list(answer.request.history)
    sources: set[Drawn] = set()
    for place in range(1, len(history), 2):
        found = connection.execute(
            "SELECT number FROM answers WHERE text_hash = ? AND principals = ?"
            " ORDER BY number DESC LIMIT 1",
            (_hash_text(history[place]), principals),
        ).fetchone()
        if found is None or not history[place]:
            history[place] = ""
        else:
            sources |= _read_drawn(connection, found[0])
    return replace(answer, request=replace(answer.request, history=tuple(history))), sources


def _read_drawn(connection: sqlite3.Connection, number: int) -> set[Drawn]:
    return set(
        connection.execute("SELECT name, version FROM drawn WHERE answer = ?", (number,)).fetchall()
    )


def _read_feedback(connection: sqlite3.Connection, number: int) -> tuple[Feedback, ...]:
    return tuple(
        Feedback(bool(good), comment, datetime.fromtimestamp(given_at, UTC))
        for good, comment, given_at in connection.execute(
            "SELECT good, comment, given_at FROM feedback WHERE answer = ? ORDER BY number",
            (number,),
        )
    )


def _find_number(connection: sqlite3.Connection, id: str, principals: Principals) -> int:
    found = connection.execute(
        "SELECT number, principals FROM answers WHERE id = ?", (id,)
    ).fetchone()
    if found is None or (principals is not OWNER and found[1] != pack_principals(principals)):
        raise _unknown(id)
    return int(found[0])


def _erase_drawn(connection: sqlite3.Connection, name: str, first: int, last: int | None) -> None:
    """Erase the words of every answer that was drawn from a document between two versions."""
    for number, body in connection.execute(
        "SELECT number, body FROM answers WHERE number IN (SELECT answer FROM drawn"
        " WHERE name = ? AND version >= ? AND (? IS NULL OR version < ?))",
        (name, first, last, last),
    ):
        connection.execute(
            "UPDATE answers SET key = '', text_hash = x'', body = ? WHERE number = ?",
            (pack_answer(erase(unpack_answer(body))), number),
        )
        connection.execute("UPDATE feedback SET comment = '' WHERE answer = ?", (number,))
        connection.execute("DELETE FROM drawn WHERE answer = ?", (number,))


def _hash_text(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _unknown(id: str) -> UnknownAnswer:
    return UnknownAnswer(f"no answer {id!r}", hint="`ibid answers` lists those that are kept")
