"""How far a reader has to go: it says how many pages there are, and is given time for them."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[int], None]] = []


def listen_for_pages(listener: Callable[[int], None]) -> None:
    """Have `listener` called with the number of pages of every file that is read from now on."""
    _listeners.append(listener)


def report_pages(count: int) -> None:
    """Say how many pages the file at hand has, or as many as its length comes to."""
    for listener in _listeners:
        listener(count)
