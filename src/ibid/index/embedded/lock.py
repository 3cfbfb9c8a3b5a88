"""The locks between processes at one library; the system frees them when one dies."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from ibid.errors import LibraryError, LibraryLocked

POLL_SECONDS: Final = 0.05


class ProcessLock:
    """The right to do something to the library in a folder, for one at a time.

    `name` is the file that is locked, `doing` what another one is told to be doing.
    """

    def __init__(
        self, folder: Path, timeout_s: float, *, name: str = "lock", doing: str = "writing to"
    ) -> None:
        self._folder = folder
        self._name = name
        self._doing = doing
        self.timeout_s = timeout_s

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Holds the lock. Raises LibraryLocked when another holds it for longer than the limit.

        LibraryError where the folder can't be written.
        """
        deadline = time.monotonic() + self.timeout_s
        with self._open() as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise self.refusal() from None
                    time.sleep(POLL_SECONDS)
            yield

    def _open(self) -> IO[str]:
        path = self._folder / self._name
        try:
            return path.open("a")
        except OSError as error:
            raise refuse_writing(path, error) from error

    def refusal(self) -> LibraryLocked:
        """The error of one that waited in vain."""
        return LibraryLocked(
            f"another process is {self._doing} {self._folder}",
            hint=f"waited {self.timeout_s:g} s; try again when it is done",
        )


def refuse_writing(path: Path, error: OSError) -> LibraryError:
    """The error of a file or folder that can't be written."""
    return LibraryError(
        f"{path} can't be written ({error.strerror})",
        hint="look at the room on the disk and at the rights of the folder, then try again",
    )
