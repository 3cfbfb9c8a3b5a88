"""Two sources that say one thing with other numbers: which is newer, and a warning of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ibid.answering.candidates import Candidate
from ibid.language.analyzer import content_terms
from ibid.record import record
from ibid.records import Hit

ALIKE: Final = 0.8
"""Share of their words, numbers aside, that two sentences which say the same have in common."""

LEAST_TERMS: Final = 3
"""Words beside its numbers that a sentence must have, to be held against another."""

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@record
class Conflict:
    """A sentence of an older source, the one of the newer, and what to say of the two."""

    older: Candidate
    newer: Candidate
    warning: str


def find_conflicts(
    chosen: Sequence[Candidate],
    candidates: Sequence[Candidate],
    sources: Sequence[Hit],
    language: str | None,
) -> list[Conflict]:
    """The candidates of other documents that contradict a chosen one, each with the newer known.

    Two contradict each other where they have nearly the same words and other numbers. The newer
    is of the later year, where the titles or ids of both have one, else of the document that was
    modified later; where neither tells, the one that was chosen stands.
    """
    found = []
    for one in chosen:
        for other in candidates:
            if other is one or not _differ(one, other, sources, language):
                continue
            older, newer = (one, other) if _is_newer(other, one, sources) else (other, one)
            found.append(Conflict(older, newer, _tell(older, newer, sources)))
    return found


def _differ(one: Candidate, other: Candidate, sources: Sequence[Hit], language: str | None) -> bool:
    if _find_source(one, sources).document_id == _find_source(other, sources).document_id:
        return False
    numbers = [set(_NUMBER.findall(each.unit.text)) for each in (one, other)]
    if not all(numbers) or numbers[0] == numbers[1]:
        return False
    words, others = (
        {term for term in content_terms(each.unit.text, language) if not _NUMBER.search(term)}
        for each in (one, other)
    )
    shared = len(words & others)
    return shared >= LEAST_TERMS and shared >= ALIKE * len(words | others)


def _is_newer(one: Candidate, other: Candidate, sources: Sequence[Hit]) -> bool:
    hit, against = _find_source(one, sources), _find_source(other, sources)
    years = [max(_YEAR.findall(_name(each)), default="") for each in (hit, against)]
    if all(years) and years[0] != years[1]:
        return years[0] > years[1]
    times = hit.document.modified_at, against.document.modified_at
    return times[0] is not None and times[1] is not None and times[0] > times[1]


def _tell(older: Candidate, newer: Candidate, sources: Sequence[Hit]) -> str:
    first, second = _find_source(newer, sources), _find_source(older, sources)
    said = f"{first.document_id} and {second.document_id} say different things"
    if _is_newer(newer, older, sources):
        return f"{said}: {first.document_id} is newer and is quoted"
    return f"{said}, and neither tells which is newer: look at both"


def _find_source(candidate: Candidate, sources: Sequence[Hit]) -> Hit:
    return sources[candidate.numbers[0] - 1]


def _name(hit: Hit) -> str:
    return f"{hit.document.title or ''} {hit.document_id}"
