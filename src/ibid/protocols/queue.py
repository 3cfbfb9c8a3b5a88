"""The queue of files between a sync and the workers that take them in, on whatever machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Protocol, TypeAlias

from ibid.errors import IbidError
from ibid.protocols.documents import FileStat
from ibid.record import record
from ibid.records import IngestReport


@record
class QueuedFile:
    """A file that waits to be taken in, with all that a worker must know of it.

    `inside` are the paths of what came in it when it was read last, `hashes` the content hashes of
    the documents that it became then, by id, `rules` the text of its folder's rules.
    """

    source: str
    prefix: str
    path: str
    uri: str
    stat: FileStat
    data: bytes = field(repr=False)
    rules: str = field(default="", repr=False)
    media_type: str | None = None
    inside: Sequence[str] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)


@record
class Taken:
    """A file that is done: what became of it.

    `report` is None where a worker died after it had committed the file and before it told.
    """

    path: str
    report: IngestReport | None


TakeFile: TypeAlias = Callable[[QueuedFile], IngestReport]
"""Takes a file in, with one commit at most; raises what has nothing to do with the file."""

GiveUp: TypeAlias = Callable[[QueuedFile, IbidError], IngestReport]
"""Lets a file fail with an error, which is remembered where the file is the cause."""


class FileRun(Protocol):
    """The files of one sync in the queue."""

    def put(self, file: QueuedFile) -> None:
        """Let a file wait for a worker; its bytes travel with it."""
        ...

    def settle(self) -> list[Taken]:
        """The files that were done since the last call."""
        ...


class FileQueue(Protocol):
    """Files that wait for workers; each is taken in once, whatever becomes of its workers."""

    def begin(self, source: str, prefix: str, rules: str) -> AbstractContextManager[FileRun]:
        """The run of a sync of a source, for a `with`; what an earlier one left waiting is dropped.

        `prefix` is that of its ids, `rules` the text of its folder's. What still waits at the end
        is dropped too.
        """
        ...

    def count_workers(self) -> int:
        """How many workers are alive."""
        ...

    def work(self, take: TakeFile, give_up: GiveUp, *, drain: bool = False) -> int:
        """Take in files until a signal ends it, or with `drain` until none waits; how many.

        A file is given up that took its worker's life, or raised, too often.
        """
        ...
