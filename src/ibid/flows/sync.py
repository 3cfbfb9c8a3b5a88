"""The way of a folder: what changed in it is read, cut, embedded and committed as it goes.

A sync makes the documents of its source equal to the source's files, and touches no others. It
commits every few seconds, so a killed one goes on where it was; each commit tells what the source
knows of the files in it, and so what need not be read again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from ibid.chunking.options import Chunking, choose_chunking
from ibid.errors import EmptyDocument, IbidError, InputError, UnsupportedFormat
from ibid.flows.batch import Batch, Tally
from ibid.flows.ingest import EVERYTHING, find_stored
from ibid.flows.prepare import clean_document
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Embedder, FileState, Index, SourceFile, SourceInfo, StoredDocument
from ibid.reading.pool import FileRead, FileToRead, ReaderPool
from ibid.records import Document, Failed, IngestReport, Skipped
from ibid.sources.folder import FolderSource
from ibid.sources.layers import layer_metadata
from ibid.sources.rules import Rules, read_rules

MAX_FILE_BYTES: Final = 100_000_000

COMMIT_SECONDS: Final = 5.0
"""A commit is made when this much time has passed since the last one, or …"""

COMMIT_PASSAGES: Final = 512
"""… when so many passages wait for it: a few seconds of embedding, a few megabytes."""

LEAST_GUARDED: Final = 10
"""Documents from which on a source is guarded against losing more than half at once."""

SKIPS: Final = (EmptyDocument, UnsupportedFormat)
"""What a file in a folder may be without being a failure."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a folder is synced; `chunking` is the library's own."""

    chunking: Chunking = Chunking()
    max_file_bytes: int = MAX_FILE_BYTES
    commit_seconds: float = COMMIT_SECONDS
    checksum: bool = False
    dry_run: bool = False
    allow_emptying: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: files done of all to be read, and the version that holds them."""

    done: int
    total: int
    version: int
    committed: bool


OnProgress = Callable[[Progress], None]


@dataclass(slots=True)
class Plan:
    """What the listing of a source asks for, before anything is read."""

    read: list[SourceFile] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)
    """Paths that became documents and are no more, with the ids of those."""
    forgotten: list[str] = field(default_factory=list)


def sync_folder(
    folder: FolderSource,
    source: SourceInfo,
    options: SyncOptions,
    *,
    index: Index,
    embedder: Embedder,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Make the documents of a source equal to its folder; one version a commit.

    Raises InputError, with nothing changed, when the folder is not there, when its rules can't be
    read, or when more than half of the documents would go.
    """
    watch = Stopwatch()
    with watch.timing("total"), index.writing():
        run = _Run(folder, source, options, index, embedder, watch)
        run.make_plan()
        if not options.dry_run:
            run.carry_out(on_progress or (lambda _: None))
    return run.tally.report(index.snapshot().version, watch.seconds)
