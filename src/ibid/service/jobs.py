"""Work that goes on when its request is answered: kept in the store, done one after the other.

A job that a server is stopped or killed in goes on with the next one, from the last file that is in
the library; an evaluation begins anew.
"""

from __future__ import annotations

import fcntl
import json
import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ibid.errors import IbidError, LibraryLocked, UnknownDocument
from ibid.service.store import Store
from ibid.shapes import Shape, shape_error

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger("ibid.service")

Kind: TypeAlias = Literal["documents", "sync", "evaluate"]
Advance: TypeAlias = Callable[[int, int, Shape | None], None]
"""Told how many parts are done, of how many, and what the last one did."""

CarryOut: TypeAlias = "Callable[[Job, Advance], None]"

LANES: Final[Mapping[str, tuple[Kind, ...]]] = {
    "service": ("documents", "sync"),
    "evaluate": ("evaluate",),
}
"""The kinds of jobs that wait for one another, by the name of the lock of who does them: whoever
writes does not wait for what is measured."""

_OF_KINDS: Final = "kind IN (SELECT value FROM json_each(?))"

AGAIN_SECONDS: Final = 1.0
"""How long a job waits for who else writes to the library, and a server for who does the jobs."""


class Interrupted(Exception):
    """The server stops; the job goes on with the next one."""


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work: whose, what, how far it is and what came of it; `attempts` counts its
    beginnings."""

    id: str
    caller: str
    kind: Kind
    state: Literal["waiting", "running", "done", "failed"]
    work: Mapping[str, Any]
    done: int
    total: int
    attempts: int
    created_at: str
    updated_at: str
    report: Shape
    error: Shape | None


def shape_job(job: Job) -> Shape:
    """A job as its caller sees it."""
    return {
        "job_id": job.id,
        "kind": job.kind,
        "state": job.state,
        "done": job.done,
        "total": job.total,
        "created_at": job.created_at,
        "updated_at": job.updated_at,
        "report": job.report,
        "error": job.error,
    }


@dataclass(frozen=True, slots=True)
class _Lane:
    """The thread that does the jobs of some kinds, and what wakes it."""

    thread: threading.Thread
    wake: threading.Event
    kinds: tuple[Kind, ...]


class Jobs:
    """The jobs of a library, and the threads that do them; one server at a time has each lane."""

    def __init__(self, store: Store, work: Mapping[Kind, CarryOut], *, folder: Path) -> None:
        self._store = store
        self._work = work
        self._folder = folder
        self._stopping = threading.Event()
        self._lanes = [self._make_lane(name, kinds) for name, kinds in LANES.items()]

    def start(self) -> None:
        """Begin with what waits."""
        for lane in self._lanes:
            lane.thread.start()

    def stop(self) -> None:
        """End after what can't be interrupted; the rest waits for the next server."""
        self._stopping.set()
        for lane in self._lanes:
            lane.wake.set()
        for lane in self._lanes:
            if lane.thread.is_alive():
                lane.thread.join()

    def put(self, caller: str, kind: Kind, work: Mapping[str, Any], total: int) -> Job:
        """A new job, which is kept before this returns."""
        id, now = secrets.token_hex(8), _now()
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT INTO jobs (id, caller, kind, state, work, done, total, attempts,"
                " created_at, updated_at, report) VALUES (?, ?, ?, 'waiting', ?, 0, ?, 0, ?, ?, ?)",
                (id, caller, kind, json.dumps(work), total, now, now, "{}"),
            )
        for lane in self._lanes:
            lane.wake.set()
        return self.find(id, caller)

    def find(self, id: str, caller: str) -> Job:
        """A job of a caller. Raises UnknownDocument, also for another's."""
        found = self._store.read("SELECT * FROM jobs WHERE id = ? AND caller = ?", id, caller)
        if not found:
            raise UnknownDocument(f"no job {id!r}", hint="it is told when documents are sent")
        return _read(found[0])

    def list(self, caller: str, most: int, kind: Kind | None = None) -> list[Job]:
        """The newest jobs of a caller, of all kinds or of one, newest first."""
        sql = (
            "SELECT * FROM jobs WHERE caller = ? AND kind = coalesce(?, kind)"
            " ORDER BY number DESC LIMIT ?"
        )
        return [_read(row) for row in self._store.read(sql, caller, kind, most)]

    def count_open(self) -> int:
        """How many are not done."""
        sql = "SELECT count(*) FROM jobs WHERE state IN ('waiting', 'running')"
        return int(self._store.read(sql)[0][0])

    # -- the threads -----------------------------------------------------------------------------

    def _make_lane(self, name: str, kinds: tuple[Kind, ...]) -> _Lane:
        wake = threading.Event()
        arguments = (self._folder / f"{name}.lock", kinds, wake)
        thread = threading.Thread(
            target=self._run, args=arguments, name=f"ibid-jobs-{name}", daemon=True
        )
        return _Lane(thread, wake, kinds)

    def _run(self, lock: Path, kinds: tuple[Kind, ...], wake: threading.Event) -> None:
        with lock.open("a") as file:
            while not _take_lock(file):
                if self._stopping.wait(AGAIN_SECONDS):
                    return
            sql = f"UPDATE jobs SET state = 'waiting' WHERE state = 'running' AND {_OF_KINDS}"
            self._update(sql, json.dumps(kinds))
            while not self._stopping.is_set():
                wake.clear()
                if (job := self._next(kinds)) is None:
                    wake.wait(AGAIN_SECONDS)
                else:
                    self._do(job)

    def _next(self, kinds: tuple[Kind, ...]) -> Job | None:
        sql = f"SELECT * FROM jobs WHERE state = 'waiting' AND {_OF_KINDS} ORDER BY number LIMIT 1"
        found = self._store.read(sql, json.dumps(kinds))
        return _read(found[0]) if found else None

    def _do(self, job: Job) -> None:
        self._set(job.id, state="running", attempts=job.attempts + 1)
        report = dict(job.report)

        def advance(done: int, total: int, part: Shape | None) -> None:
            nonlocal report
            report = report if part is None else merge_reports(report, part)
            self._set(job.id, done=done, total=total, report=json.dumps(report))
            if self._stopping.is_set():
                raise Interrupted

        try:
            self._work[job.kind](job, advance)
        except Interrupted:
            self._set(job.id, state="waiting")
        except LibraryLocked:  # someone else writes, which has an end
            self._set(job.id, state="waiting")
            self._stopping.wait(AGAIN_SECONDS)
        except IbidError as error:
            self._end(job.id, "failed", error=json.dumps(shape_error(error)["error"]))
        except Exception as error:  # noqa: BLE001 - the face: one job's end must not be the others'
            _log.exception("job %s broke", job.id)
            shape = {"type": "InternalError", "message": type(error).__name__, "hint": ""}
            self._end(job.id, "failed", error=json.dumps(shape))
        else:
            self._end(job.id, "failed" if report.get("failed") else "done")

    def _end(self, id: str, state: str, **values: object) -> None:
        """What was to be done is dropped: it holds texts, which must go when a document does."""
        self._set(id, state=state, work="{}", **values)

    def _set(self, id: str, **values: object) -> None:
        named = ", ".join(f"{name} = ?" for name in values)
        self._update(
            f"UPDATE jobs SET {named}, updated_at = ? WHERE id = ?", *values.values(), _now(), id
        )

    def _update(self, sql: str, *values: object) -> None:
        with self._store.transaction() as connection:
            connection.execute(sql, values)


def merge_reports(before: Shape, part: Shape) -> Shape:
    """What both did, one after the other: lists joined, counts added, the later version."""
    merged = dict(before)
    for name, value in part.items():
        if name == "version" or name not in before:
            merged[name] = value
        elif isinstance(value, dict):
            merged[name] = merge_reports(before[name], value)
        else:
            merged[name] = before[name] + value
    return merged


def _take_lock(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _read(row: sqlite3.Row) -> Job:
    return Job(
        row["id"],
        row["caller"],
        row["kind"],
        row["state"],
        json.loads(row["work"]),
        row["done"],
        row["total"],
        row["attempts"],
        row["created_at"],
        row["updated_at"],
        json.loads(row["report"]),
        None if row["error"] is None else json.loads(row["error"]),
    )
