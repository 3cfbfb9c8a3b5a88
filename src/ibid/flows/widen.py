"""Found by small pieces, shown with their section: hits widened to what surrounds them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from ibid.chunking.sections import find_section
from ibid.flows.options import EVERYTHING
from ibid.protocols import Snapshot, Tokenizer
from ibid.records import Document, Hit, Passage


def widen_hits(
    hits: Iterable[Hit], pieces: int, *, k: int, snapshot: Snapshot, tokenizer: Tokenizer
) -> list[Hit]:
    """The first k hits with the widest range around each that has at most so many word pieces.

    That is the passage's section, one above it, or the whole document. Of two hits whose ranges
    lie one within the other, the better one's place shows the wider range.
    """
    shown: list[Hit] = []
    for hit in hits:
        document = snapshot.document(hit.document_id, EVERYTHING).document
        wide = replace(hit, passage=_widen_passage(hit.passage, document, pieces, tokenizer))
        same = [place for place, other in enumerate(shown) if _is_nested(wide, other)]
        for place in same[:1]:
            widest = max(wide.passage, shown[place].passage, key=lambda p: p.end - p.start)
            shown[place] = replace(shown[place], passage=widest)
        if not same:
            if len(shown) == k:
                break
            shown.append(wide)
    return shown


def _is_nested(one: Hit, other: Hit) -> bool:
    """Whether one range lies within the other."""
    if one.document_id != other.document_id:
        return False
    a, b = one.passage, other.passage
    return (a.start <= b.start and b.end <= a.end) or (b.start <= a.start and a.end <= b.end)


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
