"""How near sentences are to a question in meaning, each embedded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ibid.answering.candidates import Candidate
from ibid.protocols import Embedder

FIRST: Final = 6
"""Candidates of a question that are embedded at first, the likeliest by their words."""

SURE: Final = 0.75
"""Cosine at which the best of these is near enough, so that the others are left alone."""


def measure_likeness(
    found: Mapping[str, Sequence[Candidate]],
    embedder: Embedder,
    known: Mapping[tuple[str, str], float] | None = None,
) -> dict[tuple[str, str], float]:
    """The cosine of each question and its candidates, by their texts; known ones as known.

    Where one of the first candidates is SURE, the later ones have none: seldom is one of them
    nearer, and embedding them takes longer than all else that an answer takes. All texts that are
    new are embedded in one batch; without any, nothing is.
    """
    likeness = dict(known or {})
    first = {question: ones[:FIRST] for question, ones in found.items()}
    likeness = _embed_missing(first, embedder, likeness)
    unsure = {
        question: ones
        for question, ones in found.items()
        if max((likeness[question, one.text] for one in first[question]), default=SURE) < SURE
    }
    return _embed_missing(unsure, embedder, likeness)


def _embed_missing(
    found: Mapping[str, Sequence[Candidate]],
    embedder: Embedder,
    likeness: dict[tuple[str, str], float],
) -> dict[tuple[str, str], float]:
    """The cosines with those of all these candidates among them."""
    pairs = [(question, one.text) for question, ones in found.items() for one in ones]
    missing = [pair for pair in dict.fromkeys(pairs) if pair not in likeness]
    if not missing:
        return likeness
    texts = list(dict.fromkeys(text for _, text in missing))
    vectors = dict(zip(texts, embedder.embed(texts, kind="passage"), strict=True))
    questions = {question for question, _ in missing}
    asked = {question: embedder.embed([question], kind="query")[0] for question in questions}
    return likeness | {pair: float(vectors[pair[1]] @ asked[pair[0]]) for pair in missing}
