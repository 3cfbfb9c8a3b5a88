"""A sync that is killed at any moment: what it said it committed is there, nothing is half there,
and the next one finishes. Beside it: several processes at one library."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import pytest

import ibid
from conftest import command_line, find, list_ids, open_hashing, run_ibid, write
from ibid.records import IngestReport
from whole_pages import EVERY, check_whole, page, search_all

KILLS: Final = 20
FILES: Final = 20
SMALL_COMMITS: Final = {"IBID_EMBEDDER_NAME": "hashing", "IBID_INGEST_BATCH": "1"}


def change_folder(folder: Path, edition: int, chance: random.Random) -> None:
    """Write, rename, delete and leave files: most of them are to be read after it."""
    for number in range(FILES):
        file = folder / f"{number:02}.md"
        name = f"{file.stem}x.md" if chance.random() < 0.2 else file.name
        files = [path for path in (file, folder / f"{file.stem}x.md") if path.exists()]
        act = chance.random()
        if not files or act < 0.6:
            for path in files:
                path.unlink()
            write(folder, {name: page(name, edition)})
        elif act < 0.7:
            files[0].rename(folder / name)
        elif act < 0.8:
            files[0].unlink()


@contextmanager
def syncing(folder: Path, place: Path) -> Iterator[subprocess.Popen[str]]:
    """A sync in a child process that commits every document on its own."""
    child = subprocess.Popen(
        command_line(["sync", folder, "--yes"]),
        env={**os.environ, "IBID_LIBRARY": str(place), **SMALL_COMMITS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        child.stderr.close()


def kill_within(child: subprocess.Popen[str], lines: int, seconds: float) -> tuple[bool, str]:
    """Kill after so many commits and a moment more; whether it hit, and what had been reported."""
    assert child.stderr is not None
    reported = "".join(child.stderr.readline() for _ in range(lines))
    time.sleep(seconds)
    child.kill()
    hit = child.wait() == -signal.SIGKILL
    return hit, reported + child.stderr.read()


def check_committed(library: ibid.Library, folder: Path, reads: list[str], reported: str) -> None:
    """All that was reported as done is there as it is in the folder."""
    lines = re.findall(r"version (\d+): (\d+) of (\d+) files done", reported)
    if not lines:
        return
    version, done, total = map(int, lines[-1])
    assert library.status().version >= version
    assert total == len(reads)
    for id in reads[:done]:
        text = (folder / id).read_text()
        assert re.findall(r"edition\d+", library.document(id).text) == re.findall(
            r"edition\d+", text
        )


def test_killed_at_twenty_random_moments(tmp_path: Path, folder: Path) -> None:
    chance = random.Random(20261130)
    place = tmp_path / "library"
    moments: Counter[str] = Counter()
    for edition in range(2 * KILLS):
        change_folder(folder, edition, chance)
        with open_hashing(place) as library:
            foretold = library.sync(folder, dry_run=True, allow_emptying=True)
        reads = sorted(foretold.added + foretold.updated)
        lines = chance.choice([0, chance.randrange(len(reads))])
        seconds = chance.uniform(0.0, 0.06 if lines else 1.2)
        with syncing(folder, place) as child:
            hit, reported = kill_within(child, lines, seconds)
        with open_hashing(place) as library:
            check_whole(library)
            check_committed(library, folder, reads, reported)
        moments["hit" if hit else "missed"] += 1
        moments["during commits" if hit and reported else "before or after"] += 1
        if moments["hit"] == KILLS:
            break
    assert moments["hit"] == KILLS
    assert moments["during commits"] >= KILLS // 4

    report = run_ibid("sync", folder, "--yes", library=place)
    assert report["failed"] == []
    with open_hashing(place) as library, open_hashing(tmp_path / "fresh") as fresh:
        check_whole(library)
        assert library.sync(folder).unchanged == len(list(folder.iterdir()))
        fresh.sync(folder)
        assert list_ids(library) == list_ids(fresh)
        assert describe(library) == describe(fresh)
    names = {file.name for file in (place / "vectors").iterdir()}
    assert len(names) < 20  # what the killed ones left behind is cleared


def describe(library: ibid.Library) -> object:
    """What two libraries of the same folder have in common: all but versions and order."""
    infos = library.documents(ibid.OWNER)
    listed = sorted((i.id, i.title, i.source, i.passages, i.characters) for i in infos)
    texts = {info.id: library.document(info.id, ibid.OWNER).text for info in infos}
    dense = sorted(
        (hit.document_id, hit.passage.start, hit.passage.text, round(hit.score, 3))
        for hit in search_all(library, "dense")
    )
    lexical = sorted(
        (hit.document_id, hit.passage.start, hit.passage.text)
        for hit in search_all(library, "lexical")
    )
    return listed, texts, dense, lexical


def test_a_reader_in_another_process_sees_whole_documents_while_a_sync_runs(
    tmp_path: Path, folder: Path
) -> None:
    place = tmp_path / "library"
    names = [f"{number:02}.md" for number in range(FILES)]
    with open_hashing(place) as library:
        write(folder, {name: page(name, 0) for name in names})
        library.sync(folder)
        write(folder, {name: page(name, 1) for name in names})
        seen: set[int] = set()
        with syncing(folder, place) as child:
            while child.poll() is None:
                for mode in ("lexical", "dense", "hybrid"):
                    query = ibid.Query("common edition", ibid.OWNER)
                    result = library.run_search(query, mode=mode, k=EVERY)
                    seen.add(result.version)
                    found = Counter(
                        (hit.document_id, tuple(re.findall(r"edition\d+", hit.passage.text)))
                        for hit in result.hits
                    )
                    assert sorted(id for id, _ in found) == names  # one edition of each
                    assert set(found.values()) == {3}
            assert child.returncode == 0
        assert len(seen) > 2
        assert {hit.passage.text.count("edition1") for hit in search_all(library, "dense")} == {1}


@pytest.mark.parametrize("moved", [True, False])
def test_what_an_interrupted_sync_left_of_a_file_that_is_gone_goes_at_the_next(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    def interrupt(progress: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("IBID_INGEST_BATCH", "1")
    with open_hashing(tmp_path / "library") as library:
        write(folder, {"b.md": "The walrus sleeps."})
        library.sync(folder)
        (folder / "b.md").unlink()
        write(folder, {"a.md": "The seal hunts.", "c.md": "The gopher sleeps."})  # of b's size
        if moved:
            write(folder, {"c.md": "The walrus sleeps."})
        with pytest.raises(KeyboardInterrupt):
            library.sync(folder, on_progress=interrupt)
        library.sync(folder)
        assert list_ids(library) == ["a.md", "c.md"]
        assert find(library, "walrus") == (["c.md"] if moved else [])


# -- one writer at a time -------------------------------------------------------------------------

HOLD: Final = """
import sys, ibid
from ibid.testing.embedders import HashingEmbedder
with ibid.open(sys.argv[1], embedder=HashingEmbedder()) as library, library.writing():
    library.ingest(ibid.Document("held", "Written while the lock was held."))
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holding_the_lock(place: Path) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A process that is writing until its standard input is closed."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "held\n"
        yield child, child.stdin
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()


