"""The routes that chat clients and programs for OpenAI's service know, over the same library.

What they send beyond our fields is ignored, as they expect.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from ibid.errors import BadQuery, IbidError, UnknownDocument
from ibid.records import Answer, Hit, Query
from ibid.service.access import need
from ibid.service.asking import answer_json, tell_answer
from ibid.service.bodies import ChatBody, EmbeddingsBody
from ibid.service.callers import Caller
from ibid.service.chat_tasks import is_task, run_task
from ibid.service.context import find_context
from ibid.service.failures import describe_crash
from ibid.service.replies import describe
from ibid.service.replies.chat import (
    CompletionReply,
    EmbeddingsReply,
    ModelReply,
    ModelsReply,
)
from ibid.service.streams import EVENTS, Emit, Event, answer_last, stream_events, stream_response
from ibid.shapes import Shape, shape_error

router = APIRouter(tags=["chat clients"])

MODEL: Final = "ibid"
"""The name under which the library answers."""


@router.get("/v1/models", responses=describe(ModelsReply))
def list_models(request: Request, caller: Annotated[Caller, need("ask")]) -> JSONResponse:
    """The library as a model, and its embedder."""
    names = (MODEL, find_context(request).embedder)
    return JSONResponse({"object": "list", "data": [_shape_model(name) for name in names]})


@router.get("/v1/models/{model:path}", responses=describe(ModelReply))
def show_model(
    model: str, request: Request, caller: Annotated[Caller, need("ask")]
) -> JSONResponse:
    """One of them."""
    _check_model(model, MODEL, find_context(request).embedder)
    return JSONResponse(_shape_model(model))


@router.post("/v1/chat/completions", responses=describe(CompletionReply, content=EVENTS))
async def complete_chat(
    body: ChatBody, request: Request, caller: Annotated[Caller, need("ask")]
) -> Response:
    """The answer to the last message, the ones before it known; cited, and checked as any other.

    Titles and tags that a client has written for its chats are written without the documents.
    """
    context = find_context(request)
    _check_model(body.model, MODEL)
    question, history = _read_turns(body)
    chat = _Chat(with_usage=bool(body.stream_options and body.stream_options.include_usage))

    def work(emit: Emit) -> None:
        if is_task(question):
            written = run_task(context.library.generator, question)
            emit("token", written)
            emit("end", _Completed(written))
            return
        told: list[str] = []

        def tell(text: str) -> None:
            told.append(text)
            emit("token", text)

        answer = context.library.run_ask(
            Query(question, caller.principals, history=history),
            on_sources=lambda sources: emit("sources", sources),
            on_text=tell,
        )
        if not "".join(told).strip():  # an abstention is in words that nobody has written
            emit("token", answer.text)
        tell_answer(request, answer)
        emit("end", _Completed(answer.text, answer))

    if body.stream:
        events = stream_events(work, context.askers)
        return await stream_response(request, events, chat.encode, end="data: [DONE]\n\n")
    last = await answer_last(request, work, context.askers)
    if last is None or last[0] == "error":
        return answer_json(last)
    return JSONResponse(chat.shape_whole(last[1]))


@router.post("/v1/embeddings", responses=describe(EmbeddingsReply))
def embed_texts(
    body: EmbeddingsBody, request: Request, caller: Annotated[Caller, need("search")]
) -> JSONResponse:
    """The vectors of texts, as the library's embedder makes them."""
    context = find_context(request)
    name = context.embedder
    _check_model(body.model, name, MODEL)
    texts = [body.input] if isinstance(body.input, str) else body.input
    vectors = context.library.embed(texts)
    if body.dimensions not in (None, vectors.shape[1]):
        raise BadQuery(f"{name} has {vectors.shape[1]} dimensions", hint="leave dimensions out")
    data = [
        {"object": "embedding", "index": number, "embedding": _write(vector, body.encoding_format)}
        for number, vector in enumerate(vectors)
    ]
    pieces = sum(len(text) for text in texts) // 4
    usage = {"prompt_tokens": pieces, "total_tokens": pieces}
    return JSONResponse({"object": "list", "model": name, "data": data, "usage": usage})


