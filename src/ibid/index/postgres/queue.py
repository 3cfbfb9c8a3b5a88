"""The files that wait for workers: their bytes in the library's tables, their turn in a queue.

The bytes travel by the database, as a worker may be on a machine that sees neither the folder nor
its drive. Whose turn it is, who works on it and who has died of it is procrastinate's to know; its
tables lie in a schema of their own, and hold nothing but the numbers of files.

A file is taken up under an attempt, and the commit that takes it in first makes sure that this is
still the last one: a worker that was thought dead, and another works on its file, can't commit.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from ibid.errors import IbidError, LibraryError, UnreadableDocument
from ibid.index.postgres.database import Database
from ibid.index.postgres.turns import Deal, Turns
from ibid.plain import from_plain, to_plain
from ibid.protocols import FileStat, QueuedFile, Taken
from ibid.protocols.queue import GiveUp, TakeFile
from ibid.records import IngestReport

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection


class Superseded(LibraryError):
    """What this worker was about to commit is another one's by now."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A file as it was taken up; `committed` when an earlier attempt died only after its commit."""

    number: int
    attempt: int
    committed: bool
    file: QueuedFile


class PostgresQueue:
    """A `FileQueue` in a library's database.

    A worker that was silent for `lost_s` is taken for dead; a file is given up after `attempts`.
    """

    def __init__(self, database: Database, *, attempts: int, lost_s: float) -> None:
        """Keep the files of this library."""
        self._database = database
        self._attempts = attempts
        self._turns = Turns(database, lost_s=lost_s)

    @contextmanager
    def begin(self, source: str, prefix: str, rules: str) -> Iterator[PostgresRun]:
        """See `FileQueue.begin`."""
        run = secrets.token_hex(16)
        with self._database.changing() as connection:
            connection.execute("DELETE FROM runs WHERE source = %s", (source,))
            connection.execute(
                "INSERT INTO runs VALUES (%s,%s,%s,%s)", (run, source, prefix, rules)
            )
        try:
            with self._turns.dealing() as deal:
                yield PostgresRun(self._database, run, deal)
        finally:
            with self._database.changing() as connection:
                connection.execute("DELETE FROM runs WHERE id = %s", (run,))

    def count_workers(self) -> int:
        """See `FileQueue.count_workers`."""
        return self._turns.count_workers()

    def work(self, take: TakeFile, give_up: GiveUp, *, drain: bool = False) -> int:
        """See `FileQueue.work`."""
        done: list[int] = []

        def take_number(number: int) -> None:
            attempt = self._take_up(number)
            if attempt is not None:
                with suppress(Superseded):
                    self._tell(attempt, self._carry_out(attempt, take, give_up))
                    done.append(number)

        self._turns.work(take_number, drain=drain)
        return len(done)

    def _carry_out(self, attempt: Attempt, take: TakeFile, give_up: GiveUp) -> IngestReport | None:
        """The file taken in, or given up; what is raised before the last attempt goes on."""
        if attempt.committed:
            return None
        with self._database.guarding(partial(_claim, attempt)):
            if attempt.attempt > self._attempts:
                died = f"{self._attempts} workers died of it, or lost the library"
                return give_up(attempt.file, UnreadableDocument(died, hint="read it by itself"))
            try:
                return take(attempt.file)
            except Superseded:
                raise
            except IbidError as error:
                if attempt.attempt < self._attempts:
                    raise
                return give_up(attempt.file, error)

    def _take_up(self, number: int) -> Attempt | None:
        """A file under a new attempt; None for one that is done, or was dropped."""
        with self._database.changing() as connection:
            found = connection.execute(_TAKE_UP, (number,)).fetchone()
        if found is None:
            return None
        attempt, committed, path, uri, stat, known, media_type, data, *run = found
        source, prefix, rules = run
        file = QueuedFile(
            source=source,
            prefix=prefix,
            path=path,
            uri=uri,
            stat=FileStat(*json.loads(stat)),
            data=data,
            rules=rules,
            media_type=media_type,
            **json.loads(known),
        )
        return Attempt(number, attempt, committed, file)

    def _tell(self, attempt: Attempt, report: IngestReport | None) -> None:
        """Say what became of a file, and let go of its bytes."""
        with self._database.changing() as connection:
            connection.execute(
                "UPDATE queued SET outcome = %s, data = '' WHERE number = %s AND attempts = %s",
                (json.dumps(to_plain(report)), attempt.number, attempt.attempt),
            )


class PostgresRun:
    """A `FileRun` in a library's database."""

    def __init__(self, database: Database, run: str, deal: Deal) -> None:
        """Put files under this run, and give them their turns by `deal`."""
        self._database = database
        self._run = run
        self._deal = deal

    def put(self, file: QueuedFile) -> None:
        """See `FileRun.put`."""
        known = {"inside": list(file.inside), "hashes": dict(file.hashes)}
        with self._database.changing() as connection:
            ((number,),) = connection.execute(
                "INSERT INTO queued (run, path, uri, stat, known, media_type, data)"
                " VALUES (%s,%s,%s,%s,%s,%s,%b) RETURNING number",
                (
                    self._run,
                    file.path,
                    file.uri,
                    json.dumps(file.stat),
                    json.dumps(known),
                    file.media_type,
                    file.data,
                ),
            ).fetchall()
        self._deal(number)

    def settle(self) -> list[Taken]:
        """See `FileRun.settle`."""
        with self._database.changing() as connection:
            found = connection.execute(
                "DELETE FROM queued WHERE run = %s AND outcome IS NOT NULL RETURNING path, outcome",
                (self._run,),
            ).fetchall()
            held = connection.execute("SELECT FROM runs WHERE id = %s", (self._run,)).fetchone()
        if held is None:
            raise LibraryError(
                "another sync has begun to hand out the files of this source",
                hint="let one process at a time sync one folder",
            )
        return [Taken(path, _read_report(json.loads(outcome))) for path, outcome in found]


def _read_report(plain: dict[str, object] | None) -> IngestReport | None:
    return None if plain is None else from_plain(IngestReport, plain)


def _claim(attempt: Attempt, connection: Connection) -> None:
    """Mark a file as taken in with the commit that does so; Superseded for an earlier attempt."""
    values = (attempt.number, attempt.attempt)
    if connection.execute(_COMMIT, values).fetchone() is None:
        raise Superseded(
            f"another worker has taken up {attempt.file.path}",
            hint="this one was silent for too long; it goes on with the next file",
        )


_TAKE_UP: Final = """
UPDATE queued q SET attempts = attempts + 1 FROM runs r
WHERE q.number = %s AND q.outcome IS NULL AND r.id = q.run
RETURNING q.attempts, q.committed, q.path, q.uri, q.stat, q.known, q.media_type, q.data,
    r.source, r.prefix, r.rules
"""

_COMMIT: Final = """
UPDATE queued SET committed = true
WHERE number = %s AND attempts = %s AND outcome IS NULL RETURNING number
"""
