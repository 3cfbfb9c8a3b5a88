"""What is found on a page of a PDF before it is put in order: lines of text, and rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from ibid.reading.pdf.boxes import unite
from ibid.reading.pdf.words import close_up

_UPRIGHT: Final = 1.5  # a piece so many times higher than wide is turned
_LEAST_TURNED: Final = 4  # characters; fewer may stand higher than wide as they are
_SIDE_BY_SIDE: Final = 3  # times that a piece stands beside the one before: there may be a table
_WORD_GAP: Final = 0.4  # of the size: no more than a space
_TOUCHING: Final = 0.1  # of the size: pieces of one word
_LIGHT: Final = 0.3  # of its characters: a line is no longer bold
_CLOSING: Final = tuple(",.;:!?)]}")

_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


class Line(NamedTuple):
    """A line of text, or a piece of one, in points from the page's top left corner.

    `size` is that of its font; `hyphenated` when its last word goes on in the next line.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    hyphenated: bool = False
    bold: bool = False

    @property
    def is_turned(self) -> bool:
        """True for text that runs up or down the page."""
        tall = self.bottom - self.top > (self.right - self.left) * _UPRIGHT
        return tall and len(self.text) >= _LEAST_TURNED

    @property
    def is_right_to_left(self) -> bool:
        """True for text with a letter of a script such as Arabic or Hebrew."""
        return not self.text.isascii() and bool(_RIGHT_TO_LEFT.search(self.text))


class Rule(NamedTuple):
    """A horizontal rule on a page."""

    left: float
    right: float
    height: float


class PageText(NamedTuple):
    """The pieces of text of one page in the order of the file, and its rules.

    `turns` is how often the page must be turned clockwise for most of its text to be upright:
    the pieces are given in coordinates of the page so turned, `width` and `height` are those of
    the page as it is shown. `unmapped` is the share of characters whose letter is unknown.
    """

    number: int
    lines: list[Line]
    width: float
    height: float
    turns: int = 0
    unmapped: float = 0.0
    rules: tuple[Rule, ...] = ()

    @property
    def has_rows(self) -> bool:
        """True where pieces stand side by side in the order of the file, as cells do."""
        beside = sum(
            1
            for before, line in pairwise(self.lines)
            if line.left > before.right and abs(line.bottom - before.bottom) < line.size / 2
        )
        return beside >= _SIDE_BY_SIDE


def run_right_to_left(lines: Sequence[Line]) -> bool:
    """True when most of the lines are in a script such as Arabic or Hebrew."""
    return sum(line.is_right_to_left for line in lines) * 2 > len(lines)


def join_touching(lines: Sequence[Line]) -> list[Line]:
    """The lines in their order, those joined that go on where the one before them ends.

    The file writes a piece for each change of font, and for what is raised or lowered.
    """
    joined: list[Line] = []
    for line in lines:
        if joined and _touches(joined[-1], line):
            row = join_row([joined[-1], line])
            joined[-1] = row._replace(text=close_up(row.text))
        else:
            joined.append(line)
    return joined


def _touches(before: Line, line: Line) -> bool:
    size = max(before.size, line.size)
    if before.hyphenated or not -size * _WORD_GAP < line.left - before.right < size * _WORD_GAP:
        return False
    shared = min(before.bottom, line.bottom) - max(before.top, line.top)
    return shared > min(before.bottom - before.top, line.bottom - line.top) / 2


def join_row(row: Sequence[Line], backwards: bool = False) -> Line:
    """Pieces side by side as one line, read from the right when `backwards`."""
    if len(row) == 1:
        return row[0]
    row = sorted(row, key=lambda piece: -piece.right if backwards else piece.left)
    text = row[0].text
    for before, piece in pairwise(row):
        apart = max(piece.left - before.right, before.left - piece.right)
        same = before.size * 0.9 < piece.size < before.size * 1.1
        touching = abs(apart) < before.size * _TOUCHING
        joined = touching and (same or piece.text.startswith(_CLOSING))
        text += piece.text if joined else f" {piece.text}"
    longest = max(row, key=lambda piece: len(piece.text))
    left, top, right, bottom = unite(piece[1:5] for piece in row)
    light = sum(len(piece.text) for piece in row if not piece.bold)
    bold = light < len(text) * _LIGHT
    return Line(text, left, top, right, bottom, longest.size, row[-1].hyphenated, bold)
