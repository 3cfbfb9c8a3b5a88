"""Reranking by proximity: how much of the query a passage holds, and how close together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from ibid.protocols import Calibration
from ibid.ranking.expansion import group_terms

PROXIMITY_CALIBRATION: Final = Calibration(slope=6.0, offset=-5.4)
"""The mean of the fits on three sets of questions (bench/rerank.py), which lie far apart: a score
of words in common says little of relevance by itself."""


def score_proximity(query: Sequence[Collection[str]], terms: Sequence[str]) -> float:
    """coverage * (1 + hits / span), 0 where nothing matches.

    `query` holds, for each of its terms, the words that stand for it. Coverage is the part of them
    that occur among `terms`, hits the number of terms that match, span the number of terms from
    the first of those to the last, both counted.
    """
    hits = [place for place, term in enumerate(terms) if any(term in words for words in query)]
    if not hits:
        return 0.0
    present = set(terms)
    covered = sum(1 for words in query if not present.isdisjoint(words))
    return covered / len(query) * (1 + len(hits) / (hits[-1] - hits[0] + 1))


class ProximityReranker:
    """A Reranker that needs no model: score_proximity over analysed terms, with synonyms."""

    name: Final = "proximity"
    remote: Final = None
    calibration: Final = PROXIMITY_CALIBRATION

    def __init__(
        self,
        analyze: Callable[[str], Sequence[str]],
        synonyms: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._analyze = analyze
        self._synonyms = synonyms or {}

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score from 0 to 2 for each text, in their order."""
        groups = group_terms(self._analyze(query), self._synonyms)
        return [score_proximity(groups, self._analyze(text)) for text in texts]
