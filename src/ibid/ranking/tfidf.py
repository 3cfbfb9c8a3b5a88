"""TF-IDF with cosine likeness: the vector space model as it is taught."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

from ibid.protocols import Scored
from ibid.ranking.order import best_first

Idf: TypeAlias = Literal["plain", "smooth"]

_IDF: Final[dict[Idf, Callable[[int, int], float]]] = {
    "plain": lambda size, df: math.log(size / df),
    "smooth": lambda size, df: math.log((1 + size) / (1 + df)) + 1,
}


class TfIdf:
    """Scores documents, given as lists of terms, for a query, given likewise.

    A term weighs tf * idf, tf being how often it occurs. idf is ln(N / df), which makes a term that
    all documents hold weigh nothing, or with "smooth" ln((1 + N) / (1 + df)) + 1, as scikit-learn
    has it. The score is the cosine of the two vectors of weights.
    """

    def __init__(self, documents: Sequence[Sequence[str]], *, idf: Idf = "plain") -> None:
        counts = [Counter(terms) for terms in documents]
        frequency = Counter(term for count in counts for term in count)
        self._idf = {term: _IDF[idf](len(counts), df) for term, df in frequency.items()}
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for row, count in enumerate(counts):
            for term, weight in self._unit_vector(count).items():
                self._postings[term].append((row, weight))

    def search(self, terms: Sequence[str], k: int | None = None) -> list[Scored]:
        """The k best documents (None: all) with a score above 0, equals as inserted."""
        scores: dict[int, float] = defaultdict(float)
        for term, weight in self._unit_vector(Counter(terms)).items():
            for row, other in self._postings.get(term, []):
                scores[row] += weight * other
        return best_first({row: score for row, score in scores.items() if score > 0}, k)

    def _unit_vector(self, counts: Counter[str]) -> dict[str, float]:
        """The weights of a text's known terms, scaled to length 1; none when all are 0."""
        weights = {
            term: count * self._idf[term] for term, count in counts.items() if term in self._idf
        }
        length = math.hypot(*weights.values())
        return {term: weight / length for term, weight in weights.items()} if length else {}
