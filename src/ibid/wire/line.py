"""The line that a caller holds while they wait: hanging up ends the stream that they wait for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final

_OPENED: Final = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
"""After which events of a connection there is a socket, the later one around the earlier one."""


class Line:
    """A caller's hold on the streams that one thread reads for them, one at a time.

    A read that nothing comes to would else wait on, and its model work on, when nobody listens.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stream: Any = None
        self.is_down = False

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Take hold of a connection as it is opened: what httpx2 calls a trace."""
        if event in _OPENED:
            with self._lock:
                self._stream = info["return_value"]
                if self.is_down:
                    shut_down(self._stream)

    def hang_up(self) -> None:
        """End the stream that is read, and every later one before it begins."""
        with self._lock:
            self.is_down = True
            shut_down(self._stream)


_held: ContextVar[Line | None] = ContextVar("line", default=None)


@contextmanager
def holding(line: Line) -> Iterator[None]:
    """Have the streams of this thread end when the line goes down."""
    token = _held.set(line)
    try:
        yield
    finally:
        _held.reset(token)


def find_line() -> Line | None:
    """The line that the streams of this thread are read for."""
    return _held.get()


def shut_down(stream: Any) -> None:
    """Shut a connection down, which ends a read that another thread waits in."""
    plug = stream.get_extra_info("socket") if stream is not None else None
    if plug is not None:
        with suppress(OSError):
            socket.socket.shutdown(plug, socket.SHUT_RDWR)
