"""Cuts text into sentences, each the exact range of characters that it stands at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import sentencex

WINDOW: Final = 2_048  # characters read at once: sentencex takes quadratic time outside ASCII

# One character for one, so that offsets hold: sentencex panics at white space of several bytes,
# and lone surrogates have no UTF-8.
_PLAIN: Final = dict.fromkeys(
    map(ord, "\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
             "\u2028\u2029\u202f\u205f\u3000"), " "
) | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # fmt: skip

_LIST_MARKER: Final = r"(?:[-*+•‣◦▪–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\))"
_LINE_BREAK: Final = re.compile(rf"\n(?=[^\S\n]*(?:\n|\||#{{1,6}}[^\S\n]|{_LIST_MARKER}[^\S\n]))")
"""A new line that begins a list item, a table row, a heading or an empty line."""

_BARE_MARKER: Final = re.compile(_LIST_MARKER)
_HOUR: Final = re.compile(r"\d\s?[ap]\.m\.\Z", re.IGNORECASE)
_ZONE: Final = re.compile(r"(?:UTC|GMT|[A-Z]{1,3}[SD]?T)\b")
_RULE: Final = re.compile(r"(?<=[.!?])\s+")


def split_sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """The `[start, end)` ranges of a text's sentences, in order and without the space around them.

    All that isn't white space lies in exactly one range. A sentence ends at its mark, in whatever
    script, and at the end of a paragraph, list item or table row; not at the points of
    abbreviations, numbers and names. `language` (ISO 639-1) chooses the abbreviations, English
    when it is None.
    """
    plain = text.translate(_PLAIN)
    sentences: list[tuple[int, int]] = []
    for start, end in _find_lines(plain):
        pieces = _join_pieces(plain, _read_windows(plain, start, end, language or "en"))
        sentences.extend(pieces)
    return sentences


def split_sentences_by_rule(text: str) -> list[tuple[int, int]]:
    """The ranges between white space that follows `.`, `!` or `?`: the rule of textbooks.

    It cuts "Dr. Rao" in two and knows no marks but these; for examples and comparisons.
    """
    cuts = [0, *(edge for gap in _RULE.finditer(text) for edge in gap.span()), len(text)]
    ranges = (_trim(text, start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=True))
    return [(start, end) for start, end in ranges if start < end]


def _find_lines(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of text that no sentence crosses."""
    start = 0
    for line_break in _LINE_BREAK.finditer(text):
        yield start, line_break.end()
        start = line_break.end()
    yield start, len(text)


def _read_windows(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """The boundaries that sentencex finds; the last sentence of a window starts the next one."""
    while start < end:
        limit = min(start + WINDOW, end)
        found = sentencex.get_sentence_boundaries(language, text[start:limit])
        ranges = [(start + piece["start_index"], start + piece["end_index"]) for piece in found]
        if limit < end:
            # One sentence fills the window: cut it at a space, so that no word is halved.
            ranges = ranges[:-1] or [(start, text.rfind(" ", start, limit) + 1 or limit)]
        yield from ranges
        start = ranges[-1][1]


def _join_pieces(text: str, pieces: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pieces without their outer space; joined where the cut between two was none."""
    joined: list[tuple[int, int]] = []
    for start, end in (_trim(text, *piece) for piece in pieces):
        if start == end:
            continue
        if joined and _belongs_together(text, joined[-1], start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _belongs_together(text: str, before: tuple[int, int], start: int) -> bool:
    """Whether a cut fell in a name such as `os.path`, after a list item's number, in 2 a.m. UTC."""
    touching = before[1] == start and text[start - 1] in ".!?" and text[start].isascii()
    hour = _HOUR.search(text, *before) and _ZONE.match(text, start)
    return touching or bool(hour) or _BARE_MARKER.fullmatch(text, *before) is not None


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    stripped = len(piece) - len(piece.lstrip())
    return (start + stripped, start + stripped + len(piece.strip()))
