"""An HTTP server for tests that answers as told, however badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

EVENTS: Final = {"content-type": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class Reply:
    """One response: its pieces are sent one by one.

    After them, `stall` waits until the server stops, `chatter` goes on sending comments until
    then, or `trickle` in place of them, and `cut` hangs up without ending the response, as a server
    does that dies.
    """

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    stall: bool = False
    chatter: bool = False
    trickle: bytes = b""
    cut: bool = False


@dataclass(slots=True)
class ScriptedServer:
    """A running server: where it is, what it was sent, and whether a client hung up on it.

    A request without a body counts as one of None.
    """

    url: str
    paths: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)


def reply_json(value: object, status: int = 200, **headers: str) -> Reply:
    """A response that holds this value as JSON; `_` in the name of a header stands for `-`."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply([json.dumps(value).encode()], status, {"content-type": "application/json"} | named)


@contextmanager
def serve(answer: Callable[[Any], Reply]) -> Iterator[ScriptedServer]:
    """A server on this machine that answers each JSON body with what `answer` makes of it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _answer(self, body: Any) -> None:
            server.paths.append(self.path)
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            try:
                _send(self, answer(body), server)
            except (BrokenPipeError, ConnectionResetError):
                server.hung_up.set()

        def log_message(self, format: str, *args: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = ScriptedServer(f"http://127.0.0.1:{listener.server_port}/v1")
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        listener.shutdown()
        listener.server_close()
        thread.join()


def _send(handler: BaseHTTPRequestHandler, reply: Reply, server: ScriptedServer) -> None:
    handler.close_connection = True
    handler.send_response(reply.status)
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    if reply.cut:  # a length that is never reached: the client sees that something is missing
        handler.send_header("content-length", str(sum(map(len, reply.pieces)) + 1))
    handler.end_headers()
    for piece in reply.pieces:
        handler.wfile.write(piece)
        handler.wfile.flush()
    if reply.stall:
        server.stopping.wait()
    endless = reply.trickle or (b": still here\n\n" if reply.chatter else b"")
    while endless and not server.stopping.wait(0.02):
        handler.wfile.write(endless)
        handler.wfile.flush()
