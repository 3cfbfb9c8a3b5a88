"""The log of answers through the library: kept, listed, given again, withheld, erased, and never in
the way of an answer or of a writer."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

import ibid
from conftest import command_line, open_hashing, run_ibid, write
from ibid.flows.options import LogOptions
from ibid.records import AnswerStatus
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator
from test_faults import respect_permissions

LEAVE: Final = ibid.Document("leave", "Parental leave lasts sixteen weeks. It is fully paid.")
TRAVEL: Final = ibid.Document("travel", "Trains are booked through the portal by each traveller.")
QUESTION: Final = "How long does parental leave last?"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a closed library of two documents lies."""
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([LEAVE, TRAVEL])
    return place


@pytest.fixture
def library(place: Path) -> Iterator[ibid.Library]:
    """The same, opened."""
    with open_hashing(place) as library:
        yield library


def find_bytes(place: Path, word: str) -> list[str]:
    """The files that hold a word, whatever its case."""
    return [
        file.name
        for file in place.rglob("*")
        if file.is_file() and word.lower().encode() in file.read_bytes().lower()
    ]


# -- kept ---------------------------------------------------------------------------------------


def test_what_was_answered_is_kept_whole(library: ibid.Library) -> None:
    answer = library.ask(QUESTION, k=1, filter='id like "l%"', principals={"user:ann"})
    assert answer.status is AnswerStatus.ANSWERED
    kept = library.answer(answer.id, {"user:ann"})
    assert kept.answer == ibid_without_trace(answer)
    assert kept.answer.found == answer.found != ()
    assert kept.answer.draft == answer.draft != ""
    assert kept.options["template"] == "grounded"
    assert [one.answer.id for one in library.answers({"user:ann"})] == [answer.id]
    assert library.answers() == []
    with pytest.raises(ibid.UnknownAnswer):
        library.answer(answer.id)
    assert library.answer(answer.id, ibid.OWNER) == kept


def ibid_without_trace(answer: ibid.Answer) -> ibid.Answer:
    from dataclasses import replace

    return replace(answer, trace=())


def test_an_abstention_is_kept_with_what_was_found(library: ibid.Library) -> None:
    answer = library.ask("Which airline does the company own?")
    kept = library.answer(answer.id)
    assert kept.answer.status is AnswerStatus.ABSTAINED
    assert kept.answer.sources == ()
    assert [hit.document_id for hit in kept.answer.found] == [
        hit.document_id for hit in answer.found
    ]
    assert kept.answer.found


def test_nothing_is_kept_where_that_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_hashing(place) as library:
        library.run_ask(ibid.Query(QUESTION), log=False)
    monkeypatch.setenv("IBID_ANSWERS_LOG", "false")
    with open_hashing(place) as library:
        library.ask(QUESTION)
        assert library.answers(ibid.OWNER) == []
    monkeypatch.delenv("IBID_ANSWERS_LOG")
    run_ibid("ask", QUESTION, "--no-log", library=place)
    assert not (place / "answers.db").exists()
    run_ibid("ask", QUESTION, library=place)
    assert len(run_ibid("answers", library=place)["answers"]) == 1


def test_old_answers_leave_with_the_next_one(library: ibid.Library, place: Path) -> None:
    first = library.ask(QUESTION)
    with sqlite3.connect(place / "answers.db") as connection:
        connection.execute("UPDATE answers SET asked_at = asked_at - 91 * 86400")
    assert library.answer(first.id)
    second = library.ask(QUESTION)
    assert [kept.answer.id for kept in library.answers()] == [second.id]
    library._parts = _with_log(library, LogOptions(keep_days=None))
    with sqlite3.connect(place / "answers.db") as connection:
        connection.execute("UPDATE answers SET asked_at = 0")
    library.ask(QUESTION)
    assert len(library.answers()) == 2


def _with_log(library: ibid.Library, log: LogOptions) -> Any:
    from dataclasses import replace

    return replace(library._parts, log=log)


def test_feedback_is_said_of_what_one_sees(library: ibid.Library) -> None:
    answer = library.ask(QUESTION, principals={"user:ann"})
    library.feedback(answer.id, "bad", "wrong year", {"user:ann"})
    (kept,) = library.answers({"user:ann"}, rated="bad")
    assert (kept.feedback[0].good, kept.feedback[0].comment) == (False, "wrong year")
    assert library.answers({"user:ann"}, rated="good") == []
    with pytest.raises(ibid.UnknownAnswer):
        library.feedback(answer.id, "bad", "", {"user:bob"})
    with pytest.raises(ibid.BadQuery):
        library.feedback(answer.id, "fine", "", {"user:ann"})  # type: ignore[arg-type]  # as a face may


# -- in nobody's way ------------------------------------------------------------------------------


