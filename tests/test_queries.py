"""What a caller hands over: odd arguments and principals that name nobody are clear errors."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ibid
from command_line import call
from conftest import open_hashing
from ibid.flows.options import check_allow, hold_principals
from ibid.flows.queries import check_query
from ibid.records import OWNER, Query, is_principal
from ibid.testing.embedders import HashingEmbedder

NOBODY = ["", " ", ":", "user:", ":ann", "user:ann group:hr", "user:ann\n", "a\u00a0b", "a\u200bb"]
NOBODY += ["*", None, 5, b"user:ann", ["user:ann"]]  # type: ignore[list-item]  # what is refused


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a closed library lies that holds one public document and one that is not."""
    place = tmp_path_factory.mktemp("queries") / "library"
    with open_hashing(place) as library:
        library.ingest(
            [
                ibid.Document("leave", "Parental leave lasts sixteen weeks."),
                ibid.Document("pay", "Parental leave costs us much.", allow=frozenset({"u"})),
            ]
        )
    return place


@pytest.fixture(scope="module")
def library(place: Path) -> Iterator[ibid.Library]:
    """The same, open."""
    with open_hashing(place) as library:
        yield library


@pytest.mark.parametrize("name", NOBODY)
def test_what_names_nobody_is_no_principal(name: Any) -> None:
    assert not is_principal(name)
    with pytest.raises(ibid.BadQuery, match="names nobody"):
        hold_principals([name])
    with pytest.raises(ibid.BadSetting, match="names nobody"):
        check_allow([name])


def test_a_kind_and_a_name_are_a_principal() -> None:
    names = {"user:ann", "group:hr", "group:people:managers", "user:auth0|7", "ключ:Ёж", "ann"}
    assert hold_principals(names) == check_allow(names) == names
    assert hold_principals(OWNER) is OWNER


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"text": None}, "the question is None"),
        ({"text": b"leave"}, "the question is b'leave'"),
        ({"k": "3"}, "k is '3'; give a whole number"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": True}, "k is True"),
        ({"filter": 5}, "the filter is 5"),
        ({"version": "1"}, "the version is '1'"),
        ({"principals": "u"}, "one text, not a set"),
        ({"principals": None}, "principals=None is no set"),
        ({"principals": ["*"]}, "ibid.OWNER in Python"),
    ],
)
def test_an_odd_argument_is_told(
    library: ibid.Library, arguments: dict[str, Any], words: str
) -> None:
    arguments = {"text": "parental leave", **arguments}
    text = arguments.pop("text")
    faces: list[Any] = [library.search, library.ask]
    if "version" not in arguments:
        both = ibid.Libraries({"one": library})
        faces += [both.search, both.ask]
    for face in faces:
        with pytest.raises(ibid.BadQuery) as told:
            face(text, **arguments)
        assert words in str(told.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"history": "How long?"}, "one text"),
        ({"history": ["How long?", None]}, "a turn of the history is None"),
        ({"context": "all"}, "no context 'all'; use one of search, auto, whole"),
    ],
)
def test_what_only_asking_takes_is_checked_too(
    library: ibid.Library, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ibid.BadQuery) as told:
        library.ask("How long is parental leave?", **arguments)
    assert words in str(told.value)


def test_a_query_made_by_hand_opens_nothing(library: ibid.Library) -> None:
    """A text in the place of the set would be taken apart: "u" is in "user:bob"."""
    query = Query("parental leave", "user:bob")  # type: ignore[arg-type]  # the trap itself
    for run in (library.run_search, library.run_ask):
        with pytest.raises(ibid.BadQuery, match="one text"):
            run(query)
    assert check_query(Query("parental leave", OWNER)).principals is OWNER


def test_whole_numbers_of_other_libraries_are_whole_numbers(library: ibid.Library) -> None:
    numpy = pytest.importorskip("numpy")
    assert len(library.search("parental leave", k=numpy.int64(1))) == 1


def test_the_command_line_refuses_who_is_nobody(place: Path) -> None:
    for name in ("user:", "user:ann group:hr", ""):
        done = call("list", "--library", place, "--as", name, "--json")
        assert (done.code, done.json["error"]["type"]) == (2, "BadQuery")


def test_an_unknown_command_of_a_chat_is_not_asked(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "/help\n/Reset\nHow long does parental leave last?\n/leave policy, how long?\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    monkeypatch.setattr("ibid.openers.EMBEDDERS", {"hashing": lambda settings: HashingEmbedder()})
    monkeypatch.setenv("IBID_EMBEDDER_NAME", "hashing")
    done = call("chat", "--library", place, "--json", "--no-log")
    assert [turn["question"][:9] for turn in done.json["turns"]] == ["How long ", "/leave po"]
    assert done.err.count("is no command; there are /new and /quit") == 2
