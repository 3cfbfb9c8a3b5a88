"""A damaged log of answers: told by verify, set aside by a repair, and never in a purge's way for
long; the documents are whole all the while."""

from __future__ import annotations

from pathlib import Path

import pytest

import ibid
from conftest import list_ids, open_hashing, run_ibid

SECRET = "The cormorant knows the combination of the safe."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a library lies that has answered a question, and lost its log to a bad disk."""
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([ibid.Document("secret", SECRET), ibid.Document("b", "Herons wade.")])
        library.ask("What does the cormorant know?", principals=ibid.OWNER)
    spoil(place / "answers.db")
    return place


def spoil(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[100:2000] = b"\xff" * 1900
    file.write_bytes(data)


def hold(place: Path, text: str) -> list[str]:
    files = [file for file in place.rglob("*") if file.is_file()]
    return [file.name for file in files if text.encode() in file.read_bytes()]


def test_verify_names_it_and_a_repair_sets_it_aside_and_says_so(place: Path) -> None:
    found = run_ibid("verify", library=place, code=1)
    (problem,) = found["problems"]
    assert (problem["part"], problem["where"]) == ("answers", "answers.db")
    assert problem["repairable"]
    done = run_ibid("verify", "--repair", library=place)
    assert (done["ok"], done["problems"], done["repaired"]) == (True, [], [problem])
    assert (place / "answers.db.damaged1").is_file()
    with open_hashing(place) as library:
        answer = library.ask("Where do herons wade?")
        assert [kept.answer.id for kept in library.answers(principals=ibid.OWNER)] == [answer.id]
        assert list_ids(library) == ["b", "secret"]


def test_a_second_damage_takes_nothing_of_the_first(place: Path) -> None:
    for number in (1, 2):
        with open_hashing(place) as library:
            assert library.verify(repair=True) == []
            library.ask("Where do herons wade?")
        assert (place / f"answers.db.damaged{number}").is_file()
        spoil(place / "answers.db")
    assert (place / "answers.db.damaged1").read_bytes() != b""


def test_a_folder_in_its_place_is_a_damage_too(place: Path) -> None:
    (place / "answers.db").unlink()
    for ending in ("-wal", "-shm"):
        (place / f"answers.db{ending}").unlink(missing_ok=True)
    (place / "answers.db").mkdir()
    with open_hashing(place) as library:
        with pytest.raises(ibid.Corrupt, match="it is a folder") as found:
            library.answers(principals=ibid.OWNER)
        assert "verify --repair" in found.value.hint
        assert [one.part for one in library.verify()] == ["answers"]
        assert library.verify(repair=True) == []
        assert library.answers(principals=ibid.OWNER) == []


def test_a_purge_beside_it_holds_and_is_brought_to_its_end_by_a_repair(place: Path) -> None:
    with open_hashing(place) as library:
        with pytest.raises(ibid.Corrupt, match=r"answers\.db is damaged"):
            library.remove("secret", purge=True)
        assert list_ids(library) == ["b"]
        assert library.verify(repair=True) == []
    assert hold(place, "combination of the safe") == []
    assert not list(place.glob("answers.db.damaged*"))  # it may have held what was purged


def test_what_was_set_aside_goes_with_the_next_purge(place: Path) -> None:
    with open_hashing(place) as library:
        library.verify(repair=True)
        library.update(ibid.Document("b", "Herons fly."))
        assert list(place.glob("answers.db.damaged*"))
        library.remove("secret", purge=True)
    assert not list(place.glob("answers.db.damaged*"))
    assert hold(place, "combination of the safe") == []


def test_a_vacuum_beside_it_changes_nothing(place: Path) -> None:
    with open_hashing(place) as library:
        library.update(ibid.Document("b", "Herons fly."))
        with pytest.raises(ibid.Corrupt, match="damaged"):
            library.vacuum(0)
        assert library.search("herons wade", version=1)
