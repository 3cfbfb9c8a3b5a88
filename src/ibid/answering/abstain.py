"""When to abstain: an estimate, from the hits alone, that the library holds no answer."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from ibid.answering.candidates import Candidate, list_titles, share_terms
from ibid.answering.questions import ask_terms
from ibid.language.analyzer import content_terms
from ibid.record import record
from ibid.records import Hit, NearDocument

MOST_NEAREST: Final = 3
"""Documents that an abstention offers to read instead."""

MOST_MISSING: Final = 5
"""Words that no passage holds, as far as they are named."""

NEAR_COSINE: Final = 0.35
"""Below this a passage of the default embedder is about something else."""

NEAR_COVERAGE: Final = 0.5
"""The share of the question's terms from which a passage is near whatever its meaning."""


@record
class Evidence:
    """What speaks for an answer: each from 0 to 1, the higher, the likelier there is one.

    `passage` is the cosine of the passage nearest to the question in meaning, `sentence` that of
    the nearest sentence; both None where the meaning was not measured. `covered` is the most that
    one passage with its titles holds of the question's terms, by rarity; `spoken` the most that
    one sentence says of them itself.
    """

    covered: float = 0.0
    spoken: float = 0.0
    passage: float | None = None
    sentence: float | None = None


@record
class Weights:
    """One row of the model: the log odds of no answer are the bias and the weighted evidence."""

    bias: float
    covered: float
    spoken: float
    passage: float = 0.0
    sentence: float = 0.0


BY_MEANING: Final = Weights(bias=7.90, covered=-3.16, spoken=-0.94, passage=-3.69, sentence=-5.56)
"""Logistic regression with all-MiniLM-L6-v2 on English questions: half of those of CLAP NQ, its
near misses being the ones without an answer, and half of those of XQuAD, HotpotQA and Anthropic's
documentation, of which those have none whose answering passages were taken out. docs/ANSWERS.md
tells what came out on the other halves."""

BY_TERMS: Final = Weights(bias=3.05, covered=-3.76, spoken=-2.89)
"""The same by terms alone, which tell less: the bias expects an answer twice as often as not."""


def measure_evidence(
    question: str,
    candidates: Sequence[Candidate],
    covered: Sequence[float],
    cosines: Sequence[float] = (),
    likeness: Mapping[tuple[str, str], float] | None = None,
) -> Evidence:
    """The evidence of hits and their candidate sentences; of none, all 0.

    `covered` and `cosines` are those of the hits, `likeness` the cosines of question and candidate
    by their texts, as far as they were measured; without any the meaning counts as not measured.
    """
    measured = ((likeness or {}).get((question, one.text)) for one in candidates)
    near = [cosine for cosine in measured if cosine is not None]
    return Evidence(
        covered=max(covered, default=0.0),
        spoken=max((one.spoken for one in candidates), default=0.0),
        passage=max(cosines) if cosines else None,
        sentence=max(near) if near else None,
    )


def cover_question(
    question: str, hits: Sequence[Hit], *, rarity: Mapping[str, float], language: str | None
) -> list[float]:
    """The share of the question's terms, by rarity, that each hit holds with its titles."""
    asked = ask_terms(question, language)
    return [
        share_terms(
            frozenset(content_terms(f"{list_titles(hit)} {hit.passage.indexed_text}", language)),
            asked,
            rarity,
        )
        for hit in hits
    ]


def estimate_no_answer(evidence: Evidence) -> float:
    """The probability that the library holds no answer, where as many questions have one as not."""
    by_terms = evidence.passage is None or evidence.sentence is None
    weights = BY_TERMS if by_terms else BY_MEANING
    log_odds = (
        weights.bias
        + weights.covered * evidence.covered
        + weights.spoken * evidence.spoken
        + weights.passage * (evidence.passage or 0.0)
        + weights.sentence * (evidence.sentence or 0.0)
    )
    return 1 / (1 + math.exp(-log_odds))


def explain_abstention(
    question: str, hits: Sequence[Hit], evidence: Evidence, *, language: str | None
) -> str:
    """In words why no answer is to be expected; of nothing but what the caller may see."""
    texts = [f"{list_titles(hit)} {hit.passage.indexed_text}" for hit in hits]
    held = {term for text in texts for term in content_terms(text, language)}
    missing = [
        word
        for word in re.findall(r"\w+", question)
        if (terms := content_terms(word, language)) and held.isdisjoint(terms)
    ]
    told = ["the passages found are unlikely to answer it"]
    if missing:
        told.append(f"none of them speaks of {', '.join(dict.fromkeys(missing[:MOST_MISSING]))}")
    if evidence.sentence is not None:
        told.append(f"the nearest sentence has cosine {evidence.sentence:.2f}")
    return "; ".join(told)


def find_nearest(
    hits: Sequence[Hit], covered: Sequence[float], cosines: Sequence[float] = ()
) -> tuple[NearDocument, ...]:
    """The first documents among the hits that are near the question by words or by meaning."""
    likeness = cosines or [0.0] * len(hits)
    near = [
        NearDocument(hit.document_id, hit.document.title, hit.library)
        for hit, share, cosine in zip(hits, covered, likeness, strict=True)
        if share >= NEAR_COVERAGE or cosine >= NEAR_COSINE
    ]
    return tuple(dict.fromkeys(near))[:MOST_NEAREST]
