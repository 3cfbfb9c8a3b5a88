"""Tuning: which settings are tried, on how many questions, and which of them win.

Successive halving: all candidates are tried on few questions, the better half on twice as many, and
so on, until all questions that are not held out were asked. Jamieson and Talwalkar, Non-stochastic
Best Arm Identification and Hyperparameter Optimization, 2016. What is in force is a candidate that
stays to the end.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final, TypeAlias

from ibid.evaluation.metrics import ndcg_at

Value: TypeAlias = str | int | float | bool | None

LEAST_CASES: Final = 6
"""Golden cases below which nothing is tuned: half of them are held out."""

FIRST_SHARE: Final = 4
"""The first rung asks one in so many of the questions, the next twice as many."""

FIRST_LEAST: Final = 10
"""Questions that it asks at least: fewer tell candidates apart by chance."""

LAST_FROM: Final = 0.7
"""Part of all questions from which on a rung asks all of them."""

CUT_CASES: Final = 20
"""Questions from which on fewer sources, or a least score, may be chosen."""

DEPTH: Final = 10
"""Hits that are looked at."""

SOURCES: Final = (2, 3, 4, 6, 8, 10)
"""Numbers of sources that are tried."""

LEAST_SCORES: Final = (0.1, 0.2, 0.3, 0.4, 0.5)
"""Least scores that are tried."""

NEAR_BEST: Final = 0.01
"""Recall that may be given up for fewer sources."""

SPACE: Final[Mapping[str, tuple[Value, ...]]] = {
    "search.fusion": ("best", "rrf", "minmax"),
    "search.weights.lexical": (0.5, 1.0, 2.0),
    "search.weights.feedback": (0.0, 1.0, 2.0),
    "search.weights.document": (0.0, 1.0, 2.0),
    "search.rerank": ("none", "proximity"),
}
"""Values that are tried, by setting."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Settings to try: a chunking by its name, and what differs from those in force, by key."""

    chunking: str
    changes: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        said = [f"{key.removeprefix('search.')}={value}" for key, value in self.changes]
        return " ".join([self.chunking, *said])


@dataclass(frozen=True, slots=True)
class Trial:
    """What one question found with a candidate: of each hit, best first, its score, its characters,
    and whether it holds something wanted that none before it held; `wanted` counts all of that."""

    scores: tuple[float, ...]
    sizes: tuple[int, ...]
    held: tuple[bool, ...]
    wanted: int
    milliseconds: float = field(default=0.0, compare=False)

    def cut(self, sources: int, min_score: float | None) -> Trial:
        """The same with so many sources, none of them below the least score."""
        kept = [
            place
            for place, score in enumerate(self.scores)
            if min_score is None or score >= min_score
        ][:sources]
        return Trial(
            tuple(self.scores[place] for place in kept),
            tuple(self.sizes[place] for place in kept),
            tuple(self.held[place] for place in kept),
            self.wanted,
            self.milliseconds,
        )

    @property
    def quality(self) -> float:
        """nDCG of what was found."""
        ranking = [str(place) for place in range(len(self.held))]
        judged = {str(place): 1.0 for place, held in enumerate(self.held) if held}
        judged |= {f"missing {n}": 1.0 for n in range(self.wanted - sum(self.held))}
        return ndcg_at(ranking, judged, DEPTH)

    @property
    def recall(self) -> float:
        """The part of what is wanted that was found."""
        return sum(self.held) / self.wanted if self.wanted else 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate with the number of sources and the least score that go with it."""

    candidate: Candidate
    sources: int
    min_score: float | None = None

    def __str__(self) -> str:
        least = "" if self.min_score is None else f" min_score={self.min_score}"
        return f"{self.candidate} sources={self.sources}{least}"


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate in the table: the questions that it was asked, and the means over these."""

    candidate: Candidate
    questions: int
    quality: float
    recall: float
    characters: float
    milliseconds: float


Try: TypeAlias = Callable[[Candidate, str], Trial]
"""Asks a question, by its id, with a candidate."""


