"""What is found for a question: each retriever's run for each of its variants, fused into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ibid.flows.options import SearchOptions
from ibid.flows.stopwatch import Stopwatch
from ibid.language.analyzer import analyze_query
from ibid.language.detection import choose_query_language
from ibid.protocols import Embedder, Index, Scope, Scored, Snapshot
from ibid.ranking.fusion import Fused, fuse_rrf
from ibid.ranking.select import rank_hits
from ibid.ranking.variants import Variant, name_run
from ibid.records import Contribution, Hit

if TYPE_CHECKING:
    from ibid.protocols import Vectors


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The runs by name, such as "dense" or "dense: part 2", what they are as one, and the bridges
    that the graph added to it."""

    runs: Mapping[str, Sequence[Scored]]
    fused: Sequence[Fused]
    bridges: Sequence[Scored] = ()


def retrieve(
    variants: Sequence[Variant],
    options: SearchOptions,
    *,
    question: str,
    snapshot: Snapshot,
    scope: Scope,
    index: Index,
    embedder: Embedder,
    watch: Stopwatch,
) -> Retrieved:
    """What the retrievers of the mode find for the variants, and what the graph adds, fused.

    The `question` is what bridges are held against. All of it is inside the scope.
    """
    depth = max(options.k, options.candidates)
    runs: dict[str, Sequence[Scored]] = {}
    weights: dict[str, float] = {}

    def put(retriever: str, variant: Variant, run: Sequence[Scored]) -> None:
        name = name_run(retriever, variant.label)
        runs[name] = run
        weights[name] = options.weights.get(retriever, 1.0) * variant.weight

    if options.mode != "dense":
        for variant in (one for one in variants if one.lexical):
            with watch.timing("lexical"):
                put("lexical", variant, search_lexical(variant.text, snapshot, scope, depth, index))
    if options.mode != "lexical":
        dense = [one for one in variants if one.dense and one.text.strip() and snapshot.version]
        for variant, vector in zip(dense, _embed(dense, embedder, watch), strict=True):
            with watch.timing("dense"):
                put("dense", variant, snapshot.search_dense(vector, depth, scope))
    with watch.timing("fuse"):
        fused = fuse_runs(runs, options, weights)
    bridges: list[Scored] = []
    if options.graph and options.mode == "hybrid" and fused:
        from ibid.flows.graph import find_bridges  # noqa: PLC0415 - not in every search
        from ibid.ranking.bridges import place_bridges  # noqa: PLC0415 - likewise

        with watch.timing("graph"):
            language = choose_query_language(question, index.languages)
            rows = [one.row for one in fused]
            bridges = find_bridges(question, rows, snapshot, scope, language=language)
            fused = place_bridges(fused, bridges)
    return Retrieved(runs, fused, bridges)


def search_lexical(
    text: str, snapshot: Snapshot, scope: Scope, k: int, index: Index
) -> list[Scored]:
    """The keyword run: the text analysed in its own language, or in the library's main one."""
    language = choose_query_language(text, index.languages)
    return snapshot.search_lexical(" ".join(analyze_query(text, language)), k, scope)


def fuse_runs(
    runs: Mapping[str, Sequence[Scored]], options: SearchOptions, weights: Mapping[str, float]
) -> list[Fused]:
    """The runs as one; a single run keeps its own scores."""
    if len(runs) > 1:
        return fuse_rrf(runs, k=options.rrf_k, weights=weights)
    return [
        Fused(one.row, one.score, {name: Contribution(rank, one.score, one.score)})
        for name, run in runs.items()
        for rank, one in enumerate(run, start=1)
    ]


def fetch_hits(snapshot: Snapshot, fused: Sequence[Fused]) -> tuple[Hit, ...]:
    """The fused rows with their passages and documents, ranked from 1."""
    found = snapshot.passages([one.row for one in fused])
    return rank_hits(
        Hit(0, one.score, *found[one.row], one.contributions) for one in fused if one.row in found
    )


def _embed(variants: Sequence[Variant], embedder: Embedder, watch: Stopwatch) -> Sequence[Vectors]:
    """A vector for each variant, all of them embedded at once."""
    if not variants:
        return []
    with watch.timing("embed"):
        return list(embedder.embed([variant.text for variant in variants], kind="query"))
