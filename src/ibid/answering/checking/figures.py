"""Every number, date and time of a text, each with its bound, and the codes beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ibid.answering.checking.bounds import find_bound
from ibid.answering.checking.closed import read_members
from ibid.answering.checking.measures import (
    Fact,
    derive_changes,
    derive_shares,
    find_unit,
    read_quantities,
)
from ibid.answering.checking.moments import derive_years, read_dates, read_times, read_weekdays

_IDENTIFIER: Final = re.compile(
    r"`(?P<quoted>[^`\n]+)`|(?<![\w-])--[a-z][\w-]+|(?<!\w)(?=[\w./:-]*[^\W\d_])(?=[\w./:-]*[\d_])\w+(?:[-_./:]\w+)*|(?<!\w)[\w.]+\(\)",
    re.ASCII,
)
"""A code: what backticks hold, an option, letters with figures or low lines, a call."""
_OLDER: Final = re.compile(r"older|älter|plus ancien|más antigu", re.IGNORECASE)
"""What is older than a year is from before it."""

_LATEST: Final = re.compile(r"later|latest|spätestens|tard|tardar", re.IGNORECASE)
_AHEAD: Final = re.compile(
    r"\s*(?:before|beforehand|in advance|prior|ahead|vor|vorher|davor|im voraus|avant"
    r"|à l'avance|antes|de antelación)\b"
    r"|\s*之?前",
    re.IGNORECASE,
)
"""No later than 45 minutes before it is at least 45 minutes before it."""

_LEVEL: Final = re.compile(r"(?:lower|higher|earlier|later) than", re.IGNORECASE)

_RATE: Final = re.compile(
    r"\b(?:every|each|alle|jede[nrs]?|tou(?:te)?s les|chaque|cada|todos los|todas las)\s+\Z", re.I
)
"""What makes a rate of a number: every ten seconds are not all of them."""

_VERSION: Final = re.compile(
    r"(?<![\w.])(?:(?:versions?|version(?:en)?|versión|releases?|firmware|section|chapter|kapitel|abschnitt|v)\.?\s?"
    r"(?:(?:older|newer|later|earlier|higher|lower) than |from |since |before |up to )?"
    r"|(?:版本|バージョン)\s?|(?-i:[A-Z][a-z]+)\s)(?P<figures>\d+(?:\.\d+)+)(?![\w.,]?\d)",
    re.IGNORECASE,
)


def read_figures(text: str, language: str | None) -> tuple[list[Fact], list[str], str]:
    """The facts in their order, the codes, and the text with all of these blanked."""
    found = _apart([*read_dates(text), *read_times(text, language), *read_weekdays(text)])
    found += _read_versions(blank(text, ((fact.start, fact.end) for fact in found)))
    rest = blank(text, ((fact.start, fact.end) for fact in found))
    quantities = read_quantities(rest, language)
    spans = {(fact.start, fact.end) for fact in quantities}
    codes = [match for match in _IDENTIFIER.finditer(rest) if match.span() not in spans]
    inside = [range(*match.span()) for match in codes]
    found += [fact for fact in quantities if not any(fact.start in code for code in inside)]
    rest = blank(rest, (match.span() for match in codes))
    found += read_members(rest, language)
    facts, spans_told = [], []
    for fact in sorted(_apart(found), key=lambda fact: fact.start):
        fact, span = _bound_fact(text, fact)
        facts.append(fact)
        spans_told.append(span)
    derived = [
        fact
        for derive in (derive_shares, derive_changes, derive_years)
        for fact in derive(text, facts)
    ]
    return (
        [*facts, *derived],
        [match["quoted"] or match[0] for match in codes],
        blank(rest, spans_told),
    )


def _read_versions(text: str) -> Iterator[Fact]:
    """Figures with points that are no decimals, part by part: version 2.10 is not 2.1."""
    for match in _VERSION.finditer(text):
        figures, (start, end) = match["figures"], match.span("figures")
        if not find_unit(text, end):
            value = tuple(float(part) for part in figures.split("."))
            yield Fact("version", value, figures, start, end)


def _bound_fact(text: str, fact: Fact) -> tuple[Fact, tuple[int, int]]:
    """The fact with the bound that is put on it, and the range of the words that do it."""
    bound, start, end = find_bound(text, fact.start, fact.end)
    if fact.family in ("date", "version") and bound == ">" and _OLDER.match(text, start):
        bound = "<"
    if bound == "<=" and _LATEST.search(text[start : fact.start]) and _AHEAD.match(text, fact.end):
        bound = ">="
    if fact.family in ("s", "month") and _LEVEL.match(text, start):
        bound, start = "", fact.start  # lower than four years ago
    rate = _RATE.search(text, max(0, fact.start - 12), fact.start)
    start = min(start, rate.start() if rate else fact.start)
    return replace(fact, bound=bound or fact.bound), (start, end)


def _apart(facts: Iterable[Fact]) -> list[Fact]:
    """The facts without those that overlap a longer one."""
    kept: list[Fact] = []
    for fact in sorted(facts, key=lambda fact: (fact.start - fact.end, fact.start)):
        if all(fact.end <= other.start or fact.start >= other.end for other in kept):
            kept.append(fact)
    return kept


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with dots in place of these ranges, so that nothing in them is read twice."""
    for start, end in spans:
        text = text[:start] + "·" * (end - start) + text[end:]
    return text
