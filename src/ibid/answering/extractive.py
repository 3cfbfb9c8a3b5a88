"""The generator without a language model: whole sentences of the sources, word for word, cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ibid.answering.candidates import Candidate, find_candidates
from ibid.answering.citations import check_citations
from ibid.answering.evidence import Unit
from ibid.answering.likeness import measure_likeness
from ibid.protocols import Embedder
from ibid.records import Delta, Prompt

MOST_SENTENCES: Final = 3

# The parts of a score, tuned on half of the answerable questions of CLAP NQ.
MEANING: Final = 1.0
COVERAGE: Final = 0.6
RANK: Final = 0.05
CUE: Final = 0.1
MARGIN: Final = 0.03
"""How far below the best sentence a further one may score."""

_NUMBER: Final = r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b"
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
        scores = _score_candidates(question, candidates, likeness)
        before = ""
        for candidate in select_sentences(candidates, scores):
            shown = _show(candidate, len(prompt.sources))
            yield Delta(_separate(before, candidate.unit) + shown if before else shown)
            before = shown


def _score_candidates(
    question: str, candidates: Sequence[Candidate], likeness: Mapping[tuple[str, str], float]
) -> list[float]:
    cues = [told for pattern, told in _CUES if pattern.search(question)]
    return [
        MEANING * likeness.get((question, candidate.text), 0.0) + _score_words(candidate, cues)
        for candidate in candidates
    ]


def select_sentences(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """The best sentence, and further ones that come close; in reading order within a source."""
    order = sorted(range(len(candidates)), key=lambda index: -scores[index])
    if not order:
        return []
    least = scores[order[0]] - MARGIN
    chosen = [candidates[index] for index in order if scores[index] >= least][:MOST_SENTENCES]
    return sorted(chosen, key=lambda candidate: (candidate.numbers[0], candidate.unit.start))


def _score_words(candidate: Candidate, cues: Sequence[re.Pattern[str]]) -> float:
    told = any(cue.search(candidate.unit.text) for cue in cues)
    return COVERAGE * candidate.covered + RANK / candidate.numbers[0] + CUE * told


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
