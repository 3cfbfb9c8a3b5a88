"""Chat completions over HTTP, against a server that streams, stalls, cuts and errs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from ibid.answering.chat import ChatGenerator
from ibid.answering.options import ModelOptions
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
                "max_tokens": 1024,
                "temperature": 0,
            }
        ]
        assert generator.remote is None


def test_no_proxy_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert read(say(to_chunk("here", "stop"), DONE)) == "here"


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("model.localhost", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
    ],
)
def test_only_this_machine_is_no_remote_one(host: str, here: bool) -> None:
    line = Wire(f"http://{host}:80/v1")
    assert (line.remote is None) is here
    assert line.origin == f"http://{host}:80"


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


def test_an_answer_at_its_limit_comes_with_a_warning() -> None:
    with serve(lambda body: say(to_chunk("half", "length"), DONE)) as server:
        deltas = list(ChatGenerator(Wire(server.url), "m").generate(make_prompt()))
    assert [delta.text for delta in deltas if delta.text] == ["half"]
    assert "limit of 1,024 tokens" in deltas[-1].warning


def test_a_model_that_goes_on_beyond_its_limit_is_stopped() -> None:
    endless = say(*[to_chunk("word " * 20)] * 50, stall=True)
    options = ModelOptions(output_tokens=8)
    with serve(lambda body: endless) as server:
        deltas = list(ChatGenerator(Wire(server.url), "m", options=options).generate(make_prompt()))
    assert sum(len(delta.text) for delta in deltas) < 8 * 16 + 101
    assert "went on beyond" in deltas[-1].warning


@pytest.mark.parametrize("cuts", [[3, 9], [1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22], [10]])
def test_thoughts_before_the_answer_are_left_out(cuts: list[int]) -> None:
    whole = "<think>Is it [1]?\n</think>\n\nIt is <b>[1]</b>."
    ends = [0, *cuts, len(whole)]
    pieces = [to_chunk(whole[a:b]) for a, b in itertools.pairwise(ends)]
    assert read(say(*pieces, to_chunk(None, "stop"), DONE)).strip() == "It is <b>[1]</b>."
    assert read(say(to_chunk("<"), to_chunk("3", "stop"), DONE)) == "<3"


def test_a_field_that_the_endpoint_refuses_is_said_otherwise_once() -> None:
    def answer(body: Any) -> Reply:
        for name in ("max_tokens", "temperature"):
            if name in body:
                return reply_json({"error": {"message": f"Unsupported: '{name}'"}}, 400)
        return say(to_chunk("yes", "stop"), DONE)

    with serve(answer) as server:
        generator = ChatGenerator(Wire(server.url), "m")
        for _ in range(2):
            assert "".join(delta.text for delta in generator.generate(make_prompt())) == "yes"
        assert len(server.bodies) == 4
        assert server.bodies[-1]["max_completion_tokens"] == 1024
    with (
        serve(lambda body: reply_json({"error": "bad max_tokens"}, 400)) as server,
        pytest.raises(ModelUnavailable, match="bad max_tokens"),
    ):
        list(ChatGenerator(Wire(server.url), "m").generate(make_prompt()))


def test_a_schema_is_asked_for_where_the_answer_is_to_be_json() -> None:
    schema: Any = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    with serve(lambda body: say(to_chunk('{"ok": true}', "stop"), DONE)) as server:
        prompt = replace(make_prompt(), schema=schema)
        list(ChatGenerator(Wire(server.url), "m").generate(prompt))
        sent = server.bodies[0]["response_format"]
    assert (sent["type"], sent["json_schema"]["schema"]) == ("json_schema", schema)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (say(to_chunk("half")), MalformedOutput, "ended before it was finished"),
        (say(to_chunk("", "length"), DONE), MalformedOutput, "the answer is empty"),
        (say(to_chunk(" \n", "stop"), DONE), MalformedOutput, "the answer is empty"),
        (say(to_chunk("<think>so", "stop"), DONE), MalformedOutput, "the answer is empty"),
        (say(to_chunk("half", "content_filter")), MalformedOutput, "filter"),
        (say(to_chunk("half"), b"data: {oops\n\n"), MalformedOutput, "no reply of a chat model"),
        (say(b"data: [1]\n\n"), MalformedOutput, "no reply of a chat model"),
        (say(to_event({"error": {"message": "out of memory"}})), ModelUnavailable, "out of memory"),
        (say(to_chunk("half"), cut=True), ModelUnavailable, "broke off"),
        (say(to_chunk("half"), stall=True), ModelTimeout, "sent nothing"),
        (reply_json({"error": {"message": "overloaded"}}, 503), ModelUnavailable, "overloaded"),
        (Reply([b"<html>"]), MalformedOutput, "no reply of a chat model"),
    ],
)
def test_an_answer_that_fails_is_an_error(reply: Reply, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words):
        read(reply, timeout=2, idle_timeout=0.3)
