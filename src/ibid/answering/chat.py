"""Answers from a language model: any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import cached_property
from typing import Final

from ibid.answering.options import ModelOptions
from ibid.answering.replies import (
    CUT,
    finish_reply,
    parse_event,
    read_counts,
    refuse_ending,
    stream_reply,
)
from ibid.protocols import Window
from ibid.records import JSON, Delta, Prompt
from ibid.wire import Wire

INSTEAD: Final[Mapping[str, str | None]] = {
    "max_tokens": "max_completion_tokens",
    "temperature": None,
    "stream_options": None,
    "response_format": None,
}
"""Fields that not every model takes, and what says the same to those that don't."""


class ChatGenerator:
    """Sends the messages of a prompt and streams what comes back.

    `find_context` asks the endpoint how many tokens its model holds; None where it doesn't say.
    """

    def __init__(
        self,
        wire: Wire,
        model: str,
        *,
        options: ModelOptions = ModelOptions(),
        find_context: Callable[[], int | None] = lambda: None,
        remote: str | None = None,
    ) -> None:
        self.name = model
        self.remote = remote or wire.remote
        self._wire = wire
        self._options = options
        self._find_context = find_context
        self._refused: set[str] = set()

    def find_window(self) -> Window | None:
        """What the model holds, by the options or by its endpoint; None where neither says."""
        context = self._options.context_tokens or self._asked_context
        return None if context is None else Window(context, self._options.output_tokens)

    @cached_property
    def _asked_context(self) -> int | None:
        return self._find_context()

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The pieces of the answer as they arrive, the last with the token counts if given.

        Closing the iterator hangs up, which stops the model. An answer that reached its limit comes
        with a warning. Raises ModelUnavailable, ModelTimeout, or MalformedOutput for an answer that
        breaks off, is empty, or is no chat completion.
        """
        limit = self._options.output_tokens
        with closing(self._read_deltas(prompt)) as deltas:
            yield from finish_reply(deltas, origin=self._wire.origin, output_tokens=limit)

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self._wire.close()

    def _read_deltas(self, prompt: Prompt) -> Generator[Delta, None, None]:
        finish: JSON = None
        counts: JSON = None
        stream = stream_reply(
            self._wire,
            "/chat/completions",
            lambda: self._build_request(prompt),
            dispensable=INSTEAD,
            refused=self._refused,
        )
        with closing(stream) as events:
            for event in events:
                if event == "[DONE]":
                    finish = finish or "stop"
                    break
                chunk = parse_event(event, self._wire)
                choice = _find_choice(chunk)
                finish = choice.get("finish_reason") or finish
                counts = chunk.get("usage") or counts  # some count up to each chunk
                if text := _find_text(choice):
                    yield Delta(text)
        yield read_counts(counts, "prompt_tokens", "completion_tokens")
        if finish == "length":
            yield Delta(warning=CUT.format(tokens=self._options.output_tokens))
        elif finish == "content_filter":
            refuse_ending(self._wire.origin, "the endpoint's filter cut the answer")
        elif not finish:
            refuse_ending(self._wire.origin, "the answer ended before it was finished")

    def _build_request(self, prompt: Prompt) -> dict[str, JSON]:
        wished: dict[str, JSON] = {
            "stream_options": {"include_usage": True},
            "temperature": self._options.temperature,
            "max_tokens": self._options.output_tokens,
            "response_format": _shape_schema(prompt.schema),
        }
        named = {INSTEAD[k] if k in self._refused else k: value for k, value in wished.items()}
        return {
            "model": self.name,
            "messages": [
                {"role": message.role, "content": message.content} for message in prompt.messages
            ],
            "stream": True,
            **{name: value for name, value in named.items() if name and value is not None},
        }


def _shape_schema(schema: Mapping[str, JSON] | None) -> JSON:
    if schema is None:
        return None
    named: dict[str, JSON] = {"name": "answer", "schema": dict(schema), "strict": True}
    return {"type": "json_schema", "json_schema": named}


def _find_choice(chunk: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The one choice of a chunk; the last chunk, which carries the counts, may have none."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _find_text(choice: Mapping[str, JSON]) -> str:
    """The new text of a chunk; an endpoint that doesn't stream says `message`."""
    said = choice.get("delta") or choice.get("message")
    text = said.get("content") if isinstance(said, dict) else None
    return text if isinstance(text, str) else ""
