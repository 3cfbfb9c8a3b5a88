"""Cited places: each quote of a kept answer where it stands, with the text around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from ibid.errors import BadQuery, UnknownDocument
from ibid.protocols import Index
from ibid.records import OWNER, Block, Box, Citation, CitedPlace, Document, KeptAnswer, Principals

AROUND: Final = 300
"""Characters of the document that are shown at most on either side of a quote."""


def page_citations(
    citations: Iterable[Citation], version: int, *, index: Index
) -> tuple[Citation, ...]:
    """The citations, each with the page on which its quote begins: a passage may go over several.

    A document that was erased meanwhile leaves the page of the passage, and so does one of several
    libraries, whose id may be another document's here.
    """
    citations = tuple(citations)
    paged = {one.document_id for one in citations if one.page and one.library is None}
    documents = {id: _read_blocks(id, version, index) for id in paged if id is not None}
    return tuple(
        _turn_to_page(one, documents[one.document_id])
        if one.page and one.library is None and one.document_id is not None
        else one
        for one in citations
    )


def _read_blocks(id: str, version: int, index: Index) -> Sequence[Block]:
    with suppress(UnknownDocument):
        return index.answers.read_document(id, version, OWNER).blocks
    return ()


def _turn_to_page(citation: Citation, blocks: Iterable[Block]) -> Citation:
    assert citation.start is not None
    pages = (block.page for block in blocks if block.start <= citation.start < block.end)
    page = next(pages, None) or citation.page
    url = citation.url and citation.url.replace(f"#page={citation.page}", f"#page={page}")
    return replace(citation, page=page, url=url)


def find_places(
    kept: KeptAnswer, marker: int | None, principals: Principals, *, index: Index
) -> list[CitedPlace]:
    """The places that an answer cites, each once, in its order; with `marker`, those of that one.

    Raises BadQuery for a marker that cites nothing, UnknownDocument where a document is gone.
    """
    cited: dict[tuple[object, ...], Citation] = {}
    for citation in kept.answer.citations:
        if citation.quote is not None and marker in (None, citation.marker):
            place = (citation.marker, citation.document_id, citation.start, citation.end)
            cited.setdefault(place, citation)
    if marker is not None and not cited:
        raise BadQuery(
            f"answer {kept.answer.id} has no place cited as [{marker}]",
            hint=f"`ibid answers {kept.answer.id}` shows what it cites",
        )
    return [
        _find_place(citation, kept.answer.version, principals, index) for citation in cited.values()
    ]


def _find_place(
    citation: Citation, version: int, principals: Principals, index: Index
) -> CitedPlace:
    assert citation.document_id is not None
    assert citation.start is not None
    assert citation.end is not None
    document = index.answers.read_document(citation.document_id, version, principals)
    text = document.text
    first = _find_edge(text, citation.start, -1)
    last = _find_edge(text, citation.end, 1)
    return CitedPlace(
        citation=citation,
        before=text[first : citation.start],
        quote=text[citation.start : citation.end],
        after=text[citation.end : last],
        boxes=_find_boxes(document, citation.start, citation.end),
        source=document.source,
        version=version,
    )


def _find_edge(text: str, place: int, step: int) -> int:
    """Where what is shown on one side of a place ends: between two words, within the document."""
    edge = min(max(place + step * AROUND, 0), len(text))
    while 0 < edge < len(text) and edge != place and not text[edge - (step < 0)].isspace():
        edge -= step
    return edge


def _find_boxes(document: Document, start: int, end: int) -> tuple[Box, ...]:
    """The boxes of the blocks that a span touches."""
    return tuple(
        box
        for block in document.blocks
        if block.start < end and start < block.end
        for box in block.boxes
    )
