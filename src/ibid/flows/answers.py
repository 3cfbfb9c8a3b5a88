"""Answers that are kept: asked and logged, found again instead of asked, answered once more."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from ibid.errors import BadQuery, LibraryError
from ibid.flows.ask import answer_from, ask
from ibid.flows.chat import list_cited
from ibid.flows.options import NOBODY, AskOptions, Listener, LogOptions
from ibid.flows.queries import check_query
from ibid.protocols import Embedder, Generator, Index, Reranker
from ibid.records import (
    JSON,
    OWNER,
    Answer,
    AnswerStatus,
    Feedback,
    Hit,
    KeptAnswer,
    Principals,
    Query,
    SearchResult,
)

RATINGS: Final = ("good", "bad")


def ask_and_keep(
    query: Query,
    options: AskOptions,
    log: LogOptions,
    *,
    index: Index,
    embedder: Embedder,
    generator: Generator,
    reranker: Reranker | None = None,
    listener: Listener = NOBODY,
) -> Answer:
    """The answer to a question, as `ask` gives it, kept in the log of answers.

    With `log.reuse`, an answer of a remote model to exactly the same is given again. An answer that
    can't be kept is an answer all the same, with a warning.
    """
    check_query(query)
    if query.history and not query.cited:
        query = replace(query, cited=recall_history(query, index))
    parts = describe_parts(embedder, generator, reranker)
    if log.reuse and generator.remote is not None:
        version = index.snapshot(query.version).version
        kept = find_same(query, options, parts, version, index=index)
        if kept is not None:
            listener.hear_sources(kept.answer.sources)
            listener.hear_text(kept.answer.text)
            return _give_again(kept)
    answer = ask(
        query,
        options,
        index=index,
        embedder=embedder,
        generator=generator,
        reranker=reranker,
        listener=listener,
    )
    if not log.keep:
        return answer
    return keep_answer(answer, options, log, make_key(query, options, parts, answer.version), index)


def recall_history(query: Query, index: Index) -> tuple[Hit, ...]:
    """What the answers in the history cited, as far as the log holds them for this caller."""
    try:
        told = [index.answers.find_told(text, query.principals) for text in query.history[1::2]]
    except LibraryError:
        return ()
    return list_cited([kept.answer for kept in told if kept is not None])


def keep_answer(
    answer: Answer, options: AskOptions, log: LogOptions, key: str, index: Index
) -> Answer:
    """The answer after it was kept; with a warning where it could not be."""
    now = datetime.now(UTC)
    oldest = None if log.keep_days is None else now - timedelta(days=log.keep_days)
    try:
        index.answers.put(KeptAnswer(answer, now, key, describe_options(options)), oldest=oldest)
    except LibraryError as error:
        doubt = f"this answer is not in the log: {error.message}"
        return replace(answer, warnings=(*answer.warnings, doubt))
    return answer


def rate_answer(
    id: str, rating: str, comment: str, principals: Principals, *, index: Index
) -> None:
    """Keep what a caller says of an answer. Raises UnknownAnswer, BadQuery for another rating."""
    if rating not in RATINGS:
        raise BadQuery(f"an answer can't be rated {rating!r}", hint="say good or bad")
    feedback = Feedback(rating == "good", comment, datetime.now(UTC))
    index.answers.rate(id, feedback, principals)


# -- the same again -----------------------------------------------------------------------------


def find_same(
    query: Query, options: AskOptions, parts: Mapping[str, str], version: int, *, index: Index
) -> KeptAnswer | None:
    """A kept answer to the same question of the same caller; None where the log can't be read."""
    try:
        return index.answers.find_same(make_key(query, options, parts, version), query.principals)
    except LibraryError:
        return None


def _give_again(kept: KeptAnswer) -> Answer:
    asked_at = kept.asked_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    doubt = f"this is the answer of {asked_at} to the same question; nothing has changed since"
    return replace(kept.answer, warnings=(*kept.answer.warnings, doubt))


def describe_parts(
    embedder: Embedder, generator: Generator, reranker: Reranker | None
) -> dict[str, str]:
    """The models that an answer comes from, by what they do."""
    return {
        "embedder": embedder.name,
        "generator": f"{generator.name} {generator.remote or ''}",
        "reranker": reranker.name if reranker is not None else "",
    }


def make_key(query: Query, options: AskOptions, parts: Mapping[str, str], version: int) -> str:
    """32 hexadecimal digits, equal where everything is that an answer depends on.

    That is the question with its history, the caller, filter and version, how it is searched and
    answered, and the models.
    """
    principals = "*" if query.principals is OWNER else sorted(query.principals)
    asked = replace(query, version=version, principals=frozenset())
    written = repr((principals, asked, options, sorted(parts.items())))
    return hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


# -- once more ----------------------------------------------------------------------------------


def replay_answer(
    kept: KeptAnswer,
    options: AskOptions,
    *,
    index: Index,
    embedder: Embedder,
    generator: Generator,
) -> tuple[Answer, bool]:
    """The question answered again from the hits and options that were kept, and whether it is as
    it was: the same prompt, text, citations and verdicts by the same generator.

    A withheld answer comes back as it is. Raises what answering does, and BadQuery where all that
    the asker could see was sent and that version is held no more.
    """
    before = kept.answer
    if before.status is AnswerStatus.WITHHELD:
        return before, False
    request = before.request
    query = Query(
        before.question,
        request.principals,
        request.filter,
        include_archived=request.include_archived,
        version=before.version,
        history=request.history,
    )
    found = SearchResult(
        query=query,
        mode=request.mode,
        version=before.version,
        hits=before.found,
        timings_ms={},
        standalone=before.standalone,
    )
    answer = answer_from(
        found,
        restore_options(options, kept),
        index=index,
        embedder=embedder,
        generator=generator,
    )
    notes = _tell_differences(before, answer)
    return replace(answer, warnings=(*answer.warnings, *notes)), _prove(before) == _prove(answer)


def describe_options(options: AskOptions) -> dict[str, JSON]:
    """The options of answering by name, as far as they are plain values; those of searching, and
    where all of them came from, are not needed again."""
    return {
        field.name: value
        for field in dataclasses.fields(options)
        if isinstance(value := getattr(options, field.name), bool | int | float | str | None)
        and field.name not in _NOT_KEPT
    }


def restore_options(options: AskOptions, kept: KeptAnswer) -> AskOptions:
    """Today's options with those that an answer was given by."""
    known = {field.name for field in dataclasses.fields(options)} - _NOT_KEPT
    request = kept.answer.request
    changes: dict[str, object] = {name: kept.options[name] for name in known & {*kept.options}}
    changes["context"] = "whole" if request.whole else "search"
    search = replace(options.search, k=request.k, mode=request.mode)
    return replace(options, search=search, **changes)  # type: ignore[arg-type]  # kept by name


_NOT_KEPT: Final = frozenset({"search", "settings_hash"})


def _prove(answer: Answer) -> tuple[object, ...]:
    """What makes an answer the answer that it is."""
    return answer.generator, answer.prompt_hash, answer.status, answer.text, answer.citations


def _tell_differences(before: Answer, now: Answer) -> list[str]:
    """What the second answer was given by otherwise than the first."""
    told = []
    if before.generator != now.generator:
        told.append(f"answered by {before.generator} then, by {now.generator} now")
    if before.settings_hash != now.settings_hash:
        told.append("the settings are not those of then")
    if any(not turn for turn in before.request.history):
        told.append("a turn of the history was not kept, so it was left empty")
    return told
