"""What a library works with, and what it tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ibid.errors import LibraryError
from ibid.flows.options import AskOptions, IngestOptions, LogOptions, SearchOptions, Spread
from ibid.protocols import Embedder, FileQueue, Generator, Index, Manifest, Reranker, Source
from ibid.record import record


def _refuse_scratch(folder: Path) -> Index:
    raise LibraryError("no engine for a scratch library", hint="open the library by ibid.open")


def _refuse_workers() -> FileQueue:
    raise LibraryError("no queue for workers", hint="open the library by ibid.open")


def _refuse_spread(address: str) -> Spread:
    raise LibraryError("no cluster for this library", hint="open the library by ibid.open")


def _open_folder(place: str) -> Source:
    from ibid.sources.folder import FolderSource  # noqa: PLC0415 - only a sync needs it

    return FolderSource(place)


@record
class Parts:
    """What a library works with; `openers.py` makes them from names and settings.

    `open_scratch` opens a library of the embedded engine that is made to try something,
    `open_source` what lies at a path or an address, `open_queue` the files that wait for workers,
    `open_spread` a cluster that reads for a sync.
    """

    index: Index
    embedder: Embedder
    open_generator: Callable[[], Generator]
    ingest: IngestOptions
    search: SearchOptions
    ask: AskOptions
    log: LogOptions
    keep_days: float
    reranker: Reranker | None = None
    open_reranker: Callable[[str], Reranker | None] = lambda name: None
    open_scratch: Callable[[Path], Index] = _refuse_scratch
    open_source: Callable[[str], Source] = _open_folder
    open_queue: Callable[[], FileQueue] = _refuse_workers
    open_spread: Callable[[str], Spread] = _refuse_spread
    close_models: Callable[[], None] = lambda: None


@record
class Status:
    """What a library holds, as far as the caller sees it; the owner also sees how much is not
    public (`restricted_documents`, None for everyone else)."""

    location: str
    engine: str
    version: int
    documents: int
    passages: int
    manifest: Manifest
    bytes: int
    restricted_documents: int | None
