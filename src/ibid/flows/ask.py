"""The way of a question: search, abstain or prompt, generate, parse claims, verify, conclude."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from ibid.answering.abstention import write_abstention
from ibid.answering.injection import list_warnings
from ibid.answering.no_answer import says_no_answer
from ibid.answering.strict import keep_supported, list_lacking
from ibid.errors import BadQuery
from ibid.flows.chat import recall_cited
from ibid.flows.cited import page_citations
from ibid.flows.compose import compose_prompt, widen_search
from ibid.flows.drafts import Draft, check_draft, generate_draft
from ibid.flows.freshness import date_citations, list_changed
from ibid.flows.options import NOBODY, AskOptions, Listener
from ibid.flows.search import search
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.weigh import Weighed, weigh_hits
from ibid.language.detection import choose_query_language, detect_query_language
from ibid.protocols import Embedder, Generator, Index, Reranker, Windowed
from ibid.record import record
from ibid.records import (
    Answer,
    AnswerStatus,
    AskContext,
    Citation,
    Prompt,
    Query,
    Request,
    SearchResult,
    TraceStep,
    Verdict,
)


def ask(
    query: Query,
    options: AskOptions,
    *,
    index: Index,
    embedder: Embedder,
    generator: Generator,
    reranker: Reranker | None = None,
    listener: Listener = NOBODY,
) -> Answer:
    """The answer to a question, every claim of it checked, or an abstention.

    The `listener` is given the text as it is generated, never ending inside a marker. No generator
    is called when nothing relevant was found. Raises what the search and the generator raise.
    """
    if options.context not in get_args(AskContext):
        raise BadQuery(
            f"no context {options.context!r}", hint=f"use one of {', '.join(get_args(AskContext))}"
        )
    options = widen_search(options, generator)
    found = search(query, options.search, index=index, embedder=embedder, reranker=reranker)
    if query.cited:
        found = recall_cited(found, index)
    return answer_from(
        found, options, index=index, embedder=embedder, generator=generator, listener=listener
    )


def answer_from(
    found: SearchResult,
    options: AskOptions,
    *,
    index: Index,
    embedder: Embedder,
    generator: Generator,
    listener: Listener = NOBODY,
) -> Answer:
    """The answer to a question from what was found for it; as `ask`, which searches first."""
    query, watch = found.query, Stopwatch()
    asked = found.standalone or query.text
    with watch.timing("total"):
        blank = _blank_answer(query, options, found, embedder, generator)
        language = choose_query_language(asked, index.languages)
        with watch.timing("weigh"):
            weighed = _weigh(asked, found, options, index, embedder, language)
        if weighed.reason is not None:
            return _abstain(blank, weighed.reason, "abstain", language, weighed)
        if not isinstance(generator, Windowed):  # which may read the question without the history
            query = replace(query, text=asked)
        composed = compose_prompt(
            query, found, options, index=index, generator=generator, language=language
        )
        put = None if found.standalone is None else found.query.text
        prompt = replace(composed.prompt, reading=replace(weighed.reading, asked=put))
        listener.hear_sources(prompt.sources)
        written = _write(prompt, options, generator, watch, listener)
        paged = page_citations(written.citations, found.version, index=index)
        written = replace(written, citations=paged)
        look = options.tell_changed and query.version is None
        changed = list_changed(written.citations, index) if look else ()
    warnings = (*found.warnings, *composed.warnings, *written.warnings, *changed)
    answer = _fill_answer(blank, found, prompt, written, warnings, watch.milliseconds())
    if not written.text.strip() or says_no_answer(written.text):
        return _abstain(answer, "the sources do not answer it", "conclude", language, weighed)
    return replace(answer, status=AnswerStatus.ANSWERED)


@record
class _Written:
    """What a generator wrote, as it is shown: checked, and mended where that was possible."""

    text: str
    citations: tuple[Citation, ...]
    draft: Draft
    warnings: tuple[str, ...]
    trace: tuple[TraceStep, ...]


def _write(
    prompt: Prompt,
    options: AskOptions,
    generator: Generator,
    watch: Stopwatch,
    listener: Listener,
) -> _Written:
    """The text of an answer with its checked citations; a strict one without what does not hold."""
    with watch.timing("generate"):
        # What a strict answer leaves out must not have been seen before it is left out.
        draft = generate_draft(prompt, generator, None if options.strict else listener.on_text)
    with watch.timing("verify"):
        text, citations = check_draft(draft.text, prompt.sources, prompt.language)
    trace = trace_draft(draft, citations, generator, watch.milliseconds())
    mends = options.repair and isinstance(generator, Windowed)
    if mends and list_lacking(citations) and not says_no_answer(text):
        from ibid.flows.repair import repair_draft  # noqa: PLC0415 - seldom needed

        repaired = repair_draft(prompt, draft, citations, generator, watch)
        if repaired.draft.text != draft.text:
            text, citations = check_draft(repaired.draft.text, prompt.sources, prompt.language)
        draft, trace = repaired.draft, (*trace, repaired.step)
    if options.strict:
        text, citations = keep_supported(text, citations)
        listener.hear_text(text)
    doubts = (*draft.warnings, *list_warnings(prompt.sources), *_list_doubts(citations))
    return _Written(text, citations, draft, doubts, trace)


def _fill_answer(
    blank: Answer,
    found: SearchResult,
    prompt: Prompt,
    written: _Written,
    warnings: tuple[str, ...],
    spent: Mapping[str, float],
) -> Answer:
    """The answer with what was written, and what it took."""
    draft = written.draft
    return replace(
        blank,
        text=written.text,
        citations=date_citations(written.citations, prompt.sources),
        sources=prompt.sources,
        prompt_hash=hash_prompt(prompt),
        request=replace(blank.request, whole=prompt.whole),
        warnings=warnings,
        timings_ms={**found.timings_ms, **_add_total(found.timings_ms, spent)},
        tokens={"prompt": draft.prompt_tokens, "completion": draft.completion_tokens},
        trace=(*found.trace, *written.trace),
        draft=draft.text,
    )


def _add_total(searching: Mapping[str, float], answering: Mapping[str, float]) -> dict[str, float]:
    """The stages of answering, with a total that counts the search too."""
    return {**answering, "total": round(searching.get("total", 0.0) + answering["total"], 3)}


def trace_draft(
    draft: Draft,
    citations: Sequence[Citation],
    generator: Generator,
    milliseconds: Mapping[str, float],
) -> tuple[TraceStep, ...]:
    """What was written and what became of its citations."""
    verdicts = Counter(citation.verdict.value for citation in citations)
    counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    return (
        TraceStep(
            "generate",
            f"{len(draft.text)} characters by {generator.name}",
            {
                "milliseconds": milliseconds.get("generate", 0.0),
                "calls": 1,
                "prompt_tokens": draft.prompt_tokens,
                "completion_tokens": draft.completion_tokens,
            },
        ),
        TraceStep(
            "verify",
            f"citations: {counted or 'none'}",
            {"milliseconds": milliseconds.get("verify", 0.0), **verdicts},
        ),
    )


def _list_doubts(citations: Sequence[Citation]) -> tuple[str, ...]:
    doubtful = sum(citation.verdict is not Verdict.SUPPORTED for citation in citations)
    if not doubtful:
        return ()
    return (f"{doubtful} of {len(citations)} citations could not be confirmed",)


def _weigh(
    question: str,
    found: SearchResult,
    options: AskOptions,
    index: Index,
    embedder: Embedder,
    language: str,
) -> Weighed:
    """What the hits promise; by meaning where it was searched and the estimate knows its scale."""
    by_meaning = found.mode != "lexical" and language in options.calibrated
    return weigh_hits(
        question,
        found,
        threshold=1.0 if options.context == "whole" else options.abstain,
        index=index,
        embedder=embedder if by_meaning else None,
        language=language,
    )


def _blank_answer(
    query: Query,
    options: AskOptions,
    found: SearchResult,
    embedder: Embedder,
    generator: Generator,
) -> Answer:
    """The answer's record before there is an answer: an abstention without words."""
    return Answer(
        id=secrets.token_hex(8),
        question=query.text,
        request=Request(
            filter=query.filter,
            principals=query.principals,
            mode=found.mode,
            k=options.search.k,
            history=query.history,
            include_archived=query.include_archived,
        ),
        status=AnswerStatus.ABSTAINED,
        text="",
        citations=(),
        sources=(),
        version=found.version,
        embedder=embedder.name,
        generator=generator.name,
        settings_hash=options.settings_hash,
        prompt_hash="",
        warnings=(),
        timings_ms=found.timings_ms,
        tokens={"prompt": 0, "completion": 0},
        trace=found.trace,
        found=found.hits,
        standalone=found.standalone,
    )


def _abstain(answer: Answer, reason: str, stage: str, language: str, weighed: Weighed) -> Answer:
    spoken = detect_query_language(answer.question) or language
    return replace(
        answer,
        text=write_abstention(answer.question, weighed.nearest, language=spoken),
        citations=(),
        nearest=weighed.nearest,
        warnings=(reason,),
        trace=(*answer.trace, TraceStep(stage, reason)),
    )


def hash_prompt(prompt: Prompt) -> str:
    """16 hexadecimal digits that stand for every message of a prompt."""
    digest = hashlib.blake2b(digest_size=8)
    for message in prompt.messages:
        digest.update(f"{message.role}\0{message.content}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
