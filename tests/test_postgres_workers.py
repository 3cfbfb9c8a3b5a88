"""Workers of a library in PostgreSQL take in what a sync hands out, whatever becomes of them."""

from __future__ import annotations

import random
import subprocess
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

import ibid
from conftest import run_ibid, write
from ibid.errors import BadSetting, LibraryError
from ibid.flows.options import SyncOptions
from ibid.flows.work import give_up, take_in
from ibid.index.postgres.queue import PostgresQueue, PostgresRun, Superseded
from ibid.protocols import FileStat, QueuedFile, SourceInfo, Taken
from postgres_server import locate
from worker_kills import WorkerKills, open_place, start_worker, working

LETTER = """From: Ann <ann@example.org>
Subject: Kettles
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="part"

--part
Content-Type: text/plain

The list of kettles is enclosed.
--part
Content-Type: text/plain; name="list.txt"
Content-Disposition: attachment; filename="list.txt"

Kettle nine boils in a minute.
--part--
"""

RULES = """
[[rules]]
match = "hr/**"
allow = ["group:hr"]
tags = { team = "hr" }
"""


@pytest.fixture
def address(postgres: str, tmp_path: Path) -> str:
    pytest.importorskip("procrastinate", reason="needs the extra postgres")
    return locate(postgres, tmp_path)


def test_workers_do_what_a_sync_does_by_itself(address: str, tmp_path: Path, folder: Path) -> None:
    """Rules, front matter, attachments, failures, moves and removals, edition after edition."""
    write(
        folder,
        {
            "ibid.toml": RULES,
            "a.md": "---\ntitle: Plans\n---\nThe plan has three parts.",
            "hr/pay.md": "# Pay\n\nPay comes on the last day.",
            "letter.eml": LETTER,
            "broken.pdf": "this is no PDF",
            "empty.md": "",
        },
    )
    editions: list[dict[str, str]] = [
        {},
        {"a.md": "---\ntitle: Plans\n---\nThe plan has four parts.", "b.md": "Something new."},
    ]
    with (
        working(address, 1),
        open_place(address) as library,
        open_place(str(tmp_path / "embedded")) as alone,
    ):
        for number, changed in enumerate(editions):
            write(folder, changed)
            if number:
                (folder / "hr/pay.md").rename(folder / "hr/wages.md")
                (folder / "letter.eml").unlink()
            mine = library.sync(folder, workers=True)
            theirs = alone.sync(folder)
            for what in ("added", "updated", "moved", "removed", "skipped", "failed"):
                assert sorted(getattr(mine, what), key=str) == sorted(
                    getattr(theirs, what), key=str
                ), what
            assert mine.passages == theirs.passages
            assert look(library) == look(alone)
        assert library.sync(folder, workers=True).failed == theirs.failed
        assert library.verify() == []


def look(library: ibid.Library) -> list[Any]:
    """What a library holds, but for versions and the order of its rows."""
    infos = sorted(library.documents(ibid.OWNER), key=lambda info: info.id)
    return [
        (info.id, info.title, info.source, info.allow, info.tags, info.modified_at, info.passages)
        for info in infos
    ]


def test_killed_workers_lose_nothing_and_write_nothing_twice(address: str, tmp_path: Path) -> None:
    struck = WorkerKills(address, tmp_path / "folder", 24, random.Random(20261130))
    struck.strike(5)
    assert struck.counts["kills"] == 5


def test_what_workers_die_of_fails_with_its_reason(address: str, folder: Path) -> None:
    """The others come in, and the next sync reads it only when it has changed."""
    write(folder, {"a.md": "Something.", "b.md": "It grows deadly nightshade.", "c.md": "Else."})
    with working(address, 1) as workers, open_place(address) as library:

        def replace_dead() -> None:
            if workers[0].poll() is not None:
                workers[0] = start_worker(address)

        report = library.sync(folder, workers=True, on_wait=replace_dead)
        assert sorted(report.added) == ["a.md", "c.md"]
        ((failed),) = report.failed
        assert (failed.id, failed.error) == ("b.md", "UnreadableDocument")
        assert "3 workers died" in failed.message
        again = library.sync(folder, workers=True)
        assert again.failed == report.failed
        assert again.unchanged == 2
        write(folder, {"b.md": "It grows roses."})
        assert library.sync(folder, workers=True).added == ("b.md",)
        assert library.verify() == []


