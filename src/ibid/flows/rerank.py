"""The step between fusion and selection that reads query and passages together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ibid.errors import MalformedOutput
from ibid.flows.explain import tell_moves
from ibid.protocols import Reranker
from ibid.ranking.calibration import calibrate_scores
from ibid.ranking.select import rank_hits
from ibid.record import record
from ibid.records import Hit, Move, TraceStep


@record
class Reranked:
    """The hits in their new order, and what is told of it; `failed` says why it is the old one."""

    hits: tuple[Hit, ...]
    steps: tuple[TraceStep, ...] = ()
    failed: str | None = None


def rerank_hits(
    query: str, hits: Sequence[Hit], reranker: Reranker | None, *, depth: int
) -> Reranked:
    """The first `depth` hits by the reranker's scores, equal ones in the order they had.

    Without a reranker the hits stay as they are. Those past the depth are gone, since no score of
    theirs could stand beside the others'. Each hit shows the calibrated score and holds the move
    that brought it to its rank. Where the reranker gave nothing that can be used, all hits stay as
    they were. Raises what asking the model raises: ModelUnavailable or ModelTimeout.
    """
    if reranker is None:
        return Reranked(tuple(hits))
    read = hits[:depth]
    try:
        raw = reranker.rerank(query, [hit.passage.indexed_text for hit in read])
        shown = calibrate_scores(raw, reranker.calibration, name=reranker.name)
    except MalformedOutput as error:
        failed = f"not reranked: {error.message}"
        return Reranked(tuple(hits), (TraceStep("rerank", failed, {"by": reranker.name}),), failed)
    # By the raw scores: what a sigmoid has pressed together is still apart in them.
    order = sorted(range(len(read)), key=lambda place: -raw[place])
    moved = rank_hits(
        replace(
            read[place],
            score=shown[place],
            moves=(
                *read[place].moves,
                Move("rerank", place + 1, rank, shown[place], float(raw[place])),
            ),
        )
        for rank, place in enumerate(order, start=1)
    )
    words = f"{len(read)} passages by {reranker.name}"
    if cut := getattr(reranker, "cut", 0):
        words += f", {cut} of them without their end"
    step = tell_moves(words, "rerank", moved)
    return Reranked(moved, (step,))
