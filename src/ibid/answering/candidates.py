"""The sentences, list items and table rows of the sources that may answer a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ibid.answering.evidence import Unit, find_language, split_units
from ibid.answering.injection import find_attacks
from ibid.answering.questions import ask_terms
from ibid.language import scripts
from ibid.language.analyzer import content_terms
from ibid.record import record
from ibid.records import Hit

CANDIDATES: Final = 12
"""Sentences that are held against the question by meaning; twice as many found no better ones."""

COVERAGE: Final = 0.6
RANK: Final = 0.05
"""What coverage and the rank of the source count when the candidates are chosen by their words."""

NAMED: Final = 0.3
"""What a row gains whose first cell is a name in the question."""

TITLE_WORDS: Final = 6
"""A line of fewer words that ends in no mark is taken for a title."""

_ENDING: Final = re.compile(r"[.!?…:;。！？：；।؟]['\"”»」)\]]*\Z")


@record
class Candidate:
    """A sentence that may answer. `numbers` are the sources that hold it, in rising order.

    `own` are the terms of the question that it says, itself, by its table header or lead-in, or by
    the `heading` of its section; `held` those and the ones that its titles say. `spoken` and
    `covered` are the shares of the two in the question's terms, weighted by rarity. A row `names`
    what is asked for where the question has its first cell, and none of its table that is longer.
    One that is `flagged` is part of what speaks to a model.
    """

    unit: Unit
    numbers: tuple[int, ...]
    own: frozenset[str]
    held: frozenset[str]
    spoken: float = 0.0
    covered: float = 0.0
    heading: str = ""
    names: bool = False
    flagged: bool = False

    @property
    def text(self) -> str:
        """What is held against the question by meaning: under its heading, a row with its header.

        "It runs for a year" tells nothing of what it speaks of; the heading above it often does.
        """
        told = _read_row(self.unit) if self.unit.kind == "row" else self.unit.text
        return f"{self.heading}: {told}" if self.heading else told


def _read_row(row: Unit) -> str:
    """The cells of a row, each after what its column is called."""
    names, cells = row.context.split("|"), row.text.split("|")
    if len(names) != len(cells):
        return row.text
    return ", ".join(
        f"{name.strip()} {cell.strip()}" for name, cell in zip(names, cells, strict=True)
    )


def find_candidates(
    question: str,
    sources: Sequence[Hit],
    *,
    language: str | None = None,
    rarity: Mapping[str, float] | None = None,
) -> list[Candidate]:
    """The likeliest sentences by their words, best first; equal ones in the order of the sources.

    A sentence that several sources hold is one candidate. Questions, titles, table headers, code
    fences and lines that say nothing beyond the question are candidates only where there is nothing
    else, and what speaks to a model only where nothing else holds half as much of the question.
    `rarity` weighs the question's terms; without it, how few sentences hold them.
    """
    language = language or find_language(sources)
    asked = ask_terms(question, language)
    found = _collect_units(sources, asked, language)
    weights = rarity or _weigh_terms(asked, [one.held for one in found])
    candidates = [
        replace(
            one,
            spoken=share_terms(one.own, asked, weights),
            covered=share_terms(one.held, asked, weights),
        )
        for one in found
    ]
    most = max((one.covered for one in candidates), default=0.0)
    safe = [one for one in candidates if not one.flagged]
    if not any(one.covered >= most / 2 for one in safe):  # none of them answers
        safe = candidates
    telling = [candidate for candidate in safe if _tells(candidate.unit, asked, language)]
    named = _name_rows(question, telling or safe)
    return sorted(named, key=_score_words, reverse=True)[:CANDIDATES]


def share_terms(held: frozenset[str], asked: frozenset[str], weights: Mapping[str, float]) -> float:
    """The weight of the asked terms that are held, as a share of that of all; 0 for none asked."""
    total = sum(weights.get(term, 1.0) for term in asked)
    return sum(weights.get(term, 1.0) for term in held & asked) / total if total else 0.0


def list_titles(hit: Hit) -> str:
    """What stands above a passage: the title of its document and its heading path."""
    return " ".join([hit.document.title or "", *hit.passage.headings])


def _collect_units(
    sources: Sequence[Hit], asked: frozenset[str], language: str | None
) -> list[Candidate]:
    """Every unit of the sources once, with the asked terms that it has, not weighed yet."""
    found: dict[str, Candidate] = {}
    for number, hit in enumerate(sources, 1):
        above = asked.intersection(content_terms(list_titles(hit), language))
        heading = _find_heading(hit)
        attacks = find_attacks(hit.passage.text)
        for unit in split_passage(hit, language):
            if known := found.get(unit.text):
                numbers = tuple(dict.fromkeys((*known.numbers, number)))
                found[unit.text] = replace(known, numbers=numbers)
                continue
            said = f"{heading} {unit.context} {unit.text}"
            own = asked.intersection(content_terms(said, language))
            flagged = any(unit.start < one.end and one.start < unit.end for one in attacks)
            found[unit.text] = Candidate(
                unit, (number,), own, own | above, heading=heading, flagged=flagged
            )
    return list(found.values())


def split_passage(hit: Hit, language: str | None) -> list[Unit]:
    """The units of a passage; its first row or item knows the header or line that leads into it."""
    passage = hit.passage
    if not passage.lead:
        return split_units(passage.text, start=passage.body, language=language)
    lead = f"{passage.lead}\n\n"  # an empty line, so that no sentence runs from one to the other
    shift = passage.body - len(lead)
    return [
        replace(unit, start=unit.start + shift, end=unit.end + shift)
        for unit in split_units(lead + passage.text[passage.body :], language=language)
        if unit.start >= len(lead)
    ]


def _find_heading(hit: Hit) -> str:
    """The heading of the section that a passage is of; the title of its document is none."""
    heading = hit.passage.headings[-1] if hit.passage.headings else ""
    return "" if heading == hit.document.title else heading


def _weigh_terms(asked: frozenset[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much each term of the question tells: ln(1 + sentences / those that hold it)."""
    held = Counter(term for terms in texts for term in terms)
    return {term: math.log1p(len(texts) / (held[term] or 1)) for term in asked}


