"""Quantities: a number with its unit in base units, and the bound that is put on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from ibid.answering.checking.numerals import Numeral, read_numerals
from ibid.answering.checking.vocabulary import load_words, split_lines, split_words

Bound: TypeAlias = Literal["", "<", "<=", ">", ">=", "~"]

ROUGHLY: Final = 0.1
"""How far a number that is said to be rough may lie from the exact one."""

CONVERTED: Final = 0.015
"""How far two numbers in different units of one kind may differ: 5 miles are about 8 km."""

_DENSE: Final = re.compile("[぀-ヿ㐀-鿿]")


@cache
def _units() -> Mapping[str, tuple[float, str]]:
    return _read_table("units")


def _read_table(name: str) -> Mapping[str, tuple[float, str]]:
    """Each word of a table with its factor and base unit."""
    table = {}
    for line in split_lines(load_words("shared")[name]):
        head, _, words = line.partition(": ")
        base, factor = head.split()
        for word in split_words(words):
            table[word] = float(factor), base
    return table


@cache
def _unit_pattern() -> re.Pattern[str]:
    words = sorted(_units(), key=len, reverse=True)
    dense = "|".join(re.escape(word) for word in words if _DENSE.match(word))
    spaced = "|".join(re.escape(word) for word in words if not _DENSE.match(word))
    between = r"(?:(?:operating|calendar|consecutive|full|whole|additional|further|more)\s)?"
    return re.compile(
        rf"[\s -]*{between}(?P<unit>{dense}|(?:{spaced})(?![a-zà-ÿ0-9_]))", re.IGNORECASE
    )


def find_unit(text: str, place: int) -> str | None:
    """The unit that stands here in a text, behind a number; None where there is none."""
    match = _unit_pattern().match(text, place)
    return match["unit"] if match else None


_COUNTER: Final = re.compile("[階楼层層个個名位人本张張件家台只冊枚匹頭間つ所条项門门]")
_BEFORE: Final = re.compile(
    r"(?P<sign>us\$|[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY)\b)\s?\Z", re.IGNORECASE
)
_HAN_PERCENT: Final = re.compile("百分之\\Z")
_BELOW_ZERO: Final = re.compile(
    r"\s*(?:below zero|under zero|unter null|(?:au-dessous de|sous) zéro|bajo cero)\b",
    re.IGNORECASE,
)
_FACTOR_BEFORE: Final = re.compile(
    r"\b(?:factor of|faktor|multipl\w+ (?:by|par|por|mit)|facteur|factor de)\s+\Z", re.IGNORECASE
)
_ARTICLE: Final = re.compile(
    r"\b(?P<article>an?|one|per|each|every|ein|eine|einen|einem|einer|eines|pro|jede[ns]?|une?|par|"
    r"chaque|uno?|una|por|cada|al|im|am)[\s-]+(?!jahr\s[\d·])|[一每毎](?=[天年周個个日])",
    re.IGNORECASE,
)
_NAMED_SPAN: Final = re.compile(
    r"\s+(?:anterior|pasado|siguiente|dernier|précédent|suivant|prochain|zuvor|davor|darauf)",
    re.IGNORECASE,
)
_INDEFINITE: Final = frozenset(
    ["a", "an", "one", "ein", "eine", "einen", "einem", "einer", "eines", "un", "une", "uno", "una"]
)


@cache
def _rates() -> Mapping[str, tuple[float, str]]:
    return _read_table("rates")


@cache
def _rate_pattern() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, _rates()))})\b", re.IGNORECASE)


_SHARE: Final = re.compile(
    "(?P<whole>[一二三四五六七八九十百]+|\\d+)\\s?分[之の]\\s?(?P<part>[一二三四五六七八九十百]+|\\d+)"
)
_PART_OF: Final = re.compile(
    r"\s+(?:of|out of|von|de|sur|sobre)\s+"
    r"(?:(?:the|its|their|all|den|seinen|ihren|ces|ses|les|los|las|sus)\s+)?"
)
_RATIO: Final = re.compile(r"(?<![\d.,:])(\d+(?:[.,]\d+)?)\s?:\s?(\d+(?:[.,]\d+)?)(?![\d:])")
_CLAUSE_END: Final = re.compile(r"\s*(?:[.;,)](?!\d)|\Z|[。；、，])")
LONGEST_LOAN: Final = 60
"""Characters within which a number may take the unit of the one in front."""

DERIVED: Final = "derived"
"""The unit of what was worked out from two numbers: no other number contradicts it."""

_HALVES: Final = re.compile(
    r"(?P<and>\s+and\s+a\s+half|\s+et\s+demie?|\s+y\s+media|\s*半)|"
    r"(?P<only>\bhalf\s+an?\s+|\bhalbe[ns]?\s+|\bdemi-|\bmedi[ao]\s+|半)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(
    r"\s?[-–—~〜～]\s?|\s+(?:to|and|bis|und|à|et|a|y|al)\s+(?:las?\s+)?|[到至から]+"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that can be compared: `family` says with what, `value` is equal when it is.

    A quantity's family is its base unit ("" when only a number was said) and its value one number
    or the two ends of a range. `text` is how it was written, from `start` to `end`.
    """

    family: str
    value: tuple[float, ...]
    text: str = field(compare=False)
    start: int = field(compare=False)
    end: int = field(compare=False)
    bound: Bound = ""
    unit: str = field(default="", compare=False)