def split_cases(ids: Sequence[str], seed: int) -> tuple[list[str], list[str]]:
    """The ids to tune on and those held out, half of them each, by chance under the seed."""
    shuffled = sorted(ids)
    random.Random(seed).shuffle(shuffled)
    middle = (len(shuffled) + 1) // 2
    return shuffled[:middle], shuffled[middle:]


def draw_candidates(
    chunkings: Sequence[str], space: Mapping[str, Sequence[Value]], *, count: int, seed: int
) -> list[Candidate]:
    """The candidates: what is in force first, each chunking alone, each single change, then
    combinations by chance under the seed, `count` in all where there are as many.

    The first chunking is that in force. In `space` the first value of a setting is.
    """
    keys = list(space)
    single = [Candidate(chunkings[0], ((key, value),)) for key in keys for value in space[key][1:]]
    combined = [
        Candidate(chunking, _keep_changed(keys, values, space))
        for chunking, values in product(chunkings, product(*space.values()))
    ]
    random.Random(seed).shuffle(combined)
    plain = [Candidate(chunking) for chunking in chunkings]
    return list(dict.fromkeys([*plain, *single, *combined]))[: max(count, len(plain))]


def _keep_changed(
    keys: Sequence[str], values: Sequence[Value], space: Mapping[str, Sequence[Value]]
) -> tuple[tuple[str, Value], ...]:
    return tuple(
        (key, value) for key, value in zip(keys, values, strict=True) if value != space[key][0]
    )


def plan_rungs(questions: int) -> list[int]:
    """How many questions each rung asks, the last all of them; never a few more than before."""
    rungs = [min(questions, max(FIRST_LEAST, questions // FIRST_SHARE))]
    while rungs[-1] < questions:
        asked = rungs[-1] * 2
        rungs.append(asked if asked <= questions * LAST_FROM else questions)
    return rungs


def halve(
    candidates: Sequence[Candidate], ids: Sequence[str], sources: int, attempt: Try
) -> Iterator[list[Row]]:
    """A table for each rung, best first; the first candidate is in all of them.

    Equal ones stand in their order, in which what is in force is first, so that nothing is changed
    for nothing.
    """
    left = list(candidates)
    for asked in plan_rungs(len(ids)):
        rows = [_make_row(candidate, ids[:asked], sources, attempt) for candidate in left]
        yield sorted(rows, key=lambda row: -row.quality)
        ranked = sorted(rows, key=lambda row: -row.quality)
        best = {row.candidate for row in ranked[: math.ceil(len(ranked) / 2)]} | {candidates[0]}
        left = [candidate for candidate in left if candidate in best]


def list_rows(rungs: Iterable[Sequence[Row]]) -> list[Row]:
    """The last row of each candidate, those that were asked most first, then the best."""
    last = {row.candidate: row for rows in rungs for row in rows}
    return sorted(last.values(), key=lambda row: (-row.questions, -row.quality))


def _make_row(candidate: Candidate, ids: Sequence[str], sources: int, attempt: Try) -> Row:
    trials = [attempt(candidate, id) for id in ids]
    cut = [trial.cut(sources, None) for trial in trials]
    return Row(
        candidate,
        len(ids),
        _mean([trial.quality for trial in trials]),
        _mean([trial.recall for trial in cut]),
        _mean([sum(trial.sizes) for trial in cut]),
        _mean([trial.milliseconds for trial in trials]),
    )


def choose_cut(default: Choice, candidate: Candidate, trials: Sequence[Trial]) -> Choice:
    """The fewest sources, and then the highest least score, that lose next to nothing found.

    Of fewer than CUT_CASES trials nothing is concluded, and both stay as the default has them.
    """
    if len(trials) < CUT_CASES:
        return Choice(candidate, default.sources, default.min_score)
    recalls = {k: _mean([trial.cut(k, None).recall for trial in trials]) for k in SOURCES}
    enough = max(recalls.values()) - NEAR_BEST
    sources = next(k for k in SOURCES if recalls[k] >= enough)
    weak: list[float | None] = [None]
    for least in LEAST_SCORES:
        recall = _mean([trial.cut(sources, least).recall for trial in trials])
        if recall >= recalls[sources]:
            weak.append(least)
    return Choice(candidate, sources, weak[-1])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
