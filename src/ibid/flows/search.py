"""The way of a search: variants, both retrievers inside the caller's scope, fusion, reranking,
selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final, get_args

from ibid.errors import BadQuery
from ibid.flows.explain import tell_fusion, tell_run
from ibid.flows.ground import Ground
from ibid.flows.options import SearchOptions
from ibid.flows.queries import check_count, check_query
from ibid.flows.rerank import rerank_hits
from ibid.flows.retrieve import Retrieved, fetch_hits, retrieve
from ibid.flows.selection import choose_hits
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.variants import find_variants
from ibid.language.phrases import ReadQuery, read_query
from ibid.protocols import Embedder, Index, Reranker, Scope
from ibid.ranking.variants import ORIGINAL, Variant
from ibid.record import record
from ibid.records import Hit, Query, SearchMode, SearchResult, TraceStep

MODES: Final = get_args(SearchMode)

STAGES: Final = ("embed", "lexical", "dense", "feedback", "fuse", "rerank", "select", "total")


@record
class Walked:
    """A search with what it held on its way: what the retrievers found, by rows, and the hits that
    were given to selection, best first."""

    result: SearchResult
    retrieved: Retrieved
    ranked: tuple[Hit, ...]


def search(
    query: Query,
    options: SearchOptions,
    *,
    index: Index,
    embedder: Embedder,
    reranker: Reranker | None = None,
) -> SearchResult:
    """The k best passages for a query, best first, equal scores in the order of insertion.

    An empty library, and a query without a word in it, give no hits. Raises BadQuery for a filter
    that can't be read, a version that isn't held, or a k below 1; BadSetting where a model is to
    rewrite the query or to search on, and none is there.
    """
    return walk_search(query, options, index=index, embedder=embedder, reranker=reranker).result


def walk_search(
    query: Query,
    options: SearchOptions,
    *,
    index: Index,
    embedder: Embedder,
    reranker: Reranker | None = None,
) -> Walked:
    """The same search, with what it held on its way; `search` gives its result alone.

    A phrase that nothing holds is given up, with a warning: a question may quote a title in another
    form than the documents have it.
    """
    check_query(query)
    check_count("k", options.k)
    if options.mode not in MODES:
        raise BadQuery(f"no mode {options.mode!r}", hint=f"use one of {', '.join(MODES)}")
    walk = partial(_walk, query, options, index=index, embedder=embedder, reranker=reranker)
    asked = read_query(query.text)
    walked = walk(asked)
    if walked.retrieved.fused or not asked.phrases:
        return walked
    freed = walk(replace(asked, phrases=()))
    if not freed.retrieved.fused:
        return walked
    said = " and ".join(f'"{phrase}"' for phrase in asked.phrases)
    warning = f"no passage holds {said}: its words were searched instead"
    result = replace(freed.result, warnings=(*freed.result.warnings, warning))
    return replace(freed, result=result)


def _walk(
    query: Query,
    options: SearchOptions,
    asked: ReadQuery,
    *,
    index: Index,
    embedder: Embedder,
    reranker: Reranker | None,
) -> Walked:
    watch = Stopwatch()
    with watch.timing("total"):
        ground = _lay_ground(query, asked, index, embedder, watch)
        find = partial(_find_hits, options=options, ground=ground)
        made = find_variants(replace(query, text=asked.text), options, ground, find=find)
        found = retrieve(made.variants, options, ground, question=made.question)
        reserving = [variant.label for variant in made.variants if variant.reserves]
        with watch.timing("fuse"):
            deep = reranker is not None or options.selects or reserving
            hits = fetch_hits(ground.snapshot, found.fused if deep else found.fused[: options.k])
        steps = trace_runs(found, options, watch.milliseconds())
        with watch.timing("rerank"):
            reranked = rerank_hits(made.question, hits, reranker, depth=options.rerank_depth)
        shown, more = choose_hits(
            reranked,
            options,
            found=len(found.fused),
            snapshot=ground.snapshot,
            tokenizer=embedder.tokenizer,
            watch=watch,
            reserving=reserving,
        )
    result = SearchResult(
        query=query,
        mode=options.mode,
        version=ground.snapshot.version,
        hits=shown,
        timings_ms=dict.fromkeys(STAGES, 0.0) | watch.milliseconds(),
        trace=(*made.steps, *steps, *reranked.steps, *more),
        warnings=(*made.warnings, *([reranked.failed] if reranked.failed else [])),
        standalone=made.standalone,
    )
    return Walked(result, found, reranked.hits)


def _lay_ground(
    query: Query, asked: ReadQuery, index: Index, embedder: Embedder, watch: Stopwatch
) -> Ground:
    """The version that is asked, and of it what the caller may see and the query lets in."""
    snapshot = index.snapshot(query.version)
    scope = Scope(
        query.principals, query.filter, query.include_archived, asked.phrases, asked.excluded
    )
    return Ground(index, snapshot, scope, embedder, watch)


def trace_runs(
    found: Retrieved, options: SearchOptions, milliseconds: Mapping[str, float]
) -> list[TraceStep]:
    """What each retriever found and, where there are several, what became of them together."""
    runs = found.runs
    steps = [tell_run(name, run, milliseconds.get(name, 0.0)) for name, run in runs.items()]
    if len(runs) > 1:
        steps.append(tell_fusion(runs, len(found.fused), options.fusion))
    if found.bridges:
        steps.append(tell_run("graph", found.bridges, milliseconds.get("graph", 0.0)))
    return steps


def _find_hits(text: str, *, options: SearchOptions, ground: Ground) -> tuple[Hit, ...]:
    """The first hits of a text, as they come from fusion."""
    found = retrieve((Variant(ORIGINAL, text),), options, ground, question=text)
    return fetch_hits(ground.snapshot, found.fused[: options.k])
