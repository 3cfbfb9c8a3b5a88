"""Documents that may have had their day: old ones, superseded ones, ones that no answer cited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from ibid.protocols import Index, Scope, Snapshot
from ibid.ranking.groups import group_alike
from ibid.records import OWNER, DocumentInfo

ALIKE: Final = 0.7
"""The share of their runs of three words from which two documents say nearly the same."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A document with the reasons to look at it."""

    info: DocumentInfo
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaleReport:
    """The documents to look at, in the order of insertion, and the groups that are alike."""

    documents: tuple[Stale, ...]
    groups: tuple[tuple[str, ...], ...]


def find_stale(
    *, index: Index, scope: Scope, days: float, now: datetime | None = None
) -> StaleReport:
    """What the caller may see and should look at; archived documents are left alone.

    Old is what was not modified for so many days; superseded what a newer document says nearly as
    well. What no kept answer was drawn from is told to the owner alone, and only where there are
    answers: what others asked shows in it.
    """
    snapshot = index.snapshot()
    infos = snapshot.documents(scope)
    by_id = {info.id: info for info in infos}
    groups = group_alike(_read_texts(snapshot, infos, scope), ALIKE)
    newest = {id: _pick_newest(group, by_id) for group in groups for id in group}
    drawn = {id for id, _ in index.answers.list_drawn()} if scope.principals is OWNER else set()
    before = (now or datetime.now(UTC)) - timedelta(days=days)

    def tell_reasons(info: DocumentInfo) -> Iterator[str]:
        if info.modified_at is not None and info.modified_at < before:
            yield f"not modified since {info.modified_at:%Y-%m-%d}"
        if (by := newest.get(info.id)) not in (None, info.id):
            yield f"superseded by {by}"
        if drawn and info.id not in drawn:
            yield "no kept answer was drawn from it"

    found = (Stale(info, tuple(tell_reasons(info))) for info in infos)
    return StaleReport(
        tuple(one for one in found if one.reasons), tuple(tuple(group) for group in groups)
    )


def _read_texts(
    snapshot: Snapshot, infos: Sequence[DocumentInfo], scope: Scope
) -> Iterator[tuple[str, str]]:
    for info in infos:
        yield info.id, snapshot.document(info.id, scope).document.text


def _pick_newest(group: Sequence[str], infos: dict[str, DocumentInfo]) -> str | None:
    """The one of a group that was modified last; None where that can't be told."""
    dated = [(infos[id].modified_at, id) for id in group]
    times = {time for time, _ in dated}
    if None in times or len(times) < 2:
        return None
    return max(dated, key=lambda one: one[0] or datetime.min.replace(tzinfo=UTC))[1]
