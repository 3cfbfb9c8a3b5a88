"""Running headers and footers: what stands at the same height of many pages is said once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ibid.reading.pdf_page import Line, PageText

_MARGIN: Final = 0.12  # of the height of a page, above and below
_LEAST_PAGES: Final = 3
_SHARE: Final = 0.3  # of the pages: left and right pages may differ, and chapters too
_STEP: Final = 4.0  # points: lines so near are at the same height
_FIGURES: Final = re.compile(r"\d+|\b[ivxlc]+\b", re.I)


def drop_running(pages: Sequence[PageText]) -> tuple[list[PageText], list[str]]:
    """The pages without the lines that come again in the margin of others, and these, each once.

    Figures may differ: they are the numbers of the pages. A page that holds nothing else, such as
    the same page many times over, keeps its lines.
    """
    least = max(_LEAST_PAGES, round(len(pages) * _SHARE))
    if len(pages) < least:
        return list(pages), []
    counts = Counter(
        key for page in pages for key in {_find_key(line, page) for line in page.lines}
    )
    running = {key for key, count in counts.items() if key and count >= least}
    dropped: dict[str, None] = {}
    kept = []
    for page in pages:
        lines = [line for line in page.lines if _find_key(line, page) not in running]
        if not lines:
            kept.append(page)
            continue
        if len(lines) < len(page.lines):
            dropped |= dict.fromkeys(
                n.text for n in page.lines if _is_worth_telling(n, page, running)
            )
        kept.append(page._replace(lines=lines))
    return kept, list(dropped)


def _is_worth_telling(line: Line, page: PageText, running: set[tuple[str, int] | None]) -> bool:
    """True for a running line with more to it than the number of the page, told without it."""
    return _find_key(line, page) in running and not _FIGURES.search(line.text)


def _find_key(line: Line, page: PageText) -> tuple[str, int] | None:
    """What a line of the margin shares with its like on other pages; None for all others."""
    height = page.width if page.turns % 2 else page.height
    if line.bottom < height * _MARGIN:
        place = line.top
    elif line.top > height * (1 - _MARGIN):
        place = line.top - height
    else:
        return None
    return _FIGURES.sub("#", line.text), round(place / _STEP)
