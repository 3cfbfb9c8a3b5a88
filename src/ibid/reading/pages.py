"""How far a reader has to go and is: it gets time for its pages, and those read are not lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["pages", "page", "scans"]

_listeners: list[Callable[[Kind, int], None]] = []
_inside = 0


def listen_for_pages(listener: Callable[[Kind, int], None]) -> None:
    """Have `listener` called with the pages, and the scans, that readers report from now on."""
    _listeners.append(listener)


def report_pages(count: int) -> None:
    """Say how many pages the file at hand has, or as many as its length comes to."""
    _report("pages", count)


def report_page(number: int) -> None:
    """Say which page is about to be read, 0 once all are; the file is lost with none but these."""
    if not _inside:
        _report("page", number)


@contextmanager
def hold_page_reports() -> Iterator[None]:
    """Within it a file inside the file at hand is read, whose pages are none of its own."""
    global _inside
    _inside += 1
    try:
        yield
    finally:
        _inside -= 1


def report_scan() -> None:
    """Say that the text of one more image is about to be recognized, which takes long."""
    _report("scans", 1)


def _report(kind: Kind, count: int) -> None:
    for listener in _listeners:
        listener(kind, count)
