"""An answer in words: its cited places with their quotes, and who wrote it."""

from __future__ import annotations

from typing import Final

from ibid.cli.words import indent, join_words
from ibid.records import Answer, AnswerStatus, Citation, Verdict

_MARKS: Final = {
    Verdict.SUPPORTED: "",
    Verdict.SUPPORTED_ELSEWHERE: "  (wrong source: {})",
    Verdict.UNSUPPORTED: "  (NOT supported: {})",
    Verdict.NO_SUCH_SOURCE: "  (NOT supported: {})",
    Verdict.UNCITED: "  (no source cited: {})",
}


def tell_sources(answer: Answer) -> str:
    """The cited places with their quotes, each once, and who wrote the answer."""
    cited: dict[tuple[object, ...], str] = {}
    for citation in answer.citations:
        place = (citation.marker, citation.start, citation.quote or citation.claim.text)
        cited.setdefault(place, _tell_citation(citation))
    lines = list(cited.values())
    if answer.status is AnswerStatus.ANSWERED and answer.generator == "extractive":
        lines.append("Quoted from the documents as they stand; no language model was used.")
    return "\n".join(lines)


def _tell_citation(citation: Citation) -> str:
    mark = _MARKS[citation.verdict].format(citation.reason)
    if citation.quote is None:
        return f"[{citation.marker or '?'}] {citation.claim.text}{mark}"
    return f"{tell_place(citation)}{mark}\n{indent(citation.quote)}"


def tell_place(citation: Citation) -> str:
    """`[1] leave.md, Leave > Parental leave, characters 10-40`."""
    path = " > ".join(citation.headings) or citation.title
    page = f"page {citation.page}" if citation.page else None
    span = f"characters {citation.start}-{citation.end}"
    place = join_words(citation.library, citation.document_id, path, page, span)
    return f"[{citation.marker or '?'}] {place}"
