"""Disks that are full, folders that can't be written, files that are lost or spoilt under an open
library: the error names the file and what to do, and the library opens afterwards."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import ibid
from conftest import find, list_ids, open_hashing, run_ibid, write
from test_faults import respect_permissions

MANY = 40


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for a small library."""
    place = tmp_path / "disk"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def make_documents(number: int) -> list[ibid.Document]:
    """Some documents of a size, which no others are like."""
    return [
        ibid.Document(f"{number}-{one}", f"Ledger {number}-{one}. " + f"w{number}x{one} " * 700)
        for one in range(5)
    ]


def fill(library: ibid.Library, start: int = 0) -> tuple[int, ibid.LibraryError]:
    """Write until the disk is full: how often that went well, and the error in the end."""
    for number in range(start, start + MANY):
        try:
            library.ingest(make_documents(number))
        except ibid.LibraryError as error:
            return number, error
    pytest.fail("the disk was never full")


def test_a_full_disk_takes_nothing_that_was_committed(disk: Path) -> None:
    place = disk / "library"
    ballast = disk / "ballast"
    ballast.write_bytes(b"\0" * 400_000)
    with open_hashing(place) as library:
        went_well, error = fill(library)
        assert str(place) in error.message
        assert "room on the disk" in error.hint
        expected = sorted(d.id for number in range(went_well) for d in make_documents(number))
        assert list_ids(library) == expected  # also while there is no room
        with pytest.raises(ibid.LibraryError):
            library.ingest(make_documents(went_well))
    with open_hashing(place) as library:
        assert list_ids(library) == expected
        ballast.unlink()
        library.remove(expected[0])
        assert library.verify() == []
    with open_hashing(place) as library:
        assert list_ids(library) == expected[1:]
        assert len(find(library, "ledger", "hybrid", k=1000)) >= len(expected) - 1


