"""How near sentences are to a question in meaning, each embedded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ibid.answering.candidates import Candidate
from ibid.protocols import Embedder


def measure_likeness(
    found: Mapping[str, Sequence[Candidate]],
    embedder: Embedder,
    known: Mapping[tuple[str, str], float] | None = None,
) -> dict[tuple[str, str], float]:
    """The cosine of each question and each of its candidates, by their texts; known ones as known.

    All texts that are new are embedded in one batch; without any, nothing is.
    """
    likeness = dict(known or {})
    pairs = [(question, one.text) for question, ones in found.items() for one in ones]
    missing = [pair for pair in dict.fromkeys(pairs) if pair not in likeness]
    if not missing:
        return likeness
    texts = list(dict.fromkeys(text for _, text in missing))
    vectors = dict(zip(texts, embedder.embed(texts, kind="passage"), strict=True))
    questions = {question for question, _ in missing}
    asked = {question: embedder.embed([question], kind="query")[0] for question in questions}
    return likeness | {pair: float(vectors[pair[1]] @ asked[pair[0]]) for pair in missing}
