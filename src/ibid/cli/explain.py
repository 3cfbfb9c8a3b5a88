"""Explanations in words: why a hit has its score and rank, and the steps that led there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ibid.cli.words import make_table
from ibid.records import Hit, TraceStep


def tell_reasons(hit: Hit) -> str:
    """What each retriever gave a hit, with what fusion and later stages made of it.

    The shares add up to the score of fusion, which is told where a later stage gave another.
    """
    rows = [
        (name, f"rank {given.rank}", f"score {given.score:.4f}", f"share {given.share:.4f}")
        for name, given in hit.contributions.items()
    ]
    if hit.moves:
        rows.append(("fused", f"rank {hit.moves[0].before}", f"score {hit.fused_score:.4f}", ""))
    rows += [
        (
            move.stage,
            f"rank {move.after}",
            f"score {move.score:.4f}",
            f"from {move.raw:.4f}, was rank {move.before}",
        )
        for move in hit.moves
    ]
    return make_table(rows)


def tell_trace(trace: Iterable[TraceStep]) -> str:
    """A line for each step, and below that of a selection one for each hit that was left out."""
    return make_table(row for step in trace for row in _tell_step(step))


def _tell_step(step: TraceStep) -> Iterator[tuple[str, str]]:
    yield step.stage, step.detail
    dropped = step.data.get("dropped")
    for one in dropped if isinstance(dropped, list) else ():
        if isinstance(one, dict):
            place = f"{one['document_id']} {one['start']}-{one['end']}"
            yield "", f"rank {one['rank']}, {place}: {one['reason']}"
