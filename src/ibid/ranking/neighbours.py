"""Neighbours: hits that stand side by side in a document belong together."""

from __future__ import annotations

from collections.abc import Sequence

from ibid.records import Hit


def group_neighbours(hits: Sequence[Hit], sizes: Sequence[int], most: int) -> list[list[int]]:
    """The places of the hits in groups, by the best of each; a group's own best one comes first.

    A group is an unbroken run of passages of one document under the same headings. It grows from
    its best hit to the better of the two neighbours, as long as the `sizes` together stay within
    `most`. Every place is in one group.
    """
    places = {(hit.document_id, hit.passage.ordinal): place for place, hit in enumerate(hits)}
    groups: list[list[int]] = []
    taken: set[int] = set()
    for place, hit in enumerate(hits):
        if place in taken:
            continue
        group, size = [place], sizes[place]
        low = high = hit.passage.ordinal
        while True:
            near = [places.get((hit.document_id, ordinal)) for ordinal in (low - 1, high + 1)]
            fitting = [
                other
                for other in near
                if other is not None
                and other not in taken
                and size + sizes[other] <= most
                and hits[other].passage.headings == hit.passage.headings
            ]
            if not fitting:
                break
            best = min(fitting)
            group.append(best)
            size += sizes[best]
            low = min(low, hits[best].passage.ordinal)
            high = max(high, hits[best].passage.ordinal)
        groups.append(group)
        taken.update(group)
    return groups


def order_by_document(hits: Sequence[Hit]) -> list[Hit]:
    """The hits for reading: a document's in the order of its text, documents by their best hit."""
    first: dict[str, int] = {}
    for place, hit in enumerate(hits):
        first.setdefault(hit.document_id, place)
    return sorted(hits, key=lambda hit: (first[hit.document_id], hit.passage.start))
