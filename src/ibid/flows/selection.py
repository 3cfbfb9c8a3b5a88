"""From ranked hits to those that are shown, and why the others are not."""

from __future__ import annotations

from collections.abc import Sequence

from ibid.flows.options import SearchOptions
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Snapshot, Tokenizer
from ibid.ranking.select import Selection, select_hits
from ibid.records import Hit


def choose_hits(
    ranked: Sequence[Hit],
    options: SearchOptions,
    *,
    snapshot: Snapshot,
    tokenizer: Tokenizer,
    watch: Stopwatch,
) -> Selection:
    """The k hits that are shown, of those given best first, and why others are not."""
    if options.section_pieces:
        from ibid.flows.widen import widen_hits  # noqa: PLC0415 - seldom asked for

        with watch.timing("widen"):
            ranked = widen_hits(
                ranked,
                options.section_pieces,
                k=options.k,
                snapshot=snapshot,
                tokenizer=tokenizer,
            )
    return select_hits(ranked, options.k, min_score=options.min_score, distinct=options.distinct)
