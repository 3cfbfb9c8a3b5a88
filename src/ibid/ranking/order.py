"""The one order of scored passages: the highest score first, equal ones as they were inserted."""

from __future__ import annotations

from collections.abc import Mapping

from ibid.protocols import Scored


def best_first(scores: Mapping[int, float], k: int | None = None) -> list[Scored]:
    """The k best rows (None: all), by falling score and, where equal, by rising row."""
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Scored(row, score) for row, score in ordered[:k]]
