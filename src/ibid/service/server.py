"""The server that runs the service: one process, which ends when it has answered."""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn

from ibid.errors import BadSetting, LibraryError
from ibid.library import Library
from ibid.service.app import make_app
from ibid.service.keys import list_keys
from ibid.service.logs import start_logs
from ibid.service.options import ServeOptions
from ibid.service.store import Store, find_folder
from ibid.service.traces import open_traces

GRACE_SECONDS: Final = 20
"""How long answers that are being written may take when the server is to end."""


_WAYS_OUT: Final = {
    errno.EADDRINUSE: "end what listens there, or name another port with --port",
    errno.EACCES: "a port below 1024 is for the system's own: name another with --port",
}
"""What to do where an address can't be had."""


def serve(library: Library, options: ServeOptions, *, on_start: Callable[[str], None]) -> None:
    """Serve until the process is told to end; `on_start` is given the address, once it answers.

    Raises BadSetting where no caller could ever be known, and for an address that can't be had.
    """
    folder = find_folder(library.location)
    _check_callers(folder, options)
    traces = open_traces(options.traces, library)
    sockets = open_sockets(options.host, options.port)
    start_logs(folder)
    config = uvicorn.Config(
        make_app(library, options, traces),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # The server ends well at this signal, and then sends it once more to whoever had it before.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        _Server(config, on_start).run(sockets)
    except SystemExit as error:  # how it leaves where its parts can't be opened
        raise LibraryError(
            "the service did not start", hint="the lines before this one say why"
        ) from error
    finally:
        if traces is not None:
            traces.close()


def _check_callers(folder: Path, options: ServeOptions) -> None:
    """Raise BadSetting where callers must show keys, and there is none to show."""
    if not options.keys_needed or options.identity is not None:
        return
    store = Store(folder)
    try:
        if all(key.revoked_at for key in list_keys(store)):
            raise BadSetting(
                f"callers at {options.host} must show a key, and there is none",
                hint="make one with `ibid key create`, or set serve.issuer and its keys",
            )
    finally:
        store.close()


def open_sockets(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at each address of a host. Raises BadSetting where one can't be had."""
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            sockets.append(socket.create_server(address[:2], family=family))
    except OSError as error:
        for opened in sockets:
            opened.close()
        raise BadSetting(
            f"can't listen at {host}:{port}: {_describe(error)}",
            hint=_WAYS_OUT.get(error.errno or 0, "serve.host is an address of this machine"),
        ) from error
    return sockets


def _describe(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    return os.strerror(error.errno) if error.errno else str(error)


class _Server(uvicorn.Server):
    """A server that says where it is."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so: for sockets of others the server itself says nothing."""
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        self._on_start(f"http://{f'[{host}]' if ':' in host else host}:{port}")
