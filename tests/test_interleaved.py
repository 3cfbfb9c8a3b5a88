"""What one holder of a library does while another one is in the middle of something."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import ibid
from conftest import find, list_ids, open_hashing
from ibid.index.embedded import purge
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
