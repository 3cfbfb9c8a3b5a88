"""Selection: which of the ranked hits are shown, and the ranks they get."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from ibid.errors import BadQuery
from ibid.records import Hit


def select_hits(
    ranked: Iterable[Hit], k: int, *, min_score: float | None = None, distinct: bool = False
) -> tuple[Hit, ...]:
    """The first k hits, ranked from 1, of those given best first; whatever ranks they came with.

    A hit below `min_score`, which is held against the score shown, is left out. With `distinct`,
    hits of the same text fill one place, that of the first. Raises BadQuery for k below 1.
    """
    if k < 1:
        raise BadQuery(f"{k} hits asked for", hint="ask for 1 or more")
    kept = (hit for hit in ranked if min_score is None or hit.score >= min_score)
    return rank_hits(islice(collapse_duplicates(kept) if distinct else kept, min(k, sys.maxsize)))


def collapse_duplicates(hits: Iterable[Hit]) -> Iterable[Hit]:
    """The hits whose text, white space aside, is not that of an earlier one."""
    seen: set[str] = set()
    for hit in hits:
        text = " ".join(hit.passage.text.split())
        if text not in seen:
            seen.add(text)
            yield hit


def rank_hits(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits with their places as ranks, from 1; no rank is set anywhere else."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))
