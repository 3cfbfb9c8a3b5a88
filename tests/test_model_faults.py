"""Questions asked of model servers that fail in every way, over OpenAI's wire and Anthropic's.

Each gives a right answer or a clear error. A call that hung would hang these tests: the servers
wait until the tests end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import ibid
from conftest import open_hashing
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.servers import Reply, ScriptedServer, reply_json, serve
from model_server import WIRES, ModelWire, refuse, stream, to_event

PAGE: Final = ibid.Document("leave", "Parental leave lasts sixteen weeks. It is paid in full.")
QUESTION: Final = "How long is parental leave?"
RIGHT: Final = ("Parental leave lasts ", "sixteen weeks [", "1", "].")
LIMITS: Final = {"first_seconds": 0.4, "idle_seconds": 0.3, "total_seconds": 1.2, "retries": 2}

Answer = Callable[[Any], Reply]


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> ModelWire:
    found: ModelWire = request.param
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with open_hashing(tmp_path / "library") as library:
        library.ingest(PAGE)
    return tmp_path / "library"


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


def ask(
    place: Path,
    wire: ModelWire,
    server: ScriptedServer,
    pieces: list[str] | None = None,
    **more: Any,
) -> ibid.Answer:
    """The answer that a server of this wire leads to, its text as it came in `pieces`."""
    said = {"name": wire.name, "base_url": server.url, "model": "m", **LIMITS, **more}
    settings = load_settings({f"generator.{key}": value for key, value in said.items()})
    with ibid.open(place, embedder=HashingEmbedder(), settings=settings) as library:
        return library.ask(QUESTION, on_text=None if pieces is None else pieces.append)


def in_turn(*replies: Reply) -> Answer:
    waiting = list(replies)
    return lambda body: waiting.pop(0) if len(waiting) > 1 else waiting[0]


def test_a_stream_cut_inside_a_marker_shows_no_half_of_it(place: Path, wire: ModelWire) -> None:
    pieces: list[str] = []
    with serve(in_turn(stream(wire.say(RIGHT)))) as server:
        answer = ask(place, wire, server, pieces)
    assert answer.text == "Parental leave lasts sixteen weeks [1]."
    assert [c.verdict for c in answer.citations] == [ibid.Verdict.SUPPORTED]
    assert "".join(pieces) == answer.text
    assert not any(piece.rstrip("1").endswith("[") for piece in pieces)
    assert answer.tokens == {"prompt": 90, "completion": 7}
    assert answer.warnings == ()


def test_bytes_may_be_cut_anywhere(place: Path, wire: ModelWire) -> None:
    whole = b"".join(wire.say(RIGHT))
    pieces = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    with serve(in_turn(stream(pieces))) as server:
        assert ask(place, wire, server).text == "Parental leave lasts sixteen weeks [1]."


def test_a_busy_server_is_asked_again_as_it_says(
    place: Path, wire: ModelWire, sleeps: list[float]
) -> None:
    right = stream(wire.say(RIGHT))
    with serve(in_turn(refuse(429, retry_after="1"), refuse(500), right)) as server:
        assert ask(place, wire, server, total_seconds=600).status is ibid.AnswerStatus.ANSWERED
        assert len(server.bodies) == 3
    assert sleeps[0] == 1


def test_a_server_that_stays_busy_is_given_up(
    place: Path, wire: ModelWire, sleeps: list[float]
) -> None:
    with serve(in_turn(refuse(500))) as server:
        with pytest.raises(ibid.ModelUnavailable, match="status 500: overloaded"):
            ask(place, wire, server, total_seconds=600)
        assert len(server.bodies) == 3
    with (
        serve(in_turn(refuse(429, retry_after="61"))) as server,
        pytest.raises(ibid.ModelUnavailable, match="61 s, beyond the time limit of 60 s"),
    ):
        ask(place, wire, server, total_seconds=600)
    assert max(sleeps) < 3


def faults(wire: ModelWire) -> dict[str, tuple[Reply, type, str]]:
    """Replies that are no answer, with the error that each is."""
    half = wire.say(RIGHT)[:-4]
    error = to_event({"type": "error", "error": {"type": "e", "message": "out of memory"}})
    return {
        "no first token": (stream([], stall=True), ibid.ModelTimeout, "nothing for 0.4 s"),
        "only signs of life": (stream([], chatter=True), ibid.ModelTimeout, "nothing for 0.4 s"),
        "stalled": (stream(half, stall=True), ibid.ModelTimeout, "nothing for 0.3 s"),
        "stalled, alive": (stream(half, chatter=True), ibid.ModelTimeout, "nothing for 0.3 s"),
        "hung up": (stream(half, cut=True), ibid.ModelUnavailable, "broke off its answer"),
        "ended early": (stream(half), ibid.MalformedOutput, "before it was finished"),
        "no JSON": (stream([*half, b"data: {oops\n\n"]), ibid.MalformedOutput, "no reply of a"),
        "error": (stream([*half, error]), ibid.ModelUnavailable, "out of memory"),
        "empty": (stream(wire.say([])), ibid.MalformedOutput, "the answer is empty"),
        "blank": (stream(wire.say([" \n"])), ibid.MalformedOutput, "the answer is empty"),
        "a page": (Reply([b"<html>"]), ibid.MalformedOutput, "no reply of a chat model"),
        "a wrong key": (refuse(401, "no such key"), ibid.ModelUnavailable, "no such key"),
    }


@pytest.mark.parametrize("fault", faults(WIRES[0]))
def test_a_fault_is_a_clear_error(place: Path, wire: ModelWire, fault: str) -> None:
    reply, kind, words = faults(wire)[fault]
    with serve(in_turn(reply)) as server, pytest.raises(kind, match=words):
        ask(place, wire, server)


def test_a_trickle_ends_with_the_time_for_an_answer(place: Path, wire: ModelWire) -> None:
    """Each token comes in time, and the answer never ends."""
    with serve(in_turn(stream([], trickle=wire.to_piece("well ")))) as server:
        with pytest.raises(ibid.ModelTimeout, match=r"did not finish within 1\.2 s"):
            ask(place, wire, server, output_tokens=100_000)
        assert server.hung_up.wait(5)


def test_an_answer_at_its_limit_is_shown_with_a_warning(place: Path, wire: ModelWire) -> None:
    with serve(in_turn(stream(wire.say([*RIGHT, " It is"], "length")))) as server:
        answer = ask(place, wire, server)
    assert answer.status is ibid.AnswerStatus.ANSWERED
    assert "limit of 1,024 tokens" in answer.warnings[0]


def test_an_answer_beyond_its_limit_is_stopped(place: Path, wire: ModelWire) -> None:
    endless = [wire.to_piece("sixteen weeks ") for _ in range(100)]
    with serve(in_turn(stream(endless, stall=True))) as server:
        answer = ask(place, wire, server, output_tokens=10)
    assert len(answer.text) < 200
    assert "went on beyond its limit" in answer.warnings[0]


def test_a_server_that_does_not_stream_answers_too(place: Path) -> None:
    openai, anthropic = WIRES
    text = "".join(RIGHT)
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    with serve(in_turn(reply_json({"choices": [choice]}))) as server:
        assert ask(place, openai, server).text == text
    message = {
        "type": "message",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    }
    with serve(in_turn(reply_json(message))) as server:
        assert ask(place, anthropic, server).text == text
