"""The way of a search: both retrievers inside the caller's scope, fusion, reranking, selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, get_args

from ibid.errors import BadQuery
from ibid.flows.explain import tell_fusion, tell_run
from ibid.flows.options import SearchOptions
from ibid.flows.rerank import rerank_hits
from ibid.flows.selection import choose_hits
from ibid.flows.stopwatch import Stopwatch
from ibid.language.analyzer import analyze_query
from ibid.language.detection import choose_query_language
from ibid.protocols import Embedder, Index, Reranker, Scope, Scored, Snapshot
from ibid.ranking.fusion import Fused, fuse_rrf
from ibid.ranking.select import rank_hits
from ibid.records import Contribution, Hit, Query, SearchMode, SearchResult, TraceStep

MODES: Final = get_args(SearchMode)

STAGES: Final = ("embed", "lexical", "dense", "fuse", "rerank", "total")


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
    that can't be read, a version that isn't held, or a k below 1.
    """
    if options.mode not in MODES:
        raise BadQuery(f"no mode {options.mode!r}", hint=f"use one of {', '.join(MODES)}")
    watch = Stopwatch()
    with watch.timing("total"):
        snapshot = index.snapshot(query.version)
        runs = _run_retrievers(query, options, snapshot, index, embedder, watch)
        with watch.timing("fuse"):
            fused = fuse_runs(runs, options)
            deep = reranker is not None or options.selects
            hits = fetch_hits(snapshot, fused if deep else fused[: options.k])
            steps = trace_runs(runs, len(fused), watch.milliseconds())
        with watch.timing("rerank"):
            reranked = rerank_hits(
                query.text, hits, reranker, depth=max(options.k, options.rerank_candidates)
            )
        if reranked.failed is not None:  # the least score was meant for the reranker's
            options = replace(options, min_score=None)
        shown, more = choose_hits(
            reranked.hits,
            options,
            found=len(fused),
            snapshot=snapshot,
            tokenizer=embedder.tokenizer,
            watch=watch,
        )
    return SearchResult(
        query=query,
        mode=options.mode,
        version=snapshot.version,
        hits=shown,
        timings_ms=dict.fromkeys(STAGES, 0.0) | watch.milliseconds(),
        trace=(*steps, *reranked.steps, *more),
        warnings=() if reranked.failed is None else (reranked.failed,),
    )


def _run_retrievers(
    query: Query,
    options: SearchOptions,
    snapshot: Snapshot,
    index: Index,
    embedder: Embedder,
    watch: Stopwatch,
) -> dict[str, list[Scored]]:
    """What each retriever of the mode finds, inside the caller's scope."""
    scope = Scope(query.principals, query.filter, query.include_archived)
    depth = max(options.k, options.candidates)
    runs = {}
    if options.mode != "dense":
        with watch.timing("lexical"):
            runs["lexical"] = search_lexical(query.text, snapshot, scope, depth, index)
    if options.mode != "lexical":
        runs["dense"] = _search_dense(query.text, snapshot, scope, depth, embedder, watch)
    return runs


def search_lexical(
    text: str, snapshot: Snapshot, scope: Scope, k: int, index: Index
) -> list[Scored]:
    """The keyword run: the text analysed in its own language, or in the library's main one."""
    language = choose_query_language(text, index.languages)
    return snapshot.search_lexical(" ".join(analyze_query(text, language)), k, scope)


def _search_dense(
    text: str, snapshot: Snapshot, scope: Scope, k: int, embedder: Embedder, watch: Stopwatch
) -> list[Scored]:
    if snapshot.version == 0 or not text.strip():
        return []
    with watch.timing("embed"):
        vector = embedder.embed([text], kind="query")[0]
    with watch.timing("dense"):
        return snapshot.search_dense(vector, k, scope)


def fuse_runs(runs: Mapping[str, Sequence[Scored]], options: SearchOptions) -> list[Fused]:
    """The runs as one; a single run keeps its own scores."""
    if len(runs) > 1:
        return fuse_rrf(runs, k=options.rrf_k, weights=options.weights)
    ((name, run),) = runs.items()
    return [
        Fused(one.row, one.score, {name: Contribution(rank, one.score, one.score)})
        for rank, one in enumerate(run, start=1)
    ]


def trace_runs(
    runs: Mapping[str, Sequence[Scored]], fused: int, milliseconds: Mapping[str, float]
) -> list[TraceStep]:
    """What each retriever found and, where there are several, what became of them together."""
    steps = [tell_run(name, run, milliseconds.get(name, 0.0)) for name, run in runs.items()]
    return [*steps, tell_fusion(runs, fused, "rrf")] if len(runs) > 1 else steps


def fetch_hits(snapshot: Snapshot, fused: Sequence[Fused]) -> tuple[Hit, ...]:
    """The fused rows with their passages and documents, ranked from 1."""
    found = snapshot.passages([one.row for one in fused])
    return rank_hits(
        Hit(0, one.score, *found[one.row], one.contributions) for one in fused if one.row in found
    )
