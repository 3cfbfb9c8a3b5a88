"""The server that runs the service: one process, which ends when it has answered."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

import uvicorn

from ibid.library import Library
from ibid.service.app import make_app
from ibid.service.logs import start_logs
from ibid.service.options import ServeOptions
from ibid.service.store import find_folder

GRACE_SECONDS: Final = 20
"""How long answers that are being written may take when the server is to end."""


def serve(library: Library, options: ServeOptions, *, on_start: Callable[[str], None]) -> None:
    """Serve until the process is told to end; `on_start` is given the address, once it answers."""
    start_logs(find_folder(library.location))
    config = uvicorn.Config(
        make_app(library, options),
        host=options.host,
        port=options.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # The server ends well at this signal, and then sends it once more to whoever had it before.
    signal.signal(signal.SIGTERM, lambda *_: None)
    _Server(config, on_start).run()


class _Server(uvicorn.Server):
    """A server that says where it is."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    def _log_started_message(self, listeners: object) -> None:
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        self._on_start(f"http://{f'[{host}]' if ':' in host else host}:{port}")
