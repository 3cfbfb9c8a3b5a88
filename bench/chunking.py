"""Recall, precision and IoU, in word pieces, of what each way of cutting finds in the same budget.

    python bench/chunking.py --cache vectors.sqlite

The five long documents and the 472 questions of chroma_general, whose answers are exact ranges of
the text. To all chunkers the documents are plain text; only ibid is told the headings that one of
them marks, as its readers tell them, and one row shows it without. The passages of a chunker are
ranked for a question by the default embedder, by BM25 over ibid's own terms, and by both with
reciprocal rank fusion. They are shown from the best on until the budget is spent, the last one in
part, so that all chunkers show the same number of pieces; heading paths are not counted. A score
compares the ranges shown with those asked for, and is a mean over questions. Of a window of 400
pieces the embedder reads the first 254.

The size and the rules of ibid were chosen on every other question, and are reported on the rest.
The exit code is 1 when another way has better recall or IoU than ibid's default, by the mean over
budgets and retrievers.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from beir import ROOT
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


def main() -> int:
    """Print the table; 1 when ibid's default is not the best."""
    parser = make_parser(__doc__)
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep vectors here, by text")
    parser.add_argument("--only", metavar="WORDS", default="", help="chunkers with these in a name")
    parser.add_argument("--choose", action="store_true", help="score the even questions instead")
    options = parser.parse_args()
    embedder = open_local_embedder()
    texts = {text.document.id: text for text in read_texts(embedder)}
    questions = read_questions()[0 if options.choose else 1 :: 2]
    print(f"{len(questions)} questions; recall, precision and IoU in percent")
    cache = VectorCache(options.cache, embedder)
    asked = cache.embed([question.text for question in questions], kind="query")
    figures: dict[str, dict[str, float]] = {}
    for name, chunker in CHUNKERS.items():
        if options.only in name:
            pieces = [piece for text in texts.values() for piece in chunker(text, embedder)]
            figures[name] = score_pieces(pieces, texts, questions, asked, cache)
            print_row(name, len(pieces), figures[name], head=len(figures) == 1)
    save_results(options.save, figures)
    return report_best(figures)


def read_texts(embedder: Embedder) -> Iterator[Text]:
    """The documents as plain text, with the headings that one marks as ` = = Name = = `."""
    for row in read_rows("corpus.jsonl"):
        blocks = tuple(mark_headings(row["text"], find_blocks(row["text"])))
        [pieces] = embedder.tokenizer.spans([row["text"]])
        counter = PieceCounter([start for start, _ in pieces])
        yield Text(Document(row["id"], row["text"], blocks), pieces, counter)