def read_quantities(text: str, language: str | None) -> list[Fact]:
    """The quantities of a text in order, ranges as one; bounds are read by `read_bounds`."""
    facts = [
        *(_measure(text, numeral) for numeral in read_numerals(text, language)),
        *_read_single(text),
        *_read_multiples(text),
        *_read_ratios(text),
    ]
    kept: list[Fact] = []
    for fact in sorted((f for f in facts if f is not None), key=lambda f: (f.start, -f.end)):
        if not kept or fact.start >= kept[-1].end:
            kept.append(fact)
    return list(_lend_units(text, _join_ranges(text, kept)))


def _measure(text: str, numeral: Numeral) -> Fact | None:
    """The numeral with what it counts; None for a lone Han numeral, which is part of a word."""
    start, end, value = numeral.start, numeral.end, numeral.value
    half = _HALVES.match(text, end)
    unit = _unit_pattern().match(text, end)
    if unit and not half:
        half = _HALVES.match(text, unit.end())
    elif half:
        unit = _unit_pattern().match(text, half.end())
    if half and half["and"]:
        value += 0.5
        end = half.end()
    before = _BEFORE.search(text, 0, start) if not unit else None
    percent = _HAN_PERCENT.search(text, 0, start)
    if percent:
        return Fact("%", (value,), text[percent.start() : end], percent.start(), end, unit="%")
    factor_of = _FACTOR_BEFORE.search(text, 0, start) if unit is None else None
    if factor_of:
        start = factor_of.start()
        return Fact("times", (value,), text[start:end], start, end, unit="times")
    if below := _BELOW_ZERO.match(text, unit.end() if unit else end):
        value, end = -value, below.end()
    if unit is None and before is None:
        han = numeral.worded and not text[start:end].isascii() and _DENSE.match(text[start])
        counted = _COUNTER.match(text, end) and value > 1
        if han and not counted and (end - start == 1 or text[start:end] in "百千万亿億"):
            return None
        return Fact("", (value,), text[start:end], start, end)
    word = (unit["unit"] if unit else before["sign"] if before else "").lower()
    factor, base = _units()[word]
    if base == "times" and value == 1:
        return None
    start = before.start() if before else start
    end = max(end, unit.end() if unit else end)
    return Fact(base, (round(value * factor, 9),), text[start:end].strip(), start, end, unit=word)


