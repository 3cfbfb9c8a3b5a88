"""A folder that is watched: what changes in it is in the library soon after."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

import ibid
from conftest import command_line, find, list_ids, open_hashing, write
from ibid.errors import InputError, LibraryLocked
from ibid.records import IngestReport
from ibid.sources.watch import watch_changes

PATIENCE: Final = 60.0
"""Seconds after which what is waited for will not come."""


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


class Watched:
    """A library that watches a folder in a thread; what it reported."""

    def __init__(self, library: ibid.Library, folder: Path) -> None:
        self.library = library
        self.folder = folder
        self.stop = threading.Event()
        self.reports: list[IngestReport] = []
        self.refusals: list[InputError | LibraryLocked] = []
        self.syncs = 0
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        self.library.watch(
            self.folder,
            self.sync,
            stop=self.stop,
            on_report=self.reports.append,
            on_refusal=self.refusals.append,
        )

    def sync(self) -> IngestReport:
        self.syncs += 1
        return self.library.sync(self.folder)


@contextmanager
def watching(library: ibid.Library, folder: Path) -> Iterator[Watched]:
    watched = Watched(library, folder)
    watched.thread.start()
    try:
        wait_for(lambda: bool(watched.reports))
        yield watched
    finally:
        watched.stop.set()
        watched.thread.join(PATIENCE)
        assert not watched.thread.is_alive()


def test_what_changes_is_in_the_library_soon_after(library: ibid.Library, folder: Path) -> None:
    write(folder, {"a.md": "A heron wades.", "sub/b.md": "A plover runs."})
    with watching(library, folder) as watched:
        assert watched.reports[0].added == ("a.md", "sub/b.md")
        write(folder, {"c.md": "A curlew calls."})
        wait_for(lambda: "c.md" in list_ids(library))
        (folder / "sub").rename(folder / "other")
        wait_for(lambda: list_ids(library) == ["a.md", "c.md", "other/b.md"])
        (folder / "a.md").unlink()
        wait_for(lambda: "a.md" not in list_ids(library))
        new = folder / ".c.md.part"  # as editors do
        new.write_text("A curlew sleeps.")
        (folder / "c.md").rename(folder / "c.md~")
        new.rename(folder / "c.md")
        (folder / "c.md~").unlink()
        wait_for(lambda: find(library, "sleeps") == ["c.md"])
        assert find(library, "calls") == []
        assert len(library.history("c.md")) == 2  # it never was another document
        assert watched.refusals == []


def test_a_name_that_only_changes_its_case_is_a_move(library: ibid.Library, folder: Path) -> None:
    write(folder, {"Leave.md": "A heron wades."})
    library.sync(folder)
    library.set("Leave.md", allow={"group:hr"})
    (folder / "Leave.md").rename(folder / "leave.md")
    report = library.sync(folder)
    assert [(moved.old_id, moved.new_id) for moved in report.moved] == [("Leave.md", "leave.md")]
    assert library.describe("leave.md", ibid.OWNER).allow == frozenset({"group:hr"})


def test_a_library_in_the_folder_is_no_change(folder: Path) -> None:
    write(folder, {"a.md": "A heron wades."})
    with open_hashing(folder / ".ibid") as library, watching(library, folder) as watched:
        write(folder, {"b.md": "A plover runs."})
        wait_for(lambda: "b.md" in list_ids(library))
        before = watched.syncs
        for edition in range(3):  # these change the library, and nothing else in the folder
            library.update(ibid.Document("note", f"Edition {edition}."))
        write(folder, {"c.md": "A curlew calls."})
        wait_for(lambda: "c.md" in list_ids(library))
        assert watched.syncs <= before + 2


def test_a_sync_that_is_refused_is_told_and_tried_again(
    library: ibid.Library, folder: Path
) -> None:
    write(folder, {f"{n}.md": f"Page {n}." for n in range(12)})
    with watching(library, folder) as watched:
        for n in range(11):
            (folder / f"{n}.md").rename(folder.parent / f"{n}.md")
        wait_for(lambda: bool(watched.refusals))
        assert "would be removed" in str(watched.refusals[-1])
        for n in range(11):
            (folder.parent / f"{n}.md").rename(folder / f"{n}.md")
        write(folder, {"new.md": "A new page."})
        wait_for(lambda: "new.md" in list_ids(library))
        assert len(list_ids(library)) == 13


def test_a_quiet_folder_is_looked_at_now_and_then(folder: Path) -> None:
    stop = threading.Event()
    signals = watch_changes(folder, stop=stop, rescan_seconds=0.0)
    assert [next(signals) for _ in range(3)] == [None, None, None]
    stop.set()
    assert list(signals) in ([], [None])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watch_at_the_command_line_ends_with_its_last_report(
    tmp_path: Path, folder: Path, number: signal.Signals
) -> None:
    place = tmp_path / "library"
    write(folder, {"a.md": "A heron wades."})
    child = subprocess.Popen(
        command_line(["sync", folder, "--watch", "--json"]),
        env={**os.environ, "IBID_LIBRARY": str(place), "IBID_EMBEDDER_NAME": "hashing"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with open_hashing(place) as library:
            wait_for(lambda: list_ids(library) == ["a.md"])
            write(folder, {"b.md": "A plover runs."})
            wait_for(lambda: list_ids(library) == ["a.md", "b.md"])
        assert child.stderr is not None
        while "1 added" not in child.stderr.readline():
            pass
        while "1 added, 1 unchanged" not in child.stderr.readline():
            pass
        child.send_signal(number)
        out, _ = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == 0
    assert json.loads(out)["added"] == ["b.md"]
