"""Postings on disk: the terms of passages, and those of whole documents.

A passage seldom holds all that was asked for, and the text around it tells whether it is meant; so
BM25 is taken of both. A document stands as the first row of its passages and has the first line of
the terms of each: those that carry meaning, as function words would only make it long. Both are
written together, and a reader holds both as they were at one moment.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ibid.index.embedded.term_index import Posting, TermIndex, create_index
from ibid.record import record

if TYPE_CHECKING:
    import numpy as np
    import tantivy
    from numpy.typing import NDArray

    from ibid.index.embedded.rows import AllowedRows
    from ibid.protocols import Scored

DOCUMENTS: Final = "documents"
"""The folder of the terms of documents, within that of the passages."""


def create_postings(folder: Path) -> Postings:
    """The empty postings of a new folder; what a crash left there is cleared first."""
    shutil.rmtree(folder, ignore_errors=True)
    create_index(folder)
    create_index(folder / DOCUMENTS)
    return Postings(folder)


@record
class Searchers:
    """Both sets of terms as they were at one moment."""

    passages: tantivy.Searcher
    documents: tantivy.Searcher


class Postings:
    """The keyword index in one folder; readers and one writer may use it at once."""

    def __init__(self, folder: Path) -> None:
        """Open the index of a folder. Raises Corrupt for one that is missing or damaged."""
        self._passages = TermIndex(folder)
        self._documents = TermIndex(folder / DOCUMENTS)

    # -- writing --------------------------------------------------------------------------------

    def add(self, postings: Iterable[Posting]) -> None:
        """Add (row, content, terms) and commit; until then no reader sees any of them.

        The rows of one content come together, in their order.
        """
        documents: list[Posting] = []
        self._passages.add(_gather_documents(postings, documents))
        self._documents.add(documents)

    def drop_from(self, row: int) -> None:
        """Take back the postings of this row and all later ones: what a crash left unpublished."""
        self._passages.drop_from(row)
        self._documents.drop_from(row)

    def finish(self) -> None:
        """Let go of the writers once their merges are done; does nothing when there are none."""
        self._passages.finish()
        self._documents.finish()

    # -- reading --------------------------------------------------------------------------------

    def searcher(self) -> Searchers:
        """The postings as they are committed now, held still. Raises Corrupt."""
        return Searchers(self._passages.searcher(), self._documents.searcher())

    def search(
        self, searcher: Searchers, terms: Sequence[str], k: int, allowed: AllowedRows
    ) -> list[Scored]:
        """The k best of the allowed rows, best first, equal scores in the order of rows."""
        return self._passages.search(searcher.passages, terms, k, allowed.rows, allowed.contents)

    def search_documents(
        self, searcher: Searchers, terms: Sequence[str], k: int, allowed: AllowedRows
    ) -> list[Scored]:
        """The k best documents of the allowed rows as their first rows, in the same order."""
        return self._documents.search(
            searcher.documents, terms, k, allowed.first_rows, allowed.contents
        )

    def measure_rarity(self, searcher: Searchers, terms: Sequence[str]) -> dict[str, float]:
        """The idf of each term over all passages."""
        return self._passages.measure_rarity(searcher.passages, terms)

    def find_rows(
        self, searcher: Searchers, alternatives: Iterable[Sequence[str]]
    ) -> NDArray[np.int64]:
        """The rows, in order, that have all terms of one of the alternatives."""
        return self._passages.find_rows(searcher.passages, alternatives)

    def list_rows(self) -> NDArray[np.int64]:
        """The rows of the passages that have postings, as they are committed now, in order."""
        return self._passages.list_rows()


def _gather_documents(postings: Iterable[Posting], documents: list[Posting]) -> Iterator[Posting]:
    """The postings as they come; `documents` gets one for each content of theirs."""
    for content, rows in groupby(postings, key=lambda posting: posting[1]):
        first_row, lines = None, []
        for row, _, terms in rows:
            first_row = row if first_row is None else first_row
            lines.append(terms.partition("\n")[0])
            yield row, content, terms
        assert first_row is not None  # a group is never empty
        documents.append((first_row, content, " ".join(lines)))
