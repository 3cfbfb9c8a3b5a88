"""From names to parts, one table each; the only place that knows brands.

A part is imported when it is opened, so that no call pays for those it does not use.

A library is opened with what its settings name, or with what the caller hands over: objects that
fit a protocol, or plain functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ibid.chunking.options import Chunking, choose_chunking, parse_chunking
from ibid.errors import BadSetting
from ibid.flows.options import (
    AgentOptions,
    AskOptions,
    IngestOptions,
    LogOptions,
    RewriteOptions,
    SearchOptions,
    SelectOptions,
    Spread,
)
from ibid.library import Library
from ibid.openers.endpoints import open_wire, refuse_remote
from ibid.openers.engines import open_index
from ibid.openers.generators import EXTRACTIVE, GENERATORS, choose_generator
from ibid.openers.queues import open_queue
from ibid.openers.rerankers import RerankParts, open_reranker
from ibid.openers.sources import open_source
from ibid.parts import Parts
from ibid.protocols import Embedder, Generator, Index
from ibid.settings import (
    NO_METHODS,
    Settings,
    find_library,
    hide_password,
    load_settings,
    settings_hash,
)

__all__ = [
    "EMBEDDERS",
    "EXTRACTIVE",
    "GENERATORS",
    "choose_embedder",
    "choose_generator",
    "find_cache",
    "open_index",
    "open_library",
]

if TYPE_CHECKING:
    from ibid.flows.contextual import Contextualizer
    from ibid.flows.rewriter import Rewriter
    from ibid.ranking.rewriting import Method
    from ibid.ranking.synonyms import Synonyms

MINILM: Final = "all-MiniLM-L6-v2"

CALIBRATED: Final[Mapping[str, frozenset[str]]] = {MINILM: frozenset({"en"})}
"""Embedders whose cosines, in these languages, the estimate of no answer was fitted with."""


def open_library(
    place: str | os.PathLike[str] | None = None,
    *,
    embedder: Embedder | Callable[[list[str]], Any] | str | None = None,
    generator: Generator | Callable[[str], str] | str | None = None,
    settings: Settings | None = None,
    create: bool = True,
    reindexing: bool = False,
) -> Library:
    """The library at a place, made when it is missing and `create` allows.

    `place` is a folder, or an address such as postgresql://HOST/DATABASE; None is the one that
    IBID_LIBRARY names, the nearest `.ibid` upward, or the one in the user's data folder.
    `embedder` and `generator` are names, objects that fit the protocols, or plain functions; None
    is what the settings name. With `reindexing` a library that was made with other parts is opened
    all the same: to be re-indexed with these.

    Raises LibraryNotFound, EmbedderMismatch, FormatTooNew, Corrupt, BadSetting, ModelUnavailable.
    """
    location = find_library(os.fspath(place) if place is not None else None)
    flags = {
        "embedder.name": embedder if isinstance(embedder, str) else None,
        "generator.name": generator if isinstance(generator, str) else None,
    }
    settings = settings or load_settings(flags, library=location)
    index = open_index(location, settings, create=create)
    try:
        parts = _gather_parts(location, index, settings, embedder, generator)
        return Library(hide_password(location), parts, reindexing=reindexing)
    except BaseException:
        index.close()
        raise


def _gather_parts(
    location: str, index: Index, settings: Settings, embedder: object, generator: object
) -> Parts:
    chosen_embedder = choose_embedder(embedder, settings)
    models = ExitStack()
    opener = choose_generator(generator, settings, chosen_embedder)
    named = generator is None or isinstance(generator, str)
    open_generator = _open_once(opener, models) if named else cache(opener)
    ingest = _ingest_options(settings, _choose_chunking(index, settings))
    if settings.ingest.contexts:
        ingest = replace(
            ingest, contextualizer=_open_contextualizer(open_generator(), chosen_embedder)
        )
    found = replace(
        _search_options(settings, location),
        rewriter=_open_rewriter(settings, None if named else generator, open_generator),
    )
    rerank_parts = RerankParts(settings, chosen_embedder, open_generator, find_cache())
    return Parts(
        index=index,
        embedder=chosen_embedder,
        open_generator=open_generator,
        ingest=ingest,
        keep_days=settings.versions.keep_days,
        search=replace(found, k=settings.search.k),
        ask=_ask_options(settings, found, chosen_embedder),
        log=LogOptions(
            keep=settings.answers.log,
            keep_days=settings.answers.keep_days,
            reuse=settings.ask.cache,
        ),
        reranker=open_reranker(settings.search.rerank, rerank_parts),
        open_reranker=partial(open_reranker, parts=rerank_parts),
        open_source=partial(open_source, settings=settings),
        open_spread=lambda address: _open_spread(address, settings, embedder),
        open_scratch=lambda folder: open_index(str(folder), settings, create=True),
        open_queue=partial(open_queue, index, settings),
        close_models=models.close,
    )


def _ask_options(settings: Settings, search: SearchOptions, embedder: Embedder) -> AskOptions:
    asking = settings.ask
    return AskOptions(
        search=replace(search, k=asking.sources, distinct=True),
        abstain=asking.abstain,
        calibrated=CALIBRATED.get(embedder.name, frozenset()),
        strict=asking.strict,
        repair=asking.repair,
        template=asking.template,
        context=asking.context,
        by_document=asking.by_document,
        settings_hash=settings_hash(settings)[:16],
    )


def _open_spread(address: str, settings: Settings, embedder: object) -> Spread:
    from ibid.openers.ray import open_spread

    return open_spread(address, settings, partial(choose_embedder, embedder, settings))


def _open_once(open_it: Callable[[], Generator], models: ExitStack) -> Callable[[], Generator]:
    """What opens a generator the first time, and has what it holds open closed with `models`."""

    @cache
    def open_generator() -> Generator:
        generator = open_it()
        if (close := getattr(generator, "close", None)) is not None:
            models.callback(close)
        return generator

    return open_generator


# -- embedders ----------------------------------------------------------------------------------


def choose_embedder(given: object, settings: Settings) -> Embedder:
    """The embedder handed over, or the one that the settings name."""
    if given is None or isinstance(given, str):
        opener = EMBEDDERS.get(settings.embedder.name, _open_model_folder)
        return refuse_remote(opener(settings), settings)
    if hasattr(given, "embed"):
        return refuse_remote(cast(Embedder, given), settings)
    from ibid.embedding.functions import FunctionEmbedder

    return FunctionEmbedder(cast(Any, given))


def _open_minilm(settings: Settings) -> Embedder:
    from ibid.embedding.local import open_local_embedder

    return open_local_embedder(cache=find_cache())


def _open_model_folder(settings: Settings) -> Embedder:
    folder = Path(settings.embedder.name).expanduser()
    if not folder.is_dir():
        raise BadSetting(
            f"no embedder is called {settings.embedder.name!r}, and no folder either",
            hint=f"use {', '.join(EMBEDDERS)}, or the folder of a model",
        )
    from ibid.embedding.local import open_local_embedder

    return open_local_embedder(folder, cache=find_cache())


def _open_remote_embedder(settings: Settings) -> Embedder:
    from ibid.embedding.remote import RemoteEmbedder

    wire, model = open_wire("embedder", settings.embedder.base_url, settings.embedder.model)
    return RemoteEmbedder(wire, model)


EMBEDDERS: Final[Mapping[str, Callable[[Settings], Embedder]]] = {
    MINILM: _open_minilm,
    "openai": _open_remote_embedder,
}


# -- generators ---------------------------------------------------------------------------------


def _open_contextualizer(generator: Generator, embedder: Embedder) -> Contextualizer:
    if generator.name == EXTRACTIVE:
        raise BadSetting(
            "ingest.contexts needs a language model, and the generator is extractive",
            hint="set generator.name and its endpoint, or switch ingest.contexts off",
        )
    from ibid.flows.contextual import Contextualizer

    return Contextualizer(generator, embedder.tokenizer)


def _open_rewriter(
    settings: Settings, given: object, open_generator: Callable[[], Generator]
) -> Rewriter | None:
    """Who asks the generator on the way of a search; None where the settings have none asked."""
    if settings.rewrite.by != "model" and not settings.search.agent:
        return None
    if given is None and settings.generator.name == EXTRACTIVE:
        raise BadSetting(
            "rewrite.by and search.agent need a language model, and the generator is extractive",
            hint="set generator.name and its endpoint, or leave them as they are by default",
        )
    from ibid.flows.rewriter import Rewriter

    return Rewriter(open_generator, timeout_s=settings.rewrite.seconds)


# -- from settings to options -------------------------------------------------------------------


def _choose_chunking(index: Index, settings: Settings) -> Chunking:
    """The chunking that was asked for; where none was, the one the library was made with."""
    asked = settings.chunking
    by_default = all(
        settings.origins.get(f"chunking.{name}", "default") == "default"
        for name in ("by", "size", "overlap")
    )
    if by_default and index.manifest is not None:
        return parse_chunking(index.manifest.chunking)
    return choose_chunking(asked.by, asked.size, asked.overlap)


def _ingest_options(settings: Settings, chunking: Chunking) -> IngestOptions:
    return IngestOptions(
        chunking=chunking,
        max_file_bytes=settings.ingest.max_file_bytes,
        readers=settings.ingest.readers,
        read_seconds=settings.reading.max_seconds,
        read_bytes=settings.reading.memory_bytes,
        ocr_languages=tuple(filter(None, (settings.reading.ocr_languages or "").split("+"))),
        commit_seconds=settings.ingest.commit_seconds,
        commit_passages=settings.ingest.batch,
    )


def _search_options(settings: Settings, location: str) -> SearchOptions:
    search = settings.search
    return SearchOptions(
        mode=search.mode,
        candidates=search.candidates,
        fusion=cast(Any, search.fusion),
        rrf_k=search.rrf_k,
        weights={
            "lexical": search.weights.lexical,
            "dense": search.weights.dense,
            "feedback": search.weights.feedback,
        },
        unit=cast(Any, search.unit),
        feedback=cast(Any, search.feedback),
        feedback_hits=search.feedback_hits,
        feedback_weight=search.feedback_weight,
        feedback_terms=search.feedback_terms,
        document_weight=search.weights.document,
        foreign_weight=search.weights.foreign,
        min_score=search.min_score,
        section_pieces=search.section_pieces,
        rerank_candidates=settings.rerank.candidates,
        select=SelectOptions(
            alike=settings.select.alike,
            half_life_days=settings.select.half_life_days,
            recency=settings.select.recency,
            join_pieces=settings.select.join_pieces,
            budget_pieces=settings.select.budget_pieces,
        ),
        rewrite=_rewrite_options(settings, location),
        graph=search.graph,
        agent=AgentOptions(settings.agent.steps, settings.agent.tokens, settings.agent.seconds)
        if search.agent
        else None,
    )


def _rewrite_options(settings: Settings, location: str) -> RewriteOptions:
    """The methods and the file of synonyms. Raises BadSetting for one that can't be read."""
    rewrite = settings.rewrite
    names = [] if rewrite.methods == NO_METHODS else rewrite.methods.split(",")
    methods = tuple(cast("Method", name.strip()) for name in names)
    unruly = [name for name in methods if name not in ("follow-up", "decompose")]
    if unruly and rewrite.by == "rules":
        raise BadSetting(
            f"rewrite.methods names {', '.join(unruly)}, for which there is no rule",
            hint="set rewrite.by to model, and a generator that is one",
        )
    synonyms = None
    if rewrite.synonyms is not None:
        synonyms = _read_synonyms(Path(location) / Path(rewrite.synonyms).expanduser())
    return RewriteOptions(methods, synonyms, rewrite.weight, by_model=rewrite.by == "model")


def _read_synonyms(path: Path) -> Synonyms:
    from ibid.ranking.synonyms import parse_synonyms

    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise BadSetting(
            f"the synonyms in {path} can't be read: {error}",
            hint="set rewrite.synonyms to a text file, or to none",
        ) from error
    return parse_synonyms(text, str(path))


# -- small parts --------------------------------------------------------------------------------


def find_cache() -> Path:
    """Where models are kept in the form in which they start fast."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("ibid", appauthor=False)) / "models"
