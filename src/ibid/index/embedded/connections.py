"""Connections to one database, one for each thread that asks; all end with the library."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from weakref import WeakSet


class Connections:
    """Opens a connection for each thread when it first needs one."""

    def __init__(self, open: Callable[[], sqlite3.Connection]) -> None:
        self._open = open
        self._threads = threading.local()
        self._all: WeakSet[sqlite3.Connection] = WeakSet()

    def get(self) -> sqlite3.Connection:
        """The calling thread's connection. Raises what opening it does."""
        own: _Own | None = getattr(self._threads, "own", None)
        if own is None:
            own = self._threads.own = _Own(self._open())
            self._all.add(own.connection)
        return own.connection

    def close(self) -> None:
        """Close them all, whichever threads they belong to."""
        for connection in list(self._all):
            connection.close()


class _Own:
    """A thread's connection, which ends with it: SQLite's own would wait for the collector."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()
