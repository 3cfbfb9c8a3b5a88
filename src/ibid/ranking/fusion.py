"""Fusion: one ranking from several, each passage with what every retriever gave it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ibid.errors import BadSetting
from ibid.protocols import Scored
from ibid.ranking.order import best_first
from ibid.records import Contribution


@dataclass(frozen=True, slots=True)
class Fused:
    """A row of a fused ranking; the shares of its contributions sum to its score."""

    row: int
    score: float
    contributions: Mapping[str, Contribution]


def fuse_rrf(
    runs: Mapping[str, Sequence[Scored]],
    *,
    k: float = 60,
    weights: Mapping[str, float] | None = None,
) -> list[Fused]:
    """The rows of all runs by reciprocal rank fusion, best first, equal ones as inserted.

    Each run gives a row weight / (k + rank), its ranks from 1; a run that lacks a row gives it
    nothing, and one that repeats a row counts the first. A weight is 1 unless given; 0 leaves the
    run out. Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet, 2009.

    Raises BadSetting for a negative k or weight, and for a weight of no run.
    """
    weights = _check_weights(runs, weights or {}, k)
    contributions: dict[int, dict[str, Contribution]] = defaultdict(dict)
    for name, run in runs.items():
        weight = weights.get(name, 1.0)
        for rank, scored in enumerate(run if weight else (), start=1):
            contributions[scored.row].setdefault(
                name, Contribution(rank, scored.score, weight / (k + rank))
            )
    # The exact sum does not depend on the order of the runs, so rows that tie do so always.
    totals = {
        row: math.fsum(given.share for given in parts.values())
        for row, parts in contributions.items()
    }
    return [Fused(row.row, row.score, contributions[row.row]) for row in best_first(totals)]


def _check_weights(
    runs: Mapping[str, Sequence[Scored]], weights: Mapping[str, float], k: float
) -> Mapping[str, float]:
    unknown = sorted(weights.keys() - runs.keys())
    if unknown:
        raise BadSetting(
            f"a weight for {', '.join(unknown)}, which is no retriever of this search",
            hint=f"give weights for {', '.join(runs)}",
        )
    if k < 0 or any(weight < 0 for weight in weights.values()):
        raise BadSetting("fusion with a negative k or weight", hint="use numbers from 0 up")
    return weights
