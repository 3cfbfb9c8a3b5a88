"""Dates, times of day and weekdays, as six languages write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Final

from ibid.answering.checking.measures import DERIVED, Fact, find_unit
from ibid.answering.checking.numerals import read_numerals
from ibid.answering.checking.vocabulary import load_words, split_lines

_SHORT_MONTHS: Final = frozenset(
    [
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sept",
        "sep",
        "oct",
        "okt",
        "nov",
        "dec",
        "dez",
        "may",
        "mars",
    ]
)
"""Months that are words too, or abbreviations: a day, a year or a capital must mark them."""

_WEEK_PARTS: Final = {
    "weekdays": range(5), "weekday": range(5), "werktags": range(5), "wochentags": range(5),
    "en semaine": range(5), "días laborables": range(5), "工作日": range(5), "平日": range(5),
    "weekend": range(5, 7), "weekends": range(5, 7), "wochenende": range(5, 7),
    "week-end": range(5, 7), "fin de semana": range(5, 7), "fines de semana": range(5, 7),
    "周末": range(5, 7), "週末": range(5, 7),
}  # fmt: skip


@cache
def _months() -> Mapping[str, int]:
    lines = split_lines(load_words("shared")["months"])
    return {word: number for number, line in enumerate(lines, 1) for word in line.split()}


@cache
def _weekdays() -> Mapping[str, range]:
    lines = split_lines(load_words("shared")["weekdays"])
    days = {word: range(n, n + 1) for n, line in enumerate(lines) for word in line.split()}
    return days | _WEEK_PARTS


def _any_of(words: Mapping[str, object], *, dense: bool) -> str:
    chosen = [word for word in words if ("一" <= word[0] <= "鿿") == dense]
    return "|".join(re.escape(word) for word in sorted(chosen, key=len, reverse=True))


@cache
def _date_pattern() -> re.Pattern[str]:
    month = rf"(?P<month{{0}}>{_any_of(_months(), dense=False)})\b\.?"
    day = r"(?P<d{0}>\d{{1,2}})(?:st|nd|rd|th|er|\.)?"
    year = r"(?:,?\s+(?:de\s+|del\s+)?(?P<y{0}>\d{{4}})\b(?!\s*(?:%|€|\$)))?"
    return re.compile(
        r"\b(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})\b"
        rf"|\b{day.format(2)}\s+(?:of\s+|de\s+)?{month.format(2)}{year.format(2)}"
        rf"|\b{month.format(3)}\s+(?:the\s+)?{day.format(3)}(?![\w:%])(?!\.\d){year.format(3)}"
        rf"|\b{month.format(4)},?\s+(?:de\s+|del\s+)?(?P<y4>\d{{4}})\b"
        r"|\b(?P<d7>\d{1,2})\.(?P<m7>\d{1,2})\.(?P<y7>\d{4})\b"
        r"|\b(?P<d8>\d{1,2})/(?P<m8>\d{1,2})/(?P<y8>\d{4})\b"
        rf"|\b{month.format(9)}(?![\w-])"
        r"|\b(?P<d0>\d{1,2})(?:st|nd|rd|th)\b",
        re.IGNORECASE,
    )


_EAST_YEAR: Final = r"\d{4}|[〇零一二三四五六七八九]{4}"
_EAST_NUMBER: Final = r"\d{1,2}|[一二三四五六七八九十]{1,3}"
_EAST_DATE: Final = re.compile(
    rf"(?<![\d一二三四五六七八九十])(?:(?P<y>{_EAST_YEAR})年)?"
    rf"(?P<m>{_EAST_NUMBER})月(?:(?P<d>{_EAST_NUMBER})[日号號])?"
    rf"|(?<!\d)(?P<year>{_EAST_YEAR})年(?!間)"
)
_YEAR: Final = re.compile(
    r"(?<![\w.,:/-])(?P<y>1\d{3}|20\d{2}|21\d{2})(?![\w%€$£]|[.,:/]\d| (?:%|€|\$|£))(?:er jahre)?"
)
_TIME: Final = re.compile(
    r"(?<![\w.:])(?P<h>\d{1,2})(?:[:.](?P<m>\d{2})|(?P<french>\s?h(?:\s?(?P<fm>\d{2}))?(?!\w)))?"
    r"\s*(?P<half>[ap]\.?\s?m\b\.?|uhr\b|o'clock|o’clock|hs?\b)?"
    r"(?P<part>\s*(?:in the (?:morning|afternoon|evening)|at night"
    r"|(?:de|por) la (?:mañana|tarde|noche)"
    r"|du (?:matin|soir)|de l'après-midi|(?:morgens|vormittags|nachmittags|abends|früh)))?",
    re.IGNORECASE,
)
_EAST_TIME: Final = re.compile(
    r"(?P<part>上午|早上|清晨|中午|下午|晚上|傍晚|午前|午後|夜)?の?"
    r"(?P<h>\d{1,2}|[一二三四五六七八九十两]+)"
    r"(?:[点點时時](?!間|间|候)(?:(?P<half>半)|(?P<m>\d{1,2}|[一二三四五六七八九十]+)分?)?|:(?P<colon>\d{2}))"
)
_NAMED_TIMES: Final = re.compile(
    r"\b(?:(?P<noon>noon|midday|mittags?|midi|mediodía)|(?P<midnight>midnight|mitternacht|minuit|medianoche))\b"
    r"|(?P<noon2>正午)|(?P<midnight2>午夜)",
    re.IGNORECASE,
)
_AFTERNOON: Final = re.compile(
    r"p|.*(?:afternoon|evening|night|tarde|noche|soir|après|nachmittag|abend|下午|晚上|傍晚|午後|夜)",
    re.IGNORECASE,
)
_MORNING: Final = re.compile(
    r"a\.?\s?m|.*(?:morning|mañana|matin|morgen|vormittag|früh|上午|早上|清晨|午前)", re.IGNORECASE
)
_CLOCK_BEFORE: Final = re.compile(
    r"(?:\b(?:a|hasta|desde|de) las?|\bà|\bat|\bum|\bgegen)\s+\Z", re.IGNORECASE
)


def read_dates(text: str) -> Iterator[Fact]:
    """The dates of a text, each (year, month, day) with 0 for what was not said."""
    taken: list[range] = []
    for match in _date_pattern().finditer(text):
        parts = {name[0]: value for name, value in match.groupdict().items() if value}
        if _is_month(text, match, parts):
            month = parts.get("m", "0")
            number = int(month) if month.isdigit() else _months()[month.lower()]
            if number <= 12:
                yield from _read_first_day(text, match, parts, number)
                value = (float(parts.get("y", 0)), float(number), float(parts.get("d", 0)))
                taken.append(range(*match.span()))
                yield Fact("date", value, text[slice(*match.span())].strip(), *match.span())
    if not text.isascii():
        found = list(_read_east_dates(text))
        taken += [range(fact.start, fact.end) for fact in found]
        yield from found
    for match in _YEAR.finditer(text):
        counts = find_unit(text, match.end())
        if not counts and not any(match.start() in span for span in taken):
            yield Fact("date", (float(match["y"]), 0.0, 0.0), match[0], *match.span())


def _read_first_day(
    text: str, match: re.Match[str], parts: Mapping[str, str], month: int
) -> Iterator[Fact]:
    """The first day of a span that names its month once, at the end: 18 to 20 July."""
    before = _FIRST_DAY.search(text, 0, match.start())
    if before and "d" in parts and int(before["day"]) < int(parts["d"]):
        value = float(parts.get("y", 0)), float(month), float(before["day"])
        yield Fact("date", value, before["day"], *before.span("day"))


_FIRST_DAY: Final = re.compile(
    r"(?<![\w.:,/$€£-])(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
    r"(?:\s?[-–—]\s?|\s+(?:to|until|till|through|bis|au|al?)\s+)(?:the\s+)?\Z",
    re.IGNORECASE,
)


def _read_east_dates(text: str) -> Iterator[Fact]:
    """Dates in Chinese and Japanese, in figures or Han numerals: 2024年3月5日, 三月五日."""
    for match in _EAST_DATE.finditer(text):
        year = match["y"] or match["year"]
        value = (
            read_numerals(f"{year}年", None)[0].value if year else 0.0,
            _read_small(match["m"] or "0"),
            _read_small(match["d"] or "0"),
        )
        if value[1] <= 12:
            yield Fact("date", value, match[0], *match.span())


def _is_month(text: str, match: re.Match[str], parts: Mapping[str, str]) -> bool:
    """Whether a month that stands alone is one: "may", "mar" and "mars" are words too."""
    word = parts.get("m", "")
    if "y" in parts or "d" in parts or word.isdigit():
        return True
    opens = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1:] in ".!?"
    return word.lower() not in _SHORT_MONTHS or (word[0].isupper() and not opens)


def read_times(text: str, language: str | None) -> list[Fact]:
    """The times of day, in minutes; (minutes, 1) where morning or afternoon was left open.

    Of two with a dash or "to" between them the first is a start and the second an end.
    """
    times = sorted(_read_times(text, language), key=lambda fact: (fact.start, -fact.end))
    for place, (first, second) in enumerate(pairwise(times)):
        if _UNTIL.fullmatch(text[first.end : second.start]):
            times[place] = replace(times[place], bound=">=")
            times[place + 1] = replace(second, bound="<=")
    return times


_UNTIL: Final = re.compile(
    r"\s?[-–—~〜～]\s?|\s+(?:to|until|till|bis|à|a|hasta)\s+(?:las?\s+)?|[到至]|から", re.IGNORECASE
)


def _read_times(text: str, language: str | None) -> Iterator[Fact]:
    for match in _TIME.finditer(text):
        fact = _read_clock(text, match, language)
        if fact:
            yield fact
    for match in _NAMED_TIMES.finditer(text):
        noon = match["noon"] or match["noon2"]
        yield Fact("time", (720.0 if noon else 0.0, 0.0), match[0], *match.span())
    if not text.isascii():
        yield from _read_east(text)
    if language in (None, "en"):
        yield from _read_oclock(text)
    yield from _read_spelled(text, language)


def _read_east(text: str) -> Iterator[Fact]:
    for match in _EAST_TIME.finditer(text):
        minute = 30.0 if match["half"] else _read_small(match["m"] or match["colon"] or "0")
        value = _place_in_day(_read_small(match["h"]), minute, match["part"] or "", open_=False)
        yield Fact("time", value, match[0], *match.span())


def _read_small(han: str) -> float:
    """The value of figures or Han numerals below a hundred."""
    if han.isdigit():
        return float(han)
    tens, found, ones = han.partition("十")
    digits = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
    if not found:
        return float(digits.get(tens, 0))
    return float(digits.get(tens, 1) * 10 + digits.get(ones, 0))


_HOURS: Final = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_OCLOCK: Final = re.compile(
    r"\b(?P<past>half past |(?:a )?quarter past |(?:a )?quarter to )?"
    rf"(?P<hour>{'|'.join(_HOURS)})\b"
    r"(?:\s+(?P<clock>o['’]clock|[ap]\.?m\b\.?))?"
    r"(?P<part>\s+in the (?:morning|afternoon|evening)|\s+at night)?",
    re.IGNORECASE,
)


def _read_oclock(text: str) -> Iterator[Fact]:
    for match in _OCLOCK.finditer(text):
        if match["past"] or match["clock"] or match["part"]:
            hour = _HOURS.index(match["hour"].lower()) + 1
            part = f"{match['clock'] or ''} {match['part'] or ''}".replace("o'clock", "").strip()
            value = _place_in_day(hour, _read_past(match["past"]), part, open_=True)
            yield Fact("time", value, match[0], *match.span())


_SPELLED_HOURS: Final[Mapping[str, tuple[str, re.Pattern[str]]]] = {
    "de": (
        "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        re.compile(
            r"\b(?P<hour>[a-zäöüß]+) uhr\b(?P<part> (?:morgens|vormittags|nachmittags|abends))?",
            re.I,
        ),
    ),
    "fr": (
        "une deux trois quatre cinq six sept huit neuf dix onze douze",
        re.compile(
            r"(?<=\bà )(?P<hour>[a-z]+) heures?\b(?P<part> (?:du matin|du soir|de l'après-midi))?",
            re.I,
        ),
    ),
    "es": (
        "una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        re.compile(r"\blas? (?P<hour>[a-z]+)\b(?P<part> de la (?:mañana|tarde|noche))?", re.I),
    ),
}


def _read_spelled(text: str, language: str | None) -> Iterator[Fact]:
    """Hours in letters, where something tells that they are hours: las siete de la tarde."""
    words, pattern = _SPELLED_HOURS.get(language or "", ("", _OCLOCK))
    hours = words.split()
    for match in pattern.finditer(text) if hours else ():
        certain = (
            language != "es" or match["part"] or _CLOCK_BEFORE.search(text, 0, match.start("hour"))
        )
        if match["hour"].lower() in hours and certain:
            hour = hours.index(match["hour"].lower()) + 1
            value = _place_in_day(hour, 0.0, (match["part"] or "").strip(), open_=True)
            yield Fact("time", value, match[0], *match.span())


def _read_past(words: str | None) -> float:
    """The minutes past the hour that go before it: half past, quarter to."""
    return (
        0.0 if not words else -15.0 if "to" in words.split() else 30.0 if "half" in words else 15.0
    )


def _read_clock(text: str, match: re.Match[str], language: str | None) -> Fact | None:
    hour, minute = int(match["h"]), int(match["m"] or match["fm"] or 0)
    half, part = match["half"] or "", match["part"] or ""
    if half.lower() == "am" and language == "de":
        half = ""  # "Linie 7 am Markt"
    pointed = match["m"] and text[match.end("h")] == "."
    clock = bool(half.strip("hs ") or part or (match["m"] and not pointed) or match["fm"])
    if pointed and not half and not part:
        return None
    if not clock:
        # "17 h" is a clock where something like "à" or "las" stands before it.
        before = _CLOCK_BEFORE.search(text, 0, match.start())
        clock = bool(before) and (
            bool(match["french"] or half) or (before or [""])[0].strip().endswith(("las", "la"))
        )
    if not clock or hour > 24 or minute > 59:
        return None
    open_ = bool(re.match(r"o.clock", half, re.IGNORECASE)) or not (
        match["m"] or half or match["french"]
    )
    value = _place_in_day(hour, minute, f"{half.replace('o', '')} {part}".strip(), open_=open_)
    return Fact(
        "time", value, match[0].strip(), match.start(), match.start() + len(match[0].rstrip())
    )


def _place_in_day(hour: float, minute: float, part: str, *, open_: bool) -> tuple[float, ...]:
    """Minutes since midnight, and 1 where it may as well be twelve hours later."""
    if part and _AFTERNOON.match(part):
        return (hour % 12 + 12) * 60 + minute, 0.0
    if part and _MORNING.match(part):
        return hour % 12 * 60 + minute, 0.0
    return hour % 24 * 60 + minute, float(open_ and hour <= 12)


def read_weekdays(text: str) -> Iterator[Fact]:
    """The weekdays, each or each range with the numbers of its days from Monday, 0."""
    facts: list[tuple[int, int, range]] = []
    for match in _weekday_pattern().finditer(text):
        days = _weekdays()[match[0].lower()]
        last = facts[-1] if facts else None
        gap = text[last[1] : match.start()] if last else ""
        if last and re.fullmatch(
            r"\s?[-–—]\s?|\s+(?:to|through|bis|au|à|a|al)\s+|[至到]|から", gap
        ):
            facts[-1] = (last[0], match.end(), range(last[2][0], days[-1] + 1))
        else:
            facts.append((*match.span(), days))
    for start, end, days in facts:
        yield Fact("weekday", tuple(map(float, days)), text[start:end], start, end)


@cache
def _weekday_pattern() -> re.Pattern[str]:
    spaced, dense = (_any_of(_weekdays(), dense=dense) for dense in (False, True))
    return re.compile(rf"\b(?:{spaced})\b|{dense}", re.IGNORECASE)


_YEARS_ON: Final = re.compile(
    r"\s*(?:(?P<on>later|afterwards|später|danach|plus tard|después|后|後)"
    r"|(?P<back>earlier|before that|zuvor|früher|plus tôt|auparavant|antes))(?!\w)",
    re.IGNORECASE,
)


def derive_years(text: str, facts: Sequence[Fact]) -> Iterator[Fact]:
    """The year that a span of years leads to from the one in front: 1911, two years later."""
    for year, span in pairwise(facts):
        turn = _YEARS_ON.match(text, span.end)
        dated = year.family == "date" and year.value[0] and not any(year.value[1:])
        if turn and dated and span.family == "month" and len(span.value) == 1:
            years = span.value[0] / 12
            value = year.value[0] + (years if turn["on"] else -years), 0.0, 0.0
            yield Fact("date", value, span.text, span.start, span.end, unit=DERIVED)


def date_holds(claim: Fact, evidence: Fact) -> bool:
    """Whether all that the claim's date says is true of the evidence's, which may say more."""
    year, month, day = claim.value
    said = [claim.value]
    if "/" in claim.text + evidence.text:  # 3/12 is March or December, by the country
        said.append((year, day, month))
    return any(
        all(one in (0, other) for one, other in zip(value, evidence.value, strict=True))
        for value in said
    )


def time_holds(claim: Fact, evidence: Fact) -> bool:
    """Whether two times are one, twelve hours more or less where one left that open."""
    apart = abs(claim.value[0] - evidence.value[0])
    open_ = claim.value[1] or evidence.value[1]
    return apart == 0 or (bool(open_) and apart == 720)


def weekday_holds(claim: Fact, evidence: Fact) -> bool:
    """Whether the claim's days are among the evidence's."""
    return set(claim.value) <= set(evidence.value)