def _write(vector: np.ndarray[Any, Any], form: str) -> list[float] | str:
    exact = vector.astype("<f4")
    return exact.tolist() if form == "float" else base64.b64encode(exact.tobytes()).decode()


def _check_model(name: str, *known: str) -> None:
    if name not in known:
        raise UnknownDocument(f"no model {name!r}", hint=f"use {known[0]}")


def _shape_model(name: str) -> Shape:
    return {"id": name, "object": "model", "created": 0, "owned_by": "ibid"}


def _read_turns(body: ChatBody) -> tuple[str, tuple[str, ...]]:
    """The question, and the questions and answers before it, in turns. Raises BadQuery.

    What the system says is for models that follow orders; ours are in the prompt that is sent.
    """
    turns: list[str] = []
    for message in body.messages:
        is_answer = message.role == "assistant"
        if message.role not in ("user", "assistant"):
            continue
        if is_answer == (len(turns) % 2 == 0):  # two of one kind in a row, or an answer first
            turns.append("")
        turns.append(message.read_text())
    if len(turns) % 2 == 0 or not turns[-1].strip():
        raise BadQuery("the last message is no question", hint="end with a message of the user")
    return turns[-1], tuple(turns[:-1])


# -- their shapes ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Completed:
    """What was written, and the answer that it is, where it is one."""

    text: str
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class _Chat:
    """One completion, in whole or in chunks."""

    with_usage: bool
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def shape_whole(self, done: _Completed) -> Shape:
        """The completion of a request that is not streamed."""
        message = {
            "role": "assistant",
            "content": done.text,
            "refusal": None,
            "annotations": _annotate(done.answer),
        }
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {
            **self._shape("chat.completion", [choice]),
            "usage": _count(done.answer),
            **_extend(done.answer),
        }

    def encode(self, event: Event) -> str:
        """An event of answering as the chunks that it comes to."""
        name, data = event
        if name == "token":
            return self._write_chunk({"role": "assistant", "content": data})
        if name == "sources":
            return "".join(self._write_source(hit) for hit in data)
        if name == "end":
            last = self._write_chunk(
                {"annotations": _annotate(data.answer)}, "stop", **_extend(data.answer)
            )
            if not self.with_usage:
                return last
            usage = {**self._shape("chat.completion.chunk", []), "usage": _count(data.answer)}
            return last + _encode(usage)
        shape = shape_error(data) if isinstance(data, IbidError) else describe_crash()
        return _encode(shape)

    def _write_chunk(self, delta: Shape, finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _encode({**self._shape("chat.completion.chunk", [choice]), **more})

    def _write_source(self, hit: Hit) -> str:
        """A source in the form that Open WebUI shows beside an answer."""
        name = hit.document.title or hit.document_id
        data = {
            "source": {"name": name, "url": hit.document.source or ""},
            "document": [hit.passage.text],
            "metadata": [{"source": hit.document_id, "name": name}],
            "distances": [hit.score],
        }
        return self._write_chunk({}, event={"type": "source", "data": data})

    def _shape(self, kind: str, choices: Sequence[Shape]) -> Shape:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": MODEL,
            "choices": list(choices),
        }


def _annotate(answer: Answer | None) -> list[Shape]:
    """The citations that lead somewhere, by their claims."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": citation.claim.start,
                "end_index": citation.claim.end,
                "url": citation.url,
                "title": citation.title or citation.document_id or "",
            },
        }
        for citation in (answer.citations if answer is not None else ())
        if citation.url
    ]


def _count(answer: Answer | None) -> Shape:
    tokens = answer.tokens if answer is not None else {}
    prompt, completion = tokens.get("prompt", 0), tokens.get("completion", 0)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _extend(answer: Answer | None) -> Shape:
    """What other services have no field for: under which id the answer is kept, and its status."""
    if answer is None:
        return {}
    return {"ibid": {"answer_id": answer.id, "status": answer.status.value}}


def _encode(shape: Shape) -> str:
    return f"data: {json.dumps(shape, ensure_ascii=False)}\n\n"
