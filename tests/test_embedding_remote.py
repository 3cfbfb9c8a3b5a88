"""The wire to served models, and embedding over it, against a server that misbehaves on demand."""

from __future__ import annotations

import base64
import email.utils
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ibid.embedding.remote import RemoteEmbedder
from ibid.errors import BadSetting, MalformedOutput, ModelTimeout, ModelUnavailable
from ibid.protocols import Embedder
from ibid.testing.embedder_suite import EmbedderSuite
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.servers import EVENTS, Reply, reply_json, serve
from ibid.wire import PayloadTooLarge, Wire, endpoint

KEY = "sk-very-secret"
Sleeps = list[float]


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> Sleeps:
    waited: Sleeps = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


def in_turn(*replies: Reply) -> Callable[[Any], Reply]:
    waiting = list(replies)
    return lambda body: waiting.pop(0) if len(waiting) > 1 else waiting[0]


def test_json_goes_out_and_comes_back() -> None:
    with serve(in_turn(reply_json({"né": "是"}))) as server:
        line = Wire(server.url, key=KEY)
        assert line.post("/x", {"text": "café {x}"}) == {"né": "是"}
        line.close()
        line.close()
        assert line.post("/x", {}) == {"né": "是"}
        line.close()
        assert server.bodies[0] == {"text": "café {x}"}
        assert {k.lower(): v for k, v in server.headers[0].items()}["authorization"] == (
            f"Bearer {KEY}"
        )


def test_a_busy_server_is_asked_again_when_it_says(sleeps: Sleeps) -> None:
    date = email.utils.formatdate(time.time() + 20, usegmt=True)
    busy = [
        reply_json({}, 429, retry_after="7"),
        reply_json({}, 503, retry_after=date),
        reply_json({}, 500),
        reply_json({}, 502, retry_after="soon"),
    ]
    with serve(in_turn(*busy, reply_json("done"))) as server:
        assert Wire(server.url).post("/x", {}) == "done"
    assert sleeps[0] == 7
    assert 15 < sleeps[1] <= 20
    assert 1.5 <= sleeps[2] <= 2.5
    assert 3 <= sleeps[3] <= 5


def test_asking_again_has_an_end(sleeps: Sleeps) -> None:
    with serve(in_turn(reply_json({"error": {"message": f"no {KEY}"}}, 429))) as server:
        with pytest.raises(ModelUnavailable, match=r"status 429: no …") as caught:
            Wire(server.url, key=KEY, retries=2).post("/x", {})
        assert len(server.bodies) == 3
        assert KEY not in str(caught.value)
    with (
        serve(in_turn(reply_json({}, 429, retry_after="3600"))) as server,
        pytest.raises(ModelUnavailable, match="3600 s, beyond the time limit of 60 s"),
    ):
        Wire(server.url, timeout=60).post("/x", {})
    assert max(sleeps) < 60


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, {"error": {"message": "context too long"}}, ModelUnavailable, "context too long"),
        (401, {"error": "bad key"}, ModelUnavailable, "bad key; set the key"),
        (404, {"message": "no such model"}, ModelUnavailable, "no such model; look at the addr"),
        (413, {}, PayloadTooLarge, "status 413"),
        (418, ["odd"], ModelUnavailable, "odd"),
    ],
)
def test_a_refusal_is_told_at_once(status: int, body: Any, kind: type, words: str) -> None:
    with serve(in_turn(reply_json(body, status))) as server:
        with pytest.raises(kind, match=words):
            Wire(server.url).post("/x", {})
        assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply([b'{"a": ']), MalformedOutput, "no JSON"),
        (Reply([b"<html>"]), MalformedOutput, "no JSON"),
        (Reply([b'{"a"'], cut=True), ModelUnavailable, "broke off its answer"),
        (Reply([b'{"a"'], stall=True), ModelTimeout, "sent nothing for 0.2 s"),
        (Reply(chatter=True), ModelTimeout, "did not finish within 0.5 s"),
    ],
)
def test_a_bad_answer_has_its_error(reply: Reply, kind: type, words: str) -> None:
    with serve(in_turn(reply)) as server, pytest.raises(kind, match=words):
        Wire(server.url, timeout=0.5, idle_timeout=0.2).post("/x", {})


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_RESPONSE_BYTES", 1000)
    endless = in_turn(Reply([b"x" * 600] * 2))
    with serve(endless) as server, pytest.raises(MalformedOutput, match="more than 1000 bytes"):
        Wire(server.url).post("/x", {})


def test_no_server_is_told_at_once(sleeps: Sleeps) -> None:
    with serve(in_turn(Reply())) as server:
        url = server.url
    with pytest.raises(ModelUnavailable, match="can't be reached"):
        Wire(url).post("/x", {})
    assert sleeps == []


