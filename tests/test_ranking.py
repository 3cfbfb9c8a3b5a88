"""Scoring, fusion, reranking and selection, each against a value worked by hand or an oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import BadQuery, BadSetting
from ibid.protocols import Reranker, Scored
from ibid.ranking.bm25 import BM25
from ibid.ranking.expansion import expand_terms, group_terms
from ibid.ranking.fusion import fuse_rrf
from ibid.ranking.proximity import ProximityReranker, score_proximity
from ibid.ranking.select import select_hits
from ibid.ranking.tfidf import TfIdf
from ibid.records import Contribution, DocumentInfo, Hit, Passage

corpora = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), min_size=1, max_size=12)
queries = st.lists(st.sampled_from("abcdefg"), max_size=5)


def rows(run: Sequence[Scored]) -> list[int]:
    return [scored.row for scored in run]


# -- BM25 and TF-IDF ---------------------------------------------------------------------


def test_bm25_of_one_term_by_hand() -> None:
    [hit] = BM25([["ant", "ant", "bee"], ["bee"]]).search(["ant"])
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert hit.row == 0
    assert hit.score == pytest.approx(idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)))


@given(corpora, queries)
def test_bm25_agrees_with_bm25s(corpus: list[list[str]], query: list[str]) -> None:
    ours = BM25(corpus).search(query)
    known = [term for term in query if any(term in terms for terms in corpus)]
    if not known:
        assert ours == []
        return
    oracle = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    oracle.index(corpus, show_progress=False)
    # bm25s leaves out the factor k1 + 1, which changes no order.
    expected = 2.5 * np.asarray(oracle.get_scores(known), dtype=float)
    assert set(rows(ours)) == set(np.flatnonzero(expected).tolist())
    for scored in ours:
        assert scored.score == pytest.approx(expected[scored.row], rel=1e-5)


@pytest.mark.parametrize("make", [BM25, TfIdf])
def test_only_what_matches_is_found_and_ties_keep_their_order(make: type[BM25 | TfIdf]) -> None:
    index = make([["x"], ["sun"], ["sun"], ["y"], ["sun"]])
    assert rows(index.search(["sun"])) == [1, 2, 4]
    assert rows(index.search(["sun"], 2)) == [1, 2]
    assert index.search(["moon"]) == []
    assert index.search([]) == []
    assert make([]).search(["sun"]) == []
    assert make([[], []]).search(["sun"]) == []


def test_tfidf_by_hand() -> None:
    documents = [["oak", "oak", "elm"], ["elm", "fir"], ["elm"]]
    [first] = TfIdf(documents).search(["oak", "elm"])
    # elm is everywhere and weighs nothing, so both texts are oak alone.
    assert first.row == 0
    assert first.score == pytest.approx(1.0)
    smooth = TfIdf(documents, idf="smooth").search(["elm"])
    oak, elm = 2 * (math.log(4 / 2) + 1), 1.0
    assert rows(smooth) == [2, 1, 0]
    assert smooth[-1].score == pytest.approx(elm / math.hypot(oak, elm))


# -- fusion ------------------------------------------------------------------------------


def run_of(*found: int) -> list[Scored]:
    return [Scored(row, 9.0 - place) for place, row in enumerate(found)]


def test_rrf_by_hand_and_its_contributions() -> None:
    fused = fuse_rrf({"lexical": run_of(7, 3), "dense": run_of(3, 5)})
    assert [one.row for one in fused] == [3, 7, 5]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[0].contributions == {
        "lexical": Contribution(rank=2, score=8.0, share=1 / 62),
        "dense": Contribution(rank=1, score=9.0, share=1 / 61),
    }
    assert set(fused[1].contributions) == {"lexical"}


def test_a_row_that_both_found_comes_before_one_that_either_put_first() -> None:
    fused = fuse_rrf({"dense": run_of(0, 1, 2), "sparse": run_of(3, 4, 2)})
    assert [one.row for one in fused] == [2, 0, 3, 1, 4]


def test_weights_count_and_zero_removes() -> None:
    runs = {"lexical": run_of(1), "dense": run_of(2)}
    assert [one.row for one in fuse_rrf(runs, weights={"dense": 2.0})] == [2, 1]
    assert [one.row for one in fuse_rrf(runs, weights={"lexical": 0})] == [2]
    with pytest.raises(BadSetting, match="sparse"):
        fuse_rrf(runs, weights={"sparse": 1.0})
    with pytest.raises(BadSetting):
        fuse_rrf(runs, weights={"dense": -1.0})


def test_a_run_that_repeats_a_row_counts_it_once() -> None:
    [one] = fuse_rrf({"lexical": run_of(4, 4, 4)})
    assert one.score == 1 / 61


run_lists = st.dictionaries(
    st.sampled_from(["lexical", "dense", "graph"]),
    st.lists(st.integers(0, 15), unique=True, max_size=10).map(lambda found: run_of(*found)),
)


@given(run_lists, st.integers(0, 100))
def test_shares_sum_to_the_score_whatever_the_order_of_the_runs(
    runs: dict[str, list[Scored]], k: int
) -> None:
    fused = fuse_rrf(runs, k=k)
    assert {one.row for one in fused} == {one.row for run in runs.values() for one in run}
    for one in fused:
        shares = [given.share for given in one.contributions.values()]
        assert math.fsum(shares) == one.score
    assert fused == sorted(fused, key=lambda one: (-one.score, one.row))
    turned = fuse_rrf(dict(reversed(runs.items())), k=k)
    assert [(one.row, one.score) for one in turned] == [(one.row, one.score) for one in fused]


# -- expansion and proximity -------------------------------------------------------------


def test_expansion_adds_synonyms_once_and_keeps_the_query() -> None:
    synonyms = {"car": ["auto", "vehicle"], "lorry": ["vehicle"]}
    assert expand_terms(["red", "car", "lorry"], synonyms) == [
        "red", "car", "lorry", "auto", "vehicle",
    ]  # fmt: skip
    assert group_terms(["car", "car", "red"], synonyms) == [{"car", "auto", "vehicle"}, {"red"}]


def test_proximity_by_hand() -> None:
    query = [{"car", "auto"}, {"red"}, {"fast"}, {"new"}]
    # Two of four covered; three hits in a stretch of five.
    terms = ["the", "auto", "is", "a", "car", "red", "."]
    assert score_proximity(query, terms) == pytest.approx(2 / 4 * (1 + 3 / 5))
    assert score_proximity(query, ["blue"]) == 0
    assert score_proximity([], ["blue"]) == 0


def test_the_proximity_reranker_puts_terms_that_stand_together_first() -> None:
    reranker: Reranker = ProximityReranker(str.split, {"auto": ["car"]})
    near, far, none = reranker.rerank("red auto", ["red car there", "red and then a car", "boat"])
    assert near > far > none == 0


# -- selection ---------------------------------------------------------------------------


def make_hit(text: str, score: float) -> Hit:
    passage = Passage(id=text, document_id="d", ordinal=0, start=0, end=len(text), text=text)
    document = DocumentInfo(
        id="d", title=None, source=None, media_type="text/plain", version=1, modified_at=None,
        archived=False, allow=None, tags={}, metadata={}, passages=1, characters=1,
    )  # fmt: skip
    return Hit(99, score, passage, document, {})


def test_selection_sets_ranks_drops_the_weak_and_gives_equal_texts_one_place() -> None:
    hits = [make_hit(*pair) for pair in (("a b", 4.0), ("a\n b", 3.0), ("c", 2.0), ("d", 1.0))]
    chosen = select_hits(hits, 10, min_score=2.0, distinct=True).hits
    assert [(hit.rank, hit.passage.text) for hit in chosen] == [(1, "a b"), (2, "c")]
    assert [hit.rank for hit in select_hits(hits, 3).hits] == [1, 2, 3]
    assert select_hits([], 3).hits == ()
    with pytest.raises(BadQuery, match="0"):
        select_hits(hits, 0)
