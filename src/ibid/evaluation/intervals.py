"""Means with their uncertainty: the bootstrap interval, and the paired test of two systems.

Both are drawn by a random generator with a fixed seed: the same values give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED: Final = 7
RESAMPLES: Final = 2_000
PERMUTATIONS: Final = 10_000
LEVEL: Final = 0.95

CELLS: Final = 4_000_000
"""Random numbers drawn at a time: some 32 MB."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure over n questions, and the ends of its 95% interval."""

    mean: float
    low: float
    high: float
    n: int


def estimate_mean(values: Sequence[float]) -> Estimate:
    """The mean of values with its bootstrap interval; all zeros for no values.

    Efron and Tibshirani, An Introduction to the Bootstrap, 1993: percentiles over resamples of
    the questions.
    """
    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    found = np.asarray(values, dtype=np.float64)
    means = np.concatenate([found[draw].mean(axis=1) for draw in _draw_rows(len(found))])
    return _make_estimate(math.fsum(values) / len(values), means, len(values))


def estimate_ratio(
    measure: Callable[[Sequence[bool], Sequence[bool]], float],
    truth: Sequence[bool],
    said: Sequence[bool],
) -> Estimate:
    """A measure of two flags a question, such as an F1, with its bootstrap interval.

    Questions where `truth` holds and where it does not are drawn apart, so that each resample has
    as many of both: without any of one kind the measure says nothing.
    """
    if not truth:
        return Estimate(0.0, 0.0, 0.0, 0)
    flags = np.array(said)
    kinds = [np.flatnonzero(np.array(truth) == kind) for kind in (True, False)]
    drawn = [
        np.concatenate([flags[kind][draw] for draw in _draw_rows(len(kind))])
        for kind in kinds
        if len(kind)
    ]
    ordered = [kind for kind in (True, False) for _ in range(truth.count(kind))]
    values = [measure(ordered, row) for row in np.concatenate(drawn, axis=1).tolist()]
    return _make_estimate(measure(truth, said), np.array(values), len(truth))


def _draw_rows(n: int) -> list[NDArray[np.int64]]:
    """Resamples of n row numbers, as blocks of rows of them."""
    random = np.random.default_rng(SEED)
    block = max(1, CELLS // n)
    sizes = [min(block, RESAMPLES - start) for start in range(0, RESAMPLES, block)]
    return [random.integers(0, n, (size, n)) for size in sizes]


def _make_estimate(mean: float, drawn: NDArray[np.float64], n: int) -> Estimate:
    low, high = np.quantile(drawn, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    # An interval of equal values must not miss their mean by the last bit.
    return Estimate(mean, min(float(low), mean), max(float(high), mean), n)


# -- two systems on the same questions ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of second - first over n questions, its interval, and how likely chance makes it.

    `p` is of the paired randomisation test, `p_holm` the same after Holm's correction.
    """

    mean: float
    low: float
    high: float
    n: int
    p: float
    p_holm: float

    @property
    def significant(self) -> bool:
        """Whether chance makes such a difference in less than one of twenty families of tests."""
        return self.p_holm < 1 - LEVEL


def compare_pairs(
    pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]],
) -> dict[str, Difference]:
    """For each measure the difference between two systems, question by question.

    The two rows of a measure are of the same questions in the same order. The measures compared
    together are one family for Holm's correction.
    """
    chances = {name: weigh_chance(first, second) for name, (first, second) in pairs.items()}
    corrected = correct_holm(list(chances.values()))
    compared = {}
    for (name, (first, second)), p_holm in zip(pairs.items(), corrected, strict=True):
        gains = [after - before for before, after in zip(first, second, strict=True)]
        found = estimate_mean(gains)
        compared[name] = Difference(
            found.mean, found.low, found.high, found.n, chances[name], p_holm
        )
    return compared


def weigh_chance(first: Sequence[float], second: Sequence[float]) -> float:
    """How likely the mean difference of two paired rows is at least so large by chance alone.

    The two-sided paired randomisation test: signs of the differences flipped at random; where all
    2 ** n ways are fewer than PERMUTATIONS, each of them once. 1 for no differences. Smucker,
    Allan and Carterette, A Comparison of Statistical Significance Tests for IR Evaluation, 2007.
    """
    gains = np.array([b - a for a, b in zip(first, second, strict=True) if a != b])
    n = len(gains)
    if n == 0:
        return 1.0
    seen = abs(float(gains.sum()))
    margin = 1e-9 * float(np.abs(gains).sum())  # sums in another order differ in their last bits
    if 2**n <= PERMUTATIONS:
        ways = np.arange(2**n)[:, None] >> np.arange(n) & 1
        return float(np.mean(np.abs((2 * ways - 1) @ gains) >= seen - margin))
    random = np.random.default_rng(SEED)
    block = max(1, CELLS // n)
    reached = 0
    for start in range(0, PERMUTATIONS, block):
        signs = 2 * random.integers(0, 2, (min(block, PERMUTATIONS - start), n)) - 1
        reached += int(np.sum(np.abs(signs @ gains) >= seen - margin))
    return (reached + 1) / (PERMUTATIONS + 1)


def correct_holm(chances: Sequence[float]) -> list[float]:
    """The p-values of one family of tests after Holm's correction, in their order.

    The smallest of m is multiplied by m, the next by m - 1 and so on, none below the one before it.
    Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.
    """
    corrected = [0.0] * len(chances)
    least = 0.0
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = least
    return corrected
