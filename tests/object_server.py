"""An object store for the tests: moto's server, which speaks S3 over HTTP on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def start_store() -> Iterator[str]:
    """The address of an empty store that every key opens; its tests are skipped without it."""
    server = pytest.importorskip("moto.server", reason="needs the package moto with its server")
    pytest.importorskip("s3fs", reason="needs the extra s3")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        running.stop()
