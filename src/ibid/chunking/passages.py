"""From ranges of a document to its passages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ibid.chunking.leads import NO_LEAD, Lead
from ibid.chunking.sections import find_block
from ibid.records import Document, Passage


@dataclass(frozen=True, slots=True)
class Draft:
    """A passage to be: its range, and where its text begins after the heading lines."""

    start: int
    body: int
    end: int
    headings: tuple[str, ...]
    rule: str
    prefix: str = ""
    lead: Lead = NO_LEAD


def make_passages(document: Document, content_hash: str, drafts: Iterable[Draft]) -> list[Passage]:
    """The passages of these ranges, numbered from 0; page and place are those where each begins.

    Ids name the document, the first eight characters of its content's hash, and the range.
    """
    return [
        _make_passage(document, content_hash, draft, ordinal)
        for ordinal, draft in enumerate(drafts)
    ]


def _make_passage(document: Document, content_hash: str, draft: Draft, ordinal: int) -> Passage:
    block = find_block(document, draft.start)
    return Passage(
        id=f"{document.id}@{content_hash[:8]}#{draft.start}-{draft.end}",
        document_id=document.id,
        ordinal=ordinal,
        start=draft.start,
        end=draft.end,
        text=document.text[draft.start : draft.end],
        headings=draft.headings,
        prefix=draft.prefix,
        body=draft.body - draft.start,
        lead=draft.lead.text,
        page=block.page if block else None,
        place=block.place if block else None,
        rule=draft.rule,
    )
