"""How far a reader has to go: it says how many pages there are, and is given time for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["pages", "scans"]

_listeners: list[Callable[[Kind, int], None]] = []


def listen_for_pages(listener: Callable[[Kind, int], None]) -> None:
    """Have `listener` called with the pages, and the scans, that readers report from now on."""
    _listeners.append(listener)


def report_pages(count: int) -> None:
    """Say how many pages the file at hand has, or as many as its length comes to."""
    _report("pages", count)


def report_scan() -> None:
    """Say that the text of one more image is about to be recognized, which takes long."""
    _report("scans", 1)


def _report(kind: Kind, count: int) -> None:
    for listener in _listeners:
        listener(kind, count)
