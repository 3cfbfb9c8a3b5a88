"""Measures of answers, chunking and differences: hand-worked values, oracles and properties."""

from __future__ import annotations

import itertools
import operator
import random
from functools import partial

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from ibid.evaluation.answers import (
    abstention_f1,
    abstention_precision,
    abstention_recall,
    best_match,
    citation_precision,
    citation_recall,
    contains_match,
    evidence_cited,
    exact_match,
    faithfulness,
    token_f1,
)
from ibid.evaluation.intervals import (
    compare_pairs,
    correct_holm,
    estimate_mean,
    estimate_ratio,
    weigh_chance,
)
from ibid.evaluation.metrics import (
    Metric,
    average_precision,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from ibid.evaluation.spans import Range, token_iou, token_precision, token_recall
from ibid.records import Citation, Claim, Verdict

# -- rankings -------------------------------------------------------------------------------------

CUTS = (1, 3, 5, 10, 20)
ORACLE: dict[str, Metric] = {
    "recip_rank": reciprocal_rank,
    "map": average_precision,
    **{f"recall_{k}": partial(recall_at, k=k) for k in CUTS},
    **{f"P_{k}": partial(precision_at, k=k) for k in CUTS},
    **{f"success_{k}": partial(hit_at, k=k) for k in CUTS},
    **{f"map_cut_{k}": partial(average_precision, k=k) for k in CUTS},
    **{f"ndcg_cut_{k}": partial(ndcg_at, k=k) for k in CUTS},
}


def test_measures_equal_trec_eval_on_a_thousand_random_runs() -> None:
    chance = random.Random(11)
    ids = [f"d{number:02}" for number in range(60)]
    rankings, qrels = {}, {}
    for number in range(1000):
        rankings[f"q{number}"] = chance.sample(ids, chance.randint(1, 40))
        judged = chance.sample(ids, chance.randint(1, 25))
        qrels[f"q{number}"] = {id: chance.randint(0, 3) for id in judged}
    runs = {
        query: {id: float(-place) for place, id in enumerate(ranking)}
        for query, ranking in rankings.items()
    }
    names = {"recip_rank", "map"} | {
        f"{name}.{','.join(map(str, CUTS))}"
        for name in ("recall", "P", "success", "map_cut", "ndcg_cut")
    }
    oracle = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(runs)
    for query, ranking in rankings.items():
        for name, metric in ORACLE.items():
            value = metric(ranking, qrels[query])
            assert abs(value - oracle[query][name]) <= 1e-9, (query, name)


def test_average_precision_at_a_cut_by_hand() -> None:
    ranking, judged = ["n", "a", "b", "c"], {"a": 1, "b": 1, "c": 1}
    assert average_precision(ranking, judged, 3) == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert average_precision(ranking, judged, 1) == 0


# -- chunking -------------------------------------------------------------------------------------


def test_spans_by_hand() -> None:
    # 20 tokens of evidence; 30 tokens shown, 10 of them evidence.
    evidence = [("a", 10, 30)]
    shown = [("a", 0, 20), ("b", 0, 10)]
    assert token_recall(shown, evidence) == 10 / 20
    assert token_precision(shown, evidence) == 10 / 30
    assert token_iou(shown, evidence) == 10 / (30 + 20 - 10)


def test_what_overlapping_passages_repeat_costs_twice_and_counts_once() -> None:
    evidence = [("a", 0, 10)]
    once, twice = [("a", 0, 10)], [("a", 0, 10), ("a", 0, 10)]
    assert token_recall(twice, evidence) == token_precision(once, evidence) == 1
    assert token_precision(twice, evidence) == token_iou(twice, evidence) == 1 / 2


def test_no_spans_give_zero() -> None:
    for measure in (token_recall, token_precision, token_iou):
        assert measure([], []) == measure([("a", 0, 5)], []) == measure([], [("a", 0, 5)]) == 0


ranges = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(1, 9)).map(
        lambda one: (one[0], one[1], one[1] + one[2])
    ),
    max_size=6,
)


@given(ranges, ranges)
def test_spans_agree_with_sets_of_tokens(shown: list[Range], evidence: list[Range]) -> None:
    wanted = {(id, at) for id, start, end in evidence for at in range(start, end)}
    listed = [(id, at) for id, start, end in shown for at in range(start, end)]
    common = len(wanted & set(listed))
    assert token_recall(shown, evidence) == (common / len(wanted) if wanted else 0)
    assert token_precision(shown, evidence) == (common / len(listed) if listed else 0)
    union = len(listed) + len(wanted) - common
    assert token_iou(shown, evidence) == (common / union if union else 0)


# -- answers --------------------------------------------------------------------------------------


def test_correctness_by_hand() -> None:
    assert exact_match("The 18 weeks. [1]", "18 weeks") == 1
    assert exact_match("18 weeks, paid", "18 weeks") == 0
    # Tokens given: each parent gets 18 weeks; wanted: 18 weeks of leave; two in common.
    assert token_f1("Each parent gets 18 weeks [1][2].", "18 weeks of leave") == 2 * 2 / (5 + 4)
    assert token_f1("nothing", "18 weeks") == token_f1("", "18 weeks") == 0
    assert contains_match("Parents get 18 weeks [2].", "18 weeks") == 1
    assert contains_match("Parents get 118 weeks.", "18 weeks") == 0
    assert contains_match("It costs 1,400 euros.", "400 euros") == 0
    assert contains_match("anything", " ") == 0
    assert best_match(exact_match, "four", ("4", "four")) == 1
    assert best_match(exact_match, "four", ()) == 0


