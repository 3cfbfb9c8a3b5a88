"""The one order of scored passages: the highest score first, equal ones as they were inserted."""

from __future__ import annotations

from collections.abc import Mapping

from ibid.protocols import Scored


def best_first(scores: Mapping[int, float], k: int | None = None) -> list[Scored]:
    """The k best rows (None: all), by falling score and, where equal, by rising row."""
    return [Scored(row, scores[row]) for row in order_rows(scores)[:k]]


def order_rows(scores: Mapping[int, float]) -> list[int]:
    """The rows alone, in that order."""
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)  # stable, and all in C
