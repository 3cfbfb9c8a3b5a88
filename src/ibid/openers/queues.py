"""From a library's engine to the queue by which workers take in its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from ibid.errors import BadSetting
from ibid.protocols import FileQueue, Index
from ibid.settings import Settings


def open_queue(index: Index, settings: Settings) -> FileQueue:
    """The queue of a library. Raises BadSetting for an engine that has none."""
    opener = QUEUES.get(index.engine)
    if opener is None:
        raise BadSetting(
            "workers need a library in PostgreSQL",
            hint="name one in the library's address: postgresql://HOST/DATABASE",
        )
    return opener(index, settings)


def _open_postgres(index: Index, settings: Settings) -> FileQueue:
    from ibid.index.postgres.engine import PostgresIndex

    workers = settings.workers
    return cast(PostgresIndex, index).open_queue(
        attempts=workers.attempts, lost_s=workers.lost_seconds
    )


QUEUES: Final[Mapping[str, Callable[[Index, Settings], FileQueue]]] = {"postgres": _open_postgres}
"""Engine -> what opens the queue of its libraries."""
