"""The files that a version is searched in, opened together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ibid.record import record

if TYPE_CHECKING:
    from ibid.index.embedded.lexical import Postings, Searchers
    from ibid.index.embedded.vectors import MappedSegment


@record
class SearchFiles:
    """The postings and vectors that hold at least the rows of a version.

    `first_row` is the row with which their generation begins.
    """

    postings: Postings
    searcher: Searchers
    segments: Sequence[MappedSegment]
    first_row: int
