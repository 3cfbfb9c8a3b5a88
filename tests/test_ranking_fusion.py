"""Fusion by each method, feedback, and the unit that is ranked, against values worked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from conftest import open_hashing
from ibid.errors import BadSetting
from ibid.protocols import Scored
from ibid.ranking.feedback import expand_query, move_vector
from ibid.ranking.fusion import FUSIONS, Fusion, fuse, scale_by_best, scale_to_range, standardize
from ibid.ranking.units import (
    add_document_scores,
    keep_best_passages,
    name_documents,
    name_passages,
)
from ibid.records import Query

methods = st.sampled_from(FUSIONS)
scores = st.floats(-1, 30, allow_nan=False).map(lambda score: round(score, 3))
runs_of_scores = st.dictionaries(
    st.sampled_from(["lexical", "dense", "feedback"]),
    st.dictionaries(st.integers(0, 9), scores, max_size=8),
    min_size=1,
)


def make_run(found: dict[int, float]) -> list[Scored]:
    return [Scored(row, found[row]) for row in sorted(found, key=lambda row: (-found[row], row))]


def run_of(*found: tuple[int, float]) -> list[Scored]:
    return [Scored(row, score) for row, score in found]


def rows(run: Sequence[Scored]) -> list[int]:
    return [scored.row for scored in run]


# -- fusion -------------------------------------------------------------------------------------


def test_every_method_is_in_the_table() -> None:
    assert set(FUSIONS) == set(get_args(Fusion))


def test_scales_by_hand() -> None:
    assert scale_by_best([8.0, 4.0, -2.0]) == [1.0, 0.5, 0.0]
    assert scale_by_best([-0.1, -0.2]) == [0.0, 0.0]
    assert scale_to_range([9.0, 6.0, 3.0]) == [1.0, 0.5, 0.0]
    assert scale_to_range([5.0]) == [1.0]
    deviation = math.sqrt(2 / 3)
    assert standardize([3.0, 2.0, 1.0]) == pytest.approx([2 / deviation, 1 / deviation, 0])
    assert standardize([2.0, 2.0]) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        # lexical 3 : dense 1, so each share is that part of the scaled score
        ("best", {1: 0.75, 2: 0.75 * 0.5 + 0.25, 3: 0.25 * 0.5}),
        ("minmax", {1: 0.75, 2: 0.25, 3: 0.0}),
        ("standard", {1: 0.75 * 2, 2: 0.25 * 2, 3: 0.0}),
        ("rrf", {1: 3 / 61, 2: 3 / 62 + 1 / 61, 3: 1 / 62}),
    ],
)
def test_methods_by_hand(method: Fusion, expected: dict[int, float]) -> None:
    runs = {"lexical": run_of((1, 10.0), (2, 5.0)), "dense": run_of((2, 0.8), (3, 0.4))}
    fused = fuse(runs, method, weights={"lexical": 3.0})
    assert {one.row: one.score for one in fused} == pytest.approx(expected)


@given(runs_of_scores, methods)
def test_shares_sum_to_the_score_and_ties_stand_as_inserted(
    found: dict[str, dict[int, float]], method: Fusion
) -> None:
    runs = {name: make_run(one) for name, one in found.items()}
    fused = fuse(runs, method, weights=dict.fromkeys(runs, 0.5))
    assert {one.row for one in fused} == {row for one in found.values() for row in one}
    for one in fused:
        assert math.fsum(given.share for given in one.contributions.values()) == one.score
        for name, given_by in one.contributions.items():
            assert runs[name][given_by.rank - 1] == Scored(one.row, given_by.score)
    assert fused == sorted(fused, key=lambda one: (-one.score, one.row))
    turned = fuse(dict(reversed(runs.items())), method, weights=dict.fromkeys(runs, 0.5))
    assert rows(turned) == rows(fused)  # type: ignore[arg-type] # both have rows


@given(runs_of_scores, st.sampled_from(["best", "minmax"]))
def test_a_scaled_score_is_between_0_and_1(
    found: dict[str, dict[int, float]], method: Fusion
) -> None:
    for one in fuse({name: make_run(run) for name, run in found.items()}, method):
        assert 0.0 <= one.score <= 1.0 + 1e-12


@pytest.mark.parametrize("method", FUSIONS)
def test_weights_act(method: Fusion) -> None:
    runs = {
        "lexical": run_of((1, 9.0), (2, 6.0), (3, 1.0)),
        "dense": run_of((2, 0.9), (1, 0.6), (3, 0.1)),
    }
    heavy = {"lexical": 5.0, "dense": 1.0}
    assert rows(fuse(runs, method, weights=heavy))[0] == 1  # type: ignore[arg-type] # has rows
    assert fuse(runs, method, weights={"lexical": 1.0, "dense": 5.0})[0].row == 2
    alone = fuse(runs, method, weights={"dense": 0.0})
    assert all(set(one.contributions) == {"lexical"} for one in alone)
    with pytest.raises(BadSetting, match="sparse"):
        fuse(runs, method, weights={"sparse": 1.0})


# -- feedback -----------------------------------------------------------------------------------


def test_a_vector_moves_toward_the_mean_of_those_found() -> None:
    query = np.array([1, 0, 0], np.float32)
    found = np.array([[0, 1, 0], [0, 0, 1]], np.float32)
    moved = move_vector(query, found, 2.0)
    assert moved == pytest.approx(np.array([1, 1, 1]) / math.sqrt(3))
    assert move_vector(query, found, 0.0) == pytest.approx(query)
    assert move_vector(query, found[:0], 2.0) is query
    against = move_vector(query, -query[None], 1.0)
    assert np.isfinite(against).all()


def test_a_query_is_expanded_by_the_likeliest_terms() -> None:
    found = [(2.0, ["tide", "moon", "tide", "sea"]), (1.0, ["moon", "night"])]
    # tide 2 * 2/4, moon 2 * 1/4 + 1 * 1/2, sea 2 * 1/4, night 1/2: 1, 1, 1/2, 1/2
    weights = expand_query(["tide", "table"], found, count=2, weight=0.4)
    assert weights == pytest.approx({"tide": 0.3 + 0.2, "table": 0.3, "moon": 0.2})
    assert math.fsum(weights.values()) == pytest.approx(1.0)
    assert expand_query(["a", "a", "b"], [], count=5, weight=0.4) == {"a": 2 / 3, "b": 1 / 3}
    assert expand_query([], found, count=5, weight=0.4) == {}


# -- documents ----------------------------------------------------------------------------------

FIRST = {10: 10, 11: 10, 12: 10, 20: 20, 21: 20, 30: 30}
"""The first row of its document for each row: three documents of three, two and one passage."""


def test_a_passage_is_scored_with_its_document() -> None:
    passages = run_of((11, 4.0), (30, 3.5), (20, 3.0))
    documents = run_of((20, 2.0), (10, 0.5))
    summed = add_document_scores(passages, documents, FIRST, 2.0)
    assert summed == run_of((20, 7.0), (11, 5.0), (30, 3.5))


def test_a_document_counts_once_in_each_run_by_its_best_passage() -> None:
    runs = {
        "lexical": run_of((12, 9.0), (11, 8.0), (10, 7.0), (20, 6.0)),
        "dense": run_of((21, 0.9), (10, 0.8), (20, 0.7), (30, 0.1)),
    }
    kept = keep_best_passages(runs, FIRST)
    assert kept == {
        "lexical": run_of((12, 9.0), (20, 6.0)),
        "dense": run_of((21, 0.9), (10, 0.8), (30, 0.1)),
    }
    fused = fuse(name_documents(kept, FIRST), "rrf", weights={"lexical": 2.0})
    assert [one.row for one in fused] == [10, 20, 30]
    assert fused[0].score == pytest.approx(2 / 61 + 1 / 62)
    # 10 and 20 got the larger share from the keyword run, whose passages are shown
    assert [one.row for one in name_passages(fused, kept, FIRST)] == [12, 20, 30]


PAGES = [
    ibid.Document(f"harbour-{n}", f"# Harbour {n}\n\n" + "\n\n".join(
        f"## Pier {pier}\n\nBoats of harbour {n} lie at pier {pier} until the tide turns."
        for pier in range(6)
    ), media_type="text/markdown")
    for n in range(5)
]  # fmt: skip


def test_documents_are_a_unit_of_search(tmp_path: object) -> None:
    with open_hashing(tmp_path) as library:  # type: ignore[arg-type] # pytest gives a Path
        library.ingest(PAGES)
        for mode in ("hybrid", "lexical", "dense"):
            found = library.run_search(
                Query("boats at the pier"), mode=mode, unit="documents", k=5, candidates=6
            )
            assert len({hit.document_id for hit in found.hits}) == len(found.hits) == 5
            for hit in found.hits:
                shares = [one.share for one in hit.contributions.values()]
                assert math.fsum(shares) == pytest.approx(hit.score)


@pytest.mark.parametrize("feedback", ["none", "rocchio", "rm3"])
@pytest.mark.parametrize("fusion", FUSIONS)
def test_methods_and_feedback_are_settings_of_a_search(
    tmp_path: object, feedback: str, fusion: str
) -> None:
    with open_hashing(tmp_path) as library:  # type: ignore[arg-type] # pytest gives a Path
        library.ingest(PAGES)
        query = Query("boats of harbour 3")
        result = library.run_search(query, feedback=feedback, fusion=fusion, k=4, graph=False)
    names = {name for hit in result.hits for name in hit.contributions}
    assert names == {"lexical", "dense"} | ({"feedback"} if feedback != "none" else set())
    assert result.hits[0].document_id == "harbour-3"
    for hit in result.hits:
        shares = [one.share for one in hit.contributions.values()]
        assert math.fsum(shares) == pytest.approx(hit.score)


class KnowsNothing:
    """An embedder that knows one language, which the library is not in."""

    def __init__(self, inner: object, languages: frozenset[str] | None) -> None:
        self._inner = inner
        self.languages = languages

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


@pytest.mark.parametrize(
    ("languages", "share"), [(None, 0.25), ({"en"}, 0.25), ({"fi"}, 0.04 / 1.12)]
)
def test_vectors_count_less_in_a_language_unknown_to_them(
    tmp_path: object, languages: set[str] | None, share: float
) -> None:
    from ibid.testing.embedders import HashingEmbedder

    known = None if languages is None else frozenset(languages)
    embedder = KnowsNothing(HashingEmbedder(), known)
    with ibid.open(tmp_path, embedder=embedder) as library:  # type: ignore[arg-type] # fits by attributes
        library.ingest(PAGES)
        (best, *_) = library.run_search(Query("the boats that lie at the pier"), k=30).hits
    dense = best.contributions["dense"]
    if dense.rank == 1:
        assert dense.share == pytest.approx(share)
    assert dense.share <= share + 1e-9
