"""What is found on a page of a PDF before it is put in order: lines of text, and rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

_UPRIGHT: Final = 1.5  # a piece so many times higher than wide is turned
_LEAST_TURNED: Final = 4  # characters; fewer may stand higher than wide as they are
_SIDE_BY_SIDE: Final = 3  # times that a piece stands beside the one before: there may be a table

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
