"""The way of a search: both retrievers inside the caller's scope, fusion, reranking, selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, get_args

from ibid.errors import BadQuery
from ibid.flows.options import SearchOptions
from ibid.flows.stopwatch import Stopwatch
from ibid.language.analyzer import analyze_query
from ibid.language.detection import choose_query_language
from ibid.protocols import Embedder, Index, Reranker, Scope, Scored, Snapshot
from ibid.ranking.fusion import Fused, fuse_rrf
from ibid.ranking.select import select_hits
from ibid.records import Contribution, Hit, Query, SearchMode, SearchResult

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
            deep = reranker is not None or options.distinct or options.section_pieces > 0
            hits: Sequence[Hit] = fetch_hits(snapshot, fused if deep else fused[: options.k])
        if reranker is not None:
            with watch.timing("rerank"):
                hits = rerank_hits(query.text, hits, reranker)
        if options.section_pieces:
            from ibid.flows.widen import widen_hits  # noqa: PLC0415 - seldom asked for

            with watch.timing("widen"):
                hits = widen_hits(
                    hits,
                    options.section_pieces,
                    k=options.k,
                    snapshot=snapshot,
                    tokenizer=embedder.tokenizer,
                )
        hits = select_hits(hits, options.k, min_score=options.min_score, distinct=options.distinct)
    return SearchResult(
        query=query,
        mode=options.mode,
        version=snapshot.version,
        hits=hits,
        timings_ms=dict.fromkeys(STAGES, 0.0) | watch.milliseconds(),
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


def fetch_hits(snapshot: Snapshot, fused: Sequence[Fused]) -> tuple[Hit, ...]:
    """The fused rows with their passages and documents; ranked by `select_hits`."""
    found = snapshot.passages([one.row for one in fused])
    return tuple(
        Hit(0, one.score, *found[one.row], one.contributions) for one in fused if one.row in found
    )


def rerank_hits(query: str, hits: Sequence[Hit], reranker: Reranker) -> tuple[Hit, ...]:
    """The hits by the reranker's scores, equal ones in the order they had."""
    scores = reranker.rerank(query, [hit.passage.indexed_text for hit in hits])
    scored = [replace(hit, score=float(score)) for hit, score in zip(hits, scores, strict=True)]
    return tuple(sorted(scored, key=lambda hit: -hit.score))
