"""Found by small pieces, shown with their section: hits widened to what surrounds them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ibid.chunking.sections import find_section
from ibid.flows.options import EVERYTHING
from ibid.protocols import Snapshot, Tokenizer
from ibid.records import Document, Hit, Passage


def widen_hits(
    hits: Iterable[Hit], pieces: int, *, snapshot: Snapshot, tokenizer: Tokenizer
) -> Iterator[Hit]:
    """The hits with the widest range around each that has at most so many word pieces.

    That is the passage's section, one above it, or the whole document. Hits that are then the same
    range fill one place, that of the first.
    """
    seen: set[tuple[str, int, int]] = set()
    for hit in hits:
        document = snapshot.document(hit.document_id, EVERYTHING).document
        passage = _widen_passage(hit.passage, document, pieces, tokenizer)
        place = (document.id, passage.start, passage.end)
        if place not in seen:
            seen.add(place)
            yield replace(hit, passage=passage)


def _widen_passage(
    passage: Passage, document: Document, pieces: int, tokenizer: Tokenizer
) -> Passage:
    (spans,) = tokenizer.spans([document.text])
    starts = [start for start, _ in spans]

    def fits(span: tuple[int, int]) -> bool:
        return bisect_left(starts, span[1]) - bisect_left(starts, span[0]) <= pieces

    start, end = find_section(document, passage, fits)
    if (start, end) == (passage.start, passage.end):
        return passage
    return replace(passage, start=start, end=end, text=document.text[start:end], body=0)