def test_a_full_disk_is_told_by_the_command_line(disk: Path, folder: Path) -> None:
    write(folder, {f"{n}.md": f"Ledger {n}. " + f"w{n} " * 9_000 for n in range(60)})
    report = run_ibid("sync", folder, library=disk / "library", code=1)
    assert report["error"]["type"] == "LibraryError"
    assert "room on the disk" in report["error"]["hint"]
    assert run_ibid("status", library=disk / "library")["documents"] < 60


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_vector_file_that_cannot_be_written_changes_nothing(
    library: ibid.Library, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    library.ingest(ibid.Document("a", "The walrus sleeps."))

    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if step == "fsync":
            patch.setattr(os, "fsync", fail)
        else:
            patch.setattr(Path, "replace", fail)
        with pytest.raises(ibid.LibraryError, match=r"vectors/.*No space left") as found:
            library.ingest(ibid.Document("b", "The gopher sleeps."))
    assert "room on the disk" in found.value.hint
    assert list_ids(library) == ["a"]
    assert library.verify() == []
    library.ingest(ibid.Document("b", "The gopher sleeps."))
    assert find(library, "gopher", "dense")[0] == "b"
    assert library.verify() == []


LIMITED = """
import resource, signal, sys, ibid
from ibid.testing.embedders import HashingEmbedder
with ibid.open(sys.argv[1], embedder=HashingEmbedder()) as library:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    try:
        for number in range(200):
            text = f"Ledger {number}. " + f"w{number} " * 3000
            library.ingest(ibid.Document(str(number), text))
            print(number, flush=True)
    except ibid.LibraryError as error:
        print(error, file=sys.stderr)
        sys.exit(7)
"""


@pytest.mark.parametrize("most", [60_000, 300_000, 900_000])
def test_a_file_that_may_not_grow_takes_nothing_that_was_committed(
    tmp_path: Path, most: int
) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest(ibid.Document("first", "The walrus sleeps."))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(place), str(most)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    assert str(place) in done.stderr
    committed = done.stdout.split()
    with open_hashing(place) as library:
        assert set(list_ids(library)) == {"first", *committed}
        library.ingest(ibid.Document("last", "The gopher sleeps."))
        assert library.verify() == []


def test_a_library_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest(ibid.Document("a", "The walrus sleeps."))
    folders = [place, *(path for path in place.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o500)
    try:
        found = run_ibid("search", "walrus", library=place, preexec_fn=respect_permissions)
        assert [hit["document_id"] for hit in found["hits"]] == ["a"]
        refused = run_ibid("remove", "a", library=place, code=1, preexec_fn=respect_permissions)
        assert refused["error"]["type"] in ("LibraryError", "AccessDenied")
        assert str(place) in refused["error"]["message"]
    finally:
        for path in folders:
            path.chmod(0o700)
    with open_hashing(place) as library:
        assert list_ids(library) == ["a"]
        assert library.verify() == []


def lose_vectors(place: Path) -> None:
    shutil.rmtree(place / "vectors")


def lose_postings(place: Path) -> None:
    shutil.rmtree(place / "lexical")


def flip_a_bit(place: Path) -> None:
    for file in (place / "vectors").iterdir():
        data = bytearray(file.read_bytes())
        data[-40] ^= 1  # a small number in the middle of a vector: its length stays
        file.write_bytes(data)


@pytest.mark.parametrize("damage", [lose_vectors, lose_postings, flip_a_bit])
def test_what_is_lost_under_an_open_library_is_told_and_made_anew(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([ibid.Document(f"{n}", f"The walrus of floe {n} sleeps.") for n in range(9)])
        before = find(library, "walrus floe", "hybrid")
        damage(place)
        problems = library.verify()
        assert problems
        assert all(one.repairable for one in problems)
        assert library.verify(repair=True) == []
        assert find(library, "walrus floe", "hybrid") == before
        library.ingest(ibid.Document("new", "The gopher sleeps."))
        assert library.verify() == []
    with open_hashing(place) as library:
        assert find(library, "gopher", "dense")[0] == "new"


def test_damage_is_not_copied_on_by_a_merge(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest(ibid.Document("a", "The walrus sleeps."))
    flip_a_bit(place)
    with open_hashing(place) as library:
        with pytest.raises(ibid.Corrupt, match=r"vectors/.*--repair"):
            library.ingest(ibid.Document("b", "The gopher sleeps."))
        assert list_ids(library) == ["a"]
        assert library.verify(repair=True) == []
        library.ingest(ibid.Document("b", "The gopher sleeps."))
        assert library.verify() == []


@pytest.mark.parametrize("damage", [lose_vectors, lose_postings])
def test_a_writer_that_misses_a_folder_says_how_it_is_made_anew(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    with open_hashing(tmp_path / "library") as library:
        library.ingest(ibid.Document("a", "The walrus sleeps."))
    damage(tmp_path / "library")
    with open_hashing(tmp_path / "library") as library:
        with pytest.raises(ibid.Corrupt, match="--repair"):
            library.ingest(ibid.Document("b", "The gopher sleeps."))
        assert list_ids(library) == ["a"]
        assert library.verify(repair=True) == []
        assert find(library, "walrus", "hybrid") == ["a"]


def test_a_disk_that_became_read_only_is_told_and_loses_nothing(disk: Path) -> None:
    place = disk / "library"
    with open_hashing(place) as library:
        library.ingest(ibid.Document("a", "The walrus sleeps."))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with open_hashing(place) as library:
        assert list_ids(library) == ["a"]
        for mode in ("lexical", "dense", "hybrid"):
            assert find(library, "walrus", mode) == ["a"]
        assert library.ask("Where does the walrus sleep?").version == 1
        with pytest.raises(ibid.LibraryError, match=r"library/lock can't be written"):
            library.ingest(ibid.Document("b", "The gopher sleeps."))
    with pytest.raises(ibid.LibraryError, match="other can't be written"):
        open_hashing(disk / "other")
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    with open_hashing(place) as library:
        library.ingest(ibid.Document("b", "The gopher sleeps."))
        assert library.verify() == []


def test_a_place_where_nothing_can_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("No folder.")
    with pytest.raises(ibid.LibraryError, match=r"file/library can't be written"):
        open_hashing(tmp_path / "file" / "library")


def _put_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _put_a_file(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("No folder.")


@pytest.mark.parametrize(
    ("what", "harm"),
    [
        ("vectors/*.faiss", _put_a_folder),
        ("lexical/*/*.term", _put_a_folder),
        ("lexical/*/documents/*.store", _put_a_folder),
        ("lexical/*/.tantivy-writer.lock", _put_a_folder),
        ("lexical/*/meta.json", _put_a_folder),
        ("library.db", _put_a_folder),
        ("vectors", _put_a_file),
        ("lexical", _put_a_file),
    ],
)
def test_another_kind_of_file_in_the_place_of_one_is_told(
    tmp_path: Path, what: str, harm: Callable[[Path], None]
) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([ibid.Document("a", "The walrus sleeps."), ibid.Document("b", "Herons.")])
    harm(next(place.glob(what)))
    acts: list[Callable[[ibid.Library], object]] = [
        lambda library: library.search("walrus"),
        lambda library: library.update(ibid.Document("c", "Curlews call.")),
        lambda library: library.vacuum(0),
        lambda library: library.verify(),
        lambda library: library.remove("a", purge=True),
    ]
    for act in acts:
        with suppress(ibid.LibraryError), open_hashing(place) as library:
            act(library)


@pytest.mark.parametrize("what", ["library.db", "vectors", "vectors/*", "lexical", "lexical/*"])
def test_what_may_not_be_read_is_told_with_its_name(tmp_path: Path, what: str) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([ibid.Document("a", "The walrus sleeps."), ibid.Document("b", "Herons.")])
    closed = next(place.glob(what))
    closed.chmod(0)
    said = {"library": place, "code": 1, "preexec_fn": respect_permissions}
    try:
        for verb in (["search", "walrus"], ["remove", "a", "--purge"]):
            error = run_ibid(*verb, **said)["error"]  # type: ignore[arg-type]  # as they are
            assert str(closed) in error["message"]
            assert error["type"] in ("LibraryError", "Corrupt")
    finally:
        closed.chmod(0o700)
