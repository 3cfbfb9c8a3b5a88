"""A collection in BEIR's shape, taken into a library of its own and asked by its own queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from ibid.errors import EvaluationError
from ibid.evaluation.golden import GoldenCase
from ibid.evaluation.trec import CORPUS, read_collection, read_corpus
from ibid.flows.options import EVERYTHING, OnProgress, Progress
from ibid.protocols import Index
from ibid.records import Document, IngestReport

BATCH: Final = 512
"""Documents of one commit: a killed run goes on behind the last one."""


def take_in_collection(
    folder: Path,
    *,
    index: Index,
    ingest: Callable[[list[Document]], IngestReport],
    on_progress: OnProgress | None = None,
) -> Sequence[GoldenCase]:
    """The judged queries of a collection, its documents being in the library from then on.

    Each is one document, with its title. Without a corpus in the folder the library is taken as it
    is. Raises EvaluationError for a library that holds other documents too: scores would not be of
    the collection.
    """
    cases = read_collection(folder)
    if not (folder / CORPUS).exists():
        return cases
    wanted = {document.id for document in read_corpus(folder)}
    held = {info.id for info in index.snapshot().documents(EVERYTHING)}
    if other := held - wanted:
        raise EvaluationError(
            f"the library holds {len(other)} documents that are not of {folder}",
            hint="name a library of its own with --library; it is made when it is missing",
        )
    missing = (document for document in _read_documents(folder) if document.id not in held)
    while batch := list(islice(missing, BATCH)):
        report = ingest(batch)
        held |= {document.id for document in batch}
        if on_progress is not None:
            on_progress(Progress(len(held), len(wanted), report.version))
    return cases


def _read_documents(folder: Path) -> Iterator[Document]:
    for row in read_corpus(folder):
        yield Document(
            id=row.id, text=row.text if row.text.strip() else row.title, title=row.title or None
        )
