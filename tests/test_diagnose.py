"""Diagnosis: for each stage a library in which it alone loses the text, and what may be told."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import ibid
from command_line import HANDBOOK, call
from conftest import write
from ibid.errors import AccessDenied, BadQuery
from ibid.evaluation.golden import parse_golden
from ibid.flows.diagnose import Diagnostician, count_causes, diagnose_golden
from ibid.flows.diagnosis import STAGES, Diagnosis, Expected
from ibid.protocols import Generator, Reranker, Window
from ibid.records import OWNER, Prompt, Query
from ibid.shapes.inspection import shape_diagnosis
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

LAMP = "The lamp of the lighthouse turns once in twelve seconds."
QUESTION = "How often does the lamp of the lighthouse turn?"
KEEPERS = [
    f"The lamp of the lighthouse number {number} does turn, said the keeper of the lamp."
    for number in range(8)
]


def echo(prompt: Prompt) -> str:
    """Says and cites the first sentence of the first source."""
    return f"{prompt.sources[0].passage.text.split('. ')[0]} [1]."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ibid.Library]:
    with open_with(tmp_path, ScriptedGenerator(echo)) as opened:
        yield opened


def open_with(place: Path, generator: Generator, **settings: Any) -> ibid.Library:
    (place / "library").mkdir(exist_ok=True)
    lines = [f"{key} = {value!r}" for key, value in {"ask.abstain": 1.0, **settings}.items()]
    (place / "library" / "config.toml").write_text("\n".join(lines))
    return ibid.open(place / "library", embedder=HashingEmbedder(), generator=generator)


def fill(library: ibid.Library, *texts: str, **more: Any) -> None:
    library.ingest(
        ibid.Document(id=f"note-{number}", text=text, **more) for number, text in enumerate(texts)
    )


def look(library: ibid.Library, text: str = "twelve seconds", **more: Any) -> Diagnosis:
    found = library.diagnose(more.pop("question", QUESTION), text=text, **more)
    check(found)
    return found


def check(found: Diagnosis) -> None:
    """What holds of every diagnosis: stages in their order, the last alone may have lost it."""
    names = [stage.stage for stage in found.stages]
    assert names == sorted(names, key=STAGES.index)
    shape = shape_diagnosis(found)
    failing = [stage["stage"] for stage in shape["stages"] if not stage["ok"]]
    assert shape["first_failure"] == (failing[0] if failing else None)
    assert bool(shape["advice"]) == bool(failing)
    assert all(stage.detail for stage in found.stages)


def test_nothing_loses_a_text_that_is_cited(library: ibid.Library) -> None:
    fill(library, LAMP, "Bread rises twice.")
    found = look(library)
    assert found.first_failure is None
    assert [stage.stage for stage in found.stages] == [
        "read", "chunk", "index", "access", "filter", "lexical", "dense", "fuse", "select",
        "prompt", "answer", "cite",
    ]  # fmt: skip
    assert library.diagnose(QUESTION, document_id="note-0").first_failure is None
    assert library.answers(OWNER) == []


# -- from the disk to the index -------------------------------------------------------------


def test_read_loses_what_no_document_says(library: ibid.Library) -> None:
    fill(library, LAMP)
    assert look(library, "ninety seconds").first_failure == "read"
    assert look(library, "ninety seconds", principals=OWNER).first_failure == "read"
    assert library.diagnose(QUESTION, document_id="note-9").first_failure == "read"


def test_read_loses_what_is_garbled(library: ibid.Library) -> None:
    fill(library, "The l a m p tur ns.", "Der WÃ¤rter schlÃ¤ft.")
    spaced = look(library, "The lamp turns")
    assert spaced.first_failure == "read"
    assert "note-0" in spaced.stages[0].detail
    assert "ibid show note-0" in spaced.advice
    encoded = look(library, "Der Wärter schläft")
    assert encoded.first_failure == "read"
    assert "encoding" in encoded.stages[0].detail


def test_read_loses_a_file_that_failed_or_is_skipped(library: ibid.Library, folder: Path) -> None:
    write(
        folder, {"a.md": "Bread rises.", "lamp.docx": "No archive: twelve seconds.", "b.md": LAMP}
    )
    write(folder, {".ibidignore": "b.md\n"})
    library.sync(folder)
    found = look(library, "twelve seconds", principals=OWNER)
    assert found.first_failure == "read"
    assert "b.md was not read: " in found.stages[0].detail
    (folder / "b.md").unlink()
    failed = look(library, "No archive", principals=OWNER)
    assert failed.first_failure == "read"
    assert "lamp.docx was not read: " in failed.stages[0].detail
    write(folder, {"c.md": LAMP, "ibid.toml": '[[rules]]\nmatch = "c.md"\nignore = true\n'})
    ignored = look(library, "turns once in twelve", principals=OWNER)
    assert "c.md was not read: ignored by ibid.toml" in ignored.stages[0].detail
    by_id = library.diagnose(QUESTION, document_id="lamp.docx", principals=OWNER)
    assert (by_id.first_failure, "lamp.docx" in by_id.stages[0].detail) == ("read", True)
    unseen = look(library, "twelve seconds")
    assert "lamp" not in unseen.stages[0].detail
    assert "b.md" not in unseen.stages[0].detail


def test_chunk_loses_what_is_divided(tmp_path: Path) -> None:
    settings = {"chunking.by": "characters", "chunking.size": 50, "chunking.overlap": 0}
    with open_with(tmp_path, ScriptedGenerator(echo), **settings) as library:
        fill(library, LAMP)
        found = look(library)
    assert found.first_failure == "chunk"
    assert "2 passages" in found.stages[1].detail
    assert "chunking.size" in found.advice


def test_index_loses_a_file_that_is_new_or_changed(library: ibid.Library, folder: Path) -> None:
    write(folder, {"lamp.md": "The lamp is out."})
    library.sync(folder)
    write(folder, {"lamp.md": LAMP})
    changed = look(library, principals=OWNER)
    assert changed.first_failure == "index"
    assert "changed" in changed.stages[-1].detail
    assert "ibid sync" in changed.advice
    library.sync(folder)
    write(folder, {"more.md": "The bell rings in fog alone."})
    new = look(library, "bell rings in fog", principals=OWNER)
    assert (new.first_failure, "never synced" in new.stages[-1].detail) == ("index", True)
    assert look(library, "bell rings in fog").first_failure == "read"


def test_index_loses_what_the_version_did_not_hold(library: ibid.Library) -> None:
    fill(library, "Bread rises twice.")
    library.ingest(ibid.Document(id="lamp", text=LAMP))
    assert look(library, version=2).first_failure is None
    found = look(library, version=1)
    assert (found.first_failure, "version 1" in found.stages[-1].detail) == ("index", True)


def test_index_loses_what_has_no_vector(tmp_path: Path) -> None:
    with open_with(tmp_path, ScriptedGenerator(echo)) as library:
        fill(library, LAMP)
    with sqlite3.connect(tmp_path / "library" / "library.db") as database:
        database.execute("UPDATE passages SET text_hash = zeroblob(16)")
    with open_with(tmp_path, ScriptedGenerator(echo)) as library:
        found = look(library)
    assert found.first_failure == "index"
    assert "ibid verify --repair" in found.advice


# -- who asks, and within what --------------------------------------------------------------


def test_access_loses_what_the_asker_may_not_see(library: ibid.Library) -> None:
    fill(library, LAMP, allow=frozenset({"group:keepers"}))
    found = look(library, principals=OWNER, asker={"user:bob"})
    assert found.first_failure == "access"
    assert "group:keepers" in found.stages[-1].detail
    for caller in ({"group:keepers"}, OWNER):
        assert look(library, principals=caller).first_failure is None
        assert look(library, principals=caller, asker=()).first_failure == "access"


def test_filter_loses_what_it_leaves_out(library: ibid.Library) -> None:
    fill(library, LAMP, tags={"kind": "lamp"})
    assert look(library, filter="tag.kind = 'lamp'").first_failure is None
    found = look(library, filter="tag.kind = 'bread'")
    assert (found.first_failure, "tag.kind" in found.stages[-1].detail) == ("filter", True)
    phrase = look(library, question='How often does the "green lamp" turn?')
    assert (phrase.first_failure, "phrase" in phrase.stages[-1].detail) == ("filter", True)
    library.set("note-0", archived=True)
    archived = look(library)
    assert (archived.first_failure, "archived" in archived.stages[-1].detail) == ("filter", True)
    assert look(library, include_archived=True).first_failure is None


# -- the ranks -------------------------------------------------------------------------------


def test_lexical_loses_what_shares_no_word(library: ibid.Library) -> None:
    fill(library, LAMP)
    found = look(library, question="What is the period of rotation?", mode="lexical")
    assert found.first_failure == "lexical"
    assert "no word" in found.stages[-1].detail
    assert "synonyms" in found.advice


def test_dense_loses_what_is_not_near(library: ibid.Library) -> None:
    fill(library, *KEEPERS, LAMP)
    found = look(library, mode="dense", k=1, candidates=1)
    assert found.first_failure == "dense"
    assert "candidates" in found.advice


def test_a_retriever_that_misses_loses_nothing_where_the_other_finds(
    library: ibid.Library,
) -> None:
    fill(library, LAMP)
    found = look(library, question="What is the period of rotation?")
    assert found.first_failure is None
    [lexical] = [stage for stage in found.stages if stage.stage == "lexical"]
    assert "no word" in lexical.detail


def test_fuse_loses_what_is_outranked(library: ibid.Library) -> None:
    fill(library, *KEEPERS, "A lamp: twelve seconds.")
    found = look(library, k=2)
    assert found.first_failure == "fuse"
    failed = found.failed
    assert failed is not None
    assert failed.rank is not None
    assert failed.rank > 2
    assert "note-" in failed.detail.split("above it:")[1]
    assert "against" in failed.detail


class Liking:
    """A reranker that likes the texts that hold a word best."""

    name = "liking"
    remote = None
    calibration = None

    def __init__(self, word: str) -> None:
        self._word = word

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [0.9 if self._word in text else 0.1 for text in texts]


def diagnostician(
    library: ibid.Library,
    generator: Generator | None,
    reranker: Reranker | None = None,
    **changes: Any,
) -> Diagnostician:
    made = library.open_diagnostician(OWNER, **changes)
    made.generator, made.reranker = generator, reranker
    return made


def test_rerank_loses_what_it_puts_behind(library: ibid.Library) -> None:
    fill(library, LAMP, *KEEPERS)
    query, expected = Query(QUESTION, OWNER), Expected("twelve seconds")
    reranker: Any = Liking("keeper")
    found = diagnostician(library, None, reranker, k=3).diagnose(query, expected)
    check(found)
    assert found.first_failure == "rerank"
    assert "search.rerank" in found.advice
    liked: Any = Liking("twelve")
    assert diagnostician(library, None, liked, k=3).diagnose(query, expected).failed is None


def test_select_loses_what_is_weak_or_too_much(tmp_path: Path, library: ibid.Library) -> None:
    fill(library, "The lighthouse stands in fog; twelve seconds.", KEEPERS[0])
    weak = look(library, min_score=0.99)
    assert (weak.first_failure, "min_score" in weak.advice) == ("select", True)


def test_select_loses_what_the_budget_has_no_room_for(tmp_path: Path) -> None:
    with open_with(tmp_path, ScriptedGenerator(echo), **{"select.budget_pieces": 20}) as library:
        fill(library, KEEPERS[0], "The lighthouse stands in fog; twelve seconds.")
        found = look(library)
    assert (found.first_failure, "budget" in found.advice) == ("select", True)


def test_select_loses_a_near_twin(tmp_path: Path) -> None:
    with open_with(tmp_path, ScriptedGenerator(echo), **{"select.alike": 0.5}) as library:
        text = "The lamp of the lighthouse on the northern rock of the bay was lit by Ann Lee in "
        fill(library, f"{text} spring.", f"{text} autumn.")
        found = look(library, "autumn", question="When was the lamp lit in spring?")
    assert (found.first_failure, "alike" in found.advice) == ("select", True)


# -- the answer ------------------------------------------------------------------------------


class Small(ScriptedGenerator):
    """A model that holds next to nothing beside one source."""

    def find_window(self) -> Window:
        return Window(context=460, output=16)


def test_prompt_loses_what_the_window_has_no_room_for(tmp_path: Path) -> None:
    with open_with(tmp_path, Small(echo)) as library:
        fill(library, f"{KEEPERS[0]} {'Fog came in. ' * 20}", "The lighthouse: twelve seconds.")
        found = look(library)
    assert found.first_failure == "prompt"
    assert "context_tokens" in found.advice


@pytest.mark.parametrize(
    ("reply", "lost", "told"),
    [
        (lambda prompt: "The lamp is red [1].", "answer", "not used"),
        (lambda prompt: "NO ANSWER IN THE SOURCES", "answer", "no answer"),
        (lambda prompt: "It turns once in twelve seconds.", "cite", "uncited"),
        (lambda prompt: "The lamp turns once in twelve seconds [9].", "cite", "no-such-source"),
    ],
)
def test_answer_and_cite_lose_what_is_not_used_or_not_cited(
    tmp_path: Path, reply: Callable[[Prompt], str], lost: str, told: str
) -> None:
    with open_with(tmp_path, ScriptedGenerator(reply)) as library:
        fill(library, "The lamp is red. The crew sleeps at noon.", LAMP)
        found = look(library, "once in twelve seconds")
    assert found.first_failure == lost
    assert told in found.stages[-1].detail


def test_answer_loses_what_is_abstained_from(tmp_path: Path) -> None:
    with open_with(tmp_path, ScriptedGenerator(echo), **{"ask.abstain": 0.01}) as library:
        fill(library, LAMP)
        found = look(library, question="Who painted the ceiling in the great hall?")
    assert found.first_failure == "answer"
    assert "ask.abstain" in found.advice


# -- what may be told ------------------------------------------------------------------------


def test_nothing_is_told_of_what_the_caller_may_not_see(library: ibid.Library) -> None:
    library.ingest(ibid.Document(id="open", text="A lamp: twelve seconds."))
    library.ingest(
        ibid.Document(id=f"secret-{number}", text=text, allow=frozenset({"group:hidden"}))
        for number, text in enumerate(KEEPERS)
    )
    plain = look(library, k=2, answering=False)
    for_hidden = look(library, k=2, asker={"group:hidden"}, answering=False)
    assert for_hidden.stages == plain.stages
    assert look(library, k=2, asker={"group:hidden"}, principals=OWNER).first_failure == "fuse"
    hidden = look(library, "number 3", asker={"group:hidden"})
    absent = look(library, "number 33", asker={"group:hidden"})
    assert hidden.stages == absent.stages


def test_who_sees_it_by_other_principals_is_sent_to_the_owner(library: ibid.Library) -> None:
    fill(library, LAMP, allow=frozenset({"user:ann", "user:bob"}))
    with pytest.raises(AccessDenied, match="owner"):
        look(library, principals={"user:ann"}, asker={"user:bob"})


def test_what_can_not_be_is_refused(library: ibid.Library) -> None:
    for expected in ({}, {"text": "a", "document_id": "b"}, {"text": "  "}):
        with pytest.raises(BadQuery):
            library.diagnose(QUESTION, **expected)  # type: ignore[arg-type]  # the point


# -- golden sets ------------------------------------------------------------------------------

GOLDEN = """
{"id": "found", "question": "How often does the lamp turn?", "contains": "twelve seconds"}
{"id": "absent", "question": "How often does the lamp turn?", "contains": "ninety seconds"}
{"id": "half", "question": "How does the lamp turn?", "contains": ["The lamp", "ninety seconds"]}
{"id": "one will do", "question": "Which lamp turns?", "document_id": ["note-0", "note-9"]}
{"id": "hidden", "question": "How often does the bell ring?", "contains": "rings", "as": []}
{"id": "drafted", "question": "Is it there?", "contains": "nowhere", "draft": true}
{"id": "nothing", "question": "Who owns the moon?", "unanswerable": true}
"""


def test_a_golden_set_has_a_table_of_causes(library: ibid.Library) -> None:
    fill(library, LAMP)
    library.ingest(ibid.Document(id="bell", text="The bell rings.", allow=frozenset({"user:ann"})))
    cases = parse_golden(GOLDEN.splitlines(), "golden")
    made = library.open_diagnostician(OWNER)
    diagnosed = list(diagnose_golden(cases, made, frozenset()))
    lost = {one.case_id: one.diagnosis.first_failure for one in diagnosed}
    assert lost == {
        "found": None,
        "absent": "read",
        "half": "read",
        "one will do": None,
        "hidden": "access",
        "nothing": "answer",
    }
    assert count_causes(diagnosed) == {"read": 2, "access": 1, "answer": 1, "none": 2}
    silent = list(diagnose_golden(cases, library.open_diagnostician(OWNER, answering=False), OWNER))
    assert "nothing" not in {one.case_id for one in silent}


def test_a_case_that_others_ask_is_refused(library: ibid.Library) -> None:
    fill(library, LAMP)
    asked = '{"question": "How often does the lamp turn?", "contains": "twelve", "as": "group:hr"}'
    cases = parse_golden([asked], "golden")
    held = library.open_diagnostician(frozenset({"group:hr", "user:ann"}))
    assert [one.diagnosis.first_failure for one in diagnose_golden(cases, held, frozenset())] == [
        None
    ]
    with pytest.raises(ibid.AccessDenied, match="asked by others"):
        list(diagnose_golden(cases, library.open_diagnostician({"user:ann"}), frozenset()))


def test_the_verb_tells_the_stage(tmp_path: Path) -> None:
    place = ("--library", tmp_path / "library")
    assert call("sync", HANDBOOK, *place).code == 0
    found = ("diagnose", "How many weeks of parental leave does each parent get?", *place)
    done = call(*found, "--expect", "18 weeks of fully paid", "--json")
    assert (done.code, done.json["first_failure"], done.json["advice"]) == (0, None, "")
    assert "nothing lost it" in call(*found, "--expect", "18 weeks of fully paid").out
    hidden = ("diagnose", "What does band B pay?", "--expect", "41,000 euros", *place)
    lost = call(*hidden, "--as", "*", "--for", "user:bob", "--json")
    assert (lost.code, lost.json["first_failure"]) == (1, "access")
    assert "LOST" in call(*hidden).out
    golden = ("diagnose", "--golden", HANDBOOK.parent / "golden.jsonl", "--as", "*", *place)
    table = call(*golden, "--retrieval", "--json")
    assert table.json["causes"] == {"none": table.json["queries"]}
    assert "came through" in call(*golden, "--retrieval").out
    for wrong in (("diagnose", *place), (*found, "--golden", HANDBOOK.parent / "golden.jsonl")):
        assert call(*wrong).code == 2
    assert call(*found).code == 2
