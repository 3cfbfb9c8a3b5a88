"""Bad files in a folder, through the command line in a real child: each fails alone and says why,
all else is committed, and what is no document is skipped without a failure."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

import ibid
from conftest import command_line, list_ids, open_hashing, run_ibid, write

GOOD: Final = {
    "a.md": "# Leave\n\nParental leave lasts sixteen weeks.\n",
    "m/b.txt": "Trains are booked through the portal.\n",
    "z.html": "<html><body><h1>Laptops</h1><p>Replaced after four years.</p></body></html>",
}

PNG: Final = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"

_PR_CAPBSET_DROP: Final = 24
_CAP_DAC_OVERRIDE: Final = 1
_CAP_DAC_READ_SEARCH: Final = 2


def respect_permissions() -> None:
    """Run before a child's program starts: for root too, a file's permission then counts."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "can't run a child without root's capabilities")


def make_bad_files(folder: Path) -> None:
    """An unreadable PDF, a file without read permission, and a text of 200 MB."""
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj << /Type /Catalog")
    write(folder, {"private.md": "Nobody may read this."})
    (folder / "private.md").chmod(0)
    with (folder / "huge.txt").open("wb") as file:
        file.write(b"word " * 4000)
        file.truncate(200_000_000)


def failures(report: dict[str, Any]) -> dict[str, str]:
    assert all(set(line) == {"id", "error", "message"} for line in report["failed"])
    found = {line["id"]: line["message"] for line in report["failed"]}
    assert len(found) == len(report["failed"])  # one line each
    return found


def test_each_bad_file_is_one_line_and_all_else_is_committed(tmp_path: Path, folder: Path) -> None:
    write(folder, GOOD)
    make_bad_files(folder)
    place = tmp_path / "library"
    report = run_ibid("sync", folder, library=place, code=1, preexec_fn=respect_permissions)
    found = failures(report)
    assert sorted(found) == ["broken.pdf", "huge.txt", "private.md"]
    assert {line["error"] for line in report["failed"]} == {"UnreadableDocument"}
    assert "PDF" in found["broken.pdf"]
    assert "permission" in found["private.md"]
    assert "200 MB" in found["huge.txt"]
    assert "max_file_bytes" in found["huge.txt"]
    assert report["added"] == sorted(GOOD)
    assert report["skipped"] == []
    hits = run_ibid("search", "parental leave", library=place)["hits"]
    assert hits[0]["document_id"] == "a.md"

    again = run_ibid("sync", folder, library=place, code=1, preexec_fn=respect_permissions)
    assert failures(again) == found
    assert (again["unchanged"], again["version"]) == (3, report["version"])

    (folder / "private.md").chmod(0o600)  # its time and size are the same
    mended = run_ibid("sync", folder, library=place, code=1, preexec_fn=respect_permissions)
    assert mended["added"] == ["private.md"]
    assert sorted(failures(mended)) == ["broken.pdf", "huge.txt"]


def test_a_folder_without_permission_keeps_its_documents(tmp_path: Path, folder: Path) -> None:
    write(folder, GOOD)
    place = tmp_path / "library"
    run_ibid("sync", folder, library=place)
    (folder / "m").chmod(0)
    try:
        report = run_ibid("sync", folder, library=place, code=1, preexec_fn=respect_permissions)
    finally:
        (folder / "m").chmod(0o700)
    assert failures(report) == {"m/": "Permission denied"}
    assert (report["removed"], report["unchanged"]) == ([], 2)
    with open_hashing(place) as library:
        assert list_ids(library) == sorted(GOOD)


def test_a_file_that_vanishes_before_it_is_read_fails_alone(tmp_path: Path, folder: Path) -> None:
    """The child is held at its first progress line by a full pipe; then a file is taken away.

    By then the folder has been listed, and of the files only the first few have been read.
    """
    names = [f"{number}.md" for number in range(9)]
    write(folder, {name: f"# Page\n\nThis is {name}.\n" for name in names})
    place = tmp_path / "library"
    environ = {
        **os.environ,
        "IBID_LIBRARY": str(place),
        "IBID_EMBEDDER_NAME": "hashing",
        "IBID_INGEST_BATCH": "1",
    }
    with full_pipe() as (reading, writing):
        command = command_line(["sync", folder, "--json"])
        child = subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=writing, text=True
        )
        try:
            wait_for_version(place, 1)
            (folder / "8.md").unlink()
            os.close(writing)
            with open(reading, closefd=False) as progress:
                lines = progress.read().lstrip("\0").splitlines()
            stdout, _ = child.communicate(timeout=60)
        finally:
            child.kill()
            child.wait()
    report = json.loads(stdout)
    assert child.returncode == 1, report
    assert failures(report) == {"8.md": "vanished before it could be read"}
    assert report["added"] == names[:8]
    assert lines[0] == "version 1: 1 of 9 files done"
    assert lines[-1].endswith("of 9 files done")
    report = run_ibid("sync", folder, library=place)
    assert (report["failed"], report["unchanged"], report["removed"]) == ([], 8, [])


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe that takes nothing more until it is read from."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"\0" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    try:
        yield reading, writing
    finally:
        os.close(reading)


