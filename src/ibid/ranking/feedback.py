"""Relevance feedback without anyone's judgement: what was found first says what was meant."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ibid.protocols import Vectors

Feedback: TypeAlias = Literal["none", "rocchio", "rm3"]


def move_vector(query: Vectors, found: Vectors, weight: float) -> Vectors:
    """The query's unit vector of shape (d,), moved toward the mean of those found, of shape (n, d).

    q' = q + weight * mean(found), brought back to length 1; unchanged where nothing was found.
    Rocchio, Relevance Feedback in Information Retrieval, 1971, without its negative part.
    """
    if not len(found):
        return query
    moved = query + weight * found.mean(axis=0)
    length = math.sqrt(float(moved @ moved))
    return moved / length if length > 0 else query


def expand_query(
    terms: Sequence[str],
    found: Sequence[tuple[float, Sequence[str]]],
    *,
    count: int,
    weight: float,
) -> dict[str, float]:
    """A weight for each term of the query and for the `count` terms likeliest in what was found.

    `found` holds a score, from 0 up, and the terms of each passage. The weights sum to 1: the
    query's own terms share 1 - weight by how often they occur in it, and the others share `weight`
    by the sum of score * tf / length over the passages, equal ones in alphabetical order. With
    nothing found the query stays as it is; no terms, no weights. Abdul-Jaleel et al., UMass at
    TREC 2004 (RM3), with the query's likelihood replaced by the score.
    """
    own = {term: times / len(terms) for term, times in Counter(terms).items()}
    relevance: dict[str, float] = defaultdict(float)
    for score, passage in found:
        for term, times in Counter(passage).items():
            relevance[term] += score * times / len(passage)
    chosen = sorted(relevance, key=lambda term: (-relevance[term], term))[:count]
    total = math.fsum(relevance[term] for term in chosen)
    if not own or total <= 0:
        return own
    mixed = {term: (1 - weight) * part for term, part in own.items()}
    for term in chosen:
        mixed[term] = mixed.get(term, 0.0) + weight * relevance[term] / total
    return mixed
