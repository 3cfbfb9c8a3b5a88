"""Selection: which of the ranked hits are shown, why others are not, and the ranks they get."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from ibid.errors import BadQuery
from ibid.record import record
from ibid.records import Hit, Move

TWINS_SOUGHT: Final = 50
"""Hits, best first, among which newer versions of those shown are looked for."""

FindTwin: TypeAlias = Callable[[Hit, Sequence[Hit]], "Twin | None"]
"""Which of the hits kept so far says the same as one more, None where none does."""


@record
class Twin:
    """A hit that says the same as one kept before, at `place`; `newer` takes that one's place."""

    place: int
    reason: str
    newer: bool = False


@record
class Dropped:
    """A hit that was left out, with the rank it had, and why."""

    hit: Hit
    reason: str


@record
class Selection:
    """What was kept, best first, and what was left out; hits past the last place are in neither."""

    hits: tuple[Hit, ...]
    dropped: tuple[Dropped, ...] = ()


def select_hits(
    ranked: Iterable[Hit] | Selection,
    k: int,
    *,
    min_score: float | None = None,
    distinct: bool = False,
    find_twin: FindTwin | None = None,
) -> Selection:
    """The first k hits, ranked from 1, of those given best first; whatever ranks they came with.

    A hit below `min_score`, which is held against the score shown, is left out. With `distinct`,
    hits of the same text fill one place, that of the first; with `find_twin` also those that it
    says are the same. What a selection has left out before stays told. Raises BadQuery for k below
    1.
    """
    if k < 1:
        raise BadQuery(f"{k} hits asked for", hint="ask for 1 or more")
    given = ranked if isinstance(ranked, Selection) else Selection(tuple(ranked))
    kept = drop_weak(given, min_score)
    finders: list[FindTwin] = [_SameText()] if distinct else []
    if find_twin is not None:
        finders.append(find_twin)
    if finders:
        kept = collapse_twins(kept, k, partial(_find_first, finders))
    return Selection(rank_hits(kept.hits[: min(k, sys.maxsize)]), kept.dropped)


def drop_weak(selection: Selection, min_score: float | None) -> Selection:
    """The selection without hits whose score is below `min_score`; None leaves out none."""
    if min_score is None:
        return selection
    strong = tuple(hit for hit in selection.hits if hit.score >= min_score)
    weak = [
        Dropped(hit, f"score {hit.score:.4f} is below {min_score:g}")
        for hit in selection.hits
        if hit.score < min_score
    ]
    return Selection(strong, (*selection.dropped, *weak))


def collapse_twins(selection: Selection, k: int, find: FindTwin) -> Selection:
    """The first k hits of a selection, those that are the same in one place, that of the best.

    The place shows the best one, or a newer twin where `find` says so; such are looked for among
    the first TWINS_SOUGHT hits.
    """
    kept: list[Hit] = []
    dropped = list(selection.dropped)
    for met, hit in enumerate(selection.hits):
        if len(kept) >= k and met >= TWINS_SOUGHT:
            break
        twin = find(hit, kept)
        if twin is None:
            if len(kept) < k:
                kept.append(hit)
            continue
        shown = kept[twin.place]
        if twin.newer:
            kept[twin.place] = _raise_to(hit, shown)
            hit, shown = shown, hit
        dropped.append(Dropped(hit, f"{twin.reason} {tell_place(shown)}"))
    return Selection(tuple(kept), tuple(dropped))


def fit_budget(selection: Selection, sizes: Sequence[int], most: int) -> Selection:
    """The selection without its last hits, as many as go beyond `most` of `sizes` together.

    The best hit stays even where it alone is more.
    """
    kept, size = 0, 0
    for size_of_hit in sizes:
        size += size_of_hit
        if kept and size > most:
            break
        kept += 1
    over = [Dropped(hit, f"beyond the budget of {most} pieces") for hit in selection.hits[kept:]]
    return Selection(selection.hits[:kept], (*selection.dropped, *over))


def rank_hits(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits with their places as ranks, from 1; no rank is set anywhere else."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))


def _raise_to(hit: Hit, place: Hit) -> Hit:
    """The hit at the rank and score of another, with the move that brought it there."""
    move = Move("newest", hit.rank, place.rank, place.score, raw=hit.score)
    return replace(hit, rank=place.rank, score=place.score, moves=(*hit.moves, move))


def _find_first(finders: Iterable[FindTwin], hit: Hit, kept: Sequence[Hit]) -> Twin | None:
    return next((twin for find in finders if (twin := find(hit, kept)) is not None), None)


class _SameText:
    """Finds a hit whose text, white space aside, is that of one kept before and still there."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def __call__(self, hit: Hit, kept: Sequence[Hit]) -> Twin | None:
        place = self._places.setdefault(_fold(hit), len(kept))
        if place < len(kept) and _fold(kept[place]) == _fold(hit):
            return Twin(place, "same text as")
        return None


def _fold(hit: Hit) -> str:
    return " ".join(hit.passage.text.split())


def tell_place(hit: Hit) -> str:
    """Where a hit stands: its document and its range there."""
    return f"{hit.document_id} {hit.passage.start}-{hit.passage.end}"
