"""Measures of answers: right or not, held by the sources or not, and given when there is one.

Correctness compares with an expected answer, faithfulness with the sources alone: an answer can be
faithful to a wrong source, or right from memory. An answer without any claim has no faithfulness
and no precision or recall of citations: the functions then give None, which no mean counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from ibid.evaluation.folding import fold_answer
from ibid.records import Citation, Claim, Verdict

HELD: Final = frozenset({Verdict.SUPPORTED, Verdict.SUPPORTED_ELSEWHERE})
"""Verdicts of a claim that the sources sent do hold, under this number or another."""

Correctness: TypeAlias = Callable[[str, str], float]


def exact_match(answer: str, expected: str) -> float:
    """1 when the two are the same words in the same order, else 0; markers and articles aside."""
    return float(fold_answer(answer) == fold_answer(expected))


def token_f1(answer: str, expected: str) -> float:
    """2 x common tokens / (tokens of the answer + tokens expected), a repeated token as often as
    both have it; 0 without a common one."""
    given, wanted = Counter(fold_answer(answer).split()), Counter(fold_answer(expected).split())
    common = (given & wanted).total()
    return 2 * common / (given.total() + wanted.total()) if common else 0.0


def contains_match(answer: str, expected: str) -> float:
    """1 when the answer holds the expected words in a row, else 0."""
    wanted = fold_answer(expected)
    return float(bool(wanted) and f" {wanted} " in f" {fold_answer(answer)} ")


def best_match(measure: Correctness, answer: str, expected: Iterable[str]) -> float:
    """The highest value over several expected answers, any of which is right; 0 without one."""
    return max((measure(answer, one) for one in expected), default=0.0)


def faithfulness(citations: Iterable[Citation]) -> float | None:
    """The share of claims that a source sent supports, whether it is the one cited or another.

    Es et al., RAGAS, 2024, with checked citations in the place of a model.
    """
    claims = _group_verdicts(citations)
    return _share(bool(verdicts & HELD) for verdicts in claims.values())


def citation_recall(citations: Iterable[Citation]) -> float | None:
    """The share of claims that a source which is cited for them supports. Gao et al., 2023."""
    claims = _group_verdicts(citations)
    return _share(Verdict.SUPPORTED in verdicts for verdicts in claims.values())


def citation_precision(citations: Iterable[Citation]) -> float | None:
    """The share of citations given that support their claim; None where none is given."""
    return _share(
        citation.verdict is Verdict.SUPPORTED
        for citation in citations
        if citation.marker is not None
    )


def evidence_cited(
    citations: Sequence[Citation], evidence: Sequence[str], documents: Iterable[str] = ()
) -> float:
    """The share of the expected pieces and documents that a supported citation points at.

    A piece is pointed at by a quote that holds its words in a row, or whose words it holds.
    """
    cited = [one for one in citations if one.verdict is Verdict.SUPPORTED and one.quote]
    quotes = [one.quote or "" for one in cited]
    sources = {one.document_id for one in cited}
    found = [
        any(contains_match(quote, piece) or contains_match(piece, quote) for quote in quotes)
        for piece in evidence
    ]
    found += [document in sources for document in documents]
    return sum(found) / len(found) if found else 0.0


# -- abstaining -----------------------------------------------------------------------------------


def abstention_precision(unanswerable: Sequence[bool], abstained: Sequence[bool]) -> float:
    """The share of abstentions that were right; 0 where none was made."""
    return _ratio(_count_both(unanswerable, abstained), sum(abstained))


def abstention_recall(unanswerable: Sequence[bool], abstained: Sequence[bool]) -> float:
    """The share of questions without an answer to which none was given; 0 without such."""
    return _ratio(_count_both(unanswerable, abstained), sum(unanswerable))


def abstention_f1(unanswerable: Sequence[bool], abstained: Sequence[bool]) -> float:
    """2 x right abstentions / (abstentions + questions without an answer); 0 without either."""
    return _ratio(2 * _count_both(unanswerable, abstained), sum(unanswerable) + sum(abstained))


def _count_both(one: Sequence[bool], other: Sequence[bool]) -> int:
    return sum(a and b for a, b in zip(one, other, strict=True))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _share(flags: Iterable[bool]) -> float | None:
    found = list(flags)
    return sum(found) / len(found) if found else None


def _group_verdicts(citations: Iterable[Citation]) -> Mapping[Claim, set[Verdict]]:
    """The verdicts of each claim: one for each number cited for it."""
    claims: dict[Claim, set[Verdict]] = {}
    for citation in citations:
        claims.setdefault(citation.claim, set()).add(citation.verdict)
    return claims
