"""What is told of a search: a step of the trace for each stage, in words and as data.

Every step is made of what the search itself held, which is inside the caller's scope: a passage
that the caller may not see never reaches these functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ibid.protocols import Scored
from ibid.ranking.select import Dropped, Selection
from ibid.records import JSON, Hit, TraceStep

DROPPED_TOLD: Final = 100
"""Hits left out that a trace tells one by one; it counts those past them."""


def tell_run(name: str, run: Sequence[Scored], milliseconds: float) -> TraceStep:
    """What one retriever found."""
    best = f", the best with score {run[0].score:.4f}" if run else ""
    return TraceStep(
        name,
        f"{_count(len(run), 'passage')} found{best}",
        {"passages": len(run), "milliseconds": milliseconds},
    )


def tell_fusion(runs: Mapping[str, Sequence[Scored]], fused: int, method: str) -> TraceStep:
    """How many different passages the runs had together, and how they became one ranking."""
    return TraceStep(
        "fuse",
        f"{_count(fused, 'passage')} from {' and '.join(runs)} by {method}",
        {"passages": fused, "method": method},
    )


def tell_merge(libraries: Mapping[str, int], standardize: bool) -> TraceStep:
    """How many hits of each library went into one ranking, and whether their scores compared."""
    counted = ", ".join(f"{name} {count}" for name, count in libraries.items())
    how = "cosines standardized, since the embedders differ" if standardize else "scores as found"
    return TraceStep(
        "merge", f"{counted}; {how}", {"hits": dict(libraries), "standardized": standardize}
    )


def tell_moves(words: str, stage: str, hits: Sequence[Hit]) -> TraceStep:
    """What a stage that gives new scores made of the order: the hits with their moves."""
    moves = [(hit, move) for hit in hits for move in hit.moves[-1:] if move.stage == stage]
    told: list[JSON] = [
        {
            "document_id": hit.document_id,
            "passage_id": hit.passage.id,
            "before": move.before,
            "after": move.after,
            "score": move.score,
            "raw": move.raw,
        }
        for hit, move in moves
    ]
    changed = sum(move.before != move.after for _, move in moves)
    return TraceStep(stage, f"{words}, {changed} changed their rank", {"moves": told})


def tell_selection(selection: Selection, found: int) -> TraceStep:
    """What was kept of the passages found, and each that was left out with the reason."""
    words = f"{_count(len(selection.hits), 'hit')} kept"
    if selection.dropped:
        words += f", {len(selection.dropped)} left out"
    beyond = found - len(selection.hits) - len(selection.dropped)
    if beyond:
        words += f", {beyond} more not shown"
    return TraceStep(
        "select",
        words,
        {
            "kept": len(selection.hits),
            "beyond": beyond,
            "dropped": [_shape_dropped(one) for one in selection.dropped[:DROPPED_TOLD]],
        },
    )


def _shape_dropped(dropped: Dropped) -> JSON:
    hit = dropped.hit
    return {
        "document_id": hit.document_id,
        "passage_id": hit.passage.id,
        "start": hit.passage.start,
        "end": hit.passage.end,
        "rank": hit.rank,
        "score": hit.score,
        "reason": dropped.reason,
    }


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
