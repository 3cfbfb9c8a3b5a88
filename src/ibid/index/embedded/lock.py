"""The lock between the processes that write to one library; the system frees it when one dies."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ibid.errors import LibraryLocked

POLL_SECONDS: Final = 0.05


class WriterLock:
    """The right to write to the library in a folder, for one process at a time."""

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self._folder = folder
        self.timeout_s = timeout_s

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Holds the lock. Raises LibraryLocked when another holds it for longer than the limit."""
        deadline = time.monotonic() + self.timeout_s
        with (self._folder / "lock").open("a") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise self.refusal() from None
                    time.sleep(POLL_SECONDS)
            yield

    def refusal(self) -> LibraryLocked:
        """The error of a writer that waited in vain."""
        return LibraryLocked(
            f"another process is writing to {self._folder}",
            hint=f"waited {self.timeout_s:g} s; try again when it is done",
        )
