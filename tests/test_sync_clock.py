"""What a sync makes of times that tell less than they should: clocks that are coarse, set back or
turned by hand, and changes that leave a file's size and time as they were."""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

import ibid
from conftest import find, hide_change, list_ids, open_hashing, write
from ibid.flows.options import IngestOptions
from ibid.flows.taking import read_files, take_document
from ibid.protocols import FileStat
from ibid.reading import child
from test_sync import counts

WALRUS = "The walrus sleeps."
GOPHER = "The gopher sleeps."


def rewrite(file: Path, text: str) -> None:
    """Put other text of the same length into a file, its time of modification restored."""
    before = file.stat()
    with file.open("r+") as opened:
        opened.write(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size


def read_change(place: Path, name: str) -> int:
    """The time of change that a library remembers of a file."""
    connection = sqlite3.connect(place / "library.db")
    ((found,),) = connection.execute("SELECT changed_ns FROM files WHERE path = ?", (name,))
    connection.close()
    return int(found)


def test_a_file_rewritten_with_its_old_size_and_time_is_read_again(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, {"a.md": WALRUS})
    library.sync(folder)
    rewrite(folder / "a.md", GOPHER)
    assert library.sync(folder).updated == ("a.md",)
    assert find(library, "gopher") == ["a.md"]
    assert find(library, "walrus") == []


def test_a_change_that_no_time_tells_is_seen_by_checksum(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, {"a.md": WALRUS})
    library.sync(folder)
    rewrite(folder / "a.md", GOPHER)
    hide_change(Path(library.location), folder / "a.md")
    assert counts(library.sync(folder)) == {"unchanged": 1}
    assert library.sync(folder, checksum=True).updated == ("a.md",)
    assert find(library, "gopher") == ["a.md"]


def test_a_checksum_run_over_what_is_unchanged_writes_no_version(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, {"a.md": WALRUS, "b.md": GOPHER})
    version = library.sync(folder).version
    report = library.sync(folder, checksum=True)
    assert (report.unchanged, report.version, report.passages.embedded) == (2, version, 0)


def test_a_file_read_within_the_grain_of_its_clock_is_read_again(
    folder: Path, library: ibid.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"a.md": WALRUS})
    library.sync(folder)
    place = Path(library.location)
    connection = sqlite3.connect(place / "library.db")
    with connection:  # as a reading in the very moment of the writing leaves it
        connection.execute("UPDATE files SET changed_ns = 0")
    connection.close()
    rewrite(folder / "a.md", GOPHER)
    assert library.sync(folder).updated == ("a.md",)
    assert find(library, "gopher") == ["a.md"]


@pytest.mark.parametrize(
    ("age_ns", "doubted"),
    [
        (0, True),
        (9_000_000, True),
        (400_000_000, False),
        (-30 * 10**9, True),  # the clock of a drive elsewhere
        (-90 * 10**9, False),  # the clock was set back since
    ],
)
def test_only_what_may_change_without_another_time_is_doubted(age_ns: int, doubted: bool) -> None:
    now = 1_800_000_000_123_456_789
    seen = FileStat(18, now, 7, now - age_ns)
    assert (child._doubt_fresh(seen, now).changed_ns == 0) is doubted


@pytest.mark.parametrize(("age_s", "doubted"), [(0, True), (2, True), (3, False)])
def test_whole_seconds_are_doubted_for_longer(age_s: int, doubted: bool) -> None:
    now = 1_800_000_000_000_000_000
    seen = FileStat(18, now, 7, now - age_s * 10**9)
    assert (child._doubt_fresh(seen, now).changed_ns == 0) is doubted


def test_a_file_at_rest_is_read_once(folder: Path, library: ibid.Library) -> None:
    write(folder, {"a.md": WALRUS})
    while time.time_ns() - (folder / "a.md").stat().st_ctime_ns < 2 * child._GRAIN_NS:
        time.sleep(0.01)
    library.sync(folder)
    assert read_change(Path(library.location), "a.md") == (folder / "a.md").stat().st_ctime_ns


def test_a_clock_that_was_set_back_loses_nothing(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions are ordered by their number, and vacuum keeps the last one, whatever the time."""
    write(folder, {"a.md": WALRUS, "b.md": GOPHER})
    with open_hashing(tmp_path / "library") as library:
        library.sync(folder)
        now = time.time()
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: now - 86_400)
            write(folder, {"a.md": "The dunlin wades."})
            os.utime(folder / "a.md", (now - 86_400, now - 86_400))
            report = library.sync(folder)
            assert report.updated == ("a.md",)
        assert find(library, "walrus", version=report.version - 1) == ["a.md"]
        assert library.verify() == []
        library.vacuum(0)
        assert list_ids(library) == ["a.md", "b.md"]
        assert find(library, "dunlin") == ["a.md"]
        assert find(library, "walrus") == []
        assert library.verify() == []


def test_a_time_that_no_calendar_has_is_no_time(folder: Path, library: ibid.Library) -> None:
    write(folder, {"a.md": WALRUS})
    (read,) = read_files([(folder / "a.md", "a.md")], IngestOptions())
    assert read.stat is not None
    late = replace(read, stat=read.stat._replace(modified_ns=2**63 - 1))
    assert take_document(late, id="a.md").modified_at is not None  # the year 2262
    late = replace(read, stat=read.stat._replace(modified_ns=10**21))
    assert take_document(late, id="a.md").modified_at is None
