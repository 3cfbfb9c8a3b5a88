"""Verification: whether the cited passage says what the claim says, and what differs if not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from ibid.answering.evidence import Unit, find_language, split_units
from ibid.answering.facts import Facts, join_facts, read_facts
from ibid.language.analyzer import content_terms
from ibid.records import Citation, Claim, Hit, Verdict

LEAST_COVERAGE: Final = 0.5
"""Share of a claim's content words that its evidence must hold."""

LONGEST_EVIDENCE: Final = 3
"""Consecutive sentences that may stand together as evidence."""

Check: TypeAlias = Callable[[Facts, Facts, Facts], str | None]
"""(claim, evidence, whole passage) -> what differs, None when nothing does."""


def verify_claims(
    claims: Iterable[Claim], sources: Sequence[Hit], *, language: str | None = None
) -> tuple[Citation, ...]:
    """One citation for each marker of each claim, in order; a claim without markers has one too.

    The evidence is the shortest run of sentences of the cited passage that holds the most of the
    claim's words; the claim is supported when no check finds a difference between the two. When
    another source supports it (supported-elsewhere), the evidence is that source's, and the
    reason names its number.
    """
    language = language or find_language(sources)
    texts = [_Source(hit, language) for hit in sources]
    return tuple(citation for claim in claims for citation in _verify_claim(claim, texts, language))


class _Source:
    """A passage cut into units, each with its facts; read when it is first needed."""

    def __init__(self, hit: Hit, language: str | None) -> None:
        self.hit = hit
        self._language = language

    @cached_property
    def units(self) -> list[Unit]:
        text = self.hit.passage.text
        return split_units(text, start=self.hit.passage.body, language=self._language) or (
            split_units(text, language=self._language)
        )

    @cached_property
    def facts(self) -> list[Facts]:
        return [read_facts(unit.text, language=self._language) for unit in self.units]

    @cached_property
    def contexts(self) -> list[Facts]:
        """What stands above each unit and holds for it: titles, table header, lead-in."""
        above = " \n".join([self.hit.document.title or "", *self.hit.passage.headings])
        texts = [f"{above} \n{unit.context}" for unit in self.units]
        # A title names its subject: "Never Mind" denies nothing.
        return [replace(read_facts(text, language=self._language), negated=()) for text in texts]

    @cached_property
    def whole(self) -> Facts:
        return join_facts([*self.facts, *self.contexts])


@dataclass(frozen=True, slots=True)
class _Finding:
    """The evidence that a source has for a claim, and why it isn't enough (None: it is)."""

    source: _Source
    start: int
    end: int
    reason: str | None


def _verify_claim(
    claim: Claim, sources: Sequence[_Source], language: str | None
) -> Iterable[Citation]:
    facts = read_facts(claim.text, language=language)
    findings = {
        number: _find_evidence(claim.text, facts, sources[number - 1])
        for number in claim.markers
        if number <= len(sources)
    }
    if not claim.markers:
        yield Citation(None, claim, Verdict.UNCITED, _explain_uncited(claim.text, facts, sources))
    for number in claim.markers:
        finding = findings.get(number)
        if finding is None:
            reason = f"there is no source {number}: {len(sources)} were sent"
            yield Citation(number, claim, Verdict.NO_SUCH_SOURCE, reason)
        elif finding.reason is None:
            yield _cite(number, claim, finding, Verdict.SUPPORTED, None)
        else:
            elsewhere = _find_elsewhere(claim.text, facts, sources, number)
            yield _cite_other(number, claim, finding, elsewhere)


def _explain_uncited(claim: str, facts: Facts, sources: Sequence[_Source]) -> str:
    elsewhere = _find_elsewhere(claim, facts, sources, 0)
    return f"source {elsewhere[0]} says it" if elsewhere else "no source says it"


def _find_elsewhere(
    claim: str, facts: Facts, sources: Sequence[_Source], but: int
) -> tuple[int, _Finding] | None:
    for number, source in enumerate(sources, 1):
        finding = _find_evidence(claim, facts, source)
        if number != but and finding.reason is None:
            return number, finding
    return None


def _cite_other(
    number: int, claim: Claim, finding: _Finding, elsewhere: tuple[int, _Finding] | None
) -> Citation:
    if elsewhere is None:
        return _cite(number, claim, finding, Verdict.UNSUPPORTED, finding.reason)
    right, support = elsewhere
    reason = f"source {right} says it, not source {number}"
    return _cite(number, claim, support, Verdict.SUPPORTED_ELSEWHERE, reason)


def _cite(
    number: int, claim: Claim, finding: _Finding, verdict: Verdict, reason: str | None
) -> Citation:
    hit, passage = finding.source.hit, finding.source.hit.passage
    page = f"#page={passage.page}" if passage.page and hit.document.source else ""
    return Citation(
        marker=number,
        claim=claim,
        verdict=verdict,
        reason=reason,
        document_id=hit.document_id,
        passage_id=passage.id,
        title=hit.document.title,
        headings=passage.headings,
        page=passage.page,
        place=passage.place,
        start=passage.start + finding.start,
        end=passage.start + finding.end,
        quote=passage.text[finding.start : finding.end],
        url=hit.document.source and hit.document.source + page,
    )


