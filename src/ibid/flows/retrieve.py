"""What is found for a question: each retriever's run for each of its variants, fused into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ibid.flows.ground import Ground
from ibid.flows.options import SearchOptions
from ibid.language.analyzer import analyze_query, content_terms
from ibid.language.detection import choose_query_language, detect_query_language
from ibid.protocols import Embedder, Index, Scored, Snapshot
from ibid.ranking.feedback import expand_query, move_vector
from ibid.ranking.fusion import Fused, fuse
from ibid.ranking.order import best_first
from ibid.ranking.select import rank_hits
from ibid.ranking.units import (
    add_document_scores,
    keep_best_passages,
    name_documents,
    name_passages,
)
from ibid.ranking.variants import ORIGINAL, Variant, name_run
from ibid.record import record
from ibid.records import Contribution, Hit

if TYPE_CHECKING:
    from ibid.protocols import Vectors

DEEPER: Final = 4
"""How much further each new search goes where too few documents were among the passages."""

TERM_UNITS: Final = 100
"""The weights of the terms of an expanded query are counted in so many parts of the whole."""


@record
class Retrieved:
    """The runs by name, such as "dense" or "dense: part 2", what they are as one, and the bridges
    that the graph added to it."""

    runs: Mapping[str, Sequence[Scored]]
    fused: Sequence[Fused]
    bridges: Sequence[Scored] = ()


@dataclass(slots=True)
class _Runs:
    """The runs as they gather, with what each counts in fusion and how deep they reach."""

    depth: int
    runs: dict[str, Sequence[Scored]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

    def put(self, name: str, run: Sequence[Scored], weight: float) -> None:
        self.runs[name], self.weights[name] = run, weight


@record
class _Search:
    """What stays the same throughout one retrieval.

    The `question` is analysed in `language`; `trust` is what vectors count in its own, and
    `word_trust` what words do. `vectors` are those of the variants by label, of none where nothing
    is searched by meaning.
    """

    question: str
    variants: Sequence[Variant]
    options: SearchOptions
    ground: Ground
    language: str
    trust: float
    word_trust: float
    vectors: Mapping[str, Vectors]


def retrieve(
    variants: Sequence[Variant], options: SearchOptions, ground: Ground, *, question: str
) -> Retrieved:
    """What the retrievers of the mode find for the variants, and what follows from that, fused.

    Feedback and the graph start from fused hits, so they belong to a hybrid search. The `question`
    is what both are held against. All of it is inside the scope of the ground.
    """
    search = _prepare(variants, options, ground, question)
    found = _Runs(max(options.k, options.candidates))
    fused = _run_retrievers(search, found)
    while _lacks_documents(found, fused, options):
        found = _Runs(found.depth * DEEPER)
        fused = _run_retrievers(search, found)
    if options.mode != "hybrid" or not fused:
        return Retrieved(found.runs, fused)
    if _add_feedback(search, found, fused):
        fused = _fuse_found(search, found)
    bridges: list[Scored] = []
    if options.graph and options.unit == "passages":
        from ibid.ranking.bridges import place_bridges  # noqa: PLC0415 - not in every search

        bridges = _find_bridges(search, fused)
        fused = place_bridges(fused, bridges)
    return Retrieved(found.runs, fused, bridges)


def _prepare(
    variants: Sequence[Variant], options: SearchOptions, ground: Ground, question: str
) -> _Search:
    """What words and vectors count for this question, and the vectors of its variants."""
    index, embedder = ground.index, ground.embedder
    language = choose_query_language(question, index.languages)
    asked = detect_query_language(question) if options.mode == "hybrid" else None
    return _Search(
        question=question,
        variants=variants,
        options=options,
        ground=ground,
        language=language,
        trust=1.0 if _knows_language(embedder, asked or language) else options.foreign_weight,
        word_trust=options.foreign_weight if _finds_names_only(asked, index, embedder) else 1.0,
        vectors=_embed_variants(variants, options, ground),
    )


def _finds_names_only(asked: str | None, index: Index, embedder: Embedder) -> bool:
    """Whether words find little but names: no document is in the language of the question.

    Where the embedder doesn't know it either, words are all that there is; a short question is also
    easily taken for one in a language near its own.
    """
    return asked is not None and not index.languages.get(asked) and _knows_language(embedder, asked)


def _knows_language(embedder: Embedder, language: str) -> bool:
    """Whether the embedder knows a language; one that doesn't say is taken to know all."""
    languages: frozenset[str] | None = getattr(embedder, "languages", None)
    return languages is None or language in languages


def _embed_variants(
    variants: Sequence[Variant], options: SearchOptions, ground: Ground
) -> Mapping[str, Vectors]:
    """The vector of each variant that is searched by meaning, by its label."""
    if options.mode == "lexical" or not ground.snapshot.version:
        return {}
    dense = [variant for variant in variants if variant.dense and variant.text.strip()]
    if not dense:
        return {}
    with ground.watch.timing("embed"):
        vectors = ground.embedder.embed([variant.text for variant in dense], kind="query")
    return dict(zip((variant.label for variant in dense), vectors, strict=True))


# -- the retrievers -----------------------------------------------------------------------------


def _run_retrievers(search: _Search, found: _Runs) -> list[Fused]:
    """Put the runs of the mode's retrievers, and give what they are as one."""
    options, ground, watch = search.options, search.ground, search.ground.watch
    for variant in search.variants if options.mode != "dense" else ():
        if variant.lexical:
            with watch.timing("lexical"):
                language = choose_query_language(variant.text, ground.index.languages)
                run = _search_terms(search, analyze_query(variant.text, language), found.depth)
            weight = options.weights.get("lexical", 1.0) * variant.weight * search.word_trust
            found.put(name_run("lexical", variant.label), run, weight)
    for variant in search.variants if options.mode != "lexical" else ():
        if variant.label in search.vectors:
            with watch.timing("dense"):
                vector = search.vectors[variant.label]
                run = ground.snapshot.search_dense(vector, found.depth, ground.scope)
            weight = options.weights.get("dense", 1.0) * variant.weight * search.trust
            found.put(name_run("dense", variant.label), run, weight)
    return _fuse_found(search, found)


