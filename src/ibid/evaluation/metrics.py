"""Measures of a ranking against judgements: one formula, one function.

A ranking is a list of ids, best first, each once. Judgements map ids to grades of relevance; above
0 is relevant, and an id without one is not. Without any relevant id every measure is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Judgements: TypeAlias = Mapping[str, float]
Metric: TypeAlias = Callable[[Sequence[str], Judgements], float]


def precision_at(ranking: Sequence[str], judgements: Judgements, k: int) -> float:
    """The part of the first k places that hold relevant ids; an empty place holds none."""
    return _count_relevant(ranking[:k], judgements) / k


def recall_at(ranking: Sequence[str], judgements: Judgements, k: int) -> float:
    """The part of all relevant ids that are among the first k."""
    relevant = _count_relevant(list(judgements), judgements)
    return _count_relevant(ranking[:k], judgements) / relevant if relevant else 0.0


def hit_at(ranking: Sequence[str], judgements: Judgements, k: int) -> float:
    """1 when a relevant id is among the first k, else 0; its mean is the hit rate."""
    return float(_count_relevant(ranking[:k], judgements) > 0)


def reciprocal_rank(ranking: Sequence[str], judgements: Judgements, k: int | None = None) -> float:
    """1 / rank of the first relevant id among the first k (None: all); its mean is MRR."""
    for rank, id in enumerate(ranking[:k], start=1):
        if judgements.get(id, 0) > 0:
            return 1 / rank
    return 0.0


def average_precision(
    ranking: Sequence[str], judgements: Judgements, k: int | None = None
) -> float:
    """The sum of the precision at the rank of every relevant id among the first k (None: all),
    over all relevant ids.

    Its mean is MAP.
    """
    relevant = _count_relevant(list(judgements), judgements)
    found = 0
    total = 0.0
    for rank, id in enumerate(ranking[:k], start=1):
        if judgements.get(id, 0) > 0:
            found += 1
            total += found / rank
    return total / relevant if relevant else 0.0


def ndcg_at(ranking: Sequence[str], judgements: Judgements, k: int) -> float:
    """The discounted gain of the first k over that of the best order of all judged ids.

    An id gains its grade over log2(1 + rank). Järvelin and Kekäläinen, Cumulated gain-based
    evaluation of IR techniques, 2002.
    """
    ideal = _sum_gains(sorted(judgements.values(), reverse=True)[:k])
    return _sum_gains([judgements.get(id, 0) for id in ranking[:k]]) / ideal if ideal else 0.0


def evidence_recall(texts: Sequence[str], evidence: Sequence[str], k: int) -> float:
    """The part of the pieces of evidence that one of the first k texts holds, word for word.

    White space is compared as one space. A piece that only two texts together hold does not count:
    that is what a cut through an answer costs.
    """
    folded = [" ".join(text.split()) for text in texts[:k]]
    found = sum(any(" ".join(piece.split()) in text for text in folded) for piece in evidence)
    return found / len(evidence) if evidence else 0.0


def mean_over_queries(
    metric: Metric, run: Mapping[str, Sequence[str]], qrels: Mapping[str, Judgements]
) -> float:
    """The mean of a measure over all judged queries; one that the run lacks counts as 0."""
    values = [metric(run.get(query, ()), judgements) for query, judgements in qrels.items()]
    return math.fsum(values) / len(values) if values else 0.0


def _count_relevant(ids: Sequence[str], judgements: Judgements) -> int:
    return sum(judgements.get(id, 0) > 0 for id in ids)


def _sum_gains(grades: Sequence[float]) -> float:
    return math.fsum(
        max(grade, 0) / math.log2(1 + rank) for rank, grade in enumerate(grades, start=1)
    )