def test_a_worker_that_was_thought_dead_commits_nothing(address: str, folder: Path) -> None:
    """What it was at is another's by then; and what a dead one has committed stays so."""
    with open_place(address) as library:
        queue, index = cast(PostgresQueue, library._queue), library._index
        index.put_source(SourceInfo("handbook", folder.as_uri(), ""))
        options, embedder = SyncOptions(), library._parts.embedder
        work = (
            partial(take_in, options=options, index=index, embedder=embedder),
            partial(give_up, index=index),
        )
        with queue.begin("handbook", "", "") as run:
            stat = FileStat(10, 1, 1)
            run.put(QueuedFile("handbook", "", "a.md", "file:///a.md", stat, b"Something."))
            first, second = (queue._take_up(1) for _ in range(2))
            assert first is not None
            assert second is not None
            with pytest.raises(Superseded):
                queue._carry_out(first, *work)
            assert index.snapshot().version == 0
            report = queue._carry_out(second, *work)
            assert report is not None
            assert report.added == ("a.md",)
            third = queue._take_up(1)
            assert third is not None
            assert queue._carry_out(third, *work) is None
            queue._tell(third, None)
            assert run.settle() == [Taken("a.md", None)]
        assert index.snapshot().version == 1


def test_what_nobody_told_of_is_known_from_the_library(address: str, folder: Path) -> None:
    """A worker that dies between its commit and its report leaves nothing uncounted."""
    write(folder, {"a.md": "Something.", "letter.eml": LETTER, "bad.pdf": "no PDF", "e.md": " "})
    settle = PostgresRun.settle
    with working(address, 1), open_place(address) as library:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                PostgresRun,
                "settle",
                lambda run: [replace(taken, report=None) for taken in settle(run)],
            )
            report = library.sync(folder, workers=True)
        assert sorted(report.added) == ["a.md", "letter.eml", "letter.eml/list.txt"]
        assert [failed.id for failed in report.failed] == ["bad.pdf"]


def test_a_worker_drains_the_queue_and_ends(address: str, folder: Path) -> None:
    write(folder, {"a.md": "Something.", "b.md": "Something else."})
    with open_place(address) as library:
        worker: list[subprocess.Popen[bytes]] = []

        def start() -> None:
            if not worker:
                worker.append(start_worker(address, "--drain"))

        assert len(library.sync(folder, workers=True, on_wait=start).added) == 2
        assert worker[0].wait(30) == 0
        assert library.count_workers() == 0


def test_the_command_line_starts_workers(address: str, folder: Path) -> None:
    """With the model that they are given by the settings."""
    write(folder, {"a.md": "Something.", "b.md": "Something else."})
    place: Any = address
    done = run_ibid("sync", folder, "--workers", "1", library=place, real=True)
    assert sorted(done["added"]) == ["a.md", "b.md"]
    assert run_ibid("worker", "--drain", library=place, real=True)["taken"] == 0


def test_workers_need_a_database_and_no_password(
    tmp_path: Path, address: str, folder: Path
) -> None:
    write(folder, {"a.md": "Something."})
    with open_place(str(tmp_path / "library")) as library:
        with pytest.raises(BadSetting, match="PostgreSQL"):
            library.sync(folder, workers=True)
        with pytest.raises(BadSetting, match="PostgreSQL"):
            library.work()
    with open_place(address) as library, pytest.raises(BadSetting, match="password"):
        library.sync(folder, workers=True, password="x")


def test_a_sync_that_ends_early_leaves_nothing_waiting(address: str, folder: Path) -> None:
    """Neither its files nor their bytes; the next one hands them out again."""
    write(folder, {"a.md": "Something.", "b.md": "Something else."})

    def stop() -> None:
        raise KeyboardInterrupt

    with open_place(address) as library:
        with pytest.raises(KeyboardInterrupt):
            library.sync(folder, workers=True, on_wait=stop)
        queue: Any = library._queue
        with queue._database.changing() as connection:
            assert connection.execute("SELECT count(*) FROM queued").fetchone() == (0,)
        with working(address, 1):
            assert len(library.sync(folder, workers=True).added) == 2
        started = time.monotonic()
        while library.count_workers() and time.monotonic() < started + 20:
            time.sleep(0.1)
        assert library.count_workers() == 0


def test_what_is_purged_is_not_handed_out(address: str, folder: Path) -> None:
    """Its bytes leave the queue with it, and the sync that waits for it goes on."""
    write(folder, {"a.md": "Something.", "b.md": "Something else."})
    with open_place(address) as library:
        library.sync(folder)
        write(folder, {"a.md": "Something new.", "b.md": "Something else again."})
        workers: list[subprocess.Popen[bytes]] = []

        def purge() -> None:
            if not workers:
                library.remove("a.md", purge=True)
                workers.append(start_worker(address, "--drain"))

        report = library.sync(folder, workers=True, on_wait=purge)
        workers[0].wait(30)
        assert (report.added, report.updated) == ((), ("b.md",))
        assert [info.id for info in library.documents()] == ["b.md"]
        assert library.verify() == []


def test_two_syncs_of_one_folder_are_told(address: str, folder: Path) -> None:
    """The later one goes on, the other one is told instead of waiting for ever."""
    write(folder, {"a.md": "Something."})
    with open_place(address) as library, open_place(address) as other:

        def intrude() -> None:
            with working(address, 1):
                assert other.sync(folder, workers=True).added == ("a.md",)

        with pytest.raises(LibraryError, match="another sync"):
            library.sync(folder, workers=True, on_wait=intrude)
