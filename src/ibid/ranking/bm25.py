"""BM25 in a few lines, with the constants of its papers; the index has its own, larger one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from ibid.protocols import Scored
from ibid.ranking.order import best_first


class BM25:
    """Scores documents, given as lists of terms, for a query, given likewise.

    score = sum over the query's terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl / avgdl))
    with idf = ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative. Robertson and Zaragoza,
    The Probabilistic Relevance Framework: BM25 and Beyond, 2009.
    """

    def __init__(
        self, documents: Sequence[Sequence[str]], *, k1: float = 1.5, b: float = 0.75
    ) -> None:
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        mean_length = sum(map(len, documents)) / max(1, len(documents))
        for row, terms in enumerate(documents):
            for term, count in Counter(terms).items():
                norm = k1 * (1 - b + b * len(terms) / mean_length)
                self._postings[term].append((row, count * (k1 + 1) / (count + norm)))
        self._size = len(documents)

    def search(self, terms: Sequence[str], k: int | None = None) -> list[Scored]:
        """The k best documents (None: all) that hold a term of the query, equals as inserted.

        A term that the query repeats counts as often. No documents, no hits.
        """
        scores: dict[int, float] = defaultdict(float)
        for term in terms:
            postings = self._postings.get(term, [])
            idf = math.log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
            for row, weight in postings:
                scores[row] += idf * weight
        return best_first(scores, k)