def test_an_answer_is_kept_while_a_commit_is_under_way(place: Path) -> None:
    """Another process holds the writer's lock and an open transaction of the library's database."""
    script = f"""
import sys
from pathlib import Path
from ibid.index.embedded.engine import EmbeddedIndex
from ibid.index.embedded.schema import transacting
from ibid.testing.index_parts import analyze_words
index = EmbeddedIndex(Path({str(place)!r}), analyze=analyze_words)
with index.writing(), transacting(index._connect()) as connection:
    connection.execute("INSERT INTO library VALUES ('held', 'x')")
    print("held", flush=True)
    sys.stdin.read()
"""
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with open_hashing(place) as library:
            answer = library.ask(QUESTION)
            assert answer.warnings == ()
            library.feedback(answer.id, "good")
            (kept,) = library.answers()
            assert kept.answer.id == answer.id
        assert child.poll() is None
    finally:
        child.communicate("")
    assert child.returncode == 0


def test_answers_are_kept_beside_a_sync_and_each_other(place: Path, folder: Path) -> None:
    """A sync that commits each file on its own, and four askers, in processes of their own."""
    write(folder, {f"{n}.md": f"# Page {n}\n\nFloor {n} has {n + 3} desks.\n" for n in range(40)})
    environ = {
        **os.environ,
        "IBID_LIBRARY": str(place),
        "IBID_EMBEDDER_NAME": "hashing",
        "IBID_INGEST_BATCH": "1",
    }
    ask = """
import ibid, sys
from ibid.testing.embedders import HashingEmbedder
with ibid.open(sys.argv[1], embedder=HashingEmbedder()) as library:
    for _ in range(10):
        answer = library.ask("How long does parental leave last?")
        assert answer.warnings == (), answer.warnings
        print(answer.id)
"""
    sync = subprocess.Popen(command_line(["sync", folder, "--prefix", "pages"]), env=environ)
    askers = [
        subprocess.Popen([sys.executable, "-c", ask, str(place)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    given = [id for asker in askers for id in asker.communicate(timeout=120)[0].split()]
    assert sync.wait(timeout=120) == 0
    assert [asker.returncode for asker in askers] == [0] * 4
    with open_hashing(place) as library:
        kept = library.answers(most=100)
        assert sorted(one.answer.id for one in kept) == sorted(given)
        assert len(given) == 40
        assert {one.answer.status for one in kept} == {AnswerStatus.ANSWERED}


def test_a_kill_while_an_answer_is_kept_leaves_it_or_none(place: Path) -> None:
    """At each statement of the transaction in turn; what was kept before stays."""
    with open_hashing(place) as library:
        first = library.ask(QUESTION)
    script = """
import os, signal, sys
import ibid
from ibid.testing.embedders import HashingEmbedder
with ibid.open(sys.argv[1], embedder=HashingEmbedder()) as library:
    seen = 0
    def watch(statement):
        global seen
        seen += 1
        if seen == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
    library._index.answers._connections.get().set_trace_callback(watch)
    library.ask("Who books trains?")
"""
    killed = 0
    for statement in range(1, 12):
        done = subprocess.run(
            [sys.executable, "-c", script, str(place), str(statement)], check=False
        )
        with open_hashing(place) as library:
            kept = library.answers(most=99)
            assert kept[-1].answer.id == first.id
            assert all(one.answer.text for one in kept)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        assert len(kept) == 1
        killed += 1
    assert killed >= 4
    assert len(kept) == 2


def test_threads_of_one_library_keep_their_answers(library: ibid.Library) -> None:
    barrier = threading.Barrier(6)

    def ask(number: int) -> str:
        barrier.wait()
        return library.ask(QUESTION, principals={f"user:{number}"}).id

    with ThreadPoolExecutor(6) as pool:
        given = list(pool.map(ask, range(6)))
    assert sorted(one.answer.id for one in library.answers(ibid.OWNER)) == sorted(given)


def test_a_library_that_can_not_be_written_answers_with_a_warning(place: Path) -> None:
    with open_hashing(place) as library:
        library.ask(QUESTION)
    files = [place / "library.db", place / "answers.db"]
    try:
        for file in files:
            file.chmod(0o400)
        place.chmod(0o500)
        found = run_ibid("ask", QUESTION, library=place, preexec_fn=respect_permissions)
        assert found["status"] == "answered"
        assert "not in the log" in found["warnings"][-1]
        listed = run_ibid("answers", library=place, preexec_fn=respect_permissions)
        assert len(listed["answers"]) == 1
    finally:
        place.chmod(0o700)
        for file in files:
            file.chmod(0o600)


@pytest.mark.parametrize("damage", [b"", b"no database at all " * 99])
def test_a_damaged_log_is_not_in_the_way_of_answers(place: Path, damage: bytes) -> None:
    with open_hashing(place) as library:
        library.ask(QUESTION)
    (place / "answers.db").write_bytes(damage)
    with open_hashing(place) as library:
        answer = library.ask(QUESTION)
        assert answer.status is AnswerStatus.ANSWERED
        if damage:
            assert "not in the log" in answer.warnings[-1]
            with pytest.raises(ibid.Corrupt, match=r"answers\.db"):
                library.answers()


def test_a_log_of_a_newer_ibid_is_left_alone(place: Path) -> None:
    with open_hashing(place) as library:
        library.ask(QUESTION)
    with sqlite3.connect(place / "answers.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    with open_hashing(place) as library:
        assert "format 99" in library.ask(QUESTION).warnings[-1]
        with pytest.raises(ibid.FormatTooNew):
            library.answers()


# -- once more ------------------------------------------------------------------------------------


def test_a_replay_is_identical_after_the_documents_changed(library: ibid.Library) -> None:
    answers = [library.ask(QUESTION, strict=True), library.ask("Which airline does it own?")]
    library.update(ibid.Document("leave", "Parental leave lasts twenty weeks."))
    library.remove("travel")
    for answer in answers:
        again, identical = library.replay(answer.id)
        assert identical
        assert (again.text, again.status) == (answer.text, answer.status)
        assert again.id != answer.id
    assert library.ask(QUESTION).text != answers[0].text
    assert len(library.answers()) == 3  # a replay is not kept


def test_a_replay_by_another_generator_is_not_identical(place: Path) -> None:
    with open_hashing(place) as library:
        first = library.ask(QUESTION)
    script = ScriptedGenerator(["Parental leave lasts sixteen weeks [1]."] * 2)
    with ibid.open(place, embedder=HashingEmbedder(), generator=script) as library:
        again, identical = library.replay(first.id)
        assert not identical
        assert any("by scripted now" in warning for warning in again.warnings)
        second = library.ask(QUESTION)
        assert script.prompts[0].messages == script.prompts[1].messages
        assert second.text == again.text


def test_a_replay_keeps_what_was_said_before(library: ibid.Library) -> None:
    first = library.ask(QUESTION)
    second = library.ask("Is it paid?", history=[QUESTION, first.text])
    _, identical = library.replay(second.id)
    assert identical
    foreign = library.ask("Is it paid?", history=[QUESTION, "Words of nobody."])
    assert library.answer(foreign.id).answer.request.history == (QUESTION, "")
    again, _ = library.replay(foreign.id)
    assert any("history" in warning for warning in again.warnings)


# -- who sees it ----------------------------------------------------------------------------------


def test_an_answer_is_withheld_with_its_sources(place: Path) -> None:
    with open_hashing(place) as library:
        answer = library.ask(QUESTION, k=1)
        followed = library.ask("Who books trains?", k=1, history=[QUESTION, answer.text])
        library.set("leave", allow=["group:hr"])
        for id in (answer.id, followed.id):
            kept = library.answer(id)
            assert kept.answer.status is AnswerStatus.WITHHELD
            assert library.cited(id) == []
            again, identical = library.replay(id)
            assert (again.status, again.text, identical) == (AnswerStatus.WITHHELD, "", False)
            assert library.answer(id, ibid.OWNER).answer.text
    for arguments in (
        ("answers",),
        ("answers", answer.id),
        ("replay", answer.id),
        ("open", "last"),
    ):
        code = 0 if arguments[0] == "answers" else 3
        found = run_ibid(*arguments, library=place, code=code)
        assert "sixteen" not in str(found)
        assert "withheld" in str(found)


def test_nothing_of_a_purged_document_is_left_in_answers(place: Path) -> None:
    word = "quokka"
    secret = ibid.Document(f"{word}-file", f"The {word} codeword is seventeen.", title=word)
    with open_hashing(place) as library:
        library.ingest(secret)
        chat = library.chat()
        told = chat.ask(f"What is the {word} codeword?")
        assert word in told.text
        chat.ask("Is it seventeen?")
        library.feedback(told.id, "bad", f"not the {word}")
        asked = library.ask(QUESTION, k=1)
        assert find_bytes(place, word)
        library.remove(f"{word}-file", purge=True)
        assert find_bytes(place, word) == []  # while it is open
        assert library.answer(asked.id).answer.text == asked.text
        assert library.answer(told.id, ibid.OWNER).answer.status is AnswerStatus.WITHHELD
    assert find_bytes(place, word) == []


def test_a_purge_that_was_killed_is_finished_by_the_next_writer(place: Path) -> None:
    """Between the library's transaction and that of the answers."""
    with open_hashing(place) as library:
        library.ingest(ibid.Document("secret", "The quokka codeword is seventeen."))
        told = library.ask("What is the quokka codeword?", k=1)
        assert "quokka" in told.text
    script = """
import os, signal, sys
import ibid
from ibid.index.embedded.answers import EmbeddedAnswers
from ibid.testing.embedders import HashingEmbedder
with ibid.open(sys.argv[1], embedder=HashingEmbedder()) as library:
    held = library.writing()
    held.__enter__()
    EmbeddedAnswers.forget_purged = lambda self: os.kill(os.getpid(), signal.SIGKILL)
    library.remove("secret", purge=True)
"""
    done = subprocess.run([sys.executable, "-c", script, str(place)], check=False)
    assert done.returncode == -signal.SIGKILL
    with open_hashing(place) as library:
        assert library.answer(told.id).answer.status is AnswerStatus.WITHHELD
        assert "answers.db" in find_bytes(place, "quokka")
        library.ingest(ibid.Document("other", "A text of its own."))
        assert "answers.db" not in find_bytes(place, "quokka")


# -- the same question again -----------------------------------------------------------------------


class RemoteScript(ScriptedGenerator):
    """A scripted generator that counts as one far away."""

    remote = "https://models.example/v1"


@pytest.fixture
def cached(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ibid.Library, Any]]:
    """A library that gives answers of its remote model again, and the model."""
    monkeypatch.setenv("IBID_ASK_CACHE", "true")
    script = RemoteScript(lambda prompt: "Parental leave lasts sixteen weeks [1].")
    with ibid.open(place, embedder=HashingEmbedder(), generator=script) as library:
        yield library, script


def test_the_same_question_is_not_sent_twice(cached: tuple[ibid.Library, Any]) -> None:
    library, script = cached
    first = library.ask(QUESTION)
    pieces: list[str] = []
    again = library.ask(QUESTION, on_text=pieces.append)
    assert len(script.prompts) == 1
    assert (again.id, again.text, again.citations) == (first.id, first.text, first.citations)
    assert "".join(pieces) == first.text
    assert "same question" in again.warnings[-1]
    assert len(library.answers()) == 1


def test_anything_else_is_asked_anew(cached: tuple[ibid.Library, Any]) -> None:
    """Above all another caller: also one who may see more, and the owner."""
    library, script = cached
    asked: list[dict[str, Any]] = [
        {},
        {"principals": {"user:ann"}},
        {"principals": {"user:ann", "group:hr"}},
        {"principals": ibid.OWNER},
        {"filter": 'id = "leave"'},
        {"k": 1},
        {"mode": "lexical"},
        {"strict": True},
        {"history": ["What is leave?", "Time off."]},
    ]
    for number, options in enumerate(asked, start=1):
        library.ask(QUESTION, **options)
        assert len(script.prompts) == number, options
    for options in asked:
        library.ask(QUESTION, **options)
    assert len(script.prompts) == len(asked)
    library.ask(f"{QUESTION} ")
    assert len(script.prompts) == len(asked) + 1
    library.ingest(ibid.Document("new", "A text of its own."))
    library.ask(QUESTION)
    assert len(script.prompts) == len(asked) + 2


def test_what_is_hidden_since_is_not_given_again(cached: tuple[ibid.Library, Any]) -> None:
    library, _ = cached
    first = library.ask(QUESTION, version=1)
    library.set("leave", allow=["group:hr"])
    assert library.ask(QUESTION, version=1).id != first.id
    assert library.ask(QUESTION, version=1).status is AnswerStatus.ABSTAINED


def test_answers_of_this_machine_are_made_anew(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IBID_ASK_CACHE", "true")
    with open_hashing(place) as library:
        assert library.ask(QUESTION).id != library.ask(QUESTION).id


def test_the_list_tells_what_a_list_needs(place: Path) -> None:
    with open_hashing(place) as library:
        answer = library.ask(QUESTION, principals={"user:ann"})
    (entry,) = run_ibid("answers", "--as", "user:ann", library=place)["answers"]
    assert entry["answer_id"] == answer.id
    assert entry["version"] == answer.version == 1
    assert entry["principals"] == ["user:ann"]
    assert entry["asked_at"].endswith("Z")
    assert run_ibid("answers", library=place)["answers"] == []
    shown = run_ibid("answers", "last", "--as", "*", library=place)
    assert [hit["document_id"] for hit in shown["hits"]] == ["leave", "travel"]
    for hit in shown["hits"]:
        shares = [given["share"] for given in hit["contributions"].values()]
        assert sum(shares) == pytest.approx(hit["score"])
    rated = run_ibid("feedback", "last", "good", "--as", "user:ann", library=place)
    assert [one["rating"] for one in rated["feedback"]] == ["good"]
    missing = run_ibid("replay", answer.id, library=place, code=1)
    assert missing["error"]["type"] == "UnknownAnswer"