def wait_for_version(place: Path, version: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (place / "library.db").exists():
            with open_hashing(place) as library:
                if library.status().version >= version:
                    return
        time.sleep(0.02)
    raise AssertionError(f"version {version} never came")


def test_what_is_no_document_is_skipped_and_no_failure(tmp_path: Path, folder: Path) -> None:
    write(folder, {**GOOD, ".hidden.md": "Hidden.", ".git/config.md": "Hidden too.", "bare.md": ""})
    write(folder, {"blank.md": " \n\n\t\n"})
    (folder / "logo.png").write_bytes(PNG)
    (folder / "photo.md").write_bytes(PNG)  # whatever its name says
    (folder / "program").write_bytes(b"\x7fELF\2\1\1" + bytes(range(256)))
    (folder / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (folder / "link.md").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    place = tmp_path / "library"
    for expected in ({"added": 3, "unchanged": 0}, {"added": 0, "unchanged": 3}):
        report = run_ibid("sync", folder, library=place)
        assert report["failed"] == []
        assert {"added": len(report["added"]), "unchanged": report["unchanged"]} == expected
        reasons = {line["id"]: line["reason"] for line in report["skipped"]}
        assert sorted(reasons) == [
            ".DS_Store",
            ".git/",
            ".hidden.md",
            "bare.md",
            "blank.md",
            "link.md",
            "logo.png",
            "photo.md",
            "pipe.md",
            "program",
        ]
        assert all(reasons.values())
        assert "image/png" in reasons["photo.md"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252", "iso8859-15"])
def test_a_note_in_an_old_encoding_is_a_document(
    folder: Path, library: ibid.Library, encoding: str
) -> None:
    text = "Die Übergröße kostet in München fünf Mark, außer für Schüler und Ärzte.\n" * 3
    (folder / "alt.txt").write_bytes(text.encode(encoding))
    write(folder, GOOD)
    report = library.sync(folder)
    assert (len(report.added), report.failed) == (4, ())
    assert library.document("alt.txt").text.strip() == text.strip()


def test_odd_names_neither_stop_a_sync_nor_break_its_report(tmp_path: Path, folder: Path) -> None:
    write(folder, {**GOOD, "per cent 100%.md": "One.", "naïve 日本.md": "Two.", "-x.md": "Three."})
    write(folder, {"line\nbreak.md": "Four."})
    with open(os.fsencode(folder) + b"/\xff.md", "wb") as file:
        file.write(b"Five.")
    report = run_ibid("sync", folder, library=tmp_path / "library")
    assert len(report["added"]) == 6
    assert [line["id"] for line in report["skipped"]] == ["line\\nbreak.md", "\\xff.md"]


def test_the_command_that_fails_says_so_to_people_too(tmp_path: Path, folder: Path) -> None:
    write(folder, GOOD)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    environ = {**os.environ, "IBID_LIBRARY": str(tmp_path / "l"), "IBID_EMBEDDER_NAME": "hashing"}
    done = subprocess.run(
        command_line(["sync", folder]), env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "3 added, 1 failed" in done.stdout
    assert "failed: broken.pdf: " in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are Linux's")
def test_the_children_are_gone_when_the_command_is_killed(tmp_path: Path, folder: Path) -> None:
    import psutil

    write(folder, {f"{n}.md": f"Page {n}." for n in range(300)})
    environ = {
        **os.environ,
        "IBID_LIBRARY": str(tmp_path / "library"),
        "IBID_EMBEDDER_NAME": "hashing",
        "IBID_INGEST_BATCH": "1",
    }
    child = subprocess.Popen(
        command_line(["sync", folder]), env=environ, stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    child.stderr.readline()
    readers = psutil.Process(child.pid).children(recursive=True)
    assert readers
    child.kill()
    child.wait()
    child.stderr.close()
    _, alive = psutil.wait_procs(readers, timeout=10)
    assert alive == []
