"""The way of a question: search, abstain or prompt, generate, parse claims, verify, conclude."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ibid.answering.abstain import says_no_answer
from ibid.answering.abstention import write_abstention
from ibid.answering.citations import parse_claims
from ibid.answering.injection import list_warnings
from ibid.answering.links import guard_links
from ibid.answering.markers import hold_back_markers
from ibid.answering.strict import keep_supported
from ibid.flows.chat import recall_cited
from ibid.flows.compose import compose_prompt, widen_search
from ibid.flows.freshness import date_citations, list_changed
from ibid.flows.options import NOBODY, AskOptions, Listener
from ibid.flows.search import search
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.weigh import Weighed, weigh_hits
from ibid.language.detection import choose_query_language, detect_language
from ibid.protocols import Embedder, Generator, Index, Reranker, Windowed
from ibid.records import (
    Answer,
    AnswerStatus,
    Citation,
    Delta,
    Hit,
    Prompt,
    Query,
    Request,
    SearchResult,
    TraceStep,
    Verdict,
)


@dataclass(slots=True)
class _Draft:
    """The generated text with what it cost, and what its generator warns of."""

    text: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    warnings: tuple[str, ...] = ()


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
        prompt = replace(composed.prompt, reading=weighed.reading)
        listener.hear_sources(prompt.sources)
        with watch.timing("generate"):
            # What a strict answer leaves out must not have been seen before it is left out.
            draft = generate_draft(prompt, generator, None if options.strict else listener.on_text)
        with watch.timing("verify"):
            text, citations = check_draft(draft.text, prompt.sources, language)
            if options.strict:
                text, citations = keep_supported(text, citations)
                listener.hear_text(text)
        look = options.tell_changed and query.version is None
        changed = list_changed(citations, index) if look else ()
    spent = watch.milliseconds()
    written = replace(
        blank,
        text=text,
        citations=date_citations(citations, prompt.sources),
        sources=prompt.sources,
        prompt_hash=hash_prompt(prompt),
        request=replace(blank.request, whole=prompt.whole),
        warnings=(
            *found.warnings,
            *composed.warnings,
            *draft.warnings,
            *list_warnings(prompt.sources),
            *_list_doubts(citations),
            *changed,
        ),
        timings_ms={**found.timings_ms, **_add_total(found.timings_ms, spent)},
        tokens={"prompt": draft.prompt_tokens, "completion": draft.completion_tokens},
        trace=(*found.trace, *trace_answer(draft, citations, generator, spent)),
        draft=draft.text,
    )
    if not text.strip() or says_no_answer(text):
        return _abstain(written, "the sources do not answer it", "conclude", language, weighed)
    return replace(written, status=AnswerStatus.ANSWERED)


def _add_total(searching: Mapping[str, float], answering: Mapping[str, float]) -> dict[str, float]:
    """The stages of answering, with a total that counts the search too."""
    return {**answering, "total": round(searching.get("total", 0.0) + answering["total"], 3)}


def trace_answer(
    draft: _Draft,
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


def generate_draft(
    prompt: Prompt, generator: Generator, on_text: Callable[[str], None] | None = None
) -> _Draft:
    """All that the generator writes, passed on as it comes; links to no source are left out."""
    draft = _Draft()

    def read_deltas(deltas: Iterable[Delta]) -> Iterator[str]:
        for delta in deltas:
            draft.prompt_tokens += delta.prompt_tokens
            draft.completion_tokens += delta.completion_tokens
            draft.warnings += (delta.warning,) if delta.warning else ()
            yield delta.text

    written = guard_links(read_deltas(generator.generate(prompt)), prompt.sources)
    for piece in hold_back_markers(written):
        draft.text += piece
        if on_text is not None:
            on_text(piece)
    return draft


def check_draft(
    draft: str, sources: Sequence[Hit], language: str | None
) -> tuple[str, tuple[Citation, ...]]:
    """The text that is shown, and a checked citation for every claim of it."""
    # As long to load as to search: it isn't needed until the model has written.
    from ibid.answering.verify import verify_claims  # noqa: PLC0415

    text, claims = parse_claims(draft.strip(), len(sources), language=language)
    return text, verify_claims(claims, sources, language=language)


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
    spoken = detect_language(answer.question) or language
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
