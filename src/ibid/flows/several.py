"""One question to several libraries: searched apart, their runs made one, then as any search.

Scores of words compare once each is a part of what the question's words are worth in its library,
where they may be rare or common. Cosines of one embedder compare as they are; those of several are
standardized, library by library, since each model has its own idea of near.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ibid.flows.explain import tell_merge
from ibid.flows.options import RewriteOptions, SearchOptions, SelectOptions
from ibid.flows.rerank import rerank_hits
from ibid.flows.retrieve import fuse_runs
from ibid.flows.search import search
from ibid.flows.selection import choose_hits
from ibid.flows.stopwatch import Stopwatch
from ibid.language.analyzer import analyze_query
from ibid.language.detection import choose_query_language
from ibid.protocols import Embedder, Index, Reranker, Scored, Snapshot, Tokenizer
from ibid.ranking.select import rank_hits
from ibid.records import Hit, Query, SearchResult, TraceStep

APART = SelectOptions(alike=None)
"""How hits of one library are selected before they are merged: not at all."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What one library found; `worth` is the sum of the rarity of the question's terms there."""

    result: SearchResult
    worth: float


def search_apart(
    query: Query, options: SearchOptions, *, index: Index, embedder: Embedder
) -> Searched:
    """What one of several libraries finds, as deep as a retriever goes."""
    result = search(query, loosen_options(options), index=index, embedder=embedder)
    terms = analyze_query(query.text, choose_query_language(query.text, index.languages))
    rarity = index.snapshot().measure_rarity(sorted(set(terms)))
    return Searched(result, math.fsum(rarity.values()) or 1.0)


def loosen_options(options: SearchOptions) -> SearchOptions:
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
    found: Mapping[str, Searched],
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
            reranked = rerank_hits(query.text, hits, reranker, depth=options.rerank_depth)
        shown, steps = choose_hits(
            reranked,
            options,
            found=len(hits),
            snapshot=snapshot,
            tokenizer=tokenizer,
            watch=watch,
        )
    merged = tell_merge({name: len(one.result.hits) for name, one in found.items()}, standardize)
    return _tell_together(
        {name: one.result for name, one in found.items()},
        SearchResult(
            query=query,
            mode=options.mode,
            version=next(iter(found.values())).result.version,
            hits=shown,
            timings_ms=watch.milliseconds(),
            trace=(merged, *reranked.steps, *steps),
            warnings=() if reranked.failed is None else (reranked.failed,),
        ),
    )


def _tell_together(results: Mapping[str, SearchResult], merged: SearchResult) -> SearchResult:
    """The merged result with the times, steps and warnings of each library before its own."""
    times = [*(result.timings_ms for result in results.values()), merged.timings_ms]
    steps = [step for name, result in results.items() for step in _name_steps(name, result)]
    return replace(
        merged,
        timings_ms=_add_times(times),
        trace=(*steps, *merged.trace),
        warnings=(*(said for one in results.values() for said in one.warnings), *merged.warnings),
        versions={name: result.version for name, result in results.items()},
    )


def merge_hits(
    found: Mapping[str, Searched], options: SearchOptions, *, standardize: bool
) -> tuple[Hit, ...]:
    """The hits of all libraries in one ranking, fused from one run for each retriever.

    A contribution's rank is that among all libraries and its score the retriever's own, so that
    the shares sum to the score as they do in one library.
    """
    hits = [replace(hit, library=name) for name, one in found.items() for hit in one.result.hits]
    worth = {name: searched.worth for name, searched in found.items()}
    names = dict.fromkeys(name for hit in hits for name in hit.contributions)
    runs = {name: _merge_run(name, hits, worth, standardize=standardize) for name in names}
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


def _merge_run(
    name: str, hits: Sequence[Hit], worth: Mapping[str, float], *, standardize: bool
) -> list[Scored]:
    """What one retriever found in all libraries, the best first, its scores made to compare."""
    rows: dict[str, list[int]] = {library: [] for library in worth}
    for row, hit in enumerate(hits):
        if name in hit.contributions and hit.library is not None:
            rows[hit.library].append(row)
    run: list[Scored] = []
    for library, own in rows.items():
        scores = [hits[row].contributions[name].score for row in own]
        zero, unit = 0.0, 1.0
        if name == "lexical":
            unit = worth[library]
        elif standardize and scores:
            zero, unit = statistics.fmean(scores), statistics.pstdev(scores) or 1.0
        scaled = ((score - zero) / unit for score in scores)
        run += [Scored(row, score) for row, score in zip(own, scaled, strict=True)]
    return sorted(run, key=lambda scored: -scored.score)


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
