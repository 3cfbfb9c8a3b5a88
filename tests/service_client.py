"""A service in the process of the tests, and callers of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.testclient import TestClient

import ibid
from ibid.service.app import make_app
from ibid.service.keys import create_key
from ibid.service.options import ServeOptions
from ibid.service.store import Store, find_folder


@contextmanager
def serving(library: ibid.Library, **options: Any) -> Iterator[TestClient]:
    """A client of a service of a library."""
    app = make_app(library, ServeOptions(**options))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


@contextmanager
def listening(library: ibid.Library, *, grace: int = 60, **options: Any) -> Iterator[str]:
    """The address of a service that listens, in a thread; at its end, what is being answered has
    so many seconds."""
    app = make_app(library, ServeOptions(**options))
    config = uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=grace)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def make_key(library: ibid.Library, *principals: str, **options: Any) -> dict[str, str]:
    """The headers of a caller with a new key."""
    store = Store(find_folder(library.location))
    options = {"scopes": ["search", "ask", "ingest"], "name": "test", **options}
    _, text = create_key(store, principals=principals, **options)
    store.close()
    return {"Authorization": f"Bearer {text}"}


def await_job(client: TestClient, id: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """A job once it has ended."""
    for _ in range(600):
        job: dict[str, Any] = client.get(f"/v1/jobs/{id}", headers=headers or {}).json()
        if job["state"] in ("done", "failed"):
            return job
        time.sleep(0.05)
    raise AssertionError(f"job {id} does not end")


def read_events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream."""
    events = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n", 1)
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events
