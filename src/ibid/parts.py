"""What a library works with, and what it tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ibid.flows.options import AskOptions, IngestOptions, LogOptions, SearchOptions
from ibid.protocols import Embedder, Generator, Index, Manifest, Reranker


@dataclass(frozen=True, slots=True)
class Parts:
    """What a library works with; `openers.py` makes them from names and settings."""

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
    close_models: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
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
