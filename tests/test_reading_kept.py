"""Readers are kept between syncs, for a while, and end with the library."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

import ibid
from conftest import open_hashing, write
from ibid.reading.kept import KeptReaders
from ibid.reading.pool import FileRead, FileToRead, ReaderPool


def find_readers() -> set[int]:
    """The children of this process that read files."""
    found = set()
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # one that has just ended
            if "ibid.reading.child" in child.cmdline():
                found.add(child.pid)
    return found


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def offer(folder: Path) -> FileToRead:
    write(folder, {"a.md": "# Herons\n\nThey wade.\n"})
    return FileToRead(folder / "a.md", "a.md")


def test_a_library_reads_all_its_syncs_in_one_child(folder: Path, tmp_path: Path) -> None:
    before = find_readers()
    with open_hashing(tmp_path / "library") as library:
        seen = set()
        for edition in range(3):
            write(folder, {"a.md": f"Herons wade, edition {edition}.\n"})
            library.sync(folder)
            seen |= find_readers() - before
        assert len(seen) == 1
        assert library.document("a.md").text == "Herons wade, edition 2."
    assert find_readers() == before


def test_files_that_are_added_are_read_in_children_of_their_own(
    folder: Path, library: ibid.Library
) -> None:
    before = find_readers()
    write(folder, {"a.md": "Herons wade.\n"})
    library.add_files([folder / "a.md"], folder=folder)
    assert find_readers() == before


def test_readers_that_nobody_needs_are_let_go(folder: Path) -> None:
    before = find_readers()
    kept = KeptReaders(ReaderPool, idle_seconds=0.05)
    for _ in range(2):  # and come again when they are needed
        with kept.lend() as pool:
            (read,) = pool.read([offer(folder)])
            assert read.document is not None
        wait_until(lambda: find_readers() == before)
    kept.close()


def _break_off(reads: Iterator[FileRead]) -> Iterator[FileRead]:
    yield next(reads)
    raise ValueError("2 files are left")


def test_what_was_left_in_the_middle_is_not_kept(folder: Path) -> None:
    before = find_readers()
    kept = KeptReaders(ReaderPool)
    with pytest.raises(ValueError, match="2 files"), kept.lend() as pool:
        (_,) = _break_off(pool.read([offer(folder)]))
    assert find_readers() == before
    kept.close()


def test_two_at_once_have_a_pool_each_and_one_is_kept(folder: Path) -> None:
    before = find_readers()
    kept = KeptReaders(ReaderPool)
    with kept.lend() as one, kept.lend() as other:
        assert one is not other
        assert all(list(pool.read([offer(folder)])) for pool in (one, other))
    assert len(find_readers() - before) == 1
    kept.close()
    with kept.lend() as late:
        list(late.read([offer(folder)]))
    assert find_readers() == before


def test_a_child_that_died_between_two_syncs_costs_no_file(
    folder: Path, library: ibid.Library
) -> None:
    before = find_readers()
    write(folder, {"a.md": "Herons wade.\n"})
    library.sync(folder)
    (child,) = find_readers() - before
    psutil.Process(child).kill()
    write(folder, {"a.md": "Herons fly.\n"})
    assert library.sync(folder).updated == ("a.md",)
