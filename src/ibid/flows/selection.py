"""From ranked hits to those that are shown, and why the others are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ibid.flows.explain import tell_moves, tell_selection
from ibid.flows.options import SearchOptions
from ibid.flows.rerank import Reranked
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Snapshot, Tokenizer
from ibid.ranking.select import Selection, drop_weak, fit_budget, select_hits
from ibid.ranking.variants import reserve_places
from ibid.records import Hit, TraceStep


def choose_hits(
    reranked: Reranked,
    options: SearchOptions,
    *,
    found: int,
    snapshot: Snapshot,
    tokenizer: Tokenizer,
    watch: Stopwatch,
    reserving: Sequence[str] = (),
) -> tuple[tuple[Hit, ...], tuple[TraceStep, ...]]:
    """The k hits that are shown, of those given best first, and the steps of the trace.

    In order: places kept for the variants that are `reserving` one, recency, the least score,
    neighbours joined or hits widened, duplicates, the first k, the budget. `found` counts the
    passages that the retrievers found. A least score is meant for the reranker's, so that it falls
    where that failed.
    """
    steps = []
    ranked = reserve_places(reranked.hits, reserving, options.k)
    if reranked.failed is not None:
        options = replace(options, min_score=None)
    if options.select.half_life_days is not None:
        ranked = _prefer_recent(ranked, options, options.select.half_life_days)
        steps.append(tell_moves("by age", "recency", ranked))
    with watch.timing("select"):
        kept = drop_weak(Selection(tuple(ranked)), options.min_score)
        if options.section_pieces or options.select.join_pieces:
            kept = _show_more(kept, options, snapshot, tokenizer)
        selection = _select(kept, options)
        if options.select.budget_pieces is not None:
            texts = [hit.passage.text for hit in selection.hits]
            sizes = [len(spans) for spans in tokenizer.spans(texts)]
            selection = fit_budget(selection, sizes, options.select.budget_pieces)
    return selection.hits, (*steps, tell_selection(selection, found))


def _prefer_recent(
    ranked: Sequence[Hit], options: SearchOptions, half_life_days: float
) -> tuple[Hit, ...]:
    from ibid.ranking.recency import prefer_recent  # noqa: PLC0415 - only where asked for

    weight = options.select.recency
    return prefer_recent(ranked, half_life_days, weight=weight, now=datetime.now(UTC))


def _show_more(
    kept: Selection, options: SearchOptions, snapshot: Snapshot, tokenizer: Tokenizer
) -> Selection:
    """Each hit with the section around it, or with its neighbours that were found too."""
    if options.section_pieces:
        from ibid.flows.widen import widen_hits  # noqa: PLC0415 - seldom asked for

        pieces = options.section_pieces
        wide = widen_hits(kept.hits, pieces, k=options.k, snapshot=snapshot, tokenizer=tokenizer)
        return replace(kept, hits=tuple(wide))
    from ibid.flows.join import join_hits  # noqa: PLC0415 - seldom asked for

    pieces = options.select.join_pieces
    return join_hits(kept, pieces, k=options.k, snapshot=snapshot, tokenizer=tokenizer)


def _select(kept: Selection, options: SearchOptions) -> Selection:
    """The first k, those that say the same in one place where hits are to be distinct."""
    alike = options.select.alike
    if not options.distinct or alike is None:
        return select_hits(kept, options.k, distinct=options.distinct)
    from ibid.ranking.twins import NearTwins  # noqa: PLC0415 - only for sources of an answer

    return select_hits(kept, options.k, distinct=True, find_twin=NearTwins(alike))