def test_a_second_writer_gives_up_when_its_time_is_over_and_readers_do_not_wait(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "library"
    monkeypatch.setenv("IBID_LOCK_TIMEOUT_S", "0.2")
    write(folder, {"a.md": "A page."})
    with holding_the_lock(place), open_hashing(place) as library:
        changes: list[Callable[[], IngestReport]] = [
            lambda: library.ingest(ibid.Document("new", "A text.")),
            lambda: library.remove("held"),
            lambda: library.set("held", public=True),
            lambda: library.sync(folder),
            lambda: library.remove("held", purge=True),
        ]
        for change in changes:
            with pytest.raises(ibid.LibraryLocked, match="another process") as locked:
                change()
            assert "0.2 s" in locked.value.hint
        assert list_ids(library) == ["held"]
        assert library.search("written", mode="lexical")
        found = run_ibid("sync", folder, library=place, code=1)
        assert found["error"]["type"] == "LibraryLocked"
        assert len(run_ibid("list", library=place)["documents"]) == 1


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with holding_the_lock(place) as (_, stdin), open_hashing(place) as library:
        waiting = threading.Thread(
            target=lambda: library.ingest(ibid.Document("second", "A text."))
        )
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert list_ids(library) == ["held"]
        stdin.close()
        waiting.join(30)
        assert not waiting.is_alive()
        assert list_ids(library) == ["held", "second"]


def test_the_lock_goes_with_the_process_that_held_it(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with holding_the_lock(place) as (child, _), open_hashing(place) as library:
        child.kill()
        child.wait()
        library.ingest(ibid.Document("after", "A text."))
        assert list_ids(library) == ["after", "held"]
