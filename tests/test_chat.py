"""Chat completions over HTTP, against a server that streams, stalls, cuts and errs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from ibid.answering.chat import ChatGenerator
from ibid.errors import MalformedOutput, ModelTimeout, ModelUnavailable
from ibid.protocols import Generator
from ibid.testing.generator_suite import GeneratorSuite, Speaker, make_prompt
from ibid.testing.servers import EVENTS, Reply, reply_json, serve
from ibid.wire import Wire


def to_event(value: object) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def to_chunk(text: str | None, finish: str | None = None) -> bytes:
    return to_event({"choices": [{"delta": {"content": text}, "finish_reason": finish}]})


def say(*pieces: bytes, **traits: Any) -> Reply:
    return Reply(pieces, headers=EVENTS, **traits)


DONE = b"data: [DONE]\n\n"


class TestChatGenerator(GeneratorSuite):
    @pytest.fixture
    def speak(self) -> Iterator[Speaker]:
        with ExitStack() as stack:

            def start(pieces: list[str]) -> Generator:
                reply = say(*map(to_chunk, pieces), to_chunk(None, "stop"), DONE)
                server = stack.enter_context(serve(lambda body: reply))
                return ChatGenerator(Wire(server.url), "m")

            yield start


def read(reply: Reply, **limits: float) -> str:
    with serve(lambda body: reply) as server:
        generator = ChatGenerator(Wire(server.url, retries=0, **limits), "m")  # type: ignore[arg-type]  # limits are timeouts
        return "".join(delta.text for delta in generator.generate(make_prompt()))


def test_the_request_is_what_the_endpoint_knows() -> None:
    usage = to_event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}})
    with serve(lambda body: say(to_chunk("yes", "stop"), usage, DONE)) as server:
        generator = ChatGenerator(Wire(server.url), "m")
        *_, last = generator.generate(make_prompt("Why?"))
        assert (last.prompt_tokens, last.completion_tokens) == (9, 2)
        assert server.bodies == [
            {
                "model": "m",
                "messages": [
                    {"role": "system", "content": "Answer."},
                    {"role": "user", "content": "Why?"},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "temperature": 0,
            }
        ]
        assert generator.remote is None


def test_closing_hangs_up() -> None:
    with serve(lambda body: say(to_chunk("one"), chatter=True)) as server:
        stream = ChatGenerator(Wire(server.url), "m").generate(make_prompt())
        assert next(stream).text == "one"
        stream.close()  # type: ignore[attr-defined]  # it is a generator
        assert server.hung_up.wait(5)


def test_an_endpoint_that_does_not_stream_answers_too() -> None:
    choice = {"message": {"content": "all at once"}, "finish_reason": "stop"}
    assert read(reply_json({"choices": [choice]})) == "all at once"


def test_an_answer_without_a_reason_to_end_is_done_when_it_says_so() -> None:
    assert read(say(to_chunk("done"), DONE)) == "done"


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (say(to_chunk("half")), MalformedOutput, "ended before it was finished"),
        (say(to_chunk("half", "length"), DONE), MalformedOutput, "limit of length"),
        (say(to_chunk("half", "content_filter")), MalformedOutput, "filter"),
        (say(to_chunk("half"), b"data: {oops\n\n"), MalformedOutput, "no chat completion"),
        (say(b"data: [1]\n\n"), MalformedOutput, "no chat completion"),
        (say(to_event({"error": {"message": "out of memory"}})), ModelUnavailable, "out of memory"),
        (say(to_chunk("half"), cut=True), ModelUnavailable, "broke off"),
        (say(to_chunk("half"), stall=True), ModelTimeout, "sent nothing"),
        (reply_json({"error": {"message": "overloaded"}}, 503), ModelUnavailable, "overloaded"),
        (Reply([b"<html>"]), MalformedOutput, "no chat completion"),
    ],
)
def test_an_answer_that_fails_is_an_error(reply: Reply, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words):
        read(reply, timeout=2, idle_timeout=0.3)
