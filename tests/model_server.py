"""The two wires of language models as their servers speak them, for a server of the tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ibid.testing.servers import EVENTS, Reply, reply_json

Said = list[bytes]


def to_event(value: object, name: str = "") -> bytes:
    """One server-sent event with a value as JSON."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def stream(pieces: Sequence[bytes], **traits: Any) -> Reply:
    """A reply that streams these events."""
    return Reply(pieces, headers=EVENTS, **traits)


# -- OpenAI's -------------------------------------------------------------------------------------

DONE: Final = b"data: [DONE]\n\n"


def to_chunk(text: str | None, finish: str | None = None) -> bytes:
    """A chunk of a chat completion."""
    return to_event({"choices": [{"delta": {"content": text}, "finish_reason": finish}]})


def say_openai(pieces: Sequence[str], stop: str = "stop") -> Said:
    """A whole answer as a stream of chunks, with its counts."""
    usage = {"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 7}}
    return [*map(to_chunk, pieces), to_chunk(None, stop), to_event(usage), DONE]


# -- Anthropic's ----------------------------------------------------------------------------------


def to_named(kind: str, **fields: Any) -> bytes:
    """An event of a message."""
    return to_event({"type": kind, **fields}, kind)


def open_block(**block: Any) -> bytes:
    return to_named("content_block_start", index=0, content_block={"type": "text", **block})


def to_text(text: str) -> bytes:
    delta = {"type": "text_delta", "text": text}
    return to_named("content_block_delta", index=0, delta=delta)


def to_citation(document: int) -> bytes:
    citation = {"type": "char_location", "cited_text": "…", "document_index": document}
    delta = {"type": "citations_delta", "citation": citation}
    return to_named("content_block_delta", index=0, delta=delta)


CLOSE_BLOCK: Final = to_named("content_block_stop", index=0)


def start_message() -> bytes:
    usage = {"input_tokens": 60, "cache_read_input_tokens": 30, "output_tokens": 1}
    return to_named("message_start", message={"content": [], "usage": usage})


def end_message(stop: str = "end_turn") -> Said:
    delta = to_named("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": 7})
    return [delta, to_named("message_stop")]


def say_anthropic(pieces: Sequence[str], stop: str = "stop") -> Said:
    """A whole answer as the events of one message with one block."""
    reason = {"stop": "end_turn", "length": "max_tokens"}[stop]
    texts = map(to_text, pieces)
    ping = to_named("ping")
    return [start_message(), open_block(), ping, *texts, CLOSE_BLOCK, *end_message(reason)]


@dataclass(frozen=True, slots=True)
class ModelWire:
    """A wire by the name of its generator: how it says an answer, and a piece of one."""

    name: str
    say: Callable[..., Said]
    to_piece: Callable[[str], bytes]
    key_header: str


WIRES: Final = (
    ModelWire("openai", say_openai, to_chunk, "authorization"),
    ModelWire("anthropic", say_anthropic, to_text, "x-api-key"),
)


def refuse(status: int, message: str = "overloaded", **headers: str) -> Reply:
    """A reply that reports an error, in the shape that both wires share."""
    return reply_json({"error": {"type": "e", "message": message}}, status, **headers)
