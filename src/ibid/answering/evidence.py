"""The pieces of a text that can stand as evidence: sentences, list items and table rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from ibid.language.detection import detect_language
from ibid.language.sentences import split_sentences
from ibid.record import record
from ibid.records import Hit

WRAPPED_LINE: Final = 40
"""Characters of a line from which its break counts as a wrap inside a paragraph."""

LONGEST_RUN: Final = 3
"""Consecutive units that may stand together as evidence."""

_BULLET: Final = re.compile(r"[ \t]*(?:[-*+•‣◦▪·]|\d{1,3}[.)]|[a-z][.)])[ \t]+")
_ADDRESS: Final = re.compile(r"\b(?:MM?|Mrs?|Ms|Dr|Prof|Sra?|Srta|Hr|Fr|St|Nr)\.\Z")
"""An address that a name follows: its point ends no sentence."""

_ROW: Final = re.compile(r"[ \t]*\|.*\|[ \t]*$|[^|\n]+(?: \| [^|\n]*){2,}$")
_RULE: Final = re.compile(r"[-=:| \t*_]+$")


@record
class Unit:
    """One piece of evidence: `text == whole[start:end]`.

    `context` is what a reader needs beside it: the header of a table row, the line that leads
    into a list.
    """

    text: str
    start: int
    end: int
    kind: Literal["sentence", "item", "row"] = "sentence"
    context: str = ""


@record
class _Line:
    start: int
    end: int
    kind: Literal["sentence", "item", "row"]


def find_language(sources: Sequence[Hit]) -> str | None:
    """The language of the sources, which have more words to tell it by than a question."""
    return detect_language(" ".join(hit.passage.text for hit in sources))


def split_units(text: str, *, start: int = 0, language: str | None = None) -> list[Unit]:
    """The sentences, list items and table rows of `text[start:]`, in order, never overlapping.

    A unit has no white space at its ends, no bullet, and a row no outer pipes; the rules under
    a table's header and between sections are no units.
    """
    units: list[Unit] = []
    lead = header = ""
    for line in _join_lines(text, start):
        if line.kind == "row":
            row = Unit(text[line.start : line.end], line.start, line.end, "row", header)
            header = header or row.text
            units.append(row)
            continue
        header = ""
        context = lead if line.kind == "item" else ""
        sentences = [
            Unit(text[a:b], a, b, line.kind, context)
            for a, b in _trimmed_sentences(text, line, language)
        ]
        units += sentences
        if sentences and line.kind == "sentence":
            lead = sentences[-1].text if sentences[-1].text.endswith((":", "：")) else ""
    return units


def list_runs(units: int) -> Iterator[tuple[int, int]]:
    """The first and last of every run of at most LONGEST_RUN units, short ones first."""
    for length in range(LONGEST_RUN):
        for first in range(units - length):
            yield first, first + length


def _trimmed_sentences(text: str, line: _Line, language: str | None) -> Iterator[tuple[int, int]]:
    held: int | None = None
    for start, end in split_sentences(text[line.start : line.end], language):
        span = _trim(text, line.start + start, line.start + end)
        if span[0] == span[1]:
            continue
        first = span[0] if held is None else held
        held = first if _ADDRESS.search(text, first, span[1]) and span[1] < line.end else None
        if held is None:
            yield first, span[1]


def _join_lines(text: str, start: int) -> Iterator[_Line]:
    """The lines of a text, those of a wrapped paragraph or list item as one."""
    current: _Line | None = None
    for match in re.compile(r"[^\n]*\n?").finditer(text, start):
        line = _read_line(text, match.start(), match.end())
        if line and current and _continues(text, current, line):
            current = _Line(current.start, line.end, current.kind)
            continue
        if current:
            yield current
        current = line
    if current:
        yield current


def _read_line(text: str, start: int, end: int) -> _Line | None:
    raw = text[start:end].rstrip("\n")
    if not raw.strip() or _RULE.match(raw):
        return None
    if _ROW.match(raw):
        return _Line(*_trim(text, start, end, " \t\n|"), "row")
    bullet = _BULLET.match(raw)
    start += bullet.end() if bullet else 0
    return _Line(*_trim(text, start, end), "item" if bullet else "sentence")


def _continues(text: str, above: _Line, line: _Line) -> bool:
    """Whether a plain line goes on with the sentence of the one above it."""
    if line.kind != "sentence" or above.kind == "row":
        return False
    last = text.rfind("\n", above.start, above.end) + 1 or above.start
    return above.end - last >= WRAPPED_LINE or text[line.start].islower()


def _trim(text: str, start: int, end: int, characters: str | None = None) -> tuple[int, int]:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip(characters))
    return start + left, max(start + left, start + len(piece.rstrip(characters)))
