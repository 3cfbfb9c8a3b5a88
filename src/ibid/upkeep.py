"""The upkeep of a library, as methods of `Library`: its past, its health, models and copies."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ibid.errors import BadQuery, InputError, LibraryLocked
from ibid.flows.manifest import describe_library
from ibid.flows.options import OnProgress, hold_principals
from ibid.parts import Parts
from ibid.protocols import Problem, Revision, Scope, Vacuumed
from ibid.records import IngestReport, Owner

if TYPE_CHECKING:
    from ibid.flows.history import Difference
    from ibid.flows.reindex import Reindexed
    from ibid.flows.stale import StaleReport
    from ibid.flows.transfer import Transferred


MOST_DAYS: Final = 36_500


class Upkeep:
    """What is done to a library now and then."""

    location: str
    _parts: Parts

    def watch(
        self,
        folder: Path | str,
        sync: Callable[[], IngestReport],
        *,
        stop: threading.Event,
        on_report: Callable[[IngestReport], None] = lambda report: None,
        on_refusal: Callable[[InputError | LibraryLocked], None] = lambda error: None,
    ) -> None:
        """Call `sync` now, and whenever something below the folder has changed, until `stop`.

        An address tells of no change: there it is called every ten minutes. `on_report` is given
        the first report and every one that tells of a change, `on_refusal` a sync that was refused,
        which is tried again at the next change. Raises what else it raises.
        """
        from ibid.flows.watch import keep_in_step
        from ibid.sources.watch import watch_changes, watch_clock

        place = None if "://" in self.location else Path(self.location).resolve()
        if "://" in os.fspath(folder):
            signals = watch_clock(stop=stop)
        else:
            signals = watch_changes(Path(folder).resolve(), stop=stop, ignore=place)
        keep_in_step(signals, sync, on_report=on_report, on_refusal=on_refusal)

    def history(self, id: str, principals: Iterable[str] | Owner = ()) -> list[Revision]:
        """All that the documents which ever bore this id were, oldest first.

        Raises UnknownDocument for one that no version holds, or that the caller may not see.
        """
        return self._parts.index.history(id, Scope(hold_principals(principals)))

    def diff(self, old: int, new: int, principals: Iterable[str] | Owner = ()) -> Difference:
        """What differs between two versions, as far as the caller sees it. Raises BadQuery."""
        from ibid.flows.history import compare_versions

        scope = Scope(hold_principals(principals), include_archived=True)
        return compare_versions(old, new, index=self._parts.index, scope=scope)

    def diff_text(
        self, id: str, old: int, new: int, principals: Iterable[str] | Owner = ()
    ) -> list[str]:
        """The lines of a unified diff of a document's text at two versions.

        Raises BadQuery, or UnknownDocument where neither version holds it.
        """
        from ibid.flows.history import compare_texts

        scope = Scope(hold_principals(principals), include_archived=True)
        return compare_texts(id, old, new, index=self._parts.index, scope=scope)

    def stale(self, days: float = 365.0, principals: Iterable[str] | Owner = ()) -> StaleReport:
        """The documents that the caller should look at, to update or to archive.

        Those not modified for so many days, those that a newer one says nearly as well, and for the
        owner those that no kept answer was drawn from.
        """
        from ibid.flows.stale import find_stale

        scope = Scope(hold_principals(principals))
        return find_stale(index=self._parts.index, scope=scope, days=_check_days(days))

    def vacuum(self, days: float | None = None, *, cited: bool = False) -> Vacuumed:
        """Drop the versions that were replaced more than so many days ago, from every file.

        None is the retention that the settings name. The last version always stays; so does what
        a kept answer cites, unless `cited`. Raises LibraryLocked.
        """
        kept = timedelta(days=self._parts.keep_days if days is None else _check_days(days))
        return self._parts.index.vacuum(datetime.now(UTC) - kept, cited=cited)

    def verify(
        self,
        *,
        repair: bool = False,
        on_repair: Callable[[Sequence[Problem]], None] = lambda problems: None,
    ) -> Sequence[Problem]:
        """Every invariant that does not hold; with `repair`, those left after what is derived was
        made anew, and `on_repair` is given what is about to be mended. Raises LibraryLocked."""
        from ibid.flows.verify import verify_library

        return verify_library(
            index=self._parts.index,
            embedder=self._parts.embedder,
            repair=repair,
            on_repair=on_repair,
        )

    def reindex(self, *, on_progress: OnProgress | None = None) -> Reindexed:
        """Cut, analyse and embed every text anew with the parts that this library was opened with.

        It serves meanwhile as it was. A killed run goes on where it was. Raises what the embedder
        raises, and LibraryLocked.
        """
        from ibid.flows.reindex import reindex_library

        return reindex_library(
            index=self._parts.index,
            embedder=self._parts.embedder,
            options=self._parts.ingest,
            on_progress=on_progress,
        )

    def export(self, path: Path | str) -> Transferred:
        """Write the last version, with access, sources and golden cases, as one portable file.

        Raises InputError for a path that exists or can't be written.
        """
        from ibid.flows.golden import find_golden
        from ibid.flows.transfer import export_library

        return export_library(
            Path(path), index=self._parts.index, golden=find_golden(self.location)
        )

    def import_file(self, path: Path | str) -> Transferred:
        """Take in the documents of an exported file; what is held already stays as it is.

        Raises DuplicateDocument for an id that holds another text, InputError, FormatTooNew,
        EmbedderMismatch.
        """
        from ibid.flows.golden import find_golden
        from ibid.flows.transfer import import_library

        parts = self._parts
        opened = describe_library(parts.embedder, parts.ingest.chunking)
        return import_library(
            Path(path), index=parts.index, opened=opened, golden=find_golden(self.location)
        )


def _check_days(days: float) -> float:
    """The days, if a time so long ago can be told. Raises BadQuery."""
    if not 0 <= days <= MOST_DAYS:
        raise BadQuery(f"{days} days can't be used", hint=f"give a number from 0 to {MOST_DAYS:,}")
    return days
