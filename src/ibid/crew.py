"""The workers of a library: processes of their own that read files for it, or take them in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ibid.errors import BadSetting
from ibid.flows.options import SyncOptions, Workers

if TYPE_CHECKING:
    from ibid.parts import Parts
    from ibid.protocols import FileQueue, Index
    from ibid.reading.kept import KeptReaders


class Crew:
    """What `Library` does by other processes."""

    _index: Index
    _parts: Parts

    def work(self, *, drain: bool = False) -> int:
        """Take in files that syncs hand out, until a signal ends it; how many there were.

        With `drain` it ends when none waits. Several processes may do so, on any machine. Raises
        BadSetting for a library that has no queue, LibraryError when it can't be reached.
        """
        from ibid.flows.work import give_up, take_in

        take = partial(
            take_in,
            options=SyncOptions(ingest=self._parts.ingest, lend_readers=self._readers.lend),
            index=self._index,
            embedder=self._parts.embedder,
        )
        return self._queue.work(take, partial(give_up, index=self._index), drain=drain)

    def count_workers(self) -> int:
        """How many workers of this library are alive. Raises BadSetting where it has no queue."""
        return self._queue.count_workers()

    def _ask_workers(self, on_wait: Callable[[], None], password: str | None) -> Workers:
        """The workers, for a sync that waits for them. Raises BadSetting."""
        if password is not None:
            raise BadSetting(
                "a password is not handed out to workers", hint="sync encrypted files without them"
            )
        return Workers(self._queue, on_wait)

    @cached_property
    def _queue(self) -> FileQueue:
        return self._parts.open_queue()

    @cached_property
    def _readers(self) -> KeptReaders:
        """The readers of synced folders, kept from one sync to the next."""
        from ibid.flows.taking import open_readers
        from ibid.reading.kept import KeptReaders

        return KeptReaders(partial(open_readers, self._parts.ingest))
