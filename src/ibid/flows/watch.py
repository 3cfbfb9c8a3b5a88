"""A folder kept in step: it is synced whenever something in it may have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ibid.errors import InputError, LibraryLocked
from ibid.records import IngestReport


def keep_in_step(
    signals: Iterable[object],
    sync: Callable[[], IngestReport],
    *,
    on_report: Callable[[IngestReport], None],
    on_refusal: Callable[[InputError | LibraryLocked], None],
) -> None:
    """Sync at every signal; `on_report` is given what a sync that did something has done.

    A sync that is refused, because too much would go or another process writes, is told to
    `on_refusal` and tried again at the next signal. Every other error ends the watch.
    """
    first = True
    for _ in signals:
        try:
            report = sync()
        except (InputError, LibraryLocked) as error:
            on_refusal(error)
            continue
        if first or did_something(report):
            on_report(report)
        first = False


def did_something(report: IngestReport) -> bool:
    """Whether a sync changed the library."""
    changed = (report.added, report.updated, report.metadata_changed, report.moved, report.removed)
    return any(changed)
