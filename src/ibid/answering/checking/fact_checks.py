"""Whether every number, date and time of a claim is said in its evidence, of the same thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.denial import are_complements
from ibid.answering.checking.facts import Facts, Piece, Word
from ibid.answering.checking.lexicon import load_lexicon
from ibid.answering.checking.measures import DERIVED, Fact, agrees
from ibid.answering.checking.moments import date_holds, time_holds, weekday_holds

CLEARLY: Final = 0.25
"""By how much another number must be nearer to the claim's words to be the one that is meant."""

_HOLDS: Final[dict[str, Callable[[Fact, Fact], bool]]] = {
    "date": date_holds,
    "time": time_holds,
    "weekday": weekday_holds,
}


def check_facts(alignment: Alignment, passage: Facts) -> str | None:
    """Every number, date and time of the claim is said in the evidence, and of the same thing."""
    for place, piece in enumerate(alignment.claim.pieces):
        for fact in (fact for fact in piece.facts if fact.unit != DERIVED):
            reason = _check_fact(alignment, place, fact) or _check_part(alignment, piece, fact)
            if reason:
                return reason
    return None


def _check_fact(alignment: Alignment, place: int, fact: Fact) -> str | None:
    near: list[tuple[float, Fact, int]] = []
    far: list[tuple[float, Fact, int]] = []
    counted = _find_counted(alignment.claim.pieces[place], fact)
    for other, piece in enumerate(alignment.evidence.pieces):
        for held in piece.facts:
            if is_comparable(fact, held):
                score = alignment.closeness(place, other, fact)
                score += _counts_same(counted, piece, held)
                if fact_holds(fact, held) or _complements(
                    alignment.claim.pieces[place], piece, held
                ):
                    near.append((score, held, other))
                elif held.unit != DERIVED:
                    far.append((score, held, other))
    best_near, _, near_place = max(near, key=lambda one: one[0], default=(-1.0, fact, -1))
    rivals = [
        f for f in far if not near or not _is_told(alignment, place, f[1]) or f[2] == near_place
    ]
    rivals = [f for f in rivals if not near or _is_rival(fact, f[1])]
    best_far = max(rivals if near else far, key=lambda one: one[0], default=None)
    if near and (best_far is None or best_far[0] <= best_near + CLEARLY):
        return None
    said = _write_fact(fact, alignment.claim)
    if best_far is None:
        numbers = [other.text for other in alignment.evidence.facts if _is_number(other)]
        return tell_difference(said, numbers if _is_number(fact) else [])
    return f"the claim says {said}, the passage {_write_fact(best_far[1], alignment.evidence)}"


def _complements(said: Piece, held: Piece, fact: Fact) -> bool:
    """Whether what holds of a number on one side of it is denied on the other side."""
    return fact in held.facts and are_complements(said, replace(held, facts=(fact,)))


def count_held(alignment: Alignment) -> int:
    """How many facts of the claim the evidence says, of whatever it says them."""
    held = alignment.evidence.facts
    return sum(
        any(is_comparable(fact, other) and fact_holds(fact, other) for other in held)
        for fact in alignment.claim.facts
    )


_PART_OF: Final = re.compile(r"\s+(?:of|von|de|sur|sobre)(?:\s+(?:the|its|den|les|los|las))?\s+")


_WHOLE: Final = re.compile(
    r"\s+(?:of|out of|von|de|sur)\s+(?:the|its|their|den|seinen|ihren|les|ses|los|sus)\s",
    re.IGNORECASE,
)


def _check_part(alignment: Alignment, piece: Piece, fact: Fact) -> str | None:
    """Of "24 of the six rooms": a part is no more than the whole, nor taken for it."""
    claim = alignment.claim
    if not fact.family and _WHOLE.match(claim.text, fact.end):
        for held in alignment.evidence.facts:
            shares = held.unit == DERIVED and held.family == "%" and held.value[0] < 100
            inside = [
                f for f in alignment.evidence.facts if f.unit != DERIVED and f.text in held.text
            ]
            if (
                shares
                and len(inside) > 1
                and [f.value == fact.value for f in inside] == [False, True]
            ):
                return f"the claim says {fact.text} of them, the passage {held.text}"
    for whole in piece.facts:
        gap = claim.text[fact.end : whole.start] if whole.start > fact.end else ""
        parts = not fact.family and not whole.family and _PART_OF.fullmatch(gap)
        if parts and fact.value[0] > whole.value[0]:
            return f"the claim says {fact.text} of {whole.text}, which is less"
    return None


def _is_number(fact: Fact) -> bool:
    """Whether a fact is a quantity, which any other can stand against in a reason."""
    return bool(fact.unit) or not fact.family


def _is_told(alignment: Alignment, place: int, held: Fact) -> bool:
    """Whether a piece of the claim says this fact of the evidence too."""
    said = alignment.claim.pieces[place].facts
    return any(is_comparable(fact, held) and fact_holds(fact, held) for fact in said)


def _write_fact(fact: Fact, facts: Facts) -> str:
    signs = {
        "<": "less than ",
        ">": "more than ",
        "<=": "at most ",
        ">=": "at least ",
        "~": "about ",
    }
    timed = {"<": "before ", ">": "after ", "<=": "until ", ">=": "from "}
    table = {**signs, **timed} if fact.family in ("date", "time", "weekday") else signs
    return table.get(fact.bound, "") + fact.text


def is_comparable(claim: Fact, evidence: Fact) -> bool:
    """Whether two facts are of one kind, so that one can be held against the other."""
    if claim.family == evidence.family or {claim.family, evidence.family} == {"°C", "°F"}:
        return True
    # A year and a bare number look alike; an age is a span of time too.
    numbers = {claim.family, evidence.family}
    if claim.unit == evidence.unit == "multiple" or numbers == {"s", "month"}:
        return True
    ages = numbers <= {"age", "month", ""} and "age" in numbers
    if numbers == {"date", ""}:
        return not any(fact.family == "date" and any(fact.value[1:]) for fact in (claim, evidence))
    return ages or numbers in _ALIKE


