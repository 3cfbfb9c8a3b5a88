"""The log of answers, in tables beside the library's, with its own short transactions.

No call waits for a writer of documents. What is purged is first noted in `erasures`, in the purge's
own transaction, then erased here, and then the note goes: after a kill the next writer does what is
left. The lock that a kept answer shares and an erasure holds alone lets none slip in between.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from ibid.errors import UnknownAnswer
from ibid.index.answers import (
    erase,
    list_drawn,
    pack_answer,
    pack_principals,
    read_kept,
    unpack_answer,
)
from ibid.index.postgres import drawn
from ibid.index.postgres.database import Database, is_storable, take_role
from ibid.index.postgres.drawn import Drawn
from ibid.protocols import FileOrigin
from ibid.records import OWNER, Answer, Document, Feedback, KeptAnswer, Principals

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection

LOCK: Final = "answers"

_ROWS: Final = "SELECT number, asked_at, key, options, body FROM answers a"

_LAST_RATING: Final = """(SELECT good FROM feedback f WHERE f.answer = a.number
    ORDER BY f.number DESC LIMIT 1)"""


class PostgresAnswers:
    """The `AnswerLog` of the PostgreSQL engine; safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        """Keep answers in the library's schema."""
        self._database = database

    # -- keeping --------------------------------------------------------------------------------

    def put(self, kept: KeptAnswer, *, oldest: datetime | None = None) -> None:
        """See `AnswerLog.put`."""
        answer = kept.answer
        principals = pack_principals(answer.request.principals)
        with self._database.changing() as connection:
            self._database.lock(connection, LOCK, shared=True)
            if oldest is not None:
                connection.execute("DELETE FROM answers WHERE asked_at < %s", (oldest.timestamp(),))
            answer, earlier = _trace_history(connection, answer, principals)
            sources = {(id, answer.version) for id in list_drawn(answer)} | earlier
            if sources - drawn.find_held(connection, sources):
                answer, kept, sources = erase(answer), replace(kept, key=""), set()
            ((number,),) = connection.execute(
                "INSERT INTO answers (id, asked_at, principals, version, key, text_hash, options,"
                " body) VALUES (%s,%s,%s,%s,%s,%s,%s,%s) RETURNING number",
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
            ).fetchall()
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO drawn VALUES (%s,%s,%s)", [(number, *one) for one in sources]
                )

    def rate(self, id: str, feedback: Feedback, principals: Principals) -> None:
        """See `AnswerLog.rate`."""
        given_at = feedback.given_at or datetime.now(UTC)
        with self._database.changing() as connection:
            self._database.lock(connection, LOCK, shared=True)
            connection.execute(
                "INSERT INTO feedback (answer, given_at, good, comment) VALUES (%s,%s,%s,%s)",
                (
                    _find_number(connection, id, principals),
                    given_at.timestamp(),
                    feedback.good,
                    json.dumps(feedback.comment),
                ),
            )

    # -- reading --------------------------------------------------------------------------------

    def newest(
        self, principals: Principals, *, most: int, good: bool | None = None
    ) -> list[KeptAnswer]:
        """See `AnswerLog.newest`."""
        conditions: list[str] = ["true"]
        values: list[object] = []
        if principals is not OWNER:
            conditions.append("principals = %s")
            values.append(pack_principals(principals))
        if good is not None:
            conditions.append(f"{_LAST_RATING} = %s")
            values.append(good)
        return self._read(
            f"{_ROWS} WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT %s",
            (*values, most),
            principals,
        )

    def find(self, id: str, principals: Principals) -> KeptAnswer:
        """See `AnswerLog.find`."""
        found = self._read(f"{_ROWS} WHERE id = %s", (id,), principals) if is_storable(id) else []
        for kept in found:
            if principals in (OWNER, kept.answer.request.principals):
                return kept
        raise _unknown(id)

    def find_same(self, key: str, principals: Principals) -> KeptAnswer | None:
        """See `AnswerLog.find_same`."""
        found = self._read(
            f"{_ROWS} WHERE key != '' AND key = %s AND principals = %s"
            " ORDER BY number DESC LIMIT 1",
            (key, pack_principals(principals)),
            principals,
        )
        return next((kept for kept in found if kept.key), None)

    def find_told(self, text: str, principals: Principals) -> KeptAnswer | None:
        """See `AnswerLog.find_told`."""
        found = self._read(
            f"{_ROWS} WHERE text_hash = %s AND principals = %s ORDER BY number DESC LIMIT 1",
            (_hash_text(text), pack_principals(principals)),
            principals,
        )
        return found[0] if text and found else None

    def read_document(self, id: str, version: int, principals: Principals) -> Document:
        """See `AnswerLog.read_document`."""
        with self._database.reading(principals) as connection:
            return drawn.read_document(connection, id, version, principals)

    def find_origins(self, ids: Sequence[str]) -> dict[str, FileOrigin]:
        """See `AnswerLog.find_origins`."""
        with self._database.reading() as connection:
            return drawn.find_origins(connection, ids)

    def list_drawn(self) -> list[Drawn]:
        """See `AnswerLog.list_drawn`."""
        with self._database.marking_writer(), self._database.reading() as connection:
            return list_all_drawn(connection)

    def _read(
        self, statement: str, values: Sequence[object], principals: Principals
    ) -> list[KeptAnswer]:
        """The answers of these rows, each as far as the caller may see it today.

        From where answers are written, as whoever asks for one may just have kept it.
        """
        with self._database.marking_writer(), self._database.reading() as connection:
            rows = connection.execute(statement, values).fetchall()
            sources = {number: _read_drawn(connection, number) for number, *_ in rows}
            feedback = {number: _read_feedback(connection, number) for number, *_ in rows}
            take_role(connection, principals)
            readable = drawn.find_readable(
                connection, {one for some in sources.values() for one in some}, principals
            )
            read_text = cache(partial(drawn.read_text, connection))
            return [
                read_kept(
                    columns, feedback[number], read_text if readable >= sources[number] else None
                )
                for number, *columns in rows
            ]


