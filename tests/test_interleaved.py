"""What one holder of a library does while another one is in the middle of something."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import ibid
from conftest import find, list_ids, open_hashing, write
from ibid.flows import register
from ibid.index.embedded import purge
from ibid.index.embedded.staging import EmbeddedStaging
from ibid.openers import open_library
from ibid.protocols import Scope
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from whole_pages import check_whole, count_editions, read_page, search_all

SECRET = "The cormorant knows the combination of the safe."


def open_reindexing(place: Path, *, batch: int = 3, wait: float = 0.2) -> ibid.Library:
    said = {"ingest.batch": batch, "lock_timeout_s": wait}
    settings = load_settings(said, library=str(place))
    embedder = HashingEmbedder(dimension=48)
    return open_library(place, embedder=embedder, settings=settings, reindexing=True)


def hold(place: Path, text: str) -> list[Path]:
    """The files below a folder whose bytes hold a text."""
    files = [file for file in place.rglob("*") if file.is_file()]
    return [file for file in files if text.encode() in file.read_bytes()]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a library of eight pages and a secret lies."""
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([read_page(f"page-{number}", 0) for number in range(8)])
        library.ingest(ibid.Document("secret", SECRET))
    return place


def test_what_comes_and_goes_while_a_reindex_runs_is_in_the_next_generation(place: Path) -> None:
    other = open_hashing(place)
    seen: list[object] = []

    def interfere(progress: object) -> None:
        if seen:
            return
        seen.append(progress)
        other.remove("page-0", "page-7", "secret", purge=True)
        other.update([read_page("page-8", 1), read_page("page-1", 2)])
        other.vacuum(0)

    with open_reindexing(place) as library:
        library.reindex(on_progress=interfere)
        assert seen
        assert library.verify() == []
        expected = {f"page-{n}": 0 for n in range(2, 7)} | {"page-8": 1, "page-1": 2}
        assert check_whole(library) == expected
    other.close()
    assert hold(place, "combination of the safe") == []


def test_a_second_reindex_waits_and_gives_up(place: Path) -> None:
    refused = []

    def start_another(progress: object) -> None:
        with open_reindexing(place) as other, pytest.raises(ibid.LibraryLocked) as found:
            other.reindex()
        refused.append(str(found.value))

    with open_reindexing(place) as library:
        library.reindex(on_progress=start_another)
        assert "re-indexing" in refused[0]
        assert library.verify() == []
        assert len(list_ids(library)) == 9


def test_a_purge_erases_what_a_broken_off_reindex_had_staged(place: Path) -> None:
    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    with open_reindexing(place, batch=100) as library, pytest.raises(KeyboardInterrupt):
        library.reindex(on_progress=stop)
    assert any(file.name.startswith("staging") for file in hold(place, "combination of the safe"))
    with open_hashing(place) as library:
        library.remove("secret", purge=True)
    assert hold(place, "combination of the safe") == []
    with open_reindexing(place) as library:
        library.reindex()
        assert "secret" not in list_ids(library)
        assert library.verify() == []


def test_what_is_purged_while_a_reindex_runs_is_at_once_in_no_file(place: Path) -> None:
    other = open_hashing(place)
    left: list[list[Path]] = []

    def purge_now(progress: object) -> None:
        if not left:  # after the first batch, so that what is staged next comes after the purge
            other.remove("secret", "page-0", purge=True)
        left.append(hold(place, "combination of the safe") + hold(place, "page-0"))

    with open_reindexing(place) as library:
        library.reindex(on_progress=purge_now)
        assert len(left) > 2
        assert not any(left)
        assert list_ids(library) == [f"page-{number}" for number in range(1, 8)]
        assert library.verify() == []
    other.close()


def test_a_batch_that_was_cut_before_a_purge_is_not_staged_after_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_hashing(place)
    whole = EmbeddedStaging.stage
    purged: list[str] = []

    def purge_first(staging: EmbeddedStaging, contents: Any, vectors: Any) -> None:
        if not purged and any(put.document.id == "secret" for put in contents.values()):
            purged.append("secret")
            other.remove("secret", purge=True)
        whole(staging, contents, vectors)
        assert not purged or hold(place, "combination of the safe") == []

    monkeypatch.setattr(EmbeddedStaging, "stage", purge_first)
    with open_reindexing(place) as library:
        library.reindex()
        assert purged
        assert "secret" not in list_ids(library)
        assert library.verify() == []
    other.close()


