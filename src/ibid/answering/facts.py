"""What a sentence states that can be checked: quantities, dates, names, negations, quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ibid.language.analyzer import content_terms

NEGATION_SCOPE: Final = 2
"""Content words after a negation that it is taken to deny."""

_UNITS: Final[dict[str, tuple[float, str]]] = {
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s"), (1, "s")),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), (60, "s")),
    **dict.fromkeys(("hour", "hours", "h", "hr", "hrs"), (3_600, "s")),
    **dict.fromkeys(("day", "days"), (86_400, "s")),
    **dict.fromkeys(("week", "weeks"), (604_800, "s")),
    **dict.fromkeys(("millisecond", "milliseconds", "ms"), (0.001, "s")),
    **dict.fromkeys(("month", "months"), (1, "month")),
    **dict.fromkeys(("year", "years", "yr", "yrs"), (12, "month")),
    **dict.fromkeys(("%", "percent", "per cent", "pct"), (1, "%")),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), (1, "USD")),
    **dict.fromkeys(("€", "eur", "euro", "euros"), (1, "EUR")),
    **dict.fromkeys(("£", "gbp", "pound", "pounds"), (1, "GBP")),
    **dict.fromkeys(("¥", "jpy", "yen"), (1, "JPY")),
    **dict.fromkeys(("byte", "bytes"), (1, "byte")),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes"), (1e3, "byte")),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), (1e6, "byte")),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), (1e9, "byte")),
    **dict.fromkeys(("tb", "terabyte", "terabytes"), (1e12, "byte")),
    **dict.fromkeys(("mm", "millimetre", "millimetres"), (0.001, "m")),
    **dict.fromkeys(("cm", "centimetre", "centimetres"), (0.01, "m")),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), (1, "m")),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), (1e3, "m")),
    **dict.fromkeys(("mile", "miles"), (1_609.344, "m")),
    **dict.fromkeys(("g", "gram", "grams"), (0.001, "kg")),
    **dict.fromkeys(("kg", "kilogram", "kilograms"), (1, "kg")),
    **dict.fromkeys(("°c", "celsius"), (1, "°C")),
    **dict.fromkeys(("°f", "fahrenheit"), (1, "°F")),
}
"""A unit's factor and what it is counted in, so that two weeks are 14 days."""

_SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SMALL: Final = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty
"""
_TENS: Final = "thirty forty fifty sixty seventy eighty ninety"
_WORDS: Final = {
    **{word: value for value, word in enumerate(_SMALL.split(), 2)},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 3)},
}
_MONTH_NAMES: Final = """
    january february march april may june july august september october november december
"""
_MONTHS: Final = {
    name: number for number, full in enumerate(_MONTH_NAMES.split(), 1) for name in (full, full[:3])
} | {"sept": 9}
_NEGATION_WORDS: Final = """
    not no never neither nor none nobody nothing nowhere without cannot
    nicht kein keine keinen keinem keiner keines nie niemals ohne
    pas jamais aucun aucune sans
    ni ningún ninguna nunca jamás sin
    не нет никогда без ни
"""
"""English, German, French, Spanish and Russian; some words serve two of them."""
_NEGATIONS: Final = frozenset(_NEGATION_WORDS.split())
_NEGATION_SIGNS: Final = re.compile(r"[不没沒未無无非]|ません|ない|なく")

_MONTH: Final = r"(?P<month{0}>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY: Final = r"(?P<d{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(?P<y{0}>\d{{4}})\b)?"
_DATE: Final = re.compile(
    r"\b(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})\b"
    rf"|\b{_DAY.format(2)}\s+(?:of\s+)?{_MONTH.format(2)}{_YEAR.format(2)}"
    rf"|\b{_MONTH.format(3)}\s+{_DAY.format(3)}\b{_YEAR.format(3)}"
    rf"|\b{_MONTH.format(4)},?\s+(?P<y4>\d{{4}})\b",
    re.IGNORECASE,
)
_IDENTIFIER: Final = re.compile(
    r"(?<!\w)(?=[\w./:-]*[^\W\d_])(?=[\w./:-]*[\d_])\w+(?:[-_./:]\w+)*", re.ASCII
)
_UNIT: Final = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_DIGITS: Final = r"\d{1,3}(?:[,   ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)*"
_QUANTITY: Final = re.compile(
    rf"(?P<before>[$€£¥]|\b(?:USD|EUR|GBP)\b)?\s?(?<![\w.])(?P<number>{_DIGITS}"
    rf"|\b(?:{'|'.join(_WORDS)})\b|\b(?:one|an?|per|each|every)\b(?=[\s-]+(?:{_UNIT})\b))"
    rf"(?:[\s-]*(?P<scale>{'|'.join(_SCALES)})\b)?(?:[\s-]*(?P<after>{_UNIT})(?!\w))?",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_QUOTATION: Final = re.compile(
    r"(?<!\w)\"(?=\S)([^\"\n]+)\"(?!\w)"
    r"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」"
)
_CLAUSE_END: Final = re.compile(r"[,;:.!?()、。，；]")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in base units; `unit` is what is counted, "" when no unit is known."""

    value: float
    unit: str
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as it was said: year, month and day, 0 for what was not."""

    year: int
    month: int
    day: int
    text: str = field(compare=False)

    def holds(self, other: Date) -> bool:
        """Whether everything that the other date says is true of this one."""
        said = zip(
            (other.year, other.month, other.day), (self.year, self.month, self.day), strict=True
        )
        return all(theirs in (0, ours) for theirs, ours in said)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a stretch of text states. `negated` has the terms that each negation denies."""

    terms: frozenset[str]
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[Date, ...] = ()
    names: tuple[str, ...] = ()
    negated: tuple[frozenset[str], ...] = ()
    quotations: tuple[str, ...] = ()
    text: str = ""
    language: str | None = None

    @property
    def words(self) -> frozenset[str]:
        """The content terms that are no numbers."""
        return frozenset(term for term in self.terms if not term[0].isdigit())


