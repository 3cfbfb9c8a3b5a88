"""Answers from Anthropic's messages: sources as documents that the model cites by itself."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from ibid.answering.injection import neutralise
from ibid.answering.options import ModelOptions
from ibid.answering.prompt import CITING, TEMPLATES, hash_template, name_source, take_turns
from ibid.answering.replies import (
    CUT,
    finish_reply,
    parse_event,
    read_count,
    read_counts,
    refuse_ending,
    stream_reply,
)
from ibid.protocols import Window
from ibid.records import JSON, Delta, Prompt
from ibid.wire import Wire

VERSION: Final = "2023-06-01"

CONTEXT_TOKENS: Final = 200_000
"""What every model of this endpoint holds at least."""

_CACHED: Final[JSON] = {"type": "ephemeral"}

_ENDINGS: Final[Mapping[str, str]] = {
    "refusal": "the model declined to answer",
    "model_context_window_exceeded": "the prompt is longer than the model holds",
}

_TAIL: Final = re.compile(r"[.!?。！？…\s]*\Z")
"""The end of a cited block that its marker stands before."""


def sign_anthropic(key: str) -> dict[str, str]:
    """The headers that this endpoint wants, with the key where there is one."""
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


class AnthropicGenerator:
    """Sends a prompt to /messages and streams what comes back.

    Prompts of the template "grounded" are sent with a document for each source; the citations that
    the model makes come back as markers. All others are sent as they are. The instructions, and
    sources that last, are marked to be cached.
    """

    def __init__(self, wire: Wire, model: str, *, options: ModelOptions = ModelOptions()) -> None:
        self.name = model
        self.remote = wire.remote
        self._wire = wire
        self._options = options
        self._refused: set[str] = set()

    def find_window(self) -> Window:
        """What the model holds."""
        return Window(self._options.context_tokens or CONTEXT_TOKENS, self._options.output_tokens)

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The pieces of the answer as they arrive, with a marker where the model cites a source.

        Closing the iterator hangs up, which stops the model. An answer that reached its limit comes
        with a warning. Raises ModelUnavailable, ModelTimeout, or MalformedOutput for an answer that
        breaks off, is empty or declined, or is no message.
        """
        limit = self._options.output_tokens
        with closing(self._read_deltas(prompt)) as deltas:
            yield from finish_reply(deltas, origin=self._wire.origin, output_tokens=limit)

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self._wire.close()

    def _read_deltas(self, prompt: Prompt) -> Generator[Delta, None, None]:
        reply = _Reply()
        stream = stream_reply(
            self._wire,
            "/messages",
            lambda: self._build_request(prompt),
            dispensable=("temperature",),
            refused=self._refused,
        )
        with closing(stream) as events:
            for event in events:
                for text in reply.read(parse_event(event, self._wire)):
                    yield Delta(text)
                if reply.done:
                    break
        yield read_counts(reply.usage, "prompt", "output_tokens")
        if reply.stop == "max_tokens":
            yield Delta(warning=CUT.format(tokens=self._options.output_tokens))
        elif reply.stop in _ENDINGS:
            refuse_ending(self._wire.origin, _ENDINGS[reply.stop])
        elif not reply.done or not reply.stop:
            refuse_ending(self._wire.origin, "the answer ended before it was finished")

    def _build_request(self, prompt: Prompt) -> dict[str, JSON]:
        cites = bool(prompt.sources) and prompt.template == hash_template(TEMPLATES["grounded"])
        system = [m.content for m in prompt.messages if m.role == "system"]
        if cites:
            system, messages = [CITING], _shape_documents(prompt)
        else:
            said = [m for m in prompt.messages if m.role != "system"]
            messages = [{"role": m.role, "content": m.content} for m in said]
        body: dict[str, JSON] = {
            "model": self.name,
            "max_tokens": self._options.output_tokens,
            "stream": True,
            "messages": [*messages],
        }
        if system:
            body["system"] = [
                {"type": "text", "text": "\n\n".join(system), "cache_control": _CACHED}
            ]
        if self._options.temperature is not None and "temperature" not in self._refused:
            body["temperature"] = self._options.temperature
        if prompt.schema is not None:
            body["tools"] = [{"name": "answer", "input_schema": dict(prompt.schema)}]
            body["tool_choice"] = {"type": "tool", "name": "answer"}
        return body


