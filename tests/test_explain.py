"""The trace of a search and of an answer: its sums, its words, and what it must not tell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from command_line import call
from ibid.cli.explain import tell_reasons, tell_trace
from ibid.errors import MalformedOutput
from ibid.flows.rerank import rerank_hits
from ibid.protocols import Calibration
from ibid.records import Contribution, DocumentInfo, Hit, Passage, Query
from ibid.shapes import shape_answer, shape_result
from ibid.testing.embedders import HashingEmbedder

NOTES = {
    "tides": "The tide turns twice a day. Boats leave the harbour at high water.",
    "boats": "Boats are painted in spring. The paint is blue.",
    "bread": "Bread rises twice. The second rise takes an hour.",
    "hidden": "Boats of the secret fleet leave the harbour at midnight, painted black.",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ibid.Library]:
    with ibid.open(tmp_path / "library", embedder=HashingEmbedder()) as opened:
        opened.ingest(
            ibid.Document(
                id=id, text=text, allow=frozenset({"user:ann"}) if id == "hidden" else None
            )
            for id, text in NOTES.items()
        )
        yield opened


class Backwards:
    """Likes the last text best: the scores are those that a test gives, or rise from 0.1."""

    name = "backwards"
    remote = None

    def __init__(
        self, scores: Sequence[float] = (), calibration: Calibration | None = None
    ) -> None:
        self.calibration = calibration
        self._scores = scores

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return self._scores or [(place + 1) / (len(texts) + 1) for place in range(len(texts))]


class Broken(Backwards):
    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        raise MalformedOutput("backwards wrote a poem", hint="ask again")


def make_hits(count: int) -> tuple[Hit, ...]:
    return tuple(
        Hit(
            number + 1,
            1 / (61 + number),
            Passage(f"p{number}", f"d{number}", 0, 0, 4, "text"),
            DocumentInfo(
                f"d{number}", None, None, "text/plain", 1, None, False, None, {}, {}, 1, 4
            ),
            {"lexical": Contribution(number + 1, 9.0 - number, 1 / (61 + number))},
        )
        for number in range(count)
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12), st.integers(1, 12))
def test_a_reranked_list_is_whole_and_its_moves_tell_the_way(raw: list[float], depth: int) -> None:
    hits = make_hits(len(raw))
    read = raw[:depth]
    moved = rerank_hits("q", hits, Backwards(read, Calibration()), depth=depth).hits
    assert [hit.rank for hit in moved] == list(range(1, len(read) + 1))
    assert {hit.document_id for hit in moved} == {hit.document_id for hit in hits[:depth]}
    for hit in moved:
        (move,) = hit.moves
        assert hits[move.before - 1].document_id == hit.document_id
        assert (move.after, move.score) == (hit.rank, hit.score)
        assert 0 <= hit.score <= 1
        assert hit.fused_score == hits[move.before - 1].score
    assert [hit.moves[0].raw for hit in moved] == sorted(read, reverse=True)
    assert [hit.score for hit in moved] == sorted((hit.score for hit in moved), reverse=True)


def test_what_a_sigmoid_has_pressed_together_is_ranked_by_the_logits() -> None:
    hits = rerank_hits(
        "q", make_hits(3), Backwards([50.0, 60.0, 55.0], Calibration()), depth=3
    ).hits
    assert [hit.document_id for hit in hits] == ["d1", "d2", "d0"]
    assert [hit.score for hit in hits] == [1.0, 1.0, 1.0]


def test_scores_from_0_to_1_are_left_alone_and_others_refused() -> None:
    hits = rerank_hits("q", make_hits(2), Backwards([0.2, 0.9]), depth=2).hits
    assert [hit.score for hit in hits] == [0.9, 0.2]
    for wrong in ([0.2, 1.5], [0.2, float("nan")]):
        refused = rerank_hits("q", make_hits(2), Backwards(wrong), depth=2)
        assert refused.hits == make_hits(2)
        assert refused.failed is not None
        assert "backwards" in refused.failed


def test_a_reranker_that_fails_leaves_the_fused_order_and_says_so(library: ibid.Library) -> None:
    library._parts = replace(library._parts, reranker=Broken())
    plain = library.run_search(Query("boats in the harbour"), rerank="none")
    result = library.run_search(Query("boats in the harbour"), min_score=0.9)
    assert [hit.document_id for hit in result.hits] == [hit.document_id for hit in plain.hits]
    assert result.warnings == ("not reranked: backwards wrote a poem",)
    assert "not reranked" in tell_trace(result.trace)


def test_the_least_score_is_held_against_the_score_that_is_shown(library: ibid.Library) -> None:
    """Whatever the stage that gave it: here a reranker whose scores are from 0.25 to 0.75."""
    library._parts = replace(library._parts, reranker=Backwards())
    whole = library.run_search(Query("boats"))
    assert [hit.score for hit in whole.hits] == [0.75, 0.5, 0.25]
    assert [hit.score for hit in library.run_search(Query("boats"), min_score=0.5).hits] == [
        0.75,
        0.5,
    ]
    assert library.run_search(Query("boats"), min_score=0.76).hits == ()


def test_shares_sum_to_the_score_and_the_trace_tells_each_stage(library: ibid.Library) -> None:
    result = library.run_search(Query("boats at high water"))
    stages = [step.stage for step in result.trace]
    assert stages == ["lexical", "dense", "feedback", "fuse", "select"]
    for hit in result.hits:
        assert hit.fused_score == hit.score
        assert hit.moves == ()
    shape = shape_result(result, explain=True)
    json.dumps(shape, allow_nan=False)
    assert "trace" not in shape_result(result)
    for hit in shape["hits"]:
        shares = [given["share"] for given in hit["contributions"].values()]
        assert sum(shares) == pytest.approx(hit["fused_score"]) == pytest.approx(hit["score"])


def test_a_hit_that_was_dropped_is_told_with_its_reason(library: ibid.Library) -> None:
    library.ingest(ibid.Document(id="twin", text=NOTES["boats"]))
    result = library.run_search(Query("blue boats"), distinct=True, min_score=0.02)
    dropped = next(step for step in result.trace if step.stage == "select").data["dropped"]
    assert isinstance(dropped, list)
    reasons = {
        str(one["document_id"]): str(one["reason"]) for one in dropped if isinstance(one, dict)
    }
    assert reasons["twin"] == f"same text as boats 0-{len(NOTES['boats'])}"
    assert all("twin" in id or "below 0.02" in why for id, why in reasons.items())


def test_a_trace_tells_nothing_of_what_the_caller_may_not_see(library: ibid.Library) -> None:
    """The whole trace, data and words, is the same whether the hidden document is there or not."""

    def tell(principals: frozenset[str]) -> str:
        query = Query("boats of the secret fleet in the harbour", principals)
        result = library.run_search(query, rerank="proximity", distinct=True)
        answer = library.run_ask(query, rerank="proximity")
        told = json.dumps([shape_result(result, explain=True), shape_answer(answer, explain=True)])
        return told + tell_trace(result.trace) + tell_trace(answer.trace)

    assert "hidden" in tell(frozenset({"user:ann"}))
    assert "hidden" not in tell(frozenset())
    stages = library.run_search(Query("boats")).trace
    library.remove("hidden", purge=True)
    for before, after in zip(stages, library.run_search(Query("boats")).trace, strict=True):
        assert before.data.get("passages") == after.data.get("passages")
        assert before.data.get("dropped") == after.data.get("dropped")


def test_words_tell_retrievers_fusion_and_the_move() -> None:
    hits = rerank_hits("q", make_hits(2), Backwards([0.25, 0.75]), depth=2).hits
    assert tell_reasons(hits[0]).splitlines() == [
        "lexical  rank 2  score 8.0000  share 0.0161",
        "fused    rank 2  score 0.0161",
        "rerank   rank 1  score 0.7500  from 0.7500, was rank 2",
    ]


def test_the_command_line_explains_in_words_and_in_json(tmp_path: Path) -> None:
    here = ("--library", str(tmp_path / "library"))
    for id, text in NOTES.items():
        (tmp_path / f"{id}.md").write_text(text)
        call("add", str(tmp_path / f"{id}.md"), "--id", id, *here)
    said = call("search", "blue boats", "--rerank", "proximity", "--explain", *here).out
    assert "fused     rank 1" in said
    assert "rerank    4 passages by proximity" in said
    found = call("search", "blue boats", "--rerank", "proximity", "--explain", "--json", *here).json
    assert [step["stage"] for step in found["trace"]][-2:] == ["rerank", "select"]
    assert found["hits"][0]["moves"][0]["stage"] == "rerank"
    answered = call("ask", "When do boats leave the harbour?", "--explain", *here)
    assert "verify" in answered.out
    shape = call("ask", "When do boats leave the harbour?", "--explain", "--json", *here).json
    assert [step["stage"] for step in shape["trace"]][-2:] == ["generate", "verify"]
    assert "trace" not in call("ask", "When do boats leave?", "--json", *here).json
