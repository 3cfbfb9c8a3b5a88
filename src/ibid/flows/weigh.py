"""Weighing what was found before a word is written: is there an answer in it at all?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ibid.answering.abstain import (
    Evidence,
    cover_question,
    estimate_no_answer,
    explain_abstention,
    find_nearest,
    measure_evidence,
)
from ibid.answering.candidates import find_candidates
from ibid.answering.likeness import measure_likeness
from ibid.answering.questions import ask_terms, list_askings
from ibid.errors import BadQuery
from ibid.flows.hashing import hash_text
from ibid.record import record
from ibid.records import Hit, NearDocument, Reading, SearchResult

if TYPE_CHECKING:
    from ibid.protocols import Embedder, Index, Snapshot

WEIGHED: Final = 6
"""Hits that are weighed, the first ones: the estimate was fitted with so many."""


@record
class Weighed:
    """What weighing found: `reason` says why to abstain, None that there may be an answer.

    `no_answer` is the estimated probability that the library holds none, and `evidence` what it was
    made from; `nearest` is what lies near the question, whether it is answered or not.
    """

    reading: Reading
    evidence: Evidence
    no_answer: float
    reason: str | None = None
    nearest: tuple[NearDocument, ...] = ()


def weigh_hits(
    question: str,
    found: SearchResult,
    *,
    threshold: float,
    index: Index,
    embedder: Embedder | None = None,
    language: str | None = None,
) -> Weighed:
    """What the hits promise for a question: too little from `threshold` on, and where none are.

    Of a question in two parts the more promising one counts. The meaning is measured by the
    embedder that the library was made with; None goes by terms.
    """
    hits = found.hits[:WEIGHED]
    if not hits:
        return Weighed(Reading(), Evidence(), 1.0, "nothing was found")
    rarity = _open_version(index, found.version).measure_rarity(
        sorted(ask_terms(question, language))
    )
    candidates = {
        asked: find_candidates(asked, hits, language=language, rarity=rarity)
        for asked in list_askings(question, language)
    }
    cosines, likeness = dict[str, list[float]](), dict[tuple[str, str], float]()
    if embedder is not None:
        cosines = _compare_passages(list(candidates), hits, index, embedder)
        likeness = measure_likeness(candidates, embedder)
    covered = {
        asked: cover_question(asked, hits, rarity=rarity, language=language) for asked in candidates
    }
    evidence = min(
        (
            measure_evidence(asked, ones, covered[asked], cosines.get(asked, ()), likeness)
            for asked, ones in candidates.items()
        ),
        key=estimate_no_answer,
    )
    no_answer = estimate_no_answer(evidence)
    reason = None
    if no_answer >= threshold:
        reason = explain_abstention(question, hits, evidence, language=language)
    nearest = find_nearest(hits, covered[question], cosines.get(question, ()))
    return Weighed(Reading(rarity, likeness), evidence, no_answer, reason, nearest)


def _open_version(index: Index, version: int) -> Snapshot:
    """The version that was searched; the last one where a vacuum has dropped that since."""
    with suppress(BadQuery):
        return index.snapshot(version)
    return index.snapshot()


def _compare_passages(
    questions: Sequence[str], hits: Sequence[Hit], index: Index, embedder: Embedder
) -> dict[str, list[float]]:
    """The cosines of the hits, by the vectors that the library holds: fusion has other scores."""
    texts = {hash_text(hit.passage.indexed_text): hit.passage.indexed_text for hit in hits}
    vectors = index.find_vectors(list(texts))
    missing = [key for key in texts if key not in vectors]  # a hit that was widened
    if missing:
        new = embedder.embed([texts[key] for key in missing], kind="passage")
        vectors |= dict(zip(missing, new, strict=True))
    asked = {question: embedder.embed([question], kind="query")[0] for question in questions}
    keys = [hash_text(hit.passage.indexed_text) for hit in hits]
    return {
        question: [float(vectors[key] @ vector) for key in keys]
        for question, vector in asked.items()
    }
