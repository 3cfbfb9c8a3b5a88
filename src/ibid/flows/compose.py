"""What a question's model is sent: the passages found, or all of them, as far as it can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from ibid.answering.budget import BYTES_PER_TOKEN, count_prompt, fit_prompt
from ibid.answering.prompt import build_prompt
from ibid.errors import BadQuery, BadSetting
from ibid.flows.options import AskOptions
from ibid.protocols import Generator, Index, Scope, Snapshot, Window, Windowed
from ibid.ranking.neighbours import order_by_document
from ibid.ranking.select import rank_hits, select_hits
from ibid.record import record
from ibid.records import Hit, Prompt, Query, SearchResult

MOST_WHOLE: Final = 999
"""Passages that are sent whole at most: a marker of four digits would pass for a year."""


@record
class Composed:
    """A prompt, and what is to be said of how it came about."""

    prompt: Prompt
    warnings: tuple[str, ...] = ()


def compose_prompt(
    query: Query,
    found: SearchResult,
    options: AskOptions,
    *,
    index: Index,
    generator: Generator,
    language: str | None,
) -> Composed:
    """The prompt of a question from what was found, within the window of the model.

    With the context `whole`, all that the asker may see is sent, in the order of the library; with
    `auto` so where it fits. A generator without a language model reads what was found, which with
    `whole` is every passage, best first.

    Raises BadQuery where it does not fit, BadSetting for `whole` with an unknown window.
    """
    window = generator.find_window() if isinstance(generator, Windowed) else None
    build = partial(_build, query, options, language)
    if isinstance(generator, Windowed) and options.context != "search":
        snapshot = index.snapshot(found.version)
        try:
            return Composed(_compose_whole(query, snapshot, build, window))
        except (BadQuery, BadSetting):
            if options.context == "whole":
                raise
    if window is None:
        return Composed(build(found.hits, query.history))
    prompt = fit_prompt(build, found.hits, query.history, room=window.room)
    return Composed(prompt, tuple(_tell_left_out(prompt, query, found.hits, window)))


def widen_search(options: AskOptions, generator: Generator) -> AskOptions:
    """The options with which a generator that reads no prompt finds all there is, best first."""
    if options.context != "whole" or isinstance(generator, Windowed):
        return options
    candidates = max(options.search.candidates, MOST_WHOLE)
    return replace(options, search=replace(options.search, k=MOST_WHOLE, candidates=candidates))


def _build(
    query: Query,
    options: AskOptions,
    language: str | None,
    sources: Sequence[Hit],
    history: Sequence[str],
    *,
    whole: bool = False,
) -> Prompt:
    ordered = rank_hits(order_by_document(sources)) if options.by_document else sources
    return build_prompt(
        query.text,
        ordered,
        history=history,
        template=options.template,
        language=language,
        whole=whole,
    )


def _compose_whole(
    query: Query, snapshot: Snapshot, build: Callable[..., Prompt], window: Window | None
) -> Prompt:
    """The prompt with all that the asker may see. Raises BadQuery where it does not fit."""
    if window is None:
        raise BadSetting(
            "nobody says how much this model holds, so nothing is sent to it whole",
            hint="set generator.context_tokens",
        )
    prompt = build(_gather_whole(query, snapshot, window), query.history, whole=True)
    if (needed := count_prompt(prompt)) > window.room:
        raise _describe_excess(needed, window)
    return prompt


def _gather_whole(query: Query, snapshot: Snapshot, window: Window) -> tuple[Hit, ...]:
    """Every passage in the asker's scope, in the order of the library; the same text once."""
    scope = Scope(query.principals, query.filter, query.include_archived)
    documents = snapshot.documents(scope)
    least = sum(info.characters for info in documents) // BYTES_PER_TOKEN
    if least > window.room:  # known without reading any of it
        raise _describe_excess(least, window)
    if (passages := sum(info.passages for info in documents)) > MOST_WHOLE:
        raise BadQuery(
            f"{passages:,} passages are too many to be sent whole, which {MOST_WHOLE} may be",
            hint="narrow it with a filter, or let the question be searched for",
        )
    hits = (
        Hit(0, 0.0, passage, info, {})
        for info in documents
        for passage in snapshot.document_passages(info.id, scope)
    )
    return select_hits(hits, MOST_WHOLE, distinct=True).hits


def _describe_excess(needed: int, window: Window) -> BadQuery:
    return BadQuery(
        f"all of it takes about {needed:,} tokens, and the model has room for {window.room:,}",
        hint="narrow it with a filter, or let the question be searched for",
    )


def _tell_left_out(
    prompt: Prompt, query: Query, sources: Sequence[Hit], window: Window
) -> Iterator[str]:
    holds = f"the model holds {window.context:,} tokens"
    if len(prompt.sources) < len(sources):
        left_out = len(sources) - len(prompt.sources)
        yield f"{left_out} of {len(sources)} sources were left out: {holds}"
    if len(prompt.history) < len(query.history):
        forgotten = len(query.history) - len(prompt.history)
        yield f"{forgotten} earlier messages were left out: {holds}"
