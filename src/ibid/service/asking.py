"""The routes that search and ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from ibid.errors import IbidError
from ibid.records import Answer, Hit, Query, SearchResult
from ibid.service.access import need
from ibid.service.bodies import AskBody, SearchBody
from ibid.service.callers import Caller
from ibid.service.context import Context, find_context
from ibid.service.failures import answer_error, describe_crash
from ibid.service.replies import describe
from ibid.service.replies.questions import AnswerReply, SearchReply
from ibid.service.streams import (
    EVENTS,
    Emit,
    answer_last,
    encode_event,
    stream_events,
    stream_response,
)
from ibid.shapes import shape_answer, shape_citation, shape_result, shape_source_hit

router = APIRouter(tags=["questions"])


@router.post("/v1/search", responses=describe(SearchReply))
def search(
    body: SearchBody, request: Request, caller: Annotated[Caller, need("search")]
) -> JSONResponse:
    """Passages that fit a text best, by its words and by its meaning."""
    library = find_context(request).library
    query = make_query(body.query, caller, body)
    changes = {"k": body.k, "mode": body.mode, "min_score": body.min_score}
    result = library.run_search(query, rerank=body.rerank, **drop_unsaid(changes))
    tell_search(request, result)
    return JSONResponse(shape_result(result, explain=body.explain))


@router.post("/v1/ask", responses=describe(AnswerReply, content=EVENTS))
async def ask(body: AskBody, request: Request, caller: Annotated[Caller, need("ask")]) -> Response:
    """An answer, every sentence cited and checked, or an abstention.

    With `Accept: text/event-stream` it comes as events: `sources`, then `token` after `token`, a
    `citation` for each claim, and last the whole `answer`, or an `error`.
    """
    context = find_context(request)

    def work(emit: Emit) -> None:
        query = make_query(body.question, caller, body)
        answer = run_ask(context, query, body, emit)
        tell_answer(request, answer)
        for citation in answer.citations:
            emit("citation", shape_citation(citation))
        emit("answer", shape_answer(answer, explain=body.explain))

    if "text/event-stream" in request.headers.get("accept", ""):
        return await stream_response(request, stream_events(work, context.askers), encode_event)
    last = await answer_last(request, work, context.askers)
    return answer_json(last)


def answer_json(last: tuple[str, Any] | None) -> Response:
    """The answer that the last event of a flow makes; nobody reads that to a caller who left."""
    if last is None:
        return Response(status_code=503)
    name, data = last
    if name != "error":
        return JSONResponse(data)
    return (
        answer_error(data) if isinstance(data, IbidError) else JSONResponse(describe_crash(), 500)
    )


def run_ask(context: Context, query: Query, body: AskBody, emit: Emit) -> Answer:
    """The answer to a query, told of as it comes about."""

    def tell_sources(sources: Sequence[Hit]) -> None:
        emit("sources", {"sources": [shape_source_hit(hit) for hit in sources]})

    return context.library.run_ask(
        query,
        rerank=body.rerank,
        strict=body.strict,
        context=body.context,
        log=body.log,
        on_text=lambda text: emit("token", {"text": text}),
        on_sources=tell_sources,
        **drop_unsaid({"k": body.k, "mode": body.mode}),
    )


def make_query(text: str, caller: Caller, body: SearchBody | AskBody) -> Query:
    """The query of a body, within what the caller may see."""
    return Query(
        text,
        caller.principals,
        body.filter,
        include_archived=body.include_archived,
        version=body.version,
        history=tuple(body.history) if isinstance(body, AskBody) else (),
    )


def drop_unsaid(changes: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in changes.items() if value is not None}


def tell_search(request: Request, result: SearchResult) -> None:
    """Count a search, trace its stages and leave word of it."""
    context = find_context(request)
    context.metrics.count_stages(result.timings_ms)
    if context.traces is not None:
        context.traces.add_search(request.state.span, result)
    note(request, documents=[hit.document_id for hit in result.hits], question=result.query.text)


def tell_answer(request: Request, answer: Answer) -> None:
    """Count an answer, trace its stages and leave word of it."""
    context = find_context(request)
    verdicts = [citation.verdict.value for citation in answer.citations]
    context.metrics.count_answer(answer.status.value, verdicts, answer.tokens, answer.timings_ms)
    if context.traces is not None:
        context.traces.add_answer(request.state.span, answer)
    documents = list(dict.fromkeys(hit.document_id for hit in answer.sources))
    note(request, answer=answer.id, documents=documents, question=answer.question)


def note(request: Request, **facts: Any) -> None:
    """Leave word of a request for the audit log; the text of a question is left out there unless
    the settings want it."""
    request.state.facts = {**getattr(request.state, "facts", {}), **facts}
