"""Clauses: the numbered parts of contracts and laws, each below the numbers that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from ibid.chunking.marks import Mark, end_of_line, find_lines
from ibid.chunking.pieces import Span
from ibid.records import Block

_MIN_CLAUSES: Final = 3
_MAX_LABEL: Final = 80
"""Characters of a clause's first line that are repeated; of a longer one only its number is."""

_LABEL: Final = re.compile(
    r"^[^\S\n]*(?:"
    r"(?:§[^\S\n]?|(?:Article|Section|Clause|Artikel|Artículo|Art\.)[^\S\n])(?P<named>\d+(?:\.\d+)*)"
    r"|(?P<number>\d{1,3}(?:\.\d{1,3})+\.?|\d{1,3}\.)"
    r"|\((?P<letter>[a-z]|[ivx]{1,5}|\d{1,2})\))(?=[\s.:–—-])",
    re.M,
)
_ROMAN: Final = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")

_Step: TypeAlias = tuple[str, int]
"""One number of a path, such as 4.2 (b), with its style."""


def find_clauses(text: str, blocks: Sequence[Block]) -> list[Mark]:
    """Lines that begin with the next number of their row; nothing without a number like 1.1 or § 5.

    What only looks like a number of a clause, such as an amount that begins a line, follows none.
    """
    path: list[_Step] = []
    labels: list[Span] = []
    marks: list[Mark] = []
    legal = False
    for match in find_lines(text, blocks, _LABEL):
        steps = _read_steps(match.groupdict(), path)
        if not steps or not _follows(steps, path):
            continue
        legal = legal or bool(match["named"]) or len(steps) > 1
        depth = len(steps) - 1
        label = _find_label(text, match.span())
        # A row that begins within a section has none of the labels above it.
        labels = [(0, 0)] * (depth - len(labels)) + labels[:depth]
        marks.append(Mark(match.start(), label, tuple(span for span in labels if span[1])))
        labels.append(label)
        path = steps
    return marks if legal and len(marks) >= _MIN_CLAUSES else []


def _read_steps(found: dict[str, str | None], path: list[_Step]) -> list[_Step]:
    """The whole path of a label; a letter in brackets goes below the numbers before it."""
    if number := found["named"] or found["number"]:
        return [("number", int(part)) for part in number.rstrip(".").split(".")]
    styles = [style for style, _ in path]
    for step in _read_letter(found["letter"] or ""):
        above = path[: styles.index(step[0])] if step[0] in styles else path
        if _follows([*above, step], path):
            return [*above, step]
    return []


def _read_letter(letter: str) -> Iterator[_Step]:
    """What a mark in brackets can be: (i) comes after (h), and it is the first Roman number."""
    if letter.isdigit():
        yield "bracket", int(letter)
    elif len(letter) == 1:
        yield "letter", ord(letter) - ord("a") + 1
    if letter in _ROMAN:
        yield "roman", _ROMAN.index(letter) + 1


def _follows(steps: list[_Step], path: list[_Step]) -> bool:
    """Whether a path comes next: first below the last one, or next to it or to one above it.

    The first one of a section may go on from another section, but a single number other than 1 can
    be anything, such as a day.
    """
    *above, (style, number) = steps
    if not path:
        return bool(above) or number == 1
    depth = len(above)
    if above != path[:depth]:
        return False
    if depth == len(path):
        return number == 1
    return path[depth] == (style, number - 1)


def _find_label(text: str, span: Span) -> Span:
    start = span[1] - len(text[slice(*span)].lstrip())
    end = end_of_line(text, start)
    return (start, end) if end - start <= _MAX_LABEL else (start, span[1])
