"""Verification: whether the cited passage says what the claim says, and what differs if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Final

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.checks import CHECKS
from ibid.answering.checking.fact_checks import count_held
from ibid.answering.checking.facts import Facts, join_facts, read_facts
from ibid.answering.evidence import Unit, find_language, split_units
from ibid.records import Citation, Claim, Hit, Verdict

LONGEST_EVIDENCE: Final = 3
"""Consecutive sentences that may stand together as evidence."""


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
        return [read_facts(_name_cells(unit), language=self._language) for unit in self.units]

    @cached_property
    def contexts(self) -> list[Facts]:
        """What stands above each unit and holds for it: titles, table header, lead-in."""
        above = " \n".join([self.hit.document.title or "", *self.hit.passage.headings])
        texts = [f"{above} \n{unit.context}" for unit in self.units]
        return [read_facts(text, language=self._language, context=True) for text in texts]

    def join(self, first: int, last: int) -> Facts:
        """The facts of a run of units, with what stands above them."""
        return join_facts([*self.facts[first : last + 1], *self.contexts[first : last + 1]])

    @cached_property
    def whole(self) -> Facts:
        return join_facts([*self.facts, *self.contexts])


def _name_cells(unit: Unit) -> str:
    """What a unit says; each cell of a table's row with the head of its column."""
    if unit.kind != "row" or not unit.context:
        return unit.text
    heads, cells = (text.split("|") for text in (unit.context, unit.text))
    named = zip_longest(heads[: len(cells)], cells, fillvalue="")
    return "|".join(f"{head} {cell}" for head, cell in named)


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

    Of runs that cover as many of its words and facts it is the shortest, then the one with more of
    the words, the truest, the first. Short goes before true: a sentence that says another number
    must not be rescued by a neighbour in which that number means something else. Where the claim
    is not supported it is the run with most of its words: that is what it got wrong.
    """
    best: list[tuple[tuple[int, ...], _Finding]] = []
    for first, last in _list_runs(len(source.units)):
        span = source.units[first].start, source.units[last].end
        if _is_repeated(claim, source.hit.passage.text[slice(*span)]):
            return _Finding(source, *span, None)
        alignment = Alignment(facts, source.join(first, last))
        held = alignment.covered + count_held(alignment)
        ranks = ((held, alignment.covered), (alignment.covered, held))
        orders = [(-one, last - first, -other) for one, other in ranks]
        if best and all(order > kept for order, (kept, _) in zip(orders, best, strict=True)):
            continue
        reasons = [reason for check in CHECKS if (reason := check(alignment, source.whole))]
        finding = _Finding(source, *span, reasons[0] if reasons else None)
        found = [((*order, len(reasons), first), finding) for order in orders]
        best = [
            min(pair, key=lambda one: one[0]) for pair in zip(best or found, found, strict=True)
        ]
    if not best:
        return _Finding(source, 0, len(source.hit.passage.text), "the passage says nothing")
    (_, fullest), (_, nearest) = best
    return nearest if fullest.reason and nearest.reason else fullest


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
