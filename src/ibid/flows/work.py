"""The work of a worker: a file that was handed out is read, cut, embedded and committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ibid.errors import IbidError, InputError
from ibid.flows.carry import Sync
from ibid.flows.options import SyncOptions
from ibid.flows.plan import Known, Plan, name_document
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.tally import Tally
from ibid.protocols import (
    Embedder,
    Fetched,
    FileStat,
    FileState,
    Index,
    QueuedFile,
    SourceFile,
    SourceInfo,
)
from ibid.records import Failed, IngestReport
from ibid.sources.rules import RULES_FILE, read_rules

_COPY: Final = "file"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A file that was handed out, as a `Source` that holds nothing else."""

    file: QueuedFile

    @property
    def location(self) -> str:
        """Where the file itself lies."""
        return self.file.uri

    @property
    def unreadable(self) -> dict[str, str]:
        """See `Source.unreadable`: nothing."""
        return {}

    def scan(
        self, recall: Callable[[str], FileStat | None] = lambda path: None
    ) -> Iterator[SourceFile]:
        """The one file."""
        yield SourceFile(self.file.path, self.file.stat)

    @contextmanager
    def fetch(self, files: Iterable[SourceFile], *, max_bytes: int) -> Iterator[Iterator[Fetched]]:
        """The file in a copy, for a `with`."""
        with TemporaryDirectory(prefix="ibid-") as folder:
            copy = Path(folder) / _COPY
            copy.write_bytes(self.file.data)
            given = self.file
            yield (
                Fetched(file, given.uri, copy, stat=given.stat, media_type=given.media_type)
                for file in files
            )

    def read_text(self, path: str) -> str | None:
        """The rules of the folder that the file lies in."""
        return self.file.rules or None if path == RULES_FILE else None


def take_in(
    file: QueuedFile, options: SyncOptions, *, index: Index, embedder: Embedder
) -> IngestReport:
    """What became of a file that was handed out: the same as in any sync, in one commit.

    Raises what has nothing to do with the file, such as ModelUnavailable.
    """
    watch, tally, source = Stopwatch(), Tally(), HandedOut(file)
    with watch.timing("total"), index.writing():
        sync = Sync(
            folder=source,
            source=SourceInfo(file.source, source.location, file.prefix),
            options=options,
            rules=read_rules(source),
            plan=Plan(read=list(source.scan())),
            known=Known({}, file.hashes, {file.path: file.inside}),
            snapshot=index.snapshot(),
            tally=tally,
        )
        sync.carry_out(index, embedder, watch, lambda _: None)
        return tally.report(index.snapshot().version, watch.seconds)


def give_up(file: QueuedFile, error: IbidError, *, index: Index) -> IngestReport:
    """A file that failed; where it is the cause itself, it is not read again until it changes."""
    kind, message = type(error).__name__, str(error)
    with index.writing():
        if isinstance(error, InputError):
            state = FileState(file.path, file.stat, "failed", error=kind, message=message)
            index.commit([], {}, source=file.source, files=[state])
        id = name_document(SourceInfo(file.source, file.uri, file.prefix), file.path)
        return IngestReport(index.snapshot().version, failed=(Failed(id, kind, message),))
