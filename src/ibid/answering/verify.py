"""Verification: whether the cited passage says what the claim says, and what differs if not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ibid.answering.evidence import Unit, find_language, list_runs, split_units
from ibid.record import record
from ibid.records import Citation, Claim, Hit, Verdict

if TYPE_CHECKING:
    from ibid.answering.checking.facts import Facts
    from ibid.answering.checking.support import Statements


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


class _Claim:
    """A claim with what it states, which is read only where it is not its source's own words."""

    def __init__(self, claim: Claim, language: str | None) -> None:
        self.claim = claim
        self._language = language

    @cached_property
    def facts(self) -> Facts:
        from ibid.answering.checking.facts import read_facts  # noqa: PLC0415 - many word lists

        return read_facts(self.claim.text, language=self._language)


class _Source:
    """A passage cut into units, and what they state; read when it is first needed."""

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
    def statements(self) -> Statements:
        from ibid.answering.checking.support import Statements  # noqa: PLC0415 - likewise

        above = " \n".join([self.hit.document.title or "", *self.hit.passage.headings])
        return Statements(self.units, above, self._language)

    def find_repeated(self, claim: str) -> tuple[int, int] | None:
        """Where whole units say the claim word for word; a part of one may leave out what denies
        it."""
        for first, last in list_runs(len(self.units)):
            start, end = self.units[first].start, self.units[last].end
            if _bare(claim) == _bare(self.hit.passage.text[start:end]):
                return start, end
        return None


@record
class _Finding:
    """The evidence that a source has for a claim, and why it isn't enough (None: it is)."""

    source: _Source
    start: int
    end: int
    reason: str | None


def _verify_claim(
    claim: Claim, sources: Sequence[_Source], language: str | None
) -> Iterable[Citation]:
    read = _Claim(claim, language)
    findings = {
        number: _find_evidence(read, sources[number - 1])
        for number in claim.markers
        if number <= len(sources)
    }
    if not claim.markers:
        yield Citation(None, claim, Verdict.UNCITED, _explain_uncited(read, sources))
    for number in claim.markers:
        finding = findings.get(number)
        if finding is None:
            reason = f"there is no source {number}: {len(sources)} were sent"
            yield Citation(number, claim, Verdict.NO_SUCH_SOURCE, reason)
        elif finding.reason is None:
            yield _cite(number, claim, finding, Verdict.SUPPORTED, None)
        else:
            elsewhere = _find_elsewhere(read, sources, number)
            yield _cite_other(number, claim, finding, elsewhere)


def _explain_uncited(claim: _Claim, sources: Sequence[_Source]) -> str:
    elsewhere = _find_elsewhere(claim, sources, 0)
    return f"source {elsewhere[0]} says it" if elsewhere else "no source says it"


def _find_elsewhere(
    claim: _Claim, sources: Sequence[_Source], but: int
) -> tuple[int, _Finding] | None:
    for number, source in enumerate(sources, 1):
        finding = _find_evidence(claim, source)
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
        library=hit.library,
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


def _find_evidence(claim: _Claim, source: _Source) -> _Finding:
    """The units that the claim repeats; else the run of units that supports it best."""
    if (repeated := source.find_repeated(claim.claim.text)) is not None:
        return _Finding(source, *repeated, None)
    if not source.units:
        return _Finding(source, 0, len(source.hit.passage.text), "the passage says nothing")
    support = source.statements.find_support(claim.facts)
    first, last = source.units[support.first], source.units[support.last]
    return _Finding(source, first.start, last.end, support.reason)


def _bare(text: str) -> str:
    return " ".join(text.split()).strip(' .!?…|"“”„«»「」')
