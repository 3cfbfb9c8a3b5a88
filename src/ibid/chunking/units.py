"""Units: the ranges of a section that stay whole, and how neighbours share a passage."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ibid.chunking.pieces import Span, Spans


class Rule(enum.StrEnum):
    """What cut a passage."""

    SECTION = "section"
    SLIDE = "slide"
    PARAGRAPHS = "paragraphs"
    LIST = "list items"
    TABLE = "table rows"
    CODE = "code"
    QUESTION = "question and answer"
    ENTRY = "API entry"
    CLAUSE = "clause"
    MESSAGES = "messages"
    SENTENCES = "sentences of a long paragraph"
    HARD = "hard cut"


@dataclass(frozen=True, slots=True)
class Unit:
    """A range that no passage cuts, and what made it one.

    `leads` are the lines further up that belong to it, in their order. One that stands `alone`
    shares its passage with no other.
    """

    start: int
    end: int
    rule: Rule
    leads: Spans = ()
    alone: bool = False


_TOLD_FIRST: Final = (Rule.HARD, Rule.SENTENCES, Rule.CLAUSE, Rule.MESSAGES, Rule.ENTRY)


def join_rules(first: Rule, second: Rule) -> Rule:
    """The rule of a passage that two made together; that of mixed whole blocks is "paragraphs"."""
    if first is second:
        return first
    return next((rule for rule in _TOLD_FIRST if rule in (first, second)), Rule.PARAGRAPHS)


def pack_units(
    units: Iterable[Unit], count: Callable[[int, int], int], room: Callable[[Spans], int]
) -> list[Unit]:
    """Neighbours joined, from the first on, as long as they fit and have the same leads.

    `count` gives the pieces of a range, `room` those that a passage with these leads may have
    beside them. A lead that lies within the joined range is none any more. Code may go on with
    fewer leads: what is indented less says itself what it belongs to.
    """
    packed: list[Unit] = []
    for unit in units:
        if packed and not unit.alone and not packed[-1].alone:
            last = packed[-1]
            leads = leads_above(unit.leads, last.start)
            is_code = unit.rule is last.rule is Rule.CODE
            fitting = last.leads[: len(leads)] if is_code else last.leads
            if leads == fitting and count(last.start, unit.end) <= room(last.leads):
                packed[-1] = replace(last, end=unit.end, rule=join_rules(last.rule, unit.rule))
                continue
        packed.append(replace(unit, leads=leads_above(unit.leads, unit.start)))
    return packed


def leads_above(leads: Sequence[Span], start: int) -> Spans:
    """The leads that lie before a passage that starts here."""
    return tuple(lead for lead in leads if lead[0] < start)
