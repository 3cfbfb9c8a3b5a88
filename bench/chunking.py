"""Recall, precision and IoU, in word pieces, of what each way of cutting finds in the same budget.

    python bench/chunking.py --cache /tmp/vectors.sqlite

The five long documents and the 472 questions of chroma_general, whose answers are exact ranges of
the text. All passages of a chunker are ranked for a question by the default embedder, by BM25 over
ibid's own terms, and by both with reciprocal rank fusion; they are taken from the best on until
the budget is spent, the last one in part, so that all chunkers show the same number of pieces. A
question's score compares the ranges shown with those asked for; scores are means over questions.

Sizes and rules were chosen on the questions with even numbers; those with odd ones are reported.
The exit code is 1 when another chunker has better recall or IoU than ibid's default, by the mean
over budgets and retrievers.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sqlite3
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from beir import ROOT, read_lines
from numpy.typing import NDArray
from results import make_parser, save_results

from ibid.chunking.chunk import chunk
from ibid.chunking.options import DEFAULTS, choose_chunking
from ibid.chunking.pieces import PieceCounter
from ibid.chunking.windows import window_spans
from ibid.embedding.local import open_local_embedder
from ibid.language.analyzer import analyze, analyze_query
from ibid.language.sentences import split_sentences
from ibid.protocols import Embedder, Scored
from ibid.ranking.bm25 import BM25
from ibid.ranking.fusion import fuse_rrf
from ibid.reading.text import find_blocks
from ibid.records import Block, BlockKind, Document

BUDGETS: Final = (800, 1600)
"""Pieces shown for a question: about three and six passages of the default size."""

DEPTH: Final = 100
"""Passages that each retriever ranks."""

SEPARATORS: Final = ("\n\n", "\n", ". ", "? ", "! ", " ", "")
"""What a recursive splitter cuts at, coarsest first."""

Span: TypeAlias = tuple[int, int]
Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Text:
    """A document with the places where its pieces begin and end."""

    document: Document
    pieces: Sequence[Span]
    counter: PieceCounter

    def count(self, start: int, end: int) -> Span:
        """The numbers of the pieces that begin within a range, as a range."""
        return bisect_left(self.counter.starts, start), bisect_left(self.counter.starts, end)


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of any chunker: where it lies, and what is embedded and indexed of it."""

    document: str
    start: int
    end: int
    indexed: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the ranges of one document that answer it."""

    text: str
    document: str
    ranges: Sequence[Span]


Chunker: TypeAlias = Callable[[Text, Embedder], list[Piece]]
