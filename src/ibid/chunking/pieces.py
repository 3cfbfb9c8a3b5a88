"""Counts the word pieces of an embedder, so that passages are as long as it reads and no longer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from ibid.protocols import Tokenizer

Span: TypeAlias = tuple[int, int]
Spans: TypeAlias = tuple[Span, ...]

LONG_PIECE = 16
"""Characters that one piece may stand for. A tokenizer that gives up on a long word makes it one
piece, however long it is; here such a piece counts as several, or a passage had no bound."""


def find_pieces(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """For each text where its pieces begin, long ones cut, in order."""
    return [
        [start for first, last in spans for start in range(first, max(last, first + 1), LONG_PIECE)]
        for spans in tokenizer.spans(texts)
    ]


@dataclass(frozen=True, slots=True)
class PieceCounter:
    """Counts the pieces of any range of a text that was tokenized once.

    Exact for a range that begins and ends at white space; a cut inside a word can make more pieces
    of what is left of it.
    """

    starts: Sequence[int]

    def count(self, start: int, end: int) -> int:
        """How many pieces begin within the range."""
        return bisect_left(self.starts, end) - bisect_left(self.starts, start)

    def cut(self, span: Span, limit: int) -> list[Span]:
        """The range cut after every `limit` pieces, wherever that is."""
        first, last = (bisect_left(self.starts, position) for position in span)
        inner = self.starts[first + limit : last : limit]
        edges = [span[0], *sorted({start for start in inner if start > span[0]}), span[1]]
        return list(pairwise(edges))
