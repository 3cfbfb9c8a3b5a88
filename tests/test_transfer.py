"""What is taken in from an exported file takes nothing from what the library has already."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import ibid
from conftest import list_ids, open_hashing, write


def export_folder(root: Path, *, prefix: str | None = None) -> Path:
    """A folder of two pages, synced into a library of its own and exported."""
    write(root / "handbook", {"a.md": "Herons wade.\n", "b.md": "Dunlins run.\n"})
    with open_hashing(root / "made") as library:
        library.sync(root / "handbook", prefix=prefix)
        library.export(root / "copy.zip")
    return root / "copy.zip"


def test_a_source_of_the_same_name_elsewhere_keeps_its_place(
    tmp_path: Path, library: ibid.Library
) -> None:
    copy = export_folder(tmp_path / "theirs", prefix="taken")
    write(tmp_path / "ours/handbook", {"a.md": "Curlews call.\n", "c.md": "Plovers feign.\n"})
    library.sync(tmp_path / "ours/handbook")
    library.import_file(copy)
    assert [(one.name, one.prefix, one.documents) for one in library.sources()] == [
        ("handbook", "", 2),
        ("handbook-2", "taken", 2),
    ]
    for root in ("ours", "theirs"):
        report = library.sync(tmp_path / root / "handbook")
        assert (report.unchanged, report.removed, report.failed) == (2, (), ())
    assert list_ids(library) == ["a.md", "c.md", "taken/a.md", "taken/b.md"]


def test_a_source_of_the_same_place_is_the_same(tmp_path: Path, library: ibid.Library) -> None:
    copy = export_folder(tmp_path)
    library.sync(tmp_path / "handbook")
    assert library.import_file(copy).unchanged == 2
    assert [(one.name, one.documents) for one in library.sources()] == [("handbook", 2)]


def test_two_sources_of_one_prefix_are_refused_with_nothing_changed(
    tmp_path: Path, library: ibid.Library
) -> None:
    copy = export_folder(tmp_path / "theirs")
    write(tmp_path / "ours", {"c.md": "Plovers feign.\n"})
    library.sync(tmp_path / "ours")
    with pytest.raises(ibid.InputError, match="the same prefix ''"):
        library.import_file(copy)
    assert list_ids(library) == ["c.md"]
    write(tmp_path / "theirs/more", {"d.md": "Terns dive.\n"})
    with open_hashing(tmp_path / "other") as other:
        other.sync(tmp_path / "theirs/handbook", prefix="mine")
        with pytest.raises(ibid.InputError, match="'' in the file and 'mine' in the library"):
            other.import_file(copy)


def _cut_vectors(members: dict[str, bytes]) -> None:
    members["vectors.float16"] = members["vectors.float16"][:-2]


def _lose_a_hash(members: dict[str, bytes]) -> None:
    members["vectors.hashes"] = members["vectors.hashes"][:-16]


@pytest.mark.parametrize("harm", [_cut_vectors, _lose_a_hash])
def test_a_file_that_lacks_something_is_refused_before_anything_is_written(
    tmp_path: Path, library: ibid.Library, harm: Callable[[dict[str, bytes]], None]
) -> None:
    copy = export_folder(tmp_path)
    with zipfile.ZipFile(copy) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    harm(members)
    with zipfile.ZipFile(copy, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ibid.InputError, match="can't be imported"):
        library.import_file(copy)
    assert (library.status().version, library.sources()) == (0, [])


def test_a_flipped_bit_anywhere_is_seen_before_anything_is_written(
    tmp_path: Path, library: ibid.Library
) -> None:
    copy = export_folder(tmp_path)
    whole = copy.read_bytes()
    with zipfile.ZipFile(copy) as archive:
        infos = archive.infolist()
        ends = [info.header_offset for info in infos[1:]] + [archive.start_dir]
        middles = [end - info.compress_size // 2 for info, end in zip(infos, ends, strict=True)]
    for place in middles:
        copy.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ibid.InputError, match="can't be imported"):
            library.import_file(copy)
    assert (library.status().version, library.sources()) == (0, [])
