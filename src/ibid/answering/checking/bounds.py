"""The bounds that words put on a number or a date: at least, up to, before, about."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from ibid.answering.checking.measures import Bound
from ibid.answering.checking.vocabulary import load_words, split_lines

REACH: Final = 32
"""Characters in front of a fact in which its bound is looked for."""

_NAMES: Final[dict[str, Bound]] = {
    "at_least": ">=",
    "at_most": "<=",
    "more": ">",
    "less": "<",
    "about": "~",
}
_ARTICLE: Final = r"(?:(?:the|an?|el|las?|los|les?|de[nmr]|of|de|von)\s+)?"
_COUNTED: Final = r"(?:[a-zà-ÿ]+\s+)?"
_COUNTER: Final = "[冊人個本枚回件名台匹个次张只位岁歳]?"


def find_bound(text: str, start: int, end: int) -> tuple[Bound, int, int]:
    """The bound that words beside a fact put on it, and from where to where all of these stand.

    The longest phrase in front wins, then one behind.
    """
    before = text[max(0, start - REACH) : start]
    found = [
        (match.start() - len(before) + start, bound)
        for bound, pattern in _patterns("bounds_before")
        if (match := pattern.search(before))
    ]
    after = [
        (bound, match.end())
        for bound, pattern in _patterns("bounds_after")
        if (match := pattern.match(text, end))
    ]
    if after and after[0][0] in ("<=", ">="):
        return after[0][0], start, after[0][1]
    if after and not found:
        return after[0][0], start, end
    if not found:
        return "", start, end
    place, bound = min(found)
    return bound, place, end


@cache
def _patterns(table: str) -> tuple[tuple[Bound, re.Pattern[str]], ...]:
    return tuple(
        (_NAMES[name], _compile("|".join(split_lines(lines)), behind=table == "bounds_after"))
        for name, lines in load_words("shared")[table].items()
    )


def _compile(phrases: str, *, behind: bool) -> re.Pattern[str]:
    if behind:
        return re.compile(rf"\s*{_COUNTER}{_COUNTED}(?:{phrases})", re.IGNORECASE)
    # Without regard to case, each of these thousands of characters would be looked up.
    edge = r"(?:(?<!\w)|(?<=(?-i:[⺀-鿿])))"
    return re.compile(rf"{edge}(?:{phrases})\s*{_ARTICLE}\Z", re.IGNORECASE)
