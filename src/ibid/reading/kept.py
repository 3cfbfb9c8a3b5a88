"""Readers that are kept from one sync to the next, and let go when none comes for a while.

A child takes longer to start than a small file takes to be read. They are kept for one folder's
files alone: what people send to a service is read in children of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ibid.reading.pool import ReaderPool

IDLE_SECONDS: Final = 60.0


class KeptReaders:
    """Lends a pool of readers, the same again where it is free; close it at the end."""

    def __init__(
        self, open_pool: Callable[[], ReaderPool], *, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._open_pool = open_pool
        self._idle_seconds = idle_seconds
        self._mutex = threading.Lock()
        self._kept: ReaderPool | None = None
        self._timer: threading.Timer | None = None
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[ReaderPool]:
        """A pool for the length of a `with`; one that is left in the middle of a file ends."""
        pool = self._take() or self._open_pool()
        try:
            yield pool
        except BaseException:
            pool.close()
            raise
        self._keep(pool)

    def close(self) -> None:
        """End what is kept, and from now on each pool with its use."""
        with self._mutex:
            self._closed = True
        if (pool := self._take()) is not None:
            pool.close()

    def _take(self) -> ReaderPool | None:
        with self._mutex:
            if self._timer is not None:
                self._timer.cancel()
            pool, self._kept, self._timer = self._kept, None, None
            return pool

    def _keep(self, pool: ReaderPool) -> None:
        with self._mutex:
            kept = not self._closed and self._kept is None
            if kept:
                self._kept = pool
                self._timer = threading.Timer(self._idle_seconds, self._let_go, [pool])
                self._timer.daemon = True
                self._timer.start()
        if not kept:
            pool.close()

    def _let_go(self, pool: ReaderPool) -> None:
        with self._mutex:
            if self._kept is not pool:
                return
            self._kept = self._timer = None
        pool.close()