def test_an_erasure_that_broke_off_is_finished_by_the_next_writer(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    with open_hashing(place) as library:
        library.update(ibid.Document("secret", SECRET + " It was changed."))
        with monkeypatch.context() as patch:
            patch.setattr(purge, "empty_log", stop)
            with pytest.raises(KeyboardInterrupt):
                library.remove("secret", purge=True)
        assert "secret" not in list_ids(library)
        assert hold(place, "combination of the safe")
        library.ingest(read_page("page-9", 0))
        assert hold(place, "combination of the safe") == []
        assert library.verify() == []


def test_a_held_version_shows_nothing_of_what_came_in_the_place_of_what_was_purged(
    place: Path,
) -> None:
    with open_hashing(place) as reader, open_hashing(place) as writer:
        held = reader._index.snapshot()
        assert "secret" in {info.id for info in held.documents(Scope())}
        writer.remove("secret", purge=True)
        writer.ingest(ibid.Document("plan", "The merger is not public.", allow=frozenset({"u:a"})))
        assert {info.id for info in held.documents(Scope())} == {f"page-{n}" for n in range(8)}
        rows = [hit.row for hit in held.search_lexical("merger cormor common", 50, Scope())]
        texts = [passage.text for passage, _ in held.passages(rows).values()]
        assert not [text for text in texts if "merger" in text or "cormorant" in text]


def test_a_held_version_stays_whole_through_all_upkeep(place: Path) -> None:
    with open_hashing(place) as reader, open_hashing(place) as writer:
        held = reader._index.snapshot()
        before = {row: p.text for row, (p, _) in held.passages(list(range(24))).items()}
        writer.update([read_page(f"page-{number}", 1) for number in range(8)])
        writer.remove("secret")
        writer.reindex()
        writer.update([read_page(f"page-{number}", 2) for number in range(8)])
        rows = [hit.row for hit in held.search_lexical("common", 100, Scope())]
        texts = sorted(passage.text for passage, _ in held.passages(rows).values())
        assert texts == sorted(before.values())
        assert set(count_editions(search_all(reader, "dense")).values()) == {2}


def test_two_objects_in_threads_write_in_turns(place: Path) -> None:
    faults: list[BaseException] = []

    def write(start: int) -> None:
        try:
            with open_hashing(place) as library:
                for number in range(start, start + 6):
                    library.update(read_page(f"thread-{number}", number))
                    assert check_whole(library)[f"thread-{number}"] == number
        except BaseException as fault:
            faults.append(fault)
            raise

    with open_hashing(place) as library:
        library.remove("secret", purge=True)
    threads = [threading.Thread(target=write, args=(100 * one,)) for one in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with open_hashing(place) as library:
        assert len(list_ids(library)) == 8 + 18
        assert library.verify() == []
        assert set(find(library, "edition105")) == {"thread-105"}


def test_two_first_syncs_at_once_take_no_name_or_prefix_from_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "library"
    for root in ("ours", "theirs"):
        write(tmp_path / root / "handbook", {f"{root}.md": f"The {root} of edition0.\n"})
    settings = load_settings({"lock_timeout_s": 0.1}, library=str(place))
    other = open_library(place, embedder=HashingEmbedder(), settings=settings)
    whole = register.register_source
    refused: list[Any] = []

    def sync_another(index: Any, source: Any, **said: Any) -> Any:
        known = whole(index, source, **said)
        if not refused:
            refused.append(source)
            with pytest.raises(ibid.LibraryLocked):
                other.sync(tmp_path / "theirs/handbook")
        return known

    monkeypatch.setattr(register, "register_source", sync_another)
    with open_hashing(place) as library:
        library.sync(tmp_path / "ours/handbook")
        other.sync(tmp_path / "theirs/handbook")
        assert [(one.name, one.prefix) for one in library.sources()] == [
            ("handbook", ""),
            ("handbook-2", "handbook"),
        ]
        assert list_ids(library) == ["handbook/theirs.md", "ours.md"]
    other.close()