def _read_single(text: str) -> Iterator[Fact]:
    """What an article counts: an hour, per day, eine Woche; half of one too."""
    for match in _ARTICLE.finditer(text):
        unit = _unit_pattern().match(text, match.end())
        named = unit and _NAMED_SPAN.match(text, unit.end())
        fact = _count_one(text, match.start(), unit) if unit and not named else None
        half = _HALVES.match(text, fact.end) if fact else None
        if fact and half and half["and"]:
            longer = text[fact.start : half.end()]
            fact = replace(fact, value=(fact.value[0] * 1.5,), text=longer, end=half.end())
        rate = match["article"] is None or match["article"].lower() not in _INDEFINITE
        if fact and (rate or (fact.family in ("s", "month", "night") and fact.unit != "second")):
            yield fact
    for match in _rate_pattern().finditer(text):
        value, family = _rates()[match[0].lower()]
        yield Fact(family, (value,), match[0], *match.span(), unit="rate")
    for match in _HALVES.finditer(text):
        unit = _unit_pattern().match(text, match.end()) if match["only"] else None
        fact = _count_one(text, match.start(), unit) if unit else None
        if fact:
            yield replace(fact, value=(fact.value[0] / 2,))


def _count_one(text: str, start: int, unit: re.Match[str]) -> Fact | None:
    """One of a unit; None for letters that are a unit behind figures only."""
    word = unit["unit"].lower()
    if len(word) == 1 and not _DENSE.match(word):
        return None
    factor, base = _units()[word]
    return Fact(base, (factor,), text[start : unit.end()], start, unit.end(), unit=word)


def _read_multiples(text: str) -> Iterator[Fact]:
    """Shares and multiples that are words of their own: a third, twice, halbiert, 三分之一."""
    for match in _multiple_pattern().finditer(text):
        value, family = _multiples()[match[0].lower()]
        yield Fact(family, (value,), match[0], *match.span(), unit="multiple")
    for match in _SHARE.finditer(text):
        whole, part = (read_numerals(match[name], None)[0].value for name in ("whole", "part"))
        if whole:
            value = round(part / whole * 100, 6)
            yield Fact("%", (value,), match[0], *match.span(), unit="multiple")


@cache
def _multiples() -> Mapping[str, tuple[float, str]]:
    return _read_table("multiples")


@cache
def _multiple_pattern() -> re.Pattern[str]:
    words = sorted(_multiples(), key=len, reverse=True)
    dense = "|".join(re.escape(word) for word in words if _DENSE.match(word))
    spaced = [re.escape(word) for word in words if not _DENSE.match(word)]
    phrases = "|".join(word for word in spaced if " " in word)
    single = "|".join(word for word in spaced if " " not in word)
    ordered = r"(?<!first )(?<!second )(?<!other )(?<!erste )(?<!zweite )"
    return re.compile(rf"\b(?:{phrases}|{ordered}(?:{single}))\b(?! past)|{dense}", re.IGNORECASE)


def _read_ratios(text: str) -> Iterator[Fact]:
    """Ratios and scores: 3:1 is not 1:3."""
    for match in _RATIO.finditer(text):
        value = tuple(float(part.replace(",", ".")) for part in match.groups())
        yield Fact("ratio", value, match[0], *match.span(), unit="ratio")


def _lend_units(text: str, facts: Sequence[Fact]) -> Iterator[Fact]:
    """The facts, a bare number that ends its clause with the unit of the one in front.

    "Adults pay 12 euros, children 7."
    """
    last: Fact | None = None
    for fact in facts:
        bare = not fact.family and not fact.unit and len(fact.value) == 1
        if bare and last and _CLAUSE_END.match(text, fact.end):
            sentence = text[last.end : fact.start]
            listed = len(sentence) <= LONGEST_LOAN and not re.search(r"[.!?。]\s|[。]", sentence)
            if listed and last.unit in _units():
                factor, family = _units()[last.unit]
                value = (round(fact.value[0] * factor, 9),)
                fact = replace(fact, family=family, value=value, unit=last.unit)
        last = fact if fact.unit and fact.unit in _units() else None if fact.family else last
        yield fact


def derive_shares(text: str, facts: Sequence[Fact]) -> Iterator[Fact]:
    """What share two numbers make: "four of its twelve girders" are a third of them."""
    for part, whole in pairwise(facts):
        counts = part.family == whole.family == "" and len(part.value) == len(whole.value) == 1
        inside = counts and 0 < part.value[0] <= whole.value[0]
        if inside and _PART_OF.fullmatch(text, part.end, whole.start):
            value = round(part.value[0] / whole.value[0] * 100, 6)
            span = part.start, whole.end
            yield Fact("%", (value,), text[slice(*span)], *span, unit=DERIVED)


