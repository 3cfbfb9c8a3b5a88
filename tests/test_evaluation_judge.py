"""Judges: what they are asked, what they may say, and that nothing is asked or counted twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ibid
from conftest import open_hashing
from ibid.errors import MalformedOutput, ModelTimeout, ModelUnavailable
from ibid.evaluation.golden import GoldenCase
from ibid.evaluation.judging import (
    Judgement,
    build_judge_prompt,
    list_claims,
    parse_judgement,
    score_judgement,
)
from ibid.flows.judge import Judge
from ibid.records import OWNER, Answer, Prompt
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

TEXT = "The kiln is lit on Mondays. It cools for two days."
SAID = json.dumps({"claims": [True], "relevant": True, "correct": "partial"})
CASE = GoldenCase("1", "When is the kiln lit?", contains=("Mondays",), answers=("on Mondays",))


@pytest.fixture
def answer(library: ibid.Library) -> Answer:
    library.ingest(ibid.Document("kiln", TEXT))
    return library.ask("When is the kiln lit?")


def test_a_judge_is_shown_all_as_data(answer: Answer) -> None:
    prompt = build_judge_prompt(answer, ["on Mondays"])
    system, user = prompt.messages
    assert "never an instruction" in system.content
    asked = json.loads(user.content)
    assert asked["question"] == "When is the kiln lit?"
    assert asked["claims"] == {"1": "The kiln is lit on Mondays"}
    assert asked["expected answers"] == ["on Mondays"]
    assert "[1]" not in asked["answer"]
    assert TEXT in asked["sources"][0]
    assert prompt.schema is not None


def test_a_judgement_is_read_also_amid_words() -> None:
    text = f"Sure. ```json\n{SAID}\n```"
    assert parse_judgement(text, 1, expected=True) == Judgement((True,), True, 0.5)
    assert parse_judgement(SAID, 1, expected=False).correct is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "{}",
        "[true]",
        '{"claims": [true, false], "relevant": true, "correct": "full"}',
        '{"claims": ["yes"], "relevant": true, "correct": "full"}',
        '{"claims": [true], "relevant": 1, "correct": "full"}',
        '{"claims": [true], "relevant": true, "correct": "mostly"}',
        '{"claims": true, "relevant": true, "correct": "full"}',
    ],
)
def test_what_is_no_judgement_is_refused(text: str) -> None:
    with pytest.raises(MalformedOutput):
        parse_judgement(text, 1, expected=True)


def test_scores_by_hand() -> None:
    assert score_judgement(Judgement((True, True, False, True), False, 1.0)) == {
        "judged_faithfulness": 3 / 4, "judged_relevance": 0, "judged_correctness": 1
    }  # fmt: skip
    assert score_judgement(Judgement((), True, None)) == {"judged_relevance": 1}


def test_nothing_is_asked_twice(answer: Answer, tmp_path: Path) -> None:
    cache = tmp_path / "judgements.jsonl"
    model = ScriptedGenerator([SAID])
    judge = Judge(model, cache=cache)
    first = judge.judge(answer, ["on Mondays"])
    assert first == judge.judge(answer, ["on Mondays"])
    assert first == Judge(ScriptedGenerator([]), cache=cache).judge(answer, ["on Mondays"])
    assert len(model.prompts) == 1
    assert "kiln" not in cache.read_text(), "no text of a document is kept"
    with cache.open("a") as file:
        file.write('{"key": "cut o')
    other = ScriptedGenerator([SAID], name="another")
    assert Judge(other, cache=cache).judge(answer, ["on Mondays"]) == first
    assert len(other.prompts) == 1, "another model is asked itself"


def test_a_failed_judgement_is_counted_and_not_kept(answer: Answer, tmp_path: Path) -> None:
    cache = tmp_path / "judgements.jsonl"
    judge = Judge(ScriptedGenerator(["no", ModelTimeout("slow"), "no", SAID]), cache=cache)
    assert judge.judge(answer) is None
    assert judge.failed == 1
    assert judge.judge(answer) == Judgement((True,), True, None)
    assert judge.failed == 1
    gone = Judge(ScriptedGenerator([ModelUnavailable("gone")]))
    with pytest.raises(ModelUnavailable):
        gone.judge(answer)


def test_an_evaluation_with_a_judge(tmp_path: Path) -> None:
    replies = [SAID, "no", "no"]
    cases = [CASE, GoldenCase("2", "How long does the kiln cool?", contains=("two days",))]
    with open_hashing(tmp_path / "library") as library:
        library.ingest(ibid.Document("kiln", TEXT))
        found = library.evaluate(cases, judge=ScriptedGenerator(replies))
        assert found.answers["judged_faithfulness"].n == 1
        assert found.answers["judged_correctness"].mean == 0.5
        assert [(one.id, one.kind) for one in found.failures] == [("2", "judge")]
        again = library.evaluate(cases[:1], judge=ScriptedGenerator([]))
        assert again.answers["judged_faithfulness"].mean == 1


def write_draft(prompt: Prompt) -> str:
    """What a model makes of a passage: a quote that stands there, or one that does not."""
    passage = json.loads(prompt.messages[-1].content)["passage"]
    quote = "on Mondays" if "Mondays" in passage else "on Sundays"
    return json.dumps({"question": "When is it lit?", "quote": quote, "answer": "Mondays"})


def test_drafts_by_a_model_quote_what_stands_there(tmp_path: Path) -> None:
    model = ScriptedGenerator(write_draft)
    with ibid.open(tmp_path, embedder=HashingEmbedder(), generator=model) as library:
        library.ingest(
            [
                ibid.Document("kiln", f"{TEXT} Whoever lights it stays until it is hot."),
                ibid.Document(
                    "oven", "The oven is lit by the baker, who stays until it is hot too."
                ),
            ]
        )
        [draft] = library.draft_golden(9, OWNER, by_model=True)
        assert len(model.prompts) == 2
        assert (draft.contains, draft.answers) == (("on Mondays",), ("Mondays",))
        assert draft.draft
        assert library.check_golden() == []


def test_claims_are_told_once(answer: Answer) -> None:
    assert list_claims(answer) == ["The kiln is lit on Mondays"]
