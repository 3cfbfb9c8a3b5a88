"""What a library was made with, and whether it is opened with the same."""

from __future__ import annotations

from ibid.chunking.options import Chunking
from ibid.errors import EmbedderMismatch
from ibid.protocols import Embedder, Manifest
from ibid.version import ANALYZER


def describe_library(embedder: Embedder, chunking: Chunking) -> Manifest:
    """What a library made with these parts records."""
    return Manifest(
        embedder=embedder.name,
        weights=embedder.weights,
        dimension=embedder.dimension,
        analyzer=ANALYZER,
        chunking=str(chunking),
    )


def check_manifest(made: Manifest | None, opened: Manifest) -> None:
    """Raise EmbedderMismatch when a library was made with other parts than it is opened with."""
    if made is None:
        return
    known = {
        "embedder": (f"{made.embedder} {made.weights}", f"{opened.embedder} {opened.weights}"),
        "analyzer": (made.analyzer, opened.analyzer),
        "chunking": (made.chunking, opened.chunking),
    }
    for what, (before, now) in known.items():
        if before != now:
            raise EmbedderMismatch(
                f"the library was made with the {what} {before.strip()!r} and is opened with"
                f" {now.strip()!r}",
                hint="open it with what it was made with, or run `ibid reindex`",
            )
