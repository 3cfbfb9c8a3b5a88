"""Opening a library: what it was made with, who may look into its folder, and what is damaged."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ibid
from conftest import find, list_ids, open_hashing, run_ibid, write
from ibid.testing.embedders import HashingEmbedder

PAGES = [ibid.Document(f"{n}", f"The walrus sleeps on floe number {n}.") for n in range(30)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a closed library of a few documents lies."""
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest(PAGES)
    return place


def test_a_library_is_made_where_there_is_none_for_its_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "new" / "library"
    with open_hashing(place) as library:
        library.ingest(PAGES)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    with pytest.raises(ibid.LibraryNotFound, match="no library"):
        ibid.openers.open_library(tmp_path / "other", create=False)
    assert not (tmp_path / "other").exists()
    found = run_ibid("search", "walrus", library=tmp_path / "other", code=1)
    assert found["error"]["type"] == "LibraryNotFound"


def test_it_is_as_it_was_after_it_was_closed(place: Path) -> None:
    with open_hashing(place) as library:
        assert len(list_ids(library)) == 30
        for mode in ("lexical", "dense", "hybrid"):
            assert len(find(library, "walrus floe", mode)) == 30
        library.close()
        library.close()


def test_another_embedder_is_refused_and_both_are_named(place: Path) -> None:
    with pytest.raises(ibid.EmbedderMismatch) as refused:
        ibid.open(place, embedder=HashingEmbedder(dimension=64))
    assert "'hash3'" in refused.value.message
    assert "'hash3-64'" in refused.value.message
    assert "ibid reindex" in refused.value.hint
    found = run_ibid("search", "walrus", library=place, code=1, real=True)
    assert found["error"]["type"] == "EmbedderMismatch"
    assert "all-MiniLM-L6-v2" in found["error"]["message"]
    with open_hashing(place) as library:
        assert len(list_ids(library)) == 30


def test_an_embedder_of_the_same_name_with_other_vectors_is_refused(tmp_path: Path) -> None:
    class Shrunk(HashingEmbedder):
        def embed(self, texts: Any, *, kind: Any) -> Any:
            return super().embed(texts, kind=kind)[:, :100]

    with open_hashing(tmp_path / "library") as library:
        library.ingest(PAGES)
    with ibid.open(tmp_path / "library", embedder=Shrunk()) as library:
        with pytest.raises(ibid.EmbedderMismatch, match="512"):
            library.ingest(ibid.Document("new", "A text of its own."))
        assert len(list_ids(library)) == 30
        with pytest.raises(ibid.EmbedderMismatch, match="512"):
            library.search("walrus", mode="dense")


def test_another_chunking_is_refused_and_none_asked_for_is_the_librarys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "library"
    monkeypatch.setenv("IBID_CHUNKING_BY", "words")
    monkeypatch.setenv("IBID_CHUNKING_SIZE", "10")
    monkeypatch.setenv("IBID_CHUNKING_OVERLAP", "0")
    with open_hashing(place) as library:
        library.ingest(ibid.Document("doc", "word " * 30))
        made = library.status().manifest.chunking
        assert len(library.passages("doc")) == 3
    monkeypatch.setenv("IBID_CHUNKING_SIZE", "20")
    with pytest.raises(ibid.EmbedderMismatch, match="chunking") as refused:
        open_hashing(place)
    assert made in refused.value.message
    assert "20" in refused.value.message
    for name in ("BY", "SIZE", "OVERLAP"):
        monkeypatch.delenv(f"IBID_CHUNKING_{name}")
    with open_hashing(place) as library:
        library.ingest(ibid.Document("more", "word " * 30))
        assert len(library.passages("more")) == 3


def test_a_librarys_own_settings_are_read_from_its_folder(tmp_path: Path) -> None:
    place = tmp_path / "library"
    write(place, {"config.toml": "[search]\nk = 3\n"})
    with open_hashing(place) as library:
        library.ingest(PAGES)
        assert len(library.search("walrus")) == 3
    write(place, {"config.toml": "[search]\nkk = 3\n"})
    with pytest.raises(ibid.BadSetting, match=r"config\.toml.*search\.kk"):
        open_hashing(place)


