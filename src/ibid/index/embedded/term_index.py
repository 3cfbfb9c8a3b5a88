"""One index of terms on disk: BM25 by tantivy (k1 1.2, b 0.75) over terms analysed before.

The field is cut at white space and nothing else, and queries are built from terms, never parsed:
user text is always literal. The index knows only rows; which of them are live, and who may see
them, the snapshot tells. The statistics of BM25 count everything that has postings.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, ParamSpec, TypeAlias, TypeVar

import numpy as np
import tantivy
from numpy.typing import NDArray

from ibid.errors import Corrupt, LibraryError
from ibid.index.embedded.reads import REBUILD
from ibid.protocols import Scored

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

WRITER_BYTES: Final = 32_000_000
"""What the writer may hold before it writes a segment of its own accord."""

QUERY_TERMS: Final = 1_024
"""Different terms of a query that count; a pasted page is searched by its first ones."""

SELECTIVE_ROWS: Final = 4_096
SELECTIVE_SHARE: Final = 0.02
"""A filter that lets fewer rows than this through is given to tantivy as a set of contents;
above it, reading on in the ranking until k rows have passed costs less (measured at 100,000)."""

DEEPER: Final = 4
"""How much further each new reading of the ranking goes than the one before."""


Posting: TypeAlias = tuple[int, int, str]
"""A row, the content that it belongs to, and its terms parted by white space."""


def create_index(folder: Path) -> TermIndex:
    """The empty index of a new folder."""
    folder.mkdir(parents=True)
    tantivy.Index(_build_schema(), path=str(folder))
    return TermIndex(folder)


def _link_files(folder: Path) -> TemporaryDirectory[str] | None:
    """A folder of links to the files of one that can't be written: tantivy locks a file of its
    folder for reading too. None where it can be written."""
    if not folder.is_dir() or os.access(folder, os.W_OK):
        return None
    links = TemporaryDirectory(prefix="ibid-postings-")
    for file in folder.iterdir():
        if file.is_file() and file.suffix != ".lock":
            Path(links.name, file.name).symlink_to(file.absolute())
    return links


def _build_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_unsigned_field("content", indexed=True)
    return builder.build()


def _telling_damage(read: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A reading whose failure in a file of the index is Corrupt, with what mends it."""

    @wraps(read)
    def read_or_tell(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        try:
            return read(*arguments, **options)
        except ValueError as error:
            raise Corrupt(f"the keyword index can't be read ({error})", hint=REBUILD) from error

    return read_or_tell


class TermIndex:
    """The terms in one folder; readers and one writer may use it at once."""

    def __init__(self, folder: Path) -> None:
        """Open the index of a folder. Raises Corrupt for one that is missing or damaged."""
        self._folder = folder
        self._links = _link_files(folder)
        try:
            self._index = tantivy.Index.open(self._links.name if self._links else str(folder))
            self._index.config_reader(reload_policy="manual")
        except ValueError as error:
            raise self._damaged(error) from error
        self._schema = self._index.schema
        self._writer: tantivy.IndexWriter | None = None

    def _damaged(self, error: ValueError) -> Corrupt:
        return Corrupt(
            f"the keyword index in {self._folder} can't be read ({error})",
            hint=REBUILD,
        )

    # -- writing --------------------------------------------------------------------------------

    def add(self, postings: Iterable[Posting]) -> None:
        """Add (row, content, terms) and commit; until then no reader sees any of them."""
        writer = self._open_writer()
        try:
            for row, content, terms in postings:
                document = tantivy.Document()
                document.add_unsigned("row", row)
                document.add_unsigned("content", content)
                document.add_text("terms", terms)
                writer.add_document(document)
            writer.commit()
        except ValueError as error:
            self._writer = None  # it may have died with the error
            raise self._refuse_writing(error) from error
        except BaseException:
            writer.rollback()
            raise

    def drop_from(self, row: int) -> None:
        """Take back the postings of this row and all later ones: what a crash left unpublished."""
        unpublished = tantivy.Query.range_query(
            self._schema, "row", tantivy.FieldType.Unsigned, row, 2**63
        )
        if self.searcher().search(unpublished, 1).hits:
            writer = self._open_writer()
            writer.delete_documents_by_query(unpublished)
            writer.commit()

    def finish(self) -> None:
        """Let go of the writer once its merges are done; does nothing when there is none."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.wait_merging_threads()

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            try:
                self._writer = self._index.writer(WRITER_BYTES, num_threads=1)
            except ValueError as error:
                raise self._refuse_writing(error) from error
        return self._writer

    def _refuse_writing(self, error: ValueError) -> LibraryError:
        return LibraryError(
            f"the keyword index in {self._folder} can't be written ({error})",
            hint="look at the room on the disk and at the rights of the folder, then try again;"
            " nothing was changed",
        )

    # -- reading --------------------------------------------------------------------------------

    def searcher(self) -> tantivy.Searcher:
        """The postings as they are committed now, held still. Raises Corrupt."""
        try:
            self._index.reload()
        except ValueError as error:
            raise self._damaged(error) from error
        return self._index.searcher()

    def measure_rarity(self, searcher: tantivy.Searcher, terms: Sequence[str]) -> dict[str, float]:
        """The idf of each term, ln(1 + (N - df + 0.5) / (df + 0.5)), over all that is posted."""
        size = searcher.num_docs
        found = {term: searcher.doc_freq("terms", term) for term in terms}
        # Deleted postings count in df until they are merged, and then not in N.
        return {
            term: math.log1p((max(size - df, 0) + 0.5) / (df + 0.5)) for term, df in found.items()
        }

    @_telling_damage
    def list_rows(self) -> NDArray[np.int64]:
        """The rows that have postings, in order, each as often as it has. Raises Corrupt."""
        searcher = self.searcher()
        if not searcher.num_docs:
            return np.empty(0, np.int64)
        hits = searcher.search(tantivy.Query.all_query(), searcher.num_docs, count=False).hits
        found = searcher.fast_field_values("row", [address for _, address in hits])
        return np.sort(np.array(found, np.int64))

    def find_rows(
        self, searcher: tantivy.Searcher, alternatives: Iterable[Sequence[str]]
    ) -> NDArray[np.int64]:
        """The rows, in order and each once, that have all terms of one of the alternatives."""
        clauses = [
            (
                tantivy.Occur.Should,
                tantivy.Query.boolean_query(
                    [
                        (tantivy.Occur.Must, tantivy.Query.term_query(self._schema, "terms", term))
                        for term in terms
                    ]
                ),
            )
            for terms in alternatives
            if terms
        ]
        if not clauses or not searcher.num_docs:
            return np.empty(0, np.int64)
        query = tantivy.Query.boolean_query(clauses)
        hits = searcher.search(query, searcher.num_docs, count=False).hits
        found = searcher.fast_field_values("row", [address for _, address in hits])
        return np.unique(np.array(found, np.int64))

    @_telling_damage
    def search(
        self,
        searcher: tantivy.Searcher,
        terms: Sequence[str],
        k: int,
        allowed: NDArray[np.bool_],
        contents: NDArray[np.int64],
    ) -> list[Scored]:
        """The k best of the allowed rows, best first, equal scores in the order of rows.

        `allowed` has one flag for each row; `contents` are the contents that they belong to.
        """
        passing = int(np.count_nonzero(allowed))
        if not terms or not passing:
            return []
        k = min(k, passing)
        query = self._any_of(Counter(terms))
        share = passing / max(searcher.num_docs, passing)
        if passing <= SELECTIVE_ROWS and share < SELECTIVE_SHARE:
            only = tantivy.Query.term_set_query(self._schema, "content", contents.tolist())
            query = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Must, query),
                    (tantivy.Occur.Must, tantivy.Query.const_score_query(only, 0.0)),
                ]
            )
            share = 1.0
        depth = min(int(k / share) + 32, searcher.num_docs + 1)
        return _read_until(searcher, query, k, allowed, depth=depth)

    def _any_of(self, terms: Counter[str]) -> tantivy.Query:
        """Any of the terms, each weighing as often as it is asked for."""
        clauses = []
        for term, times in islice(terms.items(), QUERY_TERMS):
            query = tantivy.Query.term_query(self._schema, "terms", term)
            weighed = tantivy.Query.boost_query(query, times) if times > 1 else query
            clauses.append((tantivy.Occur.Should, weighed))
        return tantivy.Query.boolean_query(clauses)


def _read_until(
    searcher: tantivy.Searcher,
    query: tantivy.Query,
    k: int,
    allowed: NDArray[np.bool_],
    *,
    depth: int,
) -> list[Scored]:
    """Read the ranking deeper and deeper until k allowed rows and all their ties are in it."""
    while True:
        ranked, scores = _read_ranking(searcher, query, depth)
        passing = (ranked < len(allowed)) & (scores > 0.0)
        passing[passing] = allowed[ranked[passing]]
        rows, kept = ranked[passing], scores[passing]
        exhausted = len(ranked) < depth
        complete = len(kept) >= k and scores[-1] < kept[k - 1]
        if exhausted or complete:
            best = np.lexsort((rows, -kept))[:k]
            pairs = zip(rows[best].tolist(), kept[best].tolist(), strict=True)
            return [Scored(row, score) for row, score in pairs]
        depth *= DEEPER


def _read_ranking(
    searcher: tantivy.Searcher, query: tantivy.Query, depth: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rows of the best so many, and their scores."""
    hits = searcher.search(query, depth, count=False).hits
    rows = searcher.fast_field_values("row", [address for _, address in hits])
    return np.array(rows, np.int64), np.array([score for score, _ in hits], np.float64)