def _find_evidence(claim: str, facts: Facts, source: _Source) -> _Finding:
    """The units that the claim repeats; else the run of units that covers it best.

    Of runs that cover as much it is the shortest, the truest, the one with the most of the words in
    itself and not in what stands above it, the first. Short goes before true: a sentence that says
    another number must not be rescued by a neighbour in which that number means something else.
    """
    best: tuple[tuple[float, ...], _Finding] | None = None
    for first, last in _list_runs(len(source.units)):
        span = source.units[first].start, source.units[last].end
        if _is_repeated(claim, source.hit.passage.text[slice(*span)]):
            return _Finding(source, *span, None)
        own = join_facts(source.facts[first : last + 1])
        evidence = join_facts([own, *source.contexts[first : last + 1]])
        covered = len(facts.words & evidence.words)
        if best and covered < -best[0][0]:
            continue
        reasons = [reason for check in CHECKS if (reason := check(facts, evidence, source.whole))]
        order = (-covered, last - first, len(reasons), -len(facts.words & own.words), first)
        if best is None or order < best[0]:
            best = order, _Finding(source, *span, reasons[0] if reasons else None)
    if best is None:
        return _Finding(source, 0, len(source.hit.passage.text), "the passage says nothing")
    return best[1]


def _list_runs(units: int) -> Iterator[tuple[int, int]]:
    """The first and last of every run of at most LONGEST_EVIDENCE units, short ones first."""
    for length in range(LONGEST_EVIDENCE):
        for first in range(units - length):
            yield first, first + length


def _is_repeated(claim: str, units: str) -> bool:
    """Whether a claim is whole units, word for word; a part of one may leave out what denies it."""
    return _bare(claim) == _bare(units)


def _bare(text: str) -> str:
    return " ".join(text.split()).strip(' .!?…|"“”„«»「」')


# -- the checks -----------------------------------------------------------------------------------


def check_quotations(claim: Facts, evidence: Facts, passage: Facts) -> str | None:
    """Words in quotation marks stand in the passage as they are, white space aside."""
    whole = " ".join(passage.text.split())
    for quotation in claim.quotations:
        if " ".join(quotation.split()).rstrip(".,") not in whole:
            return f"the passage does not hold the words “{quotation}”"
    return None


def check_quantities(claim: Facts, evidence: Facts, passage: Facts) -> str | None:
    """Every number of the claim is in the evidence, in the same unit or an equal one."""
    years = {float(date.year) for date in evidence.dates}
    for quantity in claim.quantities:
        if quantity in evidence.quantities or (not quantity.unit and quantity.value in years):
            continue
        same_unit = [other.text for other in evidence.quantities if other.unit == quantity.unit]
        others = same_unit or [other.text for other in evidence.quantities]
        return _differ(quantity.text, others)
    return None


def check_dates(claim: Facts, evidence: Facts, passage: Facts) -> str | None:
    """Every date of the claim is in the evidence, which may be more exact."""
    for date in claim.dates:
        if not any(other.holds(date) for other in evidence.dates):
            return _differ(date.text, [other.text for other in evidence.dates])
    return None


def check_names(claim: Facts, evidence: Facts, passage: Facts) -> str | None:
    """Every name and identifier of the claim is in the evidence."""
    for name in claim.names:
        stands = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", evidence.text, re.IGNORECASE)
        if not stands and not _is_inflected(name, evidence):
            others = [other for other in evidence.names if other not in claim.names]
            return _differ(name, others[:3])
    return None


def _is_inflected(name: str, evidence: Facts) -> bool:
    """Whether a word stands in the evidence with another ending; a code never does."""
    terms = frozenset(content_terms(name, evidence.language))
    return name.isalpha() and bool(terms) and terms <= evidence.terms


def check_negation(claim: Facts, evidence: Facts, passage: Facts) -> str | None:
    """What one of the two denies, the other does not state."""
    denied_by_claim = frozenset().union(*claim.negated)
    denied_by_passage = frozenset().union(*evidence.negated)
    if claim.negated and not evidence.negated:
        return "the claim denies what the passage does not deny"
    if any(denied & claim.terms and not denied & denied_by_claim for denied in evidence.negated):
        return "the passage denies what the claim states"
    if denied_by_claim and not denied_by_claim & (denied_by_passage | evidence.terms):
        return "the claim denies what the passage does not speak of"
    if denied_by_claim and not denied_by_claim & denied_by_passage:
        return "the claim denies what the passage states"
    return None


def check_coverage(claim: Facts, evidence: Facts, passage: Facts) -> str | None:
    """Enough of the claim's content words are in the evidence."""
    if not claim.words:
        return None
    if len(claim.words & evidence.words) >= LEAST_COVERAGE * len(claim.words):
        return None
    missing = [
        word
        for word in re.findall(r"\w+", claim.text)
        if claim.words.intersection(content_terms(word, claim.language)) - evidence.words
    ]
    return f"the passage does not speak of {', '.join(dict.fromkeys(missing[:5]))}"


CHECKS: Final[tuple[Check, ...]] = (
    check_quantities,
    check_dates,
    check_names,
    check_negation,
    check_quotations,
    check_coverage,
)
"""What is compared, the most telling difference first; a citation gives the first reason."""


def _differ(said: str, others: Sequence[str]) -> str:
    held = ", ".join(dict.fromkeys(others[:3]))
    return (
        f"the claim says {said}, the passage {held}"
        if held
        else (f"the passage does not say {said}")
    )