def _tells(unit: Unit, asked: frozenset[str], language: str | None) -> bool:
    """Whether a unit is a statement, and more than the question's own words on a line."""
    if unit.text[-1] in "?？؟" or "```" in unit.text or "~~~" in unit.text or _is_title(unit):
        return False
    if unit.kind == "row":
        return bool(unit.context)
    return _ENDING.search(unit.text) is not None or bool(
        set(content_terms(unit.text, language)) - asked
    )


def _is_title(unit: Unit) -> bool:
    """Whether a unit is a short line of its own; scripts without spaces have no such lines."""
    words = unit.text.split()
    plain = unit.kind == "sentence" and unit.text.isascii()
    return plain and len(words) < TITLE_WORDS and not _ENDING.search(unit.text)


def _name_rows(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, of which the rows know whether the question asks for them by name."""
    asked = f" {_plain(question)} "
    keys = {
        one: _plain(one.unit.text.split("|")[0]) for one in candidates if one.unit.kind == "row"
    }
    longest: dict[tuple[int, str], str] = {}
    for one, key in keys.items():
        table = one.numbers[0], one.unit.context
        held = key in asked if scripts.holds_unspaced(key) else f" {key} " in asked
        if key and held and len(key) > len(longest.get(table, "")):
            longest[table] = key
    return [
        replace(one, names=longest.get((one.numbers[0], one.unit.context)) == keys.get(one, ""))
        if one in keys
        else one
        for one in candidates
    ]


def _plain(text: str) -> str:
    """The words of a text in small letters, one blank between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _score_words(candidate: Candidate) -> float:
    return COVERAGE * candidate.covered + RANK / candidate.numbers[0] + NAMED * candidate.names