def _search_terms(search: _Search, terms: Sequence[str], k: int) -> list[Scored]:
    """The keyword run: the k best passages by BM25, then with that of the document around each."""
    snapshot, scope, joined = search.ground.snapshot, search.ground.scope, " ".join(terms)
    passages = snapshot.search_lexical(joined, k, scope)
    weight = search.options.document_weight
    if not weight or not passages:
        return passages
    documents = snapshot.search_documents(joined, k, scope)
    return add_document_scores(passages, documents, _find_first_rows([passages], snapshot), weight)


def _find_first_rows(runs: Sequence[Sequence[Scored]], snapshot: Snapshot) -> dict[int, int]:
    """The first row of its document for each row of the runs."""
    rows = [scored.row for run in runs for scored in run]
    return dict(zip(rows, snapshot.first_rows(rows), strict=True))


def _lacks_documents(found: _Runs, fused: Sequence[Fused], options: SearchOptions) -> bool:
    """Whether k documents may lie deeper: passages become fewer by becoming documents."""
    if options.unit == "passages" or len(fused) >= options.k:
        return False
    return any(len(run) >= found.depth for run in found.runs.values())


# -- what follows from the first hits -------------------------------------------------------------


def _add_feedback(search: _Search, found: _Runs, fused: Sequence[Fused]) -> bool:
    """Put the run of the question as the first fused hits mend it; whether there is one."""
    options = search.options
    if options.feedback not in _FEEDBACKS:
        return False
    with search.ground.watch.timing("feedback"):
        run = _FEEDBACKS[options.feedback](search, fused, found.depth)
    if run:
        trust = search.trust if options.feedback == "rocchio" else 1.0
        found.put("feedback", run, options.weights.get("feedback", 1.0) * trust)
    return bool(run)


def _compare_moved(search: _Search, fused: Sequence[Fused], _: int) -> list[Scored]:
    """What was found by its cosine to the question's vector moved toward those of the first hits.

    A second search of all vectors would take as long as the first, and it found nothing better.
    """
    vector = search.vectors.get(ORIGINAL)
    if vector is None:
        return []
    rows = [one.row for one in fused]
    vectors = search.ground.snapshot.vectors(rows)
    first = vectors[: search.options.feedback_hits]
    cosines = vectors @ move_vector(vector, first, search.options.feedback_weight)
    return best_first(dict(zip(rows, cosines.tolist(), strict=True)))


def _search_expanded(search: _Search, fused: Sequence[Fused], k: int) -> list[Scored]:
    """The keyword run of the question with the terms likeliest in the first hits."""
    first = fused[: search.options.feedback_hits]
    passages = search.ground.snapshot.passages([one.row for one in first])
    weights = expand_query(
        analyze_query(search.question, search.language),
        [
            (one.score, content_terms(passages[one.row][0].indexed_text, search.language))
            for one in first
            if one.row in passages
        ],
        count=search.options.feedback_terms,
        weight=search.options.feedback_weight,
    )
    # A term weighs as often as it is repeated.
    terms = [term for term, part in weights.items() for _ in range(round(part * TERM_UNITS))]
    return _search_terms(search, terms, k)


_FEEDBACKS: Final[Mapping[str, Callable[[_Search, Sequence[Fused], int], list[Scored]]]] = {
    "rocchio": _compare_moved,
    "rm3": _search_expanded,
}


def _find_bridges(search: _Search, fused: Sequence[Fused]) -> list[Scored]:
    """The passages that the graph leads to from the first fused hits."""
    from ibid.flows.graph import find_bridges  # noqa: PLC0415 - not in every search

    ground = search.ground
    with ground.watch.timing("graph"):
        rows = [one.row for one in fused]
        return find_bridges(
            search.question, rows, ground.snapshot, ground.scope, language=search.language
        )


# -- fusion -------------------------------------------------------------------------------------


def _fuse_found(search: _Search, found: _Runs) -> list[Fused]:
    """The runs as one ranking of the unit that is asked for."""
    options, snapshot, runs = search.options, search.ground.snapshot, found.runs
    with search.ground.watch.timing("fuse"):
        if options.unit == "passages":
            return fuse_runs(runs, options, found.weights)
        first_rows = _find_first_rows([*runs.values()], snapshot)
        kept = keep_best_passages(runs, first_rows)
        fused = fuse_runs(name_documents(kept, first_rows), options, found.weights)
        return name_passages(fused, kept, first_rows)


def fuse_runs(
    runs: Mapping[str, Sequence[Scored]], options: SearchOptions, weights: Mapping[str, float]
) -> list[Fused]:
    """The runs as one; a single run keeps its own scores."""
    if len(runs) > 1:
        return fuse(runs, options.fusion, weights=weights, k=options.rrf_k)
    return [
        Fused(one.row, one.score, {name: Contribution(rank, one.score, one.score)})
        for name, run in runs.items()
        for rank, one in enumerate(run, start=1)
    ]


def fetch_hits(snapshot: Snapshot, fused: Sequence[Fused]) -> tuple[Hit, ...]:
    """The fused rows with their passages and documents, ranked from 1."""
    found = snapshot.passages([one.row for one in fused])
    return rank_hits(
        Hit(0, one.score, *found[one.row], dict(one.contributions))
        for one in fused
        if one.row in found
    )