# -- forgetting ---------------------------------------------------------------------------------


def forget_purged(database: Database) -> None:
    """Erase what purges have noted, and then the notes."""
    with database.marking_writer(), database.asking() as connection:
        if connection.execute("SELECT FROM erasures LIMIT 1").fetchone() is None:
            return
    with database.changing() as connection:
        database.lock(connection, LOCK)
        for name, first, last in connection.execute(
            "DELETE FROM erasures RETURNING name, version, removed_in"
        ).fetchall():
            _erase_drawn(connection, name, first, last)


def list_all_drawn(connection: Connection) -> list[Drawn]:
    """The documents, by id and version, that any kept answer was drawn from."""
    return connection.execute(
        "SELECT DISTINCT name, version FROM drawn ORDER BY name, version"
    ).fetchall()


def _trace_history(
    connection: Connection, answer: Answer, principals: str
) -> tuple[Answer, set[Drawn]]:
    """The answer with what is known of its history, and what that was drawn from."""
    history = list(answer.request.history)
    sources: set[Drawn] = set()
    for place in range(1, len(history), 2):
        found = connection.execute(
            "SELECT number FROM answers WHERE text_hash = %s AND principals = %s"
            " ORDER BY number DESC LIMIT 1",
            (_hash_text(history[place]), principals),
        ).fetchone()
        if found is None or not history[place]:
            history[place] = ""
        else:
            sources |= _read_drawn(connection, found[0])
    return replace(answer, request=replace(answer.request, history=tuple(history))), sources


def _read_drawn(connection: Connection, number: int) -> set[Drawn]:
    found = connection.execute("SELECT name, version FROM drawn WHERE answer = %s", (number,))
    return set(found.fetchall())


def _read_feedback(connection: Connection, number: int) -> tuple[Feedback, ...]:
    return tuple(
        Feedback(good, json.loads(comment), datetime.fromtimestamp(given_at, UTC))
        for good, comment, given_at in connection.execute(
            "SELECT good, comment, given_at FROM feedback WHERE answer = %s ORDER BY number",
            (number,),
        )
    )


def _find_number(connection: Connection, id: str, principals: Principals) -> int:
    found = (
        connection.execute("SELECT number, principals FROM answers WHERE id = %s", (id,)).fetchone()
        if is_storable(id)
        else None
    )
    if found is None or (principals is not OWNER and found[1] != pack_principals(principals)):
        raise _unknown(id)
    return int(found[0])


def _erase_drawn(connection: Connection, name: str, first: int, last: int | None) -> None:
    """Erase the words of every answer that was drawn from a document between two versions."""
    for number, body in connection.execute(
        "SELECT number, body FROM answers WHERE number IN (SELECT answer FROM drawn"
        " WHERE name = %s AND version >= %s AND (%s::bigint IS NULL OR version < %s))",
        (name, first, last, last),
    ).fetchall():
        connection.execute(
            "UPDATE answers SET key = '', text_hash = ''::bytea, body = %s WHERE number = %s",
            (pack_answer(erase(unpack_answer(body))), number),
        )
        connection.execute("""UPDATE feedback SET comment = '""' WHERE answer = %s""", (number,))
        connection.execute("DELETE FROM drawn WHERE answer = %s", (number,))


def _hash_text(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _unknown(id: str) -> UnknownAnswer:
    return UnknownAnswer(f"no answer {id!r}", hint="`ibid answers` lists those that are kept")