def read_rows(name: str) -> list[dict[str, Any]]:
    """The objects of a file of the data set; SystemExit without it."""
    if not FOLDER.is_dir():
        raise SystemExit(f"no data set {FOLDER}; set IBID_DATA")
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def mark_headings(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, those that hold marked headings cut at them and at the lines between."""
    for block in blocks:
        marks = {m.start(): len(m[1]) // 2 for m in HEADING.finditer(text, block.start, block.end)}
        if not marks:
            yield block
            continue
        lines = [match.start() for match in LINE.finditer(text, block.start, block.end)]
        for start, end in pairwise((*lines, block.end)):
            level = marks.get(start, 0)
            kind = BlockKind.HEADING if level else BlockKind.PARAGRAPH
            yield Block(kind, start, end, level=level)


def read_questions() -> list[Question]:
    """The questions with the ranges that answer them, in the order of the file."""
    return [
        Question(
            row["text"],
            row["corpus"],
            [(range["start_index"], range["end_index"]) for range in row["references"]],
        )
        for row in read_rows("queries.jsonl")
    ]


# -- chunkers -------------------------------------------------------------------------------


def cut_by_ibid(text: Text, embedder: Embedder, *, size: int, headings: bool = True) -> list[Piece]:
    """The passages of ibid's chunker, with the prefix and the lead that it embeds."""
    document = text.document
    passages = chunk(
        document if headings else replace(document, blocks=find_blocks(document.text)),
        choose_chunking("structure", size),
        tokenizer=embedder.tokenizer,
        content_hash="",
        max_tokens=embedder.max_tokens,
        language="en",
    )
    return [Piece(p.document_id, p.start, p.end, p.indexed_text) for p in passages]


def cut_windows(text: Text, embedder: Embedder, *, size: int) -> list[Piece]:
    """Windows of so many pieces, none repeated."""
    spans = window_spans(len(text.pieces), size, 0)
    return make_pieces(text, [(text.pieces[a][0], text.pieces[b - 1][1]) for a, b in spans])


def pack_sentences(text: Text, embedder: Embedder, *, size: int) -> list[Piece]:
    """Whole sentences up to so many pieces; a longer sentence stands alone."""
    sentences = split_sentences(text.document.text, "en")
    return make_pieces(text, pack_spans(text, sentences, size))


def cut_recursively(text: Text, embedder: Embedder, *, size: int) -> list[Piece]:
    """Split by the coarsest separator that is there, what is too long by the next, then joined."""
    spans = split_span(text, (0, len(text.document.text)), SEPARATORS, size)
    return make_pieces(text, spans)


def split_span(text: Text, span: Span, separators: Sequence[str], size: int) -> list[Span]:
    """The parts of a range, each of at most `size` pieces, those of one level joined up to it."""
    if text.counter.count(*span) <= size:
        return [span]
    separator, *finer = separators
    if not separator:
        return text.counter.cut(span, size)
    found = re.finditer(re.escape(separator), text.document.text[slice(*span)])
    edges = [span[0], *(span[0] + match.end() for match in found), span[1]]
    joined: list[Span] = []
    for part in pack_spans(text, [p for p in pairwise(edges) if p[0] < p[1]], size):
        joined += split_span(text, part, finer, size)
    return joined


def pack_spans(text: Text, spans: Iterable[Span], size: int) -> list[Span]:
    """Neighbours joined, from the first on, as long as they have at most `size` pieces."""
    packed: list[Span] = []
    for start, end in spans:
        if packed and text.counter.count(packed[-1][0], end) <= size:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed


def make_pieces(text: Text, spans: Iterable[Span]) -> list[Piece]:
    """The ranges as passages whose text alone is embedded and indexed."""
    document = text.document
    return [
        Piece(document.id, start, end, document.text[start:end])
        for start, end in spans
        if document.text[start:end].strip()
    ]


# -- retrieval ------------------------------------------------------------------------------


class VectorCache:
    """An embedder that keeps what it made in a file, so that a second run embeds only new texts."""

    def __init__(self, path: Path | None, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows = sqlite3.connect(path or ":memory:")
        self._rows.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB)")

    def embed(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """One row for each text."""
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).digest() for text in texts]
        missing = {k: t for k, t in zip(keys, texts, strict=True) if self._find(k) is None}
        for at in range(0, len(missing), 256):
            batch = list(missing.items())[at : at + 256]
            made = self._embedder.embed(
                [text for _, text in batch], kind="query" if kind == "query" else "passage"
            )
            rows = [(key, row.tobytes()) for (key, _), row in zip(batch, made, strict=True)]
            with self._rows:
                self._rows.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
        return np.stack([np.frombuffer(self._find(key) or b"", np.float32) for key in keys])

    def _find(self, key: bytes) -> bytes | None:
        found = self._rows.execute("SELECT row FROM vectors WHERE key = ?", [key]).fetchone()
        return found[0] if found else None


def rank_pieces(
    pieces: Sequence[Piece], questions: Sequence[Question], asked: Vectors, cache: VectorCache
) -> Iterator[dict[str, list[int]]]:
    """For each question the numbers of the best passages, by each retriever."""
    terms = [analyze(piece.indexed, "en") for piece in pieces]
    lexical = BM25(terms, k1=1.2)
    vectors = cache.embed([piece.indexed for piece in pieces], kind="passage")
    for question, scores in zip(questions, asked @ vectors.T, strict=True):
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        runs = {
            "dense": [Scored(int(row), float(scores[row])) for row in best],
            "BM25": lexical.search(analyze_query(question.text, "en"), DEPTH),
        }
        fused = {"RRF": fuse_rrf(runs)}
        yield {name: [one.row for one in run] for name, run in (runs | fused).items()}