def read_facts(text: str, *, language: str | None = None) -> Facts:
    """The facts of a sentence or two."""
    dates = list(_read_dates(text))
    undated = _blank(text, (match.span() for match, _ in dates))
    identifiers = list(_IDENTIFIER.finditer(undated))
    codes = [match for match in identifiers if not _QUANTITY.fullmatch(match[0])]
    numeric = _blank(undated, (match.span() for match in codes))
    return Facts(
        terms=frozenset(content_terms(text, language)),
        quantities=tuple(_read_quantities(numeric)),
        dates=tuple(date for _, date in dates),
        names=tuple(
            dict.fromkeys([*(match[0] for match in codes), *_read_names(numeric, language)])
        ),
        negated=tuple(_read_negations(text, language)),
        quotations=tuple(next(filter(None, match)) for match in _QUOTATION.findall(text)),
        text=text,
        language=language,
    )


def join_facts(parts: Sequence[Facts]) -> Facts:
    """The facts of several sentences, at least one, as those of one."""
    return Facts(
        terms=frozenset().union(*(part.terms for part in parts)),
        quantities=tuple(fact for part in parts for fact in part.quantities),
        dates=tuple(fact for part in parts for fact in part.dates),
        names=tuple(fact for part in parts for fact in part.names),
        negated=tuple(fact for part in parts for fact in part.negated),
        quotations=tuple(fact for part in parts for fact in part.quotations),
        text="\n".join(part.text for part in parts),
        language=parts[0].language,
    )


def _read_dates(text: str) -> Iterator[tuple[re.Match[str], Date]]:
    for match in _DATE.finditer(text):
        parts = {name[0]: value for name, value in match.groupdict().items() if value}
        month = parts.get("m", "")
        yield (
            match,
            Date(
                int(parts.get("y", 0)),
                int(month) if month.isdigit() else _MONTHS[month.casefold()],
                int(parts.get("d", 0)),
                match[0],
            ),
        )


def _read_quantities(text: str) -> Iterator[Quantity]:
    for match in _QUANTITY.finditer(text):
        unit = (match["after"] or match["before"] or "").casefold()
        factor, base = _UNITS.get(unit, (1, ""))
        scale = _SCALES.get((match["scale"] or "").casefold(), 1)
        yield Quantity(
            round(_read_number(match["number"]) * scale * factor, 9), base, match[0].strip()
        )


def _read_number(text: str) -> float:
    """The value of digits or of a number word; a comma before three digits parts thousands."""
    if not text[0].isdigit():
        return float(_WORDS.get(text.casefold(), 1))
    digits = re.sub(r"[,   ](?=\d{3}(?!\d))", "", text).replace(",", ".")
    whole, _, fraction = digits.partition(".")
    return float(f"{whole}.{fraction.replace('.', '')}") if fraction else float(whole)


def _read_names(text: str, language: str | None) -> Iterator[str]:
    """Capitalised words, save a first word that only opens the sentence."""
    words = list(_WORD.finditer(text))
    for place, match in enumerate(words):
        word = match[0]
        if not word[0].isupper() or not (word.isupper() or content_terms(word, language)):
            continue
        following = words[place + 1][0] if place + 1 < len(words) else ""
        inner = any(character.isupper() for character in word[1:])
        if not _opens_sentence(text, match.start()) or inner or following[:1].isupper():
            yield word


def _opens_sentence(text: str, position: int) -> bool:
    before = text[:position].rstrip(" \t\n\"'“„«([*_#-")
    return not before or before[-1] in ".!?:|。"


def _read_negations(text: str, language: str | None) -> Iterator[frozenset[str]]:
    """What each negation denies: the next content words of its clause, else those before it."""
    for match in _WORD.finditer(text):
        word = match[0].casefold().replace("’", "'")
        if word in _NEGATIONS or word.endswith("n't"):
            end = _CLAUSE_END.search(text, match.end())
            after = text[match.end() : end.start() if end else len(text)]
            yield _denied(after, language) or _denied(_clause_before(text, match), language, -1)
    for match in _NEGATION_SIGNS.finditer(text):
        clause = _clause_before(text, match)
        end = _CLAUSE_END.search(text, match.end())
        rest = text[match.end() : end.start() if end else len(text)]
        yield frozenset(content_terms(clause + rest, language))


def _clause_before(text: str, match: re.Match[str]) -> str:
    ends = [mark.end() for mark in _CLAUSE_END.finditer(text, 0, match.start())]
    return text[ends[-1] if ends else 0 : match.start()]


def _denied(clause: str, language: str | None, direction: int = 1) -> frozenset[str]:
    terms: list[frozenset[str]] = []
    for match in list(_WORD.finditer(clause))[::direction]:
        word = match[0]
        found = frozenset(content_terms(word, language))
        if found and word.casefold() not in _UNITS and not word[0].isdigit():
            terms.append(found)
        if len(terms) == NEGATION_SCOPE:
            break
    return frozenset().union(*terms)


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of these ranges, so that no fact is read twice."""
    for start, end in spans:
        text = text[:start] + "·" * (end - start) + text[end:]
    return text
