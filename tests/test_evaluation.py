"""Measures against values worked by hand and against trec_eval; the arithmetic of sizes."""

from __future__ import annotations

import math
from functools import partial

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import BadSetting
from ibid.evaluation.metrics import (
    Metric,
    average_precision,
    evidence_recall,
    hit_at,
    mean_over_queries,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from ibid.evaluation.sizing import estimate_passages, size_index

RANKING = ["n1", "r1", "n2", "n3", "r2"]
JUDGED = {"r1": 1, "r2": 2, "r3": 1, "n1": 0}


def test_measures_by_hand() -> None:
    assert precision_at(RANKING, JUDGED, 2) == 1 / 2
    assert precision_at(RANKING, JUDGED, 10) == 2 / 10
    assert recall_at(RANKING, JUDGED, 4) == 1 / 3
    assert hit_at(RANKING, JUDGED, 1) == 0
    assert hit_at(RANKING, JUDGED, 2) == 1
    assert reciprocal_rank(RANKING, JUDGED) == 1 / 2
    assert reciprocal_rank(RANKING, JUDGED, 1) == 0
    assert average_precision(RANKING, JUDGED) == pytest.approx((1 / 2 + 2 / 5) / 3)
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert ndcg_at(RANKING, JUDGED, 5) == pytest.approx(
        (1 / math.log2(3) + 2 / math.log2(6)) / ideal
    )


def test_no_relevant_id_and_no_ranking_give_zero() -> None:
    for ranking, judged in ((RANKING, {}), ([], JUDGED), (RANKING, {"n1": 0})):
        assert recall_at(ranking, judged, 5) == 0
        assert ndcg_at(ranking, judged, 5) == 0
        assert average_precision(ranking, judged) == 0


def test_a_mean_is_over_the_judged_queries() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    runs = {"q1": ["a"], "q2": ["x", "b"], "q9": ["z"]}
    assert mean_over_queries(reciprocal_rank, runs, qrels) == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert mean_over_queries(reciprocal_rank, runs, {}) == 0


ids = [f"d{number}" for number in range(12)]
METRICS: dict[str, Metric] = {
    "recall_5": partial(recall_at, k=5),
    "P_5": partial(precision_at, k=5),
    "success_5": partial(hit_at, k=5),
    "recip_rank": reciprocal_rank,
    "map": average_precision,
    "ndcg_cut_10": partial(ndcg_at, k=10),
}


@given(
    st.lists(st.sampled_from(ids), unique=True, min_size=1),
    st.dictionaries(st.sampled_from(ids), st.integers(0, 3), min_size=1),
)
def test_measures_agree_with_trec_eval(ranking: list[str], judged: dict[str, int]) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator({"q": judged}, set(METRICS))
    run = {id: float(len(ranking) - place) for place, id in enumerate(ranking)}
    oracle = evaluator.evaluate({"q": run})["q"]
    for name, metric in METRICS.items():
        assert metric(ranking, judged) == pytest.approx(oracle[name]), name


def test_evidence_is_found_in_one_text_or_not_at_all() -> None:
    texts = ["Open from nine\nto five.", "Closed on", "Sundays and holidays."]
    assert evidence_recall(texts, ["nine to five"], 1) == 1
    assert evidence_recall(texts, ["Closed on Sundays"], 3) == 0
    assert evidence_recall(texts, ["nine to five", "holidays"], 2) == 1 / 2
    assert evidence_recall(texts, [], 2) == 0


def test_the_size_of_an_index_by_hand() -> None:
    # 1,000 documents of 900 tokens; each passage of 100 adds 90 new ones.
    assert estimate_passages(1_000, 900, 100, 10) == 10_000
    assert estimate_passages(1, 91, 100, 10) == 2
    size = size_index(10_000, 384, bytes_per_number=2, hnsw_m=16)
    assert size.vector_bytes == 7_680_000
    assert size.link_bytes == 10_000 * 32 * 4
    assert size.total_bytes == size.vector_bytes + size.link_bytes
    with pytest.raises(BadSetting, match=r"100.*100"):
        estimate_passages(1, 1, 100, 100)


def test_advice_follows_the_size() -> None:
    assert "Exact" in size_index(300_000, 768).advice
    assert "one machine" in size_index(2_000_000, 768, hnsw_m=32).advice
    assert "PostgreSQL" in size_index(20_000_000, 768).advice