def test_a_folder_of_other_things_loses_none_of_them(tmp_path: Path) -> None:
    place = tmp_path / "project"
    write(place, {"vectors/mine.bin": "Mine.", "lexical/notes/mine.txt": "Mine too."})
    try:
        with open_hashing(place) as library:
            library.ingest(PAGES)
    except ibid.IbidError:
        pass  # to refuse such a folder is as good
    assert (place / "vectors/mine.bin").exists()
    assert (place / "lexical/notes/mine.txt").exists()


# -- formats and damage -------------------------------------------------------------------------


def test_a_newer_format_is_too_new(place: Path) -> None:
    with sqlite3.connect(place / "library.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ibid.FormatTooNew, match="99") as refused:
        open_hashing(place)
    assert "newer ibid" in refused.value.hint
    found = run_ibid("list", library=place, code=1)
    assert found["error"]["type"] == "FormatTooNew"


def damage_all(file: Path) -> None:
    file.write_bytes(b"This is no database. " * 1000)


def damage_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    file.write_bytes(data)


def cut_half(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2)


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_all, damage_middle, cut_half, empty])
def test_a_damaged_database_is_corrupt(place: Path, damage: Any) -> None:
    damage(place / "library.db")
    with pytest.raises(ibid.Corrupt) as found:
        look_at_everything(place)
    assert "library.db" in found.value.message
    assert found.value.hint


def look_at_everything(place: Path) -> None:
    with open_hashing(place) as library:
        for id in list_ids(library):
            library.document(id, ibid.OWNER)
        find(library, "walrus", "hybrid")


@pytest.mark.parametrize("damage", [cut_half, empty, Path.unlink])
@pytest.mark.parametrize("part", ["vectors", "lexical"])
def test_a_damaged_or_missing_file_beside_it_is_corrupt(
    place: Path, part: str, damage: Any
) -> None:
    files = [file for file in (place / part).rglob("*") if file.is_file()]
    for file in files:
        if "lock" not in file.name:
            damage(file)
    with pytest.raises(ibid.Corrupt):
        look_at_everything(place)


def test_damage_of_any_page_of_the_database_is_corrupt_or_in_nobodys_way(place: Path) -> None:
    whole = (place / "library.db").read_bytes()
    outcomes = set()
    for start in range(0, len(whole), 4096):
        damaged = whole[:start] + b"\xa5" * 4096 + whole[start + 4096 :]
        (place / "library.db").write_bytes(damaged)
        for beside in place.glob("library.db-*"):
            beside.unlink()
        try:
            look_at_everything(place)
        except ibid.Corrupt:
            outcomes.add("corrupt")
        else:
            outcomes.add("well")
    assert outcomes == {"corrupt", "well"}


def test_damage_is_an_error_of_the_command_line_not_a_traceback(place: Path) -> None:
    damage_middle(place / "library.db")
    assert run_ibid("list", library=place, code=1)["error"]["type"] == "Corrupt"


# -- the default model ----------------------------------------------------------------------------


def test_the_default_model_finds_by_meaning_and_is_recorded(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with ibid.open(place) as library:
        library.ingest(
            [
                ibid.Document("cars", "The automobile needs its engine oil changed every year."),
                ibid.Document("cakes", "Whisk the eggs with sugar before adding the flour."),
            ]
        )
        (first, second) = library.search("vehicle maintenance", mode="dense")
        assert (first.document_id, second.document_id) == ("cars", "cakes")
        made = library.status().manifest
        assert (made.embedder, made.dimension) == ("all-MiniLM-L6-v2", 384)
        assert made.weights
    with pytest.raises(ibid.EmbedderMismatch) as refused:
        open_hashing(place)
    assert "all-MiniLM-L6-v2" in refused.value.message
    assert "hash3" in refused.value.message
    hits = run_ibid("search", "vehicle maintenance", library=place, real=True)["hits"]
    assert hits[0]["document_id"] == "cars"


def test_vectors_are_kept_to_half_precision(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> Any:
        return [[np.cos(len(text)), np.sin(len(text))] for text in texts]

    with ibid.open(tmp_path / "library", embedder=embed) as library:
        library.ingest([ibid.Document(f"{n}", "x" * n) for n in range(1, 4)])
        scores = {h.document_id: h.score for h in library.search("yy", mode="dense")}
        assert scores == pytest.approx({"1": np.cos(1), "2": 1.0, "3": np.cos(1)}, abs=2e-3)
