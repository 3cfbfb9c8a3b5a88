"""Selection: which of the ranked hits are shown, why others are not, and the ranks they get."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ibid.errors import BadQuery
from ibid.records import Hit, Move

FindTwin = Callable[[Hit, Sequence[Hit]], "Twin | None"]
"""Which of the hits kept so far says the same as one more, None where none does."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A hit that says the same as one kept before, at `place`; `newer` takes that one's place."""

    place: int
    reason: str
    newer: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hit that was left out, with the rank it had, and why."""

    hit: Hit
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What was kept, best first, and what was left out; hits past the last place are in neither."""

    hits: tuple[Hit, ...]
    dropped: tuple[Dropped, ...] = ()


def select_hits(
    ranked: Iterable[Hit],
    k: int,
    *,
    min_score: float | None = None,
    distinct: bool = False,
    find_twin: FindTwin | None = None,
) -> Selection:
    """The first k hits, ranked from 1, of those given best first; whatever ranks they came with.

    A hit below `min_score`, which is held against the score shown, is left out. With `distinct`,
    hits of the same text fill one place, that of the first; with `find_twin` also those that it
    says are the same. Raises BadQuery for k below 1.
    """
    if k < 1:
        raise BadQuery(f"{k} hits asked for", hint="ask for 1 or more")
    strong = drop_weak(ranked, min_score)
    kept = strong
    for find in ((_SameText() if distinct else None), find_twin):
        if find is not None:
            kept = collapse_twins(kept, find)
    return Selection(rank_hits(kept.hits[: min(k, sys.maxsize)]), kept.dropped)


def drop_weak(hits: Iterable[Hit], min_score: float | None) -> Selection:
    """The hits whose score is at least `min_score`; None leaves out none."""
    if min_score is None:
        return Selection(tuple(hits))
    kept, dropped = [], []
    for hit in hits:
        if hit.score >= min_score:
            kept.append(hit)
        else:
            dropped.append(Dropped(hit, f"score {hit.score:.4f} is below {min_score:g}"))
    return Selection(tuple(kept), tuple(dropped))


def collapse_twins(selection: Selection, find: FindTwin) -> Selection:
    """The selection with hits that are the same in one place, that of the best of them.

    The place shows the best one, or a newer twin where `find` says so.
    """
    kept: list[Hit] = []
    dropped = list(selection.dropped)
    for hit in selection.hits:
        twin = find(hit, kept)
        if twin is None:
            kept.append(hit)
            continue
        shown = kept[twin.place]
        if twin.newer:
            kept[twin.place] = _raise_to(hit, shown)
            hit, shown = shown, hit
        dropped.append(Dropped(hit, f"{twin.reason} {_tell_place(shown)}"))
    return Selection(tuple(kept), tuple(dropped))


def rank_hits(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits with their places as ranks, from 1; no rank is set anywhere else."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))


def _raise_to(hit: Hit, place: Hit) -> Hit:
    """The hit at the rank and score of another, with the move that brought it there."""
    move = Move("newest", hit.rank, place.rank, place.score, raw=hit.score)
    return replace(hit, rank=place.rank, score=place.score, moves=(*hit.moves, move))


class _SameText:
    """Finds a hit whose text, white space aside, is that of an earlier one."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def __call__(self, hit: Hit, kept: Sequence[Hit]) -> Twin | None:
        text = " ".join(hit.passage.text.split())
        place = self._places.setdefault(text, len(kept))
        return Twin(place, "same text as") if place < len(kept) else None


def _tell_place(hit: Hit) -> str:
    return f"{hit.document_id} {hit.passage.start}-{hit.passage.end}"
