"""Whoever leaves stops the model that writes for them: while it writes, while it thinks, and before
it has said a word; and a server that ends does not wait for one that is silent."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import ibid
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from model_server import to_chunk
from service_client import listening

QUESTION = "How long does parental leave last?"
CHAT = {"model": "ibid", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
LONG = 60.0
"""Seconds after which something that should have come is given up."""


class SlowModel:
    """A model behind a socket that says what it is told and then nothing: it only notices who
    hangs up."""

    def __init__(self, says: bytes) -> None:
        self.asked, self.left = threading.Event(), threading.Event()
        self._says = says
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            with caller:
                request = b""
                while b"\r\n\r\n" not in request and (came := caller.recv(65_536)):
                    request += came
                caller.sendall(self._says)
                self.asked.set()
                try:
                    while caller.recv(65_536):
                        pass
                except ConnectionResetError:
                    pass
                self.left.set()

    def close(self) -> None:
        self._listener.close()


@contextmanager
def open_model(says: bytes) -> Iterator[SlowModel]:
    model = SlowModel(says)
    try:
        yield model
    finally:
        model.close()


@contextmanager
def asking(url: str, path: str, body: dict[str, Any], accept: str) -> Iterator[socket.socket]:
    """A caller who has sent a request and hangs up at the end."""
    parts = urlsplit(url)
    sent = json.dumps(body).encode()
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as caller:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: {accept}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
        )
        caller.sendall(head.encode() + sent)
        yield caller


def open_asked(place: Path, model: SlowModel) -> ibid.Library:
    flags: dict[str, Any] = {
        "generator.name": "openai",
        "generator.base_url": model.url,
        "generator.model": "m",
        "generator.context_tokens": 8192,
    }
    settings = load_settings(flags, environ={})
    return ibid.open(place, embedder=HashingEmbedder(), settings=settings)


SAYS: dict[str, bytes] = {
    "nothing": b"",
    "that it heard": HEAD,
    "some words": HEAD + to_chunk("Leave lasts "),
}


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize(
    ("path", "body", "accept"),
    [
        ("/v1/ask", {"question": QUESTION}, "application/json"),
        ("/v1/ask", {"question": QUESTION}, "text/event-stream"),
        ("/v1/chat/completions", CHAT, "*/*"),
    ],
    ids=["ask", "ask-streamed", "chat"],
)
def test_who_leaves_stops_the_model(
    tmp_path: Path, says: str, path: str, body: dict[str, Any], accept: str
) -> None:
    with open_model(SAYS[says]) as model, open_asked(tmp_path / "library", model) as library:
        library.ingest(ibid.Document("leave.md", "Parental leave lasts sixteen weeks."))
        with listening(library, asks=1) as url:
            with asking(url, path, body, accept):
                assert model.asked.wait(LONG)
                assert not model.left.is_set()
            assert model.left.wait(LONG)
            model.asked.clear()
            with asking(url, path, body, accept):  # the one place to ask is free again
                assert model.asked.wait(LONG)


def test_one_who_leaves_takes_nobody_along(tmp_path: Path) -> None:
    """Two callers of one model: the second one's answer goes on when the first one leaves."""
    with open_model(b"") as model, open_asked(tmp_path / "library", model) as library:
        library.ingest(ibid.Document("leave.md", "Parental leave lasts sixteen weeks."))
        with listening(library) as url:
            body = {"question": QUESTION}
            with asking(url, "/v1/ask", body, "*/*"):
                assert model.asked.wait(LONG)
                with asking(url, "/v1/ask", body, "*/*"):
                    pass  # waits for a model that takes one after the other, and leaves
                assert not model.left.is_set()
            assert model.left.wait(LONG)


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_server_that_ends_leaves_a_silent_model(tmp_path: Path, says: str, accept: str) -> None:
    with open_model(SAYS[says]) as model, open_asked(tmp_path / "library", model) as library:
        library.ingest(ibid.Document("leave.md", "Parental leave lasts sixteen weeks."))
        with listening(library, grace=1) as url, ExitStack() as callers:
            callers.enter_context(asking(url, "/v1/ask", {"question": QUESTION}, accept))
            assert model.asked.wait(LONG)
            callers = callers.pop_all()  # who stays when the server ends
        assert model.left.wait(LONG)
        callers.close()
