"""Scratch libraries for tuning: the same documents cut in another way, vectors taken over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ibid.chunking.options import Chunking
from ibid.flows.batch import Batch
from ibid.flows.hashing import hash_text
from ibid.flows.options import EVERYTHING, IngestOptions, OnProgress, Progress
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.tally import Tally
from ibid.protocols import Embedder, Index

if TYPE_CHECKING:
    from ibid.protocols import Vectors


class SavingEmbedder:
    """An embedder that embeds no text twice: passages that one of the indexes holds are taken from
    there, and queries are remembered. `embedded` counts the passages that had to be."""

    def __init__(self, inner: Embedder, indexes: Sequence[Index]) -> None:
        self.name = inner.name
        self.weights = inner.weights
        self.max_tokens = inner.max_tokens
        self.remote = inner.remote
        self.tokenizer = inner.tokenizer
        self.languages: frozenset[str] | None = getattr(inner, "languages", None)
        self.embedded = 0
        self._inner = inner
        self._indexes = indexes
        self._queries: dict[str, Vectors] = {}

    @property
    def dimension(self) -> int | None:
        """See `Embedder`."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        """See `Embedder.embed`."""
        if not texts:
            return self._inner.embed(texts, kind=kind)
        known = self._queries if kind == "query" else self._find_held(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            new = self._inner.embed(missing, kind=kind)
            known.update(zip(missing, new, strict=True))
            self.embedded += len(missing) if kind == "passage" else 0
        return np.stack([known[text] for text in texts])

    def _find_held(self, texts: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        for index in self._indexes:
            missing = {hash_text(text): text for text in texts if text not in found}
            held = index.find_vectors(list(missing))
            found |= {missing[key]: vector for key, vector in held.items()}
        return found


def fill_scratch(
    scratch: Index,
    chunking: Chunking,
    *,
    index: Index,
    embedder: Embedder,
    options: IngestOptions,
    on_progress: OnProgress = lambda progress: None,
) -> None:
    """Make the scratch library hold all documents of the other, cut by this chunking.

    One that it holds already stays, so that a run that was stopped goes on where it was.
    """
    snapshot = index.snapshot()
    wanted = [info.id for info in snapshot.documents(EVERYTHING)]
    batch = Batch(
        index=scratch,
        embedder=embedder,
        options=replace(options, chunking=chunking),
        tally=Tally(),
        watch=Stopwatch(),
    )
    with scratch.writing():
        there = {info.id for info in scratch.snapshot().documents(EVERYTHING)}
        for done, id in enumerate(wanted, start=1):
            if id not in there:
                document = snapshot.document(id, EVERYTHING).document
                batch.write(document, None, overrides={}, create=True)
                if batch.is_due:
                    batch.commit()
                    on_progress(Progress(done, len(wanted), snapshot.version))
        batch.commit()
    on_progress(Progress(len(wanted), len(wanted), snapshot.version))


OpenScratch = Callable[[str], Index]
"""Opens the scratch library of a chunking by its name, made where it is missing."""
