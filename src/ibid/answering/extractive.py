"""The generator without a language model: whole sentences of the sources, word for word, cited."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ibid.answering.citations import check_citations
from ibid.answering.evidence import Unit, find_language, split_units
from ibid.language.analyzer import content_terms
from ibid.protocols import Embedder
from ibid.records import Delta, Hit, Prompt

CANDIDATES: Final = 12
"""Sentences that are embedded: the likeliest by their words and the rank of their source."""

MOST_SENTENCES: Final = 3

# The parts of a score, tuned on half of the answerable questions of CLAP NQ.
MEANING: Final = 1.0
COVERAGE: Final = 0.6
RANK: Final = 0.05
CUE: Final = 0.1
MARGIN: Final = 0.1
"""How far below the best sentence a further one may score."""

_NUMBER: Final = r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b"
_DATE: Final = (
    r"\b\d{4}\b|\b(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
)
_NAME: Final = r"(?<=[a-z,;] )[A-Z]\w+"
_CUES: Final = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(told, flags))
    for asked, told, flags in (
        (r"\bhow (?:long|soon|often|old|far|many|much|big|large|high|fast)\b", _NUMBER, re.I),
        (r"\b(?:when|what (?:date|year|day|time)|which year)\b", rf"{_DATE}|{_NUMBER}", re.I),
        (r"\b(?:who|whom|whose|which person)\b", _NAME, re.NOFLAG),
        (r"\b(?:where|which (?:city|country|place|state))\b", _NAME, re.NOFLAG),
        (r"\bwhy\b", r"\b(?:because|since|due to|so that|in order to|therefore|reason)\b", re.I),
    )
)
"""What a kind of question asks for, and how a sentence that tells it looks."""

_STOP: Final = re.compile(r"\s*[.!?…。！？]+\Z")
_PAIRED: Final = re.compile('[`"“„«「]')
_QUOTES: Final = (("“", "”"), ("«", "»"), ("「", "」"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may answer. `numbers` are the sources that hold it, in rising order.

    `coverage` is the share of the question's terms in it, weighted by how rare they are among
    the sentences; `cue` tells whether it holds the kind of thing that is asked for.
    """

    unit: Unit
    numbers: tuple[int, ...]
    terms: frozenset[str]
    coverage: float
    cue: bool


class ExtractiveGenerator:
    """Answers with up to three sentences of the sources; without an embedder by words alone."""

    name = "extractive"
    remote: str | None = None

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """One piece for each sentence; none when the sources have no text."""
        candidates = find_candidates(prompt.question, prompt.sources, language=prompt.language)
        scores = self._score(prompt.question, candidates)
        before = ""
        for candidate in select_sentences(candidates, scores):
            shown = _show(candidate, len(prompt.sources))
            yield Delta(_separate(before, candidate.unit) + shown if before else shown)
            before = shown

    def _score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        meanings = [0.0] * len(candidates)
        if self._embedder and candidates:
            asked = self._embedder.embed([question], kind="query")[0]
            texts = [candidate.unit.text for candidate in candidates]
            meanings = (self._embedder.embed(texts, kind="passage") @ asked).tolist()
        return [
            MEANING * meaning + _score_words(candidate)
            for candidate, meaning in zip(candidates, meanings, strict=True)
        ]


def find_candidates(
    question: str, sources: Sequence[Hit], *, language: str | None = None
) -> list[Candidate]:
    """The likeliest sentences by their words, best first; equal ones in the order of the sources.

    A sentence that several sources hold is one candidate. Questions, and lines that say nothing
    beyond the question, are candidates only where there is nothing else.
    """
    language = language or find_language(sources)
    found: dict[str, tuple[Unit, list[int], frozenset[str]]] = {}
    for number, hit in enumerate(sources, 1):
        above = " ".join([hit.document.title or "", *hit.passage.headings])
        for unit in split_units(hit.passage.text, start=hit.passage.body, language=language):
            terms = frozenset(content_terms(f"{above} {unit.context} {unit.text}", language))
            found.setdefault(unit.text, (unit, [], terms))[1].append(number)
    asked = frozenset(content_terms(question, language))
    weights = _weigh_terms(asked, [terms for _, _, terms in found.values()])
    total = sum(weights.values()) or 1.0
    cues = [told for pattern, told in _CUES if pattern.search(question)]
    candidates = [
        Candidate(
            unit=unit,
            numbers=tuple(dict.fromkeys(numbers)),
            terms=terms & asked,
            coverage=sum(weights[term] for term in terms & asked) / total,
            cue=any(told.search(unit.text) for told in cues),
        )
        for unit, numbers, terms in found.values()
    ]
    telling = [candidate for candidate in candidates if _tells(candidate.unit, asked, language)]
    return sorted(telling or candidates, key=_score_words, reverse=True)[:CANDIDATES]


def select_sentences(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """The best sentence, and further ones that come close; in reading order within a source."""
    order = sorted(range(len(candidates)), key=lambda index: -scores[index])
    if not order:
        return []
    least = scores[order[0]] - MARGIN
    chosen = [candidates[index] for index in order if scores[index] >= least][:MOST_SENTENCES]
    return sorted(chosen, key=lambda candidate: (candidate.numbers[0], candidate.unit.start))


def _weigh_terms(asked: frozenset[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much each term of the question tells: ln(1 + sentences / those that hold it)."""
    held = Counter(term for terms in texts for term in terms & asked)
    return {term: math.log1p(len(texts) / (held[term] or 1)) for term in asked}


def _tells(unit: Unit, asked: frozenset[str], language: str | None) -> bool:
    """Whether a unit says, outside code fences, something that the question doesn't."""
    new = set(content_terms(unit.text, language)) - asked
    fence = "```" in unit.text or "~~~" in unit.text
    return bool(new) and not fence and not unit.text.endswith(("?", "？"))


def _score_words(candidate: Candidate) -> float:
    return COVERAGE * candidate.coverage + RANK / candidate.numbers[0] + CUE * candidate.cue


def _show(candidate: Candidate, sources: int) -> str:
    """The sentence with its markers before the full stop.

    What a source writes like a marker of ours is put in quotation marks, so that no one takes
    it for one.
    """
    text = " ".join(candidate.unit.text.split())
    marks = "".join(f"[{number}]" for number in candidate.numbers)
    if not check_citations(text, sources)["uncited"]:
        free = [pair for pair in _QUOTES if not set(pair) & set(text)]
        left, right = free[0] if free else _QUOTES[0]
        return f"{left}{text}{right} {marks}"
    stop = _STOP.search(text)
    end = stop.start() if stop else len(text)
    return f"{text[:end]} {marks}{text[end:]}"


def _separate(before: str, unit: Unit) -> str:
    """A blank between sentences, a new line beside what is none, and beside code and quotations.

    Half of a pair of quotation marks must not meet its other half behind a marker.
    """
    plain = not _PAIRED.search(before + unit.text)
    return " " if plain and unit.kind == "sentence" and _STOP.search(before) else "\n"
