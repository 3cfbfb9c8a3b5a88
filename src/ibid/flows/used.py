"""What became of an expected text in an answer: sent, used, cited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ibid.flows.diagnosis import Expected, Stage, Target, find_shown
from ibid.language.analyzer import content_terms
from ibid.records import Answer, AnswerStatus, Citation, Hit, Verdict

USED: Final = 0.7
"""Part of the terms of the text, or of a claim, that the other holds where the one is used."""


def tell_answer(
    answer: Answer, targets: Sequence[Target], expected: Expected, *, language: str
) -> list[Stage]:
    """The stages prompt to cite, up to the one that lost the text."""
    weighed = [step for step in answer.trace if step.stage == "abstain"]
    if weighed:
        return [
            Stage("prompt", True, "it was found, and no prompt was made"),
            Stage(
                "answer",
                False,
                f"abstained before a word was written: {weighed[-1].detail}",
                "raise ask.abstain, the probability of no answer from which none is given",
            ),
        ]
    source = find_shown(targets, answer.sources)
    if source is None:
        return [_tell_unsent(answer)]
    sent = Stage("prompt", True, f"source {source.rank} of {len(answer.sources)}", rank=source.rank)
    if answer.status is not AnswerStatus.ANSWERED:
        detail = f"the generator, {answer.generator}, found no answer in the sources"
        return [sent, Stage("answer", False, detail, _advise(answer))]
    cited = [one for one in answer.citations if _touches(one, targets)]
    used = cited or list(_find_users(answer, source, targets, expected, language))
    if not used:
        told = sorted({str(c.document_id) for c in answer.citations if c.document_id})
        detail = f"source {source.rank} was not used; cited are {', '.join(told) or 'none'}"
        return [sent, Stage("answer", False, detail, _advise(answer))]
    first = used[0].claim.text
    return [sent, Stage("answer", True, f"used: {first}"), _tell_cited(cited, used)]


def _tell_unsent(answer: Answer) -> Stage:
    reasons = [warning for warning in answer.warnings if "left out" in warning]
    return Stage(
        "prompt",
        False,
        "found, and not sent" + (f": {reasons[0]}" if reasons else ""),
        "set generator.context_tokens to what the model holds, take one that holds more, or lower"
        " chunking.size",
    )


def _advise(answer: Answer) -> str:
    if answer.generator == "extractive":
        return "let a language model write the answer (generator.name), or lower ask.sources"
    return "take another model (generator.name) or template (ask.template), or lower ask.sources"


def _touches(citation: Citation, targets: Sequence[Target]) -> bool:
    """Whether a citation quotes what is expected."""
    start, end = citation.start, citation.end
    return (
        start is not None
        and end is not None
        and any(t.info.id == citation.document_id and t.overlaps(start, end) for t in targets)
    )


def _find_users(
    answer: Answer, source: Hit, targets: Sequence[Target], expected: Expected, language: str
) -> Iterator[Citation]:
    """The citations of claims that say what is expected, though they quote something else.

    For a document, those of claims that nothing else supports and whose terms its passage holds.
    """
    wanted = set(content_terms(expected.text or "", language))
    held = set(content_terms(source.passage.indexed_text, language))
    for citation in answer.citations:
        claim = citation.claim.text
        terms = set(content_terms(claim, language))
        if expected.text is not None:
            said = bool(expected.find(claim, "")) or _share(wanted, terms) >= USED
        else:
            said = citation.verdict is not Verdict.SUPPORTED and _share(terms, held) >= USED
        if said:
            yield citation


def _share(part: set[str], whole: set[str]) -> float:
    """The part of some terms that is among others; 0 for none."""
    return len(part & whole) / len(part) if part else 0.0


def _tell_cited(cited: Sequence[Citation], used: Sequence[Citation]) -> Stage:
    good = [one for one in cited if one.verdict is Verdict.SUPPORTED]
    if good:
        return Stage("cite", True, f"cited as [{good[0].marker}]: {good[0].quote}")
    doubtful = (cited or used)[0]
    if doubtful.verdict is Verdict.SUPPORTED:
        detail = f"used, and {doubtful.document_id} is cited for it"
    else:
        reason = f": {doubtful.reason}" if doubtful.reason else ""
        detail = f"used, and the citation is {doubtful.verdict.value}{reason}"
    advice = "ask with --strict, which leaves out what nothing supports, or take another model"
    return Stage("cite", False, detail, advice)
