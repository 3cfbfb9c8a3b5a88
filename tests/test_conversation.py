"""Conversations: follow-ups, what stays citable, and that history never opens anything."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ibid
from command_line import call
from conftest import open_hashing
from ibid.flows.chat import MOST_CITED, TURNS
from ibid.records import AnswerStatus, Prompt
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

PAGES = [
    ibid.Document("leave", "Parental leave lasts sixteen weeks. It is fully paid."),
    ibid.Document("travel", "Trains are booked through the portal."),
    ibid.Document("lunch", "Lunch is served in the canteen from noon."),
    ibid.Document("parking", "Parking is free for visitors of the office."),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a closed library of a few documents lies."""
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest(PAGES)
    return place


def cite_first(prompt: Prompt) -> str:
    """A reply that quotes and cites the first source."""
    first = prompt.sources[0].passage.text.split(". ")[0].rstrip(".")
    return f"{first} [1]."


@pytest.fixture
def scripted(place: Path) -> Iterator[tuple[ibid.Library, ScriptedGenerator]]:
    """The library with a generator that quotes its first source, and that generator."""
    script = ScriptedGenerator(cite_first)
    with ibid.open(place, embedder=HashingEmbedder(), generator=script) as library:
        yield library, script


def list_sources(script: ScriptedGenerator, turn: int = -1) -> list[str]:
    return [hit.document_id for hit in script.prompts[turn].sources]


def test_each_question_knows_those_before(place: Path) -> None:
    script = ScriptedGenerator(lambda prompt: "Parental leave lasts sixteen weeks [1].")
    with ibid.open(place, embedder=HashingEmbedder(), generator=script) as library:
        chat = library.chat(k=1)
        first = chat.ask("How long is parental leave?")
        second = chat.ask("Is it paid?")
        assert first.request.history == ()
        assert second.request.history == (first.question, first.text)
        assert chat.answers == [first, second]
        chat.forget()
        assert chat.ask("Is lunch free?").request.history == ()
        for number in range(TURNS + 2):
            last = chat.ask(f"And what of number {number}?")
        assert len(last.request.history) == 2 * TURNS
        assert library.answer(second.id).answer.request.history == second.request.history


def test_what_was_cited_stays_citable(scripted: tuple[ibid.Library, ScriptedGenerator]) -> None:
    library, script = scripted
    chat = library.chat(k=1, mode="lexical")
    chat.ask("How long does parental leave last?")
    answer = chat.ask("When is lunch served in the canteen?")
    assert list_sources(script) == ["lunch", "leave"]
    assert [hit.rank for hit in answer.sources] == [1, 2]
    assert answer.sources[1].contributions == {}
    chat.ask("Is parental leave paid, and how long does it last?")
    assert list_sources(script) == ["leave", "lunch"]  # once each
    for question in ("Are trains booked through the portal?", "Is parking free for visitors?"):
        chat.ask(question)
    assert len(list_sources(script)) == 1 + MOST_CITED
    assert list_sources(script)[0] == "parking"
    alone = library.ask("When is lunch served in the canteen?", k=1, mode="lexical")
    assert [hit.document_id for hit in alone.sources] == ["lunch"]


def test_history_brings_back_what_its_answers_cited(
    scripted: tuple[ibid.Library, ScriptedGenerator],
) -> None:
    """Also where nobody holds the conversation but who asks; never what another one was told."""
    library, script = scripted
    question = "How long does parental leave last?"
    first = library.ask(question, k=1, mode="lexical")
    for principals, expected in (((), ["lunch", "leave"]), ({"user:ann"}, ["lunch"])):
        library.ask(
            "When is lunch served in the canteen?",
            k=1,
            mode="lexical",
            principals=principals,
            history=[question, first.text],
        )
        assert list_sources(script) == expected


def test_what_was_hidden_or_changed_since_is_citable_no_more(
    scripted: tuple[ibid.Library, ScriptedGenerator],
) -> None:
    library, script = scripted
    chats = [library.chat(k=1, mode="lexical") for _ in range(4)]
    for chat in chats:
        chat.ask("How long does parental leave last?")
    library.update(ibid.Document("leave", "Parental leave lasts twenty weeks."))
    chats[0].ask("When is lunch served in the canteen?")
    assert list_sources(script) == ["lunch"]
    library.update(PAGES[0])
    chats[1].ask("When is lunch served in the canteen?")
    assert list_sources(script) == ["lunch", "leave"]
    library.set("leave", allow=["group:hr"])
    chats[2].ask("When is lunch served in the canteen?")
    assert list_sources(script) == ["lunch"]
    library.remove("leave")
    chats[3].ask("When is lunch served in the canteen?")
    assert list_sources(script) == ["lunch"]


def test_a_conversation_stays_within_its_filter_and_access(place: Path) -> None:
    script = ScriptedGenerator(cite_first)
    with ibid.open(place, embedder=HashingEmbedder(), generator=script) as library:
        library.set("lunch", allow=["user:ann"])
        chat = library.chat({"user:ann"}, filter='id in ("lunch", "parking")', k=4)
        for question in ("When is lunch served?", "How long is parental leave?", "And trains?"):
            answer = chat.ask(question)
            assert {hit.document_id for hit in answer.found} <= {"lunch", "parking"}
        public = library.chat(k=4)
        told = "Lunch is served in the canteen from noon."
        for prompt in script.prompts:
            assert told in prompt.messages[-1].content
        public.query = ibid.Query("", history=("When is lunch served?", told))
        answer = public.ask("Where is that?")
        assert "lunch" not in {hit.document_id for hit in answer.found}


# -- at the command line --------------------------------------------------------------------------


def chat(monkeypatch: pytest.MonkeyPatch, lines: str, *arguments: str | Path) -> Any:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    monkeypatch.setattr("ibid.openers.EMBEDDERS", {"hashing": lambda settings: HashingEmbedder()})
    monkeypatch.setenv("IBID_EMBEDDER_NAME", "hashing")
    return call("chat", *arguments)


def test_a_conversation_in_a_pipe_is_one_object(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "How long does parental leave last?\n\n  Is it paid?\n/new\nIs it paid?"
    done = chat(monkeypatch, lines, "--library", place, "--json")
    assert done.code == 0
    turns = done.json["turns"]
    assert [len(turn["request"]["history"]) for turn in turns] == [0, 2, 0]
    assert "sixteen weeks" in turns[0]["text"]
    assert json.loads(done.out)["schema_version"] == 1


def test_a_conversation_in_words_ends_when_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = chat(
        monkeypatch, "How long does parental leave last?\n/quit\nMore?\n", "--library", place
    )
    assert (done.code, done.out.count("Quoted from the documents")) == (0, 1)
    with open_hashing(place) as library:
        assert len(library.answers()) == 1
    done = chat(monkeypatch, "", "--library", place, "--no-log")
    assert (done.code, done.out) == (3, "")


def test_an_error_ends_only_its_turn(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "How long does parental leave last?\nAnd who gets it?\n"
    done = chat(monkeypatch, lines, "--library", place, "--json", "--filter", "tag. = 1")
    assert done.code == 3
    assert [turn["error"]["type"] for turn in done.json["turns"]] == ["BadQuery"] * 2
    done = chat(monkeypatch, lines, "--library", place, "--filter", "tag. = 1")
    assert done.err.count("Error: ") == 2


def test_abstaining_ends_nothing(place: Path) -> None:
    with open_hashing(place) as library:
        chat = library.chat(mode="lexical")
        assert chat.ask("Xyzzy plugh?").status is AnswerStatus.ABSTAINED
        assert chat.ask("How long does parental leave last?").status is AnswerStatus.ANSWERED
