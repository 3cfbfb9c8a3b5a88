"""Answers from a language model: any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Final

from ibid.errors import MalformedOutput, ModelUnavailable
from ibid.records import JSON, Delta, Prompt
from ibid.wire import Wire

DETERMINISTIC: Final[Mapping[str, JSON]] = {"temperature": 0}
"""The same prompt gives the same answer, as far as the endpoint can."""

_CUT: Final[dict[str, str]] = {
    "length": "the answer reached the model's limit of length and was cut",
    "content_filter": "the endpoint's filter cut the answer",
}


class ChatGenerator:
    """Sends the messages of a prompt and streams what comes back.

    `parameters` go into the request beside the messages, such as `{"temperature": 0}`.
    """

    def __init__(
        self, wire: Wire, model: str, *, parameters: Mapping[str, JSON] = DETERMINISTIC
    ) -> None:
        self.name = model
        self.remote: str | None = wire.remote
        self._wire = wire
        self._parameters = dict(parameters)

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The pieces of the answer as they arrive, the last with the token counts if given.

        Closing the iterator hangs up, which stops the model. Raises ModelUnavailable,
        ModelTimeout, or MalformedOutput for an answer that is cut or is no chat completion.
        """
        with closing(self._wire.stream("/chat/completions", self._build_request(prompt))) as events:
            finish: JSON = None
            for event in events:
                if event == "[DONE]":
                    finish = finish or "stop"
                    break
                chunk = self._parse(event)
                choice = _find_choice(chunk)
                finish = choice.get("finish_reason") or finish
                delta = _read_delta(chunk, choice)
                if delta != Delta():
                    yield delta
        if not finish or finish in _CUT:
            reason = _CUT.get(str(finish), "the answer ended before it was finished")
            raise MalformedOutput(
                f"{self._wire.origin}: {reason}",
                hint="ask again, or use a model with a larger limit",
            )

    def _build_request(self, prompt: Prompt) -> dict[str, JSON]:
        return {
            "model": self.name,
            "messages": [
                {"role": message.role, "content": message.content} for message in prompt.messages
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._parameters,
        }

    def _parse(self, event: str) -> dict[str, JSON]:
        try:
            chunk = json.loads(event)
        except ValueError as error:
            raise self._malformed(event) from error
        if not isinstance(chunk, dict):
            raise self._malformed(event)
        if chunk.get("error"):
            said = chunk["error"]
            message = said.get("message", said) if isinstance(said, dict) else said
            raise ModelUnavailable(
                f"{self._wire.origin} stopped with an error: {message}",
                hint="look at the log of the server",
            )
        return chunk

    def _malformed(self, event: str) -> MalformedOutput:
        return MalformedOutput(
            f"{self._wire.origin} answered with what is no chat completion: {event[:100]!r}",
            hint="look whether the address is that of a chat model",
        )


def _find_choice(chunk: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The one choice of a chunk; the last chunk, which carries the counts, may have none."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _read_delta(chunk: Mapping[str, JSON], choice: Mapping[str, JSON]) -> Delta:
    """The new text of a chunk and its counts; an endpoint that doesn't stream says `message`."""
    said = choice.get("delta") or choice.get("message")
    text = said.get("content") if isinstance(said, dict) else None
    usage = chunk.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Delta(
        text if isinstance(text, str) else "",
        prompt_tokens=_read_count(counts.get("prompt_tokens")),
        completion_tokens=_read_count(counts.get("completion_tokens")),
    )


def _read_count(value: JSON) -> int:
    return value if isinstance(value, int) else 0
