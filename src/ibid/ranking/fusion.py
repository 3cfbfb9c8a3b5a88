"""Fusion: one ranking from several, each passage with what every retriever gave it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from ibid.errors import BadSetting
from ibid.protocols import Scored
from ibid.ranking.order import order_rows
from ibid.record import record
from ibid.records import Contribution

Fusion: TypeAlias = Literal["rrf", "minmax", "standard", "best"]

Runs: TypeAlias = Mapping[str, Sequence[Scored]]
Weights: TypeAlias = Mapping[str, float]


@record
class Fused:
    """A row of a fused ranking; the shares of its contributions sum to its score."""

    row: int
    score: float
    contributions: Mapping[str, Contribution]


Given: TypeAlias = Mapping[int, tuple[int, float, float]]
"""What one run gave each of its rows: the fields of a Contribution."""


class _Contributions(Mapping[str, Contribution]):
    """What the runs gave one row, by name, made when it is asked for: of most rows it never is."""

    __slots__ = ("_row", "_runs")

    def __init__(self, row: int, runs: Mapping[str, Given]) -> None:
        self._row, self._runs = row, runs

    def __getitem__(self, name: str) -> Contribution:
        return Contribution(*self._runs[name][self._row])

    def __iter__(self) -> Iterator[str]:
        return (name for name, given in self._runs.items() if self._row in given)

    def __len__(self) -> int:
        return sum(self._row in given for given in self._runs.values())


def fuse(
    runs: Runs, method: Fusion, *, weights: Weights | None = None, k: float = 60
) -> list[Fused]:
    """The rows of all runs as one ranking by the method, best first, equal ones as inserted.

    "rrf" is `fuse_rrf`, whose constant `k` is; the others are the weighted mean of the scores, each
    made comparable within its run. A run that repeats a row counts the first; one of weight 0 is
    left out, and weights are 1 unless given. Raises BadSetting for what `fuse_rrf` does.
    """
    if method == "rrf":
        return fuse_rrf(runs, k=k, weights=weights)
    return _fuse_scores(runs, _SCALES[method], weights)


def fuse_rrf(runs: Runs, *, k: float = 60, weights: Weights | None = None) -> list[Fused]:
    """The rows of all runs by reciprocal rank fusion, best first, equal ones as inserted.

    Each run gives a row weight / (k + rank), its ranks from 1; a run that lacks a row gives it
    nothing, and one that repeats a row counts the first. A weight is 1 unless given; 0 leaves the
    run out. Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet, 2009.

    Raises BadSetting for a negative k or weight, and for a weight of no run.
    """
    weights = _check_weights(runs, weights or {}, k)
    return _sum_shares(
        {
            name: _give(run, [weight / (k + rank) for rank in range(1, len(run) + 1)])
            for name, run in runs.items()
            if (weight := weights.get(name, 1.0))
        }
    )


def _fuse_scores(runs: Runs, scale: Scale, weights: Weights | None) -> list[Fused]:
    """The rows of all runs by the weighted mean of scaled scores, 0 where a run lacks a row."""
    weights = _check_weights(runs, weights or {})
    total = math.fsum(weights.get(name, 1.0) for name in runs)
    given = {}
    for name, run in runs.items():
        weight = weights.get(name, 1.0) / total if run else 0.0
        if weight:
            scaled = scale([scored.score for scored in run])
            given[name] = _give(run, [weight * share for share in scaled])
    return _sum_shares(given)


def _give(run: Sequence[Scored], shares: Sequence[float]) -> Given:
    """What a run gives its rows; of one that it repeats, the first counts."""
    # From the last, since a dict keeps what was put last.
    return {
        scored.row: (rank, scored.score, share)
        for rank, scored, share in zip(
            range(len(run), 0, -1), reversed(run), reversed(shares), strict=True
        )
    }


def _sum_shares(runs: Mapping[str, Given]) -> list[Fused]:
    shares: dict[int, list[float]] = defaultdict(list)
    for given in runs.values():
        for row, (_, _, share) in given.items():
            shares[row].append(share)
    # The exact sum does not depend on the order of the runs, so rows that tie do so always.
    totals = {row: math.fsum(given) for row, given in shares.items()}
    return [Fused(row, totals[row], _Contributions(row, runs)) for row in order_rows(totals)]


# -- how the scores of a run are made comparable to those of another ------------------------------

Scale: TypeAlias = Callable[[Sequence[float]], list[float]]


def scale_by_best(scores: Sequence[float]) -> list[float]:
    """Each score over the best one, from 0 to 1; a negative one gives 0.

    Both BM25 and cosine have an end at which nothing is alike, 0: the best of a run is then the
    only thing that its scores are relative to, and a run of equally good hits keeps them equally
    good. Bruch, Gai and Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, 2023, call
    it min-max with the theoretical minimum.
    """
    best = max(scores)
    return [max(score, 0.0) / best if best > 0 else 0.0 for score in scores]


def scale_to_range(scores: Sequence[float]) -> list[float]:
    """Each score's place between the least of the run, 0, and the best, 1; 1 if all are equal."""
    least, best = min(scores), max(scores)
    return [(score - least) / (best - least) if best > least else 1.0 for score in scores]


def standardize(scores: Sequence[float]) -> list[float]:
    """How many standard deviations each score stands above the least of the run.

    That is (score - mean) / deviation, moved so that what the run does not hold, which is at best
    as good as its last, gets 0 as in the other methods. All 0 where all are equal.
    """
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    least = min(scores)
    return [(score - least) / deviation if deviation > 0 else 0.0 for score in scores]


_SCALES: Final[Mapping[str, Scale]] = {
    "best": scale_by_best,
    "minmax": scale_to_range,
    "standard": standardize,
}

FUSIONS: Final = ("rrf", *_SCALES)
"""The methods by name."""


def _check_weights(runs: Runs, weights: Weights, k: float = 0) -> Weights:
    unknown = sorted(weights.keys() - runs.keys())
    if unknown:
        raise BadSetting(
            f"a weight for {', '.join(unknown)}, which is no retriever of this search",
            hint=f"give weights for {', '.join(runs)}",
        )
    if k < 0 or any(weight < 0 for weight in weights.values()):
        raise BadSetting("fusion with a negative k or weight", hint="use numbers from 0 up")
    return weights