def _shape_documents(prompt: Prompt) -> list[dict[str, JSON]]:
    """The turns, with the sources as documents before the last one, or before all where they last.

    Questions stand bare: what a template puts around them is said by the documents.
    """
    documents: list[JSON] = [
        {
            "type": "document",
            "source": {
                "type": "text",
                "media_type": "text/plain",
                "data": neutralise(hit.passage.text),
            },
            "title": name_source(hit),
            "citations": {"enabled": True},
        }
        for hit in prompt.sources
    ]
    if prompt.whole and isinstance(documents[-1], dict):
        documents[-1]["cache_control"] = _CACHED
    said = [*prompt.history, prompt.question]
    first = 0 if prompt.whole else len(said) - 1
    return [
        {
            "role": message.role,
            "content": [*documents, {"type": "text", "text": message.content}]
            if place == first
            else message.content,
        }
        for place, message in enumerate(take_turns(said))
    ]


@dataclass(slots=True)
class _Reply:
    """What has been read of a reply: its counts, why it stopped, and the block that is open.

    The end of a block is held back, since the markers of what it cites stand before its full stop.
    """

    usage: dict[str, JSON] = field(default_factory=dict)
    stop: str = ""
    done: bool = False
    _held: str = ""
    _cited: list[int] = field(default_factory=list)

    def read(self, event: Mapping[str, JSON]) -> Iterator[str]:
        """The new text of an event, which may be none."""
        kind = event.get("type")
        if kind == "message":  # an endpoint that doesn't stream
            yield from self._read_message(event)
        elif kind == "message_start":
            self._take_usage(_get(event, "message").get("usage"))
        elif kind == "content_block_start":
            yield from self._read_block(_get(event, "content_block"))
        elif kind == "content_block_delta":
            yield from self._read_delta(_get(event, "delta"))
        elif kind == "content_block_stop":
            yield self._close_block()
        elif kind == "message_delta":
            self.stop = str(_get(event, "delta").get("stop_reason") or self.stop)
            self._take_usage(event.get("usage"))
        elif kind == "message_stop":
            self.done = True

    def _read_message(self, message: Mapping[str, JSON]) -> Iterator[str]:
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                yield from self._read_block(block)
                yield self._close_block()
        self.stop, self.done = str(message.get("stop_reason") or ""), True
        self._take_usage(message.get("usage"))

    def _read_block(self, block: Mapping[str, JSON]) -> Iterator[str]:
        citations = block.get("citations")
        for citation in citations if isinstance(citations, list) else ():
            self._cite(citation)
        yield self._add(block.get("text"))

    def _read_delta(self, delta: Mapping[str, JSON]) -> Iterator[str]:
        self._cite(delta.get("citation"))
        yield self._add(delta.get("text") or delta.get("partial_json"))

    def _cite(self, citation: JSON) -> None:
        index = citation.get("document_index") if isinstance(citation, dict) else None
        if isinstance(index, int) and index + 1 not in self._cited:
            self._cited.append(index + 1)

    def _add(self, text: JSON) -> str:
        whole = self._held + (text if isinstance(text, str) else "")
        tail = _TAIL.search(whole)
        start = tail.start() if tail else len(whole)
        self._held = whole[start:]
        return whole[:start]

    def _close_block(self) -> str:
        markers = "".join(f"[{number}]" for number in self._cited)
        text = f" {markers}{self._held}" if markers else self._held
        self._held, self._cited = "", []
        return text

    def _take_usage(self, usage: JSON) -> None:
        """Keep the counts, with the cached part of the prompt counted as what it is: read."""
        if isinstance(usage, dict):
            self.usage |= usage
            parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            self.usage["prompt"] = sum(read_count(self.usage.get(name)) for name in parts)


def _get(event: Mapping[str, JSON], name: str) -> Mapping[str, JSON]:
    value = event.get(name)
    return value if isinstance(value, dict) else {}
