"""Where a block that is too long may be cut: between items, rows, lines, sentences, words.

Every cut gives ranges of the text, in order, none blank, with nothing but white space between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from ibid.chunking.pieces import Span
from ibid.chunking.units import Rule
from ibid.chunking.windows import WORD
from ibid.language.sentences import split_sentences
from ibid.records import BlockKind

Cut: TypeAlias = Callable[[str, Span, str | None], list[Span]]
Cuts: TypeAlias = tuple[tuple[Cut, Rule], ...]
"""Ways to cut, coarsest first, each with the rule of a passage that it made."""

ITEM = re.compile(r"([ \t]*)(?:[-*+•‣◦·]|\d{1,9}[.)]|[A-Za-z][.)])\s")

_BLANK_LINES: Final = re.compile(r"\n(?:[^\S\n]*\n)+")


def cut_items(text: str, span: Span, language: str | None) -> list[Span]:
    """The outermost items of a list with all their lines; the lines where nothing is marked."""
    lines = list(find_lines(text, span))
    marks = [ITEM.match(text, *line) for line in lines]
    indents = [len(mark[1]) for mark in marks if mark]
    if not indents:
        return cut_lines(text, span, language)
    outermost = min(indents)
    starts = [mark.start() for mark in marks if mark and len(mark[1]) == outermost]
    edges = [span[0], *(start for start in starts if start > span[0]), span[1]]
    return _trim_all(text, pairwise(edges))


def cut_lines(text: str, span: Span, language: str | None) -> list[Span]:
    """The lines, without white space at their ends."""
    return _trim_all(text, find_lines(text, span))


def cut_stanzas(text: str, span: Span, language: str | None) -> list[Span]:
    """The parts of code between blank lines, with their indentation."""
    edges = [span[0], *(gap.end() for gap in _BLANK_LINES.finditer(text, *span)), span[1]]
    return [
        (start, trim(text, (start, end))[1])
        for start, end in pairwise(edges)
        if start < end and not text[start:end].isspace()
    ]


def cut_code(text: str, span: Span, language: str | None) -> list[Span]:
    """The lines with their indentation, which belongs to code."""
    return [
        (start, trim(text, (start, end))[1])
        for start, end in find_lines(text, span)
        if not text[start:end].isspace()
    ]


def cut_sentences(text: str, span: Span, language: str | None) -> list[Span]:
    """The sentences."""
    start, end = span
    found = split_sentences(text[start:end], language)
    return _trim_all(text, ((start + first, start + last) for first, last in found))


def cut_words(text: str, span: Span, language: str | None) -> list[Span]:
    """The words: runs of characters that are not white space."""
    return [match.span() for match in WORD.finditer(text, *span)]


PROSE: Final[Cuts] = ((cut_sentences, Rule.SENTENCES), (cut_lines, Rule.SENTENCES))
CUTS: Final[dict[BlockKind, tuple[Rule, Cuts]]] = {
    BlockKind.LIST: (
        Rule.LIST,
        ((cut_items, Rule.LIST), (cut_lines, Rule.LIST), (cut_sentences, Rule.SENTENCES)),
    ),
    BlockKind.TABLE: (Rule.TABLE, ((cut_lines, Rule.TABLE),)),
    BlockKind.CODE: (Rule.CODE, ((cut_stanzas, Rule.CODE), (cut_code, Rule.CODE))),
}
"""The cuts of the blocks that stay whole as long as they can, coarsest first; the rest is prose."""


def trim(text: str, span: Span) -> Span:
    """The range without white space at its ends; empty when it holds nothing else."""
    start, end = span
    inside = text[start:end]
    return end - len(inside.lstrip()), start + len(inside.rstrip())


def trim_code(text: str, span: Span) -> Span:
    """The same, but with the indentation of its first line, which belongs to code."""
    start, end = trim(text, span)
    return max(span[0], text.rfind("\n", span[0], start) + 1), end


def _trim_all(text: str, spans: Iterable[Span]) -> list[Span]:
    return [span for span in (trim(text, span) for span in spans) if span[0] < span[1]]


def find_lines(text: str, span: Span) -> Iterator[Span]:
    """The lines of a range, each with the newline that ends it."""
    start, end = span
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop
