"""Running headers and footers: what stands at the same height of many pages is said once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

from ibid.reading.pdf.page import Line, PageText

_MARGIN: Final = 0.12  # of the height of a page, above and below
_LEAST_PAGES: Final = 3
_LEAST_NUMBERED: Final = 2  # pages that have nothing but their number there
_SHARE: Final = 0.1  # of the pages: left and right pages may differ, and chapters too
_STEP: Final = 4.0  # points: lines so near are at the same height
_PAGE_NUMBER: Final = re.compile(  # 7, - 7 -, p. 7, Page 7, 7/12, Page 7 of 12
    r"[^\w#]*(?:(?:p\.?|pp\.|\w*pag\w*\.?|seite|str\.|стр\.)\s?)?#(?:\s?(?:/|of|von|de|sur)\s?#)?[^\w#]*",
    re.I,
)
_FIGURES: Final = re.compile(r"\d+|\b[ivxlc]+\b", re.I)

Key: TypeAlias = "tuple[str, int]"
"""What a line shares with its like on other pages: its text without figures, and its height."""


def drop_running(pages: Sequence[PageText]) -> tuple[list[PageText], list[str]]:
    """The pages without the lines that come again in the margin of others, and these, each once.

    Figures may differ: they are the numbers of the pages. A page that holds nothing else keeps
    its lines.
    """
    keys = [_find_keys(page) for page in pages]
    counts = Counter(key for page in keys for key in {key for key in page if key})
    least = max(_LEAST_PAGES, round(len(pages) * _SHARE))
    running = {
        key
        for key, count in counts.items()
        if count >= (_LEAST_NUMBERED if _PAGE_NUMBER.fullmatch(key[0]) else least)
    }
    told: dict[Key, str] = {}
    kept = []
    for page, found in zip(pages, keys, strict=True):
        pairs = list(zip(page.lines, found, strict=True))
        lines = [line for line, key in pairs if key not in running]
        if lines and len(lines) < len(pairs):
            for line, key in pairs:
                if key and key in running and not _PAGE_NUMBER.fullmatch(key[0]):
                    told.setdefault(key, line.text)
            page = page._replace(lines=lines)
        kept.append(page)
    return kept, list(dict.fromkeys(told.values()))


def _find_keys(page: PageText) -> list[Key | None]:
    """The key of each line in the margin or at the very top or bottom; None for the others."""
    height = page.width if page.turns % 2 else page.height
    upright = [line for line in page.lines if not line.is_turned]
    first = min((line.bottom for line in upright), default=0.0)
    last = max((line.top for line in upright), default=height)
    above, below = max(height * _MARGIN, first), min(height * (1 - _MARGIN), last)
    return [_find_key(line, above, below, height) for line in page.lines]


def _find_key(line: Line, above: float, below: float, height: float) -> Key | None:
    if line.bottom <= above:
        place = line.top
    elif line.top >= below:
        place = line.top - height
    else:
        return None
    text = _FIGURES.sub("#", line.text)
    if _PAGE_NUMBER.fullmatch(text):
        return text, 1 if place > 0 else -1  # at the height that each page leaves for it
    return text, round(place / _STEP)