def cite(
    claim: int, verdict: str, marker: int | None = 1, quote: str = "q", id: str = "d"
) -> Citation:
    return Citation(
        marker,
        Claim(f"claim {claim}", claim, claim + 1, ()),
        Verdict(verdict),
        None,
        id,
        quote=quote,
    )


CITATIONS = [
    cite(1, "supported", 1),
    cite(1, "unsupported", 2),
    cite(2, "supported-elsewhere", 2),
    cite(3, "uncited", None),
    cite(4, "no-such-source", 9),
]


def test_citations_by_hand() -> None:
    # Four claims: one supported where it points, one elsewhere, two not at all; four markers.
    assert faithfulness(CITATIONS) == 2 / 4
    assert citation_recall(CITATIONS) == 1 / 4
    assert citation_precision(CITATIONS) == 1 / 4
    assert faithfulness([]) is citation_recall([]) is citation_precision([]) is None
    assert citation_precision([cite(1, "uncited", None)]) is None


def test_evidence_is_cited_by_quotes_of_supported_citations() -> None:
    citations = [
        cite(1, "supported", quote="Each parent gets\n18 weeks.", id="leave.md"),
        cite(2, "unsupported", quote="140 euros", id="travel.md"),
    ]
    assert evidence_cited(citations, ["18 weeks"]) == 1
    assert evidence_cited(citations, ["We wrote: Each parent gets 18 weeks. Then more."]) == 1
    assert evidence_cited(citations, ["18 weeks", "140 euros"]) == 1 / 2
    assert evidence_cited(citations, [], ["leave.md", "travel.md"]) == 1 / 2
    assert evidence_cited(citations, []) == 0


def test_abstaining_by_hand() -> None:
    unanswerable = [True, True, True, False, False]
    abstained = [True, True, False, True, False]
    assert abstention_precision(unanswerable, abstained) == 2 / 3
    assert abstention_recall(unanswerable, abstained) == 2 / 3
    assert abstention_f1(unanswerable, abstained) == 2 * 2 / (3 + 3)
    assert abstention_precision([True], [False]) == abstention_f1([False], [False]) == 0


# -- intervals and comparisons --------------------------------------------------------------------

values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40)


@given(values)
def test_an_interval_holds_its_mean_and_comes_out_the_same(found: list[float]) -> None:
    estimate = estimate_mean(found)
    assert estimate == estimate_mean(found)
    assert estimate.n == len(found)
    assert min(found) <= estimate.low <= estimate.mean <= estimate.high <= max(found)


def test_an_interval_is_about_that_of_the_normal_distribution() -> None:
    found = [float(place % 2) for place in range(400)]
    estimate = estimate_mean(found)
    assert estimate.mean == 0.5
    assert estimate.low == pytest.approx(0.5 - 1.96 * 0.5 / 20, abs=0.006)
    assert estimate.high == pytest.approx(0.5 + 1.96 * 0.5 / 20, abs=0.006)
    assert estimate_mean([]).n == 0


def test_the_interval_of_a_ratio() -> None:
    truth, said = [True] * 30 + [False] * 30, [True] * 20 + [False] * 10 + [True] * 5 + [False] * 25
    estimate = estimate_ratio(abstention_f1, truth, said)
    assert estimate.mean == 2 * 20 / (30 + 25)
    assert estimate.low < estimate.mean < estimate.high
    assert estimate_ratio(abstention_f1, [], []).n == 0


def test_the_paired_test_by_hand() -> None:
    # Three gains of 1: of the 8 ways to flip signs, all plus and all minus sum to 3 or more.
    assert weigh_chance([0, 0, 0], [1, 1, 1]) == 2 / 8
    assert weigh_chance([0, 1, 0], [0, 1, 1]) == 1
    assert weigh_chance([1, 1], [1, 1]) == 1


@pytest.mark.parametrize("n", [10, 15])
def test_the_paired_test_agrees_with_all_ways_to_flip_signs(n: int) -> None:
    """Ten differences are counted out, fifteen are drawn."""
    chance = random.Random(n)
    first = [chance.random() for _ in range(n)]
    second = [one + chance.gauss(0.1, 0.3) for one in first]
    gains = [b - a for a, b in zip(first, second, strict=True)]
    seen = abs(sum(gains)) - 1e-9
    ways = list(itertools.product((1, -1), repeat=n))
    reached = sum(abs(sum(map(operator.mul, way, gains))) >= seen for way in ways)
    assert weigh_chance(first, second) == pytest.approx(reached / len(ways), abs=0.015)


def test_holm_by_hand() -> None:
    assert correct_holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert correct_holm([0.5, 0.9]) == [1.0, 1.0]
    assert correct_holm([]) == []


def test_a_comparison_is_of_pairs() -> None:
    better = ([0.0] * 12, [1.0] * 12)
    same = ([0.5] * 12, [0.5] * 12)
    compared = compare_pairs({"recall@5": better, "mrr@5": same})
    assert compared["recall@5"].mean == 1
    assert compared["recall@5"].p == 2 / 2**12
    assert compared["recall@5"].p_holm == 4 / 2**12
    assert compared["recall@5"].significant
    assert not compared["mrr@5"].significant
    assert compared["mrr@5"].p_holm == 1