# -- scores ---------------------------------------------------------------------------------


def score_pieces(
    pieces: Sequence[Piece],
    texts: Mapping[str, Text],
    questions: Sequence[Question],
    asked: Vectors,
    cache: VectorCache,
) -> dict[str, float]:
    """Recall, precision and IoU by retriever and budget, means over the questions."""
    sums: dict[str, float] = {}
    for question, ranking in zip(
        questions, rank_pieces(pieces, questions, asked, cache), strict=True
    ):
        text = texts[question.document]
        wanted = {n for span in question.ranges for n in range(*text.count(*span))}
        for retriever, rows in ranking.items():
            for budget in BUDGETS:
                shown = take_pieces([pieces[row] for row in rows], texts, budget)
                found = len(wanted & shown[question.document])
                total = sum(map(len, shown.values()))
                scores = {
                    "recall": found / len(wanted),
                    "precision": found / total if total else 0.0,
                    "IoU": found / (len(wanted) + total - found),
                }
                for metric, score in scores.items():
                    key = f"{retriever} {metric}@{budget}"
                    sums[key] = sums.get(key, 0.0) + score / len(questions)
    return sums


def take_pieces(
    ranked: Iterable[Piece], texts: Mapping[str, Text], budget: int
) -> dict[str, set[int]]:
    """The numbers of the word pieces shown, by document, when the budget is spent from the best."""
    shown: dict[str, set[int]] = {id: set() for id in texts}
    for piece in ranked:
        first, last = texts[piece.document].count(piece.start, piece.end)
        last = min(last, first + budget)
        shown[piece.document].update(range(first, last))
        budget -= last - first
        if not budget:
            break
    return shown


def print_row(name: str, count: int, figures: Mapping[str, float], *, head: bool) -> None:
    """One chunker: for each retriever and budget its recall, precision and IoU."""
    if head:
        columns = dict.fromkeys(re.sub(r" \w+@", " ", key) for key in figures)
        print(f"{'chunker':24}{'passages':>9}" + "".join(f"{c:>18}" for c in columns))
    cells = [f"{100 * value:6.1f}" for value in figures.values()]
    rows = ["".join(cells[at : at + 3]) for at in range(0, len(cells), 3)]
    print(f"{name:24}{count:9}" + "".join(rows), flush=True)


def report_best(figures: Mapping[str, Mapping[str, float]]) -> int:
    """Print each metric's mean over retrievers and budgets; 1 when another way beats ibid's."""
    code = 0
    for metric in ("recall", "IoU"):
        means = {
            name: float(np.mean([value for key, value in row.items() if f" {metric}@" in key]))
            for name, row in figures.items()
        }
        print(f"mean {metric}: " + ", ".join(f"{n} {100 * m:.2f}" for n, m in means.items()))
        others = (mean for name, mean in means.items() if not name.startswith("ibid"))
        code |= DEFAULT in means and max(others, default=0.0) > means[DEFAULT]
    return int(code)


FOLDER: Final = ROOT / "retrieval" / "chroma_general"
HEADING: Final = re.compile(r"^ ((?:= )+)(?=\S).* (?:= )+$", re.M)
LINE: Final = re.compile(r"^", re.M)
DEFAULT: Final = "ibid (default)"
CHUNKERS: Final[Mapping[str, Chunker]] = {
    "fixed 200": partial(cut_windows, size=200),
    "fixed 400": partial(cut_windows, size=400),
    "recursive 200": partial(cut_recursively, size=200),
    "recursive 254": partial(cut_recursively, size=254),
    "sentences 200": partial(pack_sentences, size=200),
    "sentences 254": partial(pack_sentences, size=254),
    DEFAULT: partial(cut_by_ibid, size=DEFAULTS["structure"][0]),
    "ibid, headings unmarked": partial(cut_by_ibid, size=DEFAULTS["structure"][0], headings=False),
    "ibid 150": partial(cut_by_ibid, size=150),
    "ibid 254": partial(cut_by_ibid, size=254),
}


if __name__ == "__main__":
    sys.exit(main())