def _join_ranges(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """Two quantities with a dash or "to" between them as one with two ends."""
    joined: list[Fact] = []
    for fact in facts:
        last = joined[-1] if joined else None
        if last and _makes_range(text, last, fact):
            joined[-1] = _make_range(text, last, fact)
        else:
            joined.append(fact)
    return joined


def derive_changes(text: str, facts: Sequence[Fact]) -> Iterator[Fact]:
    """The range that a change makes whose end is told first: to 8 from 5."""
    for end, start in pairwise(facts):
        alike = end.family == start.family and len(end.value) == len(start.value) == 1
        if (
            alike
            and end.unit
            and _TO.search(text, 0, end.start)
            and _FROM.fullmatch(text, end.end, start.start)
        ):
            span = end.start, start.end
            value = start.value + end.value
            yield Fact(end.family, value, text[slice(*span)], *span, unit=DERIVED)


_TO: Final = re.compile(r"\b(?:to|auf|à|a)\s+\Z", re.IGNORECASE)
_FROM: Final = re.compile(r",?\s+(?:(?:up|down)\s+)?(?:from|von|contre|desde)\s+", re.IGNORECASE)


def _makes_range(text: str, last: Fact, fact: Fact) -> bool:
    gap = text[last.end : fact.start]
    if not _RANGE.fullmatch(gap) or len(last.value) > 1:
        return False
    listed = gap.strip() in ("and", "und", "et", "y")
    opened = re.search(r"\b(?:between|zwischen|entre)\s+\Z", text[: last.start], re.IGNORECASE)
    article = re.match(r"[^\W\d]", fact.text) and fact.unit and not re.search(r"\d", fact.text)
    return (
        last.family in ("", fact.family)
        and (not listed or bool(opened))
        and not (article and last.family and not last.unit)
    )


def _make_range(text: str, last: Fact, fact: Fact) -> Fact:
    factor = _units()[fact.unit][0] if fact.unit in _units() and not last.family else 1.0
    value = (round(last.value[0] * factor, 9), fact.value[-1])
    span = last.start, fact.end
    return replace(fact, value=value, text=text[slice(*span)], start=span[0], end=span[1])


# -- comparing ------------------------------------------------------------------------------------


def agrees(claim: Fact, evidence: Fact) -> bool:
    """Whether what the claim says of this quantity follows from what the evidence says."""
    if not _bounds_agree(claim, evidence):
        return False
    if claim.family != evidence.family:
        return _temperatures_agree(claim, evidence)
    if len(claim.value) == 1 and len(evidence.value) == 2:
        return claim.value[0] in evidence.value
    if len(claim.value) != len(evidence.value):
        return False
    return all(
        abs(one - other) <= _tolerance(claim, evidence) * max(abs(other), 1e-9)
        for one, other in zip(claim.value, evidence.value, strict=True)
    )


def _tolerance(claim: Fact, evidence: Fact) -> float:
    if claim.bound == "~":
        return ROUGHLY
    converted = claim.unit != evidence.unit and claim.family not in ("", "s", "month", "byte")
    return CONVERTED if converted else 1e-9


def _temperatures_agree(claim: Fact, evidence: Fact) -> bool:
    if {claim.family, evidence.family} != {"°C", "°F"}:
        return False
    celsius, fahrenheit = (claim, evidence) if claim.family == "°C" else (evidence, claim)
    return all(
        abs(c * 9 / 5 + 32 - f) <= 1 for c, f in zip(celsius.value, fahrenheit.value, strict=False)
    )


def _bounds_agree(claim: Fact, evidence: Fact) -> bool:
    """Whether the claim's bound follows: none may be turned round, or added but "up to"."""
    said, held = claim.bound.replace("~", ""), evidence.bound.replace("~", "")
    if said and held:
        strict = claim.family not in ("time", "date", "s", "month")
        return said[0] == held[0] and (said == held or not strict)
    timed = claim.family in ("time", "date", "s", "month")
    if said == ">=" and len(claim.value) == 2:
        return True  # from five to eight
    return not said or said == "<=" or (said == ">=" and timed)
