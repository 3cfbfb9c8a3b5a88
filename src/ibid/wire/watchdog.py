"""The clock beside a stream: an endpoint that goes silent is hung up on in time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from ibid.errors import ModelTimeout
from ibid.wire.line import shut_down

if TYPE_CHECKING:
    import httpx2


class Watchdog:
    """Hangs up on a response when what is waited for isn't there in time.

    A blocked read only knows how long no byte came: comments that keep a stream alive would hold
    it off for ever. Leaving the context after it hung up raises what `describe` makes of the wait:
    seconds, or None where it was the deadline that passed.
    """

    def __init__(
        self,
        response: httpx2.Response,
        deadline: float,
        describe: Callable[[float | None], ModelTimeout],
    ) -> None:
        self._stream = response.extensions.get("network_stream")
        self._deadline = deadline
        self._describe = describe
        self._changed = threading.Condition()
        self._seconds, self._until = 0.0, math.inf
        self._done = self._fired = False

    def wait_for(self, seconds: float) -> None:
        """Give the endpoint this long, and never longer than the deadline."""
        self._set(seconds, min(time.monotonic() + seconds, self._deadline))

    def rest(self) -> None:
        """Wait for nothing."""
        self._set(0.0, math.inf)

    def __enter__(self) -> Watchdog:
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changed:
            self._done = True
            self._changed.notify()
        if self._fired and not isinstance(error, GeneratorExit):
            at_deadline = self._until == self._deadline
            raise self._describe(None if at_deadline else self._seconds) from error

    def _set(self, seconds: float, until: float) -> None:
        with self._changed:
            sooner = until < self._until
            if not self._fired:
                self._seconds, self._until = seconds, until
            if sooner:  # else it wakes up too early, finds so, and waits on
                self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while not self._done:
                left = self._until - time.monotonic()
                if left <= 0:
                    self._fired = self._done = True
                    shut_down(self._stream)
                else:
                    self._changed.wait(min(left, threading.TIMEOUT_MAX))
