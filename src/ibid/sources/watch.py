"""A source that is watched: a signal whenever something of it may have changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

QUIET_MS: Final = 400
"""So long nothing must change before a signal: editors write a file in several strokes."""

LONGEST_MS: Final = 4_000
"""After so long a signal comes all the same, however busy the folder is."""

LOOK_MS: Final = 500
"""How often the wish to stop is looked at."""

RESCAN_SECONDS: Final = 600.0
"""After so long without a signal one comes anyway: network drives tell of nothing."""


def watch_changes(
    folder: Path,
    *,
    stop: threading.Event,
    ignore: Path | None = None,
    rescan_seconds: float = RESCAN_SECONDS,
) -> Iterator[None]:
    """A signal at once, and then after each bout of changes below the folder, until `stop`.

    What changes between two signals is never missed: the system gathers it from before the first.
    Changes below `ignore` are none: a library in the folder is written to by every sync.
    """
    import watchfiles  # noqa: PLC0415 - only for those who watch

    def counts(_: object, path: str) -> bool:
        return ignore is None or not Path(path).is_relative_to(ignore)

    signalled: float | None = None
    for changes in watchfiles.watch(
        folder,
        debounce=LONGEST_MS,
        step=QUIET_MS,
        rust_timeout=LOOK_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=True,
        watch_filter=counts,
    ):
        now = time.monotonic()
        if changes or signalled is None or now - signalled >= rescan_seconds:
            signalled = now
            yield


def watch_clock(*, stop: threading.Event, rescan_seconds: float = RESCAN_SECONDS) -> Iterator[None]:
    """A signal at once, and then each time that so many seconds have passed, until `stop`."""
    yield
    while not stop.wait(rescan_seconds):
        yield