_ALIKE: Final = (
    {"pound", "GBP"}, {"pound", "kg"}, {"version", ""}, {"times", ""}, {"month", ""},
    {"ratio", ""},
    {"degree", "°C"}, {"degree", "°F"},
)  # fmt: skip
"""Kinds of which one is a shorter way to write the other."""


def fact_holds(claim: Fact, evidence: Fact) -> bool:
    """Whether the claim's fact follows from the evidence's, bound and all."""
    if claim.family in _HOLDS and claim.family == evidence.family:
        return _HOLDS[claim.family](claim, evidence) and _turns_same(claim, evidence)
    if {claim.family, evidence.family} == {"date", ""}:
        date, number = (claim, evidence) if claim.family == "date" else (evidence, claim)
        return date.value[0] == number.value[0] and not any(date.value[1:])
    if {claim.family, evidence.family} in ({"age", ""}, {"month", ""}):
        age, number = (claim, evidence) if claim.family else (evidence, claim)
        return age.value[0] == number.value[0] * 12 and _turns_same(claim, evidence)
    if {claim.family, evidence.family} == {"age", "month"}:
        return claim.value == evidence.value and _turns_same(claim, evidence)
    if "version" in (claim.family, evidence.family):
        return claim.text == evidence.text and _turns_same(claim, evidence)
    return agrees(*(_read_as(one, other) for one, other in ((claim, evidence), (evidence, claim))))


def _read_as(fact: Fact, other: Fact) -> Fact:
    """The shorter one of two that are alike as what the other is: pounds as money or weight."""
    factor = {"kg": 0.45359237}.get(other.family, 1.0) if fact.family == "pound" else 1.0
    shorter = fact.family in ("pound", "degree") or (fact.family, other.family) == ("", "times")
    if not shorter or {fact.family, other.family} not in _ALIKE:
        return fact
    return replace(fact, family=other.family, value=tuple(v * factor for v in fact.value))


_RATE_ARTICLE: Final = re.compile(
    r"(?:an?|one|per|each|every|ein\w*|pro|jede\w*|une?|par|chaque|una?|por|cada|al|im|am)\b.*"
    r"|[一每毎].*",
    re.IGNORECASE,
)


def _is_rival(fact: Fact, held: Fact) -> bool:
    """Whether another fact is of so much the same kind that it may be the one that is meant."""
    if fact.unit == held.unit == "multiple":
        return True
    spans = fact.family == held.family or {fact.family, held.family} == {"s", "month"}
    return spans and _is_rate(fact) == _is_rate(held)


def _is_rate(fact: Fact) -> bool:
    """Whether a span of time may be what something is counted by: a month, per day."""
    spans = fact.family in ("s", "month", "night") and len(fact.value) == 1
    return spans and (fact.unit == "rate" or bool(_RATE_ARTICLE.fullmatch(fact.text)))


def _turns_same(claim: Fact, evidence: Fact) -> bool:
    """Whether the bounds of two dates or times look the same way, where both have one."""
    said, held = claim.bound.replace("~", ""), evidence.bound.replace("~", "")
    return not (said and held) or said[0] == held[0]


def _find_counted(piece: Piece, fact: Fact) -> Word | None:
    """The word that a number counts: the next one after it, of the next one where it has a unit."""
    after = [word for word in piece.words if word.start >= fact.end and word.terms]
    reach = MEASURED if fact.family in _MEASURES else 2
    near = after[0] if after and after[0].start - fact.end <= reach else None
    between = [word for word in piece.words if near and fact.end <= word.start < near.start]
    if any(word.text.lower() not in _OF for word in between):
        return None
    return near if near and _may_be_counted(near.text) else None


MEASURED: Final = 8
"""Characters from an amount to what it is an amount of: 300 g of lentils."""

_MEASURES: Final = ("kg", "l")
_OF: Final = frozenset(["of", "de", "d", "von", "du"])


def _may_be_counted(word: str) -> bool:
    """Whether a word may be a noun: no English past ("three stayed")."""
    return not word.isascii() or not re.fullmatch(r"[a-z]+(?:ed|ing)", word)


def _counts_same(counted: Word | None, piece: Piece, held: Fact) -> float:
    """1 where two numbers count the same, also where the evidence leaves out what it counts."""
    other = _find_counted(piece, held)
    return 1.0 if counted is not None and (other is None or counted.keys & other.keys) else 0.0


def check_counted(alignment: Alignment, passage: Facts) -> str | None:
    """What a bare number counts is what it counts in the evidence."""
    missing, light = alignment.missing, load_lexicon(alignment.claim.language).light
    for piece in alignment.claim.pieces:
        for fact in piece.facts:
            plain = not fact.family or fact.family in _MEASURES
            counted = _find_counted(piece, fact) if plain else None
            if counted is None or counted.text.lower() in light:
                continue
            if counted not in missing and not fact.family:
                continue
            for held_piece in alignment.evidence.pieces:
                for held in held_piece.facts:
                    other = _find_counted(held_piece, held)
                    same = other is not None and counted.keys & other.keys
                    if other is not None and not same and fact_holds(fact, held):
                        return f"the claim counts {counted.text}, the passage {other.text}"
    return None


def tell_difference(said: str, others: Sequence[str]) -> str:
    """One sentence on what the claim says and what the passage has in its place."""
    held = ", ".join(dict.fromkeys(others[:3]))
    return (
        f"the claim says {said}, the passage {held}" if held else f"the passage does not say {said}"
    )
