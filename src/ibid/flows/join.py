"""Neighbouring hits shown as one: the text from the first of them to the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ibid.flows.options import EVERYTHING
from ibid.protocols import Snapshot, Tokenizer
from ibid.ranking.neighbours import group_neighbours
from ibid.ranking.select import Dropped, Selection, tell_place
from ibid.records import Hit, Passage

RELEVANT: Final = 2
"""Times k: a neighbour is relevant too when it is among so many of the best hits."""


def join_hits(
    selection: Selection, pieces: int, *, k: int, snapshot: Snapshot, tokenizer: Tokenizer
) -> Selection:
    """The selection with neighbouring hits of one document as one, of at most so many word pieces.

    It stands at the place of the best of them and shows one range of the document, all of which
    was found. The others are told as dropped.
    """
    near, far = selection.hits[: RELEVANT * k], selection.hits[RELEVANT * k :]
    sizes = [len(spans) for spans in tokenizer.spans([hit.passage.text for hit in near])]
    joined: list[Hit] = []
    dropped = list(selection.dropped)
    for group in group_neighbours(near, sizes, pieces):
        best, *others = (near[place] for place in group)
        if others:
            best = replace(best, passage=_join_passages(best, others, snapshot))
        joined.append(best)
        dropped += [Dropped(hit, f"shown as part of {tell_place(best)}") for hit in others]
    return Selection((*joined, *far), tuple(dropped))


def _join_passages(best: Hit, others: Sequence[Hit], snapshot: Snapshot) -> Passage:
    """The best hit's passage, reaching from the start of the first to the end of the last."""
    # The hit is in the caller's scope, and so is its document.
    text = snapshot.document(best.document_id, EVERYTHING).document.text
    passages = [best.passage, *(hit.passage for hit in others)]
    first = min(passages, key=lambda passage: passage.start)
    end = max(passage.end for passage in passages)
    return replace(
        first,
        id=best.passage.id,
        ordinal=best.passage.ordinal,
        end=end,
        text=text[first.start : end],
    )
