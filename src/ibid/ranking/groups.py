"""Documents that say nearly the same, in groups: candidates for their owners to archive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ibid.ranking.twins import MARGIN, PERMUTATIONS, Print, are_alike, make_print

BANDS: Final = 32
"""Of four rows each: two texts of a likeness of 0.7 meet in some band in 0.9998 of all cases."""

LEAST_SHINGLES: Final = 20
"""Shorter texts are alike by chance: headings, stubs, lists of links."""


def group_alike(texts: Iterable[tuple[str, str]], threshold: float) -> list[list[str]]:
    """Groups of ids whose texts are alike, linked pair by pair, in the order of their first ids.

    `texts` are (id, text). Likeness is the Jaccard similarity of runs of three words.
    """
    from rensa import RMinHashLSH  # noqa: PLC0415 - seldom needed

    lookup = RMinHashLSH(threshold - MARGIN, PERMUTATIONS, BANDS)
    ids: list[str] = []
    prints: list[Print] = []
    leader: list[int] = []
    for id, text in texts:
        one = make_print(text)
        if len(one.shingles) < LEAST_SHINGLES:
            continue
        number = len(ids)
        ids.append(id)
        prints.append(one)
        leader.append(number)
        for other in sorted(lookup.query(one.sketch)):
            first, second = _find(leader, other), _find(leader, number)
            if first != second and are_alike(prints[other], one, threshold):
                leader[max(first, second)] = min(first, second)
        lookup.insert(number, one.sketch)
    groups: dict[int, list[str]] = {}
    for number, id in enumerate(ids):
        groups.setdefault(_find(leader, number), []).append(id)
    return [group for group in groups.values() if len(group) > 1]


def _find(leader: list[int], number: int) -> int:
    """The first of the group that a text belongs to."""
    while leader[number] != number:
        number = leader[number]
    return number