@pytest.mark.parametrize("url", ["http://models.invalid:99999/v1", "http://\x7f.invalid/v1"])
def test_an_address_that_cannot_be_is_an_error_of_the_model(url: str) -> None:
    with pytest.raises(ModelUnavailable, match="can't be reached"):
        Wire(url).post("/x", {})


def test_addresses_and_keys_are_checked() -> None:
    assert Wire("https://ann:pw@host:81/v1/").origin == "https://host:81"
    for url in ("ftp://host", "host/v1", "", "http://"):
        with pytest.raises(BadSetting, match="no http or https address"):
            Wire(url)
    for key in ("sk-\n", "sk-é"):
        with pytest.raises(BadSetting) as caught:
            Wire("http://host", key=key)
        assert key not in str(caught.value)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_events_arrive_whole_however_they_are_cut(size: int) -> None:
    text = (
        ": hello\n\nevent: a\ndata: {“ja”: 是}\u2028👩‍👧\n\n"
        "data:two\ndata: lines\r\n\r\nid: 1\n\ndata: end"
    ).encode()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    with serve(in_turn(Reply(pieces, headers=EVENTS))) as server:
        events = list(Wire(server.url).stream("/x", {}))
    assert events == ["{“ja”: 是}\u2028👩‍👧", "two\nlines", "end"]


def test_signs_of_life_do_not_hold_off_the_deadline() -> None:
    with serve(in_turn(Reply([b"data: 1\n\n"], headers=EVENTS, chatter=True))) as server:
        stream = Wire(server.url, timeout=0.4).stream("/x", {})
        assert next(stream) == "1"
        with pytest.raises(ModelTimeout, match="did not finish"):
            next(stream)


def embed_with(
    dimension: int = 32, *, form: str = "base64", most: int = 10**6
) -> Callable[..., Reply]:
    model = HashingEmbedder(dimension)

    def answer(body: Any) -> Reply:
        if len(body["input"]) > most:
            return reply_json({"error": {"message": "too large"}}, 413)
        rows = model.embed(body["input"], kind="passage") * 3
        encoded = [
            base64.b64encode(row.tobytes()).decode() if form == "base64" else row.tolist()
            for row in rows
        ]
        data = [{"index": at, "embedding": row} for at, row in enumerate(encoded)]
        return reply_json({"data": data[::-1]})

    return answer


class TestRemoteEmbedder(EmbedderSuite):
    @pytest.fixture(params=["base64", "float"])
    def embedder(self, request: pytest.FixtureRequest) -> Iterator[Embedder]:
        with serve(embed_with(form=request.param)) as server:
            yield RemoteEmbedder(Wire(server.url), "m")


def test_batches_are_halved_until_they_fit() -> None:
    texts = [f"text number {n}" for n in range(150)]
    with serve(embed_with(most=10)) as server:
        embedder = RemoteEmbedder(Wire(server.url), "m", prefixes={"query": "q: "})
        vectors = embedder.embed(texts, kind="passage")
        assert sum(len(b["input"]) for b in server.bodies if len(b["input"]) <= 10) == 150
        embedder.embed(["", "tea", " "], kind="query")
        assert server.bodies[-1]["input"] == ["q: tea"]
    np.testing.assert_allclose(vectors, HashingEmbedder(32).embed(texts, kind="passage"), atol=1e-6)
    with serve(embed_with(most=0)) as server, pytest.raises(PayloadTooLarge, match="413"):
        RemoteEmbedder(Wire(server.url), "m").embed(["one", "two"], kind="passage")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "returned 0 embeddings where 1 were expected"),
        ([{"index": 1, "embedding": [1.0]}], "1 embeddings where 1"),
        ([{"embedding": "no base64"}], "no float32 in base64"),
        ([{"embedding": None}], "no array|shape"),
        ([{"embedding": ["a"]}], "no array of numbers"),
        ("text", "returned 0 embeddings"),
    ],
)
def test_a_reply_that_is_no_embedding_is_malformed(data: Any, words: str) -> None:
    answer = in_turn(reply_json({"data": data}))
    with serve(answer) as server, pytest.raises(MalformedOutput, match=words):
        RemoteEmbedder(Wire(server.url), "m").embed(["one"], kind="passage")


def test_another_dimension_is_named() -> None:
    rows = iter([[1.0, 2.0], [1.0, 2.0, 3.0]])
    with serve(lambda body: reply_json({"data": [{"embedding": next(rows)}]})) as server:
        embedder = RemoteEmbedder(Wire(server.url), "m")
        embedder.embed(["one"], kind="passage")
        with pytest.raises(MalformedOutput, match=r"shape \(1, 3\) where \(1, 2\)"):
            embedder.embed(["two"], kind="passage")
