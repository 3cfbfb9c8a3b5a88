"""Recency: a newer document's hit before an older one's that fits about as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from ibid.ranking.select import rank_hits
from ibid.records import Hit, Move

SECONDS_PER_DAY: Final = 86_400.0


def prefer_recent(
    hits: Sequence[Hit], half_life_days: float, *, weight: float, now: datetime
) -> tuple[Hit, ...]:
    """The hits by score less weight * (1 - 0.5^(age / half-life)) * |score|, ranked from 1.

    So a new document keeps its score, one as old as the half-life loses half of `weight` of it,
    and the oldest all of `weight`. A document without a date counts as the oldest, one from the
    future as new. Equal scores keep their order.
    """
    weakened = []
    for before, hit in enumerate(hits, start=1):
        recency = _find_recency(hit, half_life_days, now)
        score = hit.score - weight * (1 - recency) * abs(hit.score)
        weakened.append((hit, Move("recency", before, 0, score, recency)))
    weakened.sort(key=lambda pair: -pair[1].score)
    return rank_hits(
        replace(hit, score=move.score, moves=(*hit.moves, replace(move, after=rank)))
        for rank, (hit, move) in enumerate(weakened, start=1)
    )


def _find_recency(hit: Hit, half_life_days: float, now: datetime) -> float:
    """From 1 for a new document down to 0; 0 without a date."""
    modified = hit.document.modified_at
    if modified is None:
        return 0.0
    days = max(0.0, (now - modified).total_seconds() / SECONDS_PER_DAY)
    return float(0.5 ** (days / half_life_days))
