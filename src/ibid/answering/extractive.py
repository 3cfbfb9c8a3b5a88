"""The generator without a language model: whole sentences of the sources, word for word, cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ibid.answering.candidates import Candidate, find_candidates
from ibid.answering.citations import check_citations
from ibid.answering.evidence import Unit
from ibid.answering.kinds import find_kinds
from ibid.answering.likeness import measure_likeness
from ibid.protocols import Embedder
from ibid.records import Delta, Prompt

MOST_SENTENCES: Final = 3
MOST_ITEMS: Final = 8
"""Sentences of an answer, and what it may have where a list is asked for."""

# The parts of a score, tuned on half of the answerable questions of CLAP NQ.
MEANING: Final = 1.0
COVERAGE: Final = 0.4
RANK: Final = 0.05
CUE: Final = 0.15
MARGIN: Final = 0.03
"""How far below the best sentence a further one may score."""

_STOP: Final = re.compile(r"\s*[.!?…。！？]+\Z")
_PAIRED: Final = re.compile('[`"“„«「]')
_QUOTES: Final = (("“", "”"), ("«", "»"), ("「", "」"))


class ExtractiveGenerator:
    """Answers with up to three sentences of the sources; without an embedder by words alone."""

    name = "extractive"
    remote: str | None = None

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """One piece for each sentence; none when the sources have no text."""
        reading, question = prompt.reading, prompt.question
        candidates = find_candidates(
            question, prompt.sources, language=prompt.language, rarity=reading.rarity
        )
        likeness = reading.likeness
        if self._embedder is not None:
            likeness = measure_likeness({question: candidates}, self._embedder, likeness)
        chosen = select_sentences(score_candidates(question, candidates, likeness))
        before = ""
        for candidate in sorted(chosen, key=lambda one: (one.numbers[0], one.unit.start)):
            shown = _show(candidate, len(prompt.sources))
            yield Delta(_separate(before, candidate.unit) + shown if before else shown)
            before = shown


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score, and whether it holds the kind of thing that is asked for."""

    candidate: Candidate
    score: float
    tells: bool


def score_candidates(
    question: str, candidates: Sequence[Candidate], likeness: Mapping[tuple[str, str], float]
) -> list[Scored]:
    """The candidates with their scores, best first; equal ones in the order they came."""
    kinds = find_kinds(question)
    scored = []
    for one in candidates:
        tells = any(kind.told().search(one.unit.text) for kind in kinds)
        score = (
            MEANING * likeness.get((question, one.text), 0.0)
            + COVERAGE * one.covered
            + RANK / one.numbers[0]
            + CUE * tells
        )
        scored.append(Scored(one, score, tells))
    return sorted(scored, key=lambda one: -one.score)


def select_sentences(scored: Sequence[Scored], *, most: int = MOST_SENTENCES) -> list[Candidate]:
    """The best sentence, and further ones that come close and tell the same kind of thing."""
    if not scored:
        return []
    best = scored[0]
    close = (
        one.candidate
        for one in scored
        if one.score >= best.score - MARGIN and one.tells >= best.tells
    )
    return list(islice(close, most))


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
