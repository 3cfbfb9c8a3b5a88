"""One question to several libraries: searched apart, their runs made one, then as any search.

Scores of words compare as they are, and so do cosines of one embedder; those of several embedders
are standardized first, library by library, since each model has its own idea of near.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ibid.flows.explain import tell_merge
from ibid.flows.options import RewriteOptions, SearchOptions, SelectOptions
from ibid.flows.rerank import rerank_hits
from ibid.flows.retrieve import fuse_runs
from ibid.flows.selection import choose_hits
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Reranker, Scored, Snapshot, Tokenizer
from ibid.ranking.select import rank_hits
from ibid.records import Contribution, Hit, Query, SearchResult, TraceStep

APART = SelectOptions(alike=None)
"""How hits of one library are selected before they are merged: not at all."""


def search_apart(options: SearchOptions) -> SearchOptions:
    """The options with which each library is searched: as deep as a retriever goes, all kept.

    Only the question itself is searched for. A rewrite would be made for each library anew.
    """
    return replace(
        options,
        k=max(options.k, options.candidates),
        min_score=None,
        distinct=False,
        section_pieces=0,
        select=APART,
        rewrite=RewriteOptions(methods=()),
        graph=False,
        agent=None,
    )


def merge_results(
    query: Query,
    found: Mapping[str, SearchResult],
    options: SearchOptions,
    *,
    standardize: bool,
    reranker: Reranker | None,
    snapshot: Snapshot,
    tokenizer: Tokenizer,
) -> SearchResult:
    """The k best hits of all libraries, each naming its own; equal ones in the libraries' order.

    They are ranked, reranked and selected as those of one library, save that hits are shown as
    they are: none is widened or joined. `snapshot` and `tokenizer` are those of any of them.
    """
    watch = Stopwatch()
    options = replace(options, section_pieces=0, select=replace(options.select, join_pieces=0))
    with watch.timing("total"):
        with watch.timing("merge"):
            hits = merge_hits(found, options, standardize=standardize)
        with watch.timing("rerank"):
            depth = max(options.k, options.rerank_candidates)
            reranked = rerank_hits(query.text, hits, reranker, depth=depth)
        if reranked.failed is not None:  # the least score was meant for the reranker's
            options = replace(options, min_score=None)
        shown, steps = choose_hits(
            reranked.hits,
            options,
            found=len(hits),
            snapshot=snapshot,
            tokenizer=tokenizer,
            watch=watch,
        )
    results = found.values()
    failed = () if reranked.failed is None else (reranked.failed,)
    return SearchResult(
        query=query,
        mode=options.mode,
        version=0,
        hits=shown,
        timings_ms=_add_times([*(result.timings_ms for result in results), watch.milliseconds()]),
        trace=(
            *(step for name, result in found.items() for step in _name_steps(name, result)),
            tell_merge({name: len(result.hits) for name, result in found.items()}, standardize),
            *reranked.steps,
            *steps,
        ),
        warnings=(*(said for result in results for said in result.warnings), *failed),
        versions={name: result.version for name, result in found.items()},
    )


def merge_hits(
    found: Mapping[str, SearchResult], options: SearchOptions, *, standardize: bool
) -> tuple[Hit, ...]:
    """The hits of all libraries in one ranking, fused from one run for each retriever.

    A contribution's rank is that among all libraries and its score the retriever's own, so that
    the shares sum to the score as they do in one library.
    """
    hits = [replace(hit, library=name) for name, result in found.items() for hit in result.hits]
    names = dict.fromkeys(name for hit in hits for name in hit.contributions)
    runs = {name: _merge_run(name, hits, standardize=standardize) for name in names}
    weights = {name: options.weights.get(name, 1.0) for name in names}
    return rank_hits(
        replace(
            hits[one.row],
            score=one.score,
            contributions={
                name: replace(given, score=hits[one.row].contributions[name].score)
                for name, given in one.contributions.items()
            },
        )
        for one in fuse_runs(runs, options, weights)
    )


def _merge_run(name: str, hits: Sequence[Hit], *, standardize: bool) -> list[Scored]:
    """What one retriever found in all libraries, the best first."""
    given = [
        (row, hit.library, hit.contributions[name])
        for row, hit in enumerate(hits)
        if name in hit.contributions
    ]
    if not standardize or name == "lexical":
        run = [Scored(row, one.score) for row, _, one in given]
    else:
        by_library: dict[str | None, list[Contribution]] = {}
        for _, library, one in given:
            by_library.setdefault(library, []).append(one)
        scale = {library: _find_scale(run) for library, run in by_library.items()}
        run = [
            Scored(row, (one.score - scale[library][0]) / scale[library][1])
            for row, library, one in given
        ]
    return sorted(run, key=lambda scored: -scored.score)


def _find_scale(run: Sequence[Contribution]) -> tuple[float, float]:
    """Mean and deviation of a run's scores; 1 where they are all the same."""
    scores = [one.score for one in run]
    return statistics.fmean(scores), statistics.pstdev(scores) or 1.0


def _name_steps(name: str, result: SearchResult) -> list[TraceStep]:
    return [
        replace(step, detail=f"{name}: {step.detail}", data={**step.data, "library": name})
        for step in result.trace
    ]


def _add_times(times: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The milliseconds of each stage in all libraries together."""
    total: dict[str, float] = {}
    for one in times:
        for stage, milliseconds in one.items():
            total[stage] = round(total.get(stage, 0.0) + milliseconds, 3)
    return total
