"""The generator without a language model: whole sentences of the sources, word for word, cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from ibid.answering.antecedents import find_antecedents
from ibid.answering.candidates import NAMED, Candidate, find_candidates, split_passage
from ibid.answering.citations import check_citations
from ibid.answering.conflicts import find_conflicts
from ibid.answering.evidence import Unit
from ibid.answering.kinds import asks_for_list, find_kinds
from ibid.answering.likeness import measure_likeness
from ibid.answering.questions import ask_terms, list_askings, split_question
from ibid.protocols import Embedder
from ibid.record import record
from ibid.records import Delta, Prompt

MOST_SENTENCES: Final = 3
MOST_ITEMS: Final = 8
"""Sentences of an answer, and what it may have where a list is asked for."""

# The parts of a score, tuned on half of the answerable questions of CLAP NQ.
MEANING: Final = 1.0
COVERAGE: Final = 0.2
RANK: Final = 0.15
CUE: Final = 0.1

WORDS_ALONE: Final = 3.0
"""How many times as much coverage and cue count where the meaning was not measured, or on a scale
that isn't known."""

MARGIN: Final = 0.1
FACT_MARGIN: Final = 0.05
"""How far below the best sentence a further one may score; less where one thing is asked for."""

COMPANY: Final = 0.1
"""What a further sentence gains by standing in the source of the best one, where more than one
thing is asked for."""

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
        before = ""
        chosen, warnings = self._choose(prompt)
        for candidate in _bring_antecedents(chosen, prompt):
            shown = _show(candidate, len(prompt.sources))
            yield Delta(_separate(before, candidate.unit) + shown if before else shown)
            before = shown
        for warning in warnings:
            yield Delta(warning=warning)

    def _choose(self, prompt: Prompt) -> tuple[list[Candidate], list[str]]:
        """The sentences that answer each part of the question, and where sources contradict."""
        whole, *parts = list_askings(prompt.question, prompt.language)
        reading = prompt.reading
        if reading.asked is not None:  # what was carried over asks nothing
            parts = []
        found = {
            asked: _keep_asked(
                find_candidates(
                    asked, prompt.sources, language=prompt.language, rarity=reading.rarity
                ),
                prompt,
            )
            for asked in (whole, *parts)
        }
        likeness = reading.likeness
        if self._embedder is not None:
            likeness = measure_likeness(found, self._embedder, likeness)
        words = 1.0 if reading.likeness else WORDS_ALONE
        chosen: dict[str, Candidate] = {}
        for part in split_question(reading.asked or prompt.question):
            # "and when?" names nothing: the whole question's sentences, by what the part asks.
            asked = part if part in found else whole
            scored = score_candidates(part, asked, found[asked], likeness, words=words)
            chosen |= {one.unit.text: one for one in select_sentences(part, scored)}
        most = MOST_ITEMS if asks_for_list(prompt.question) else MOST_SENTENCES
        kept = list(islice(chosen.values(), most))
        return _settle_conflicts(kept, [one for ones in found.values() for one in ones], prompt)


def _keep_asked(candidates: list[Candidate], prompt: Prompt) -> list[Candidate]:
    """The candidates that say something of a follow-up itself; all where none does.

    The words that were carried over from the questions before tell what it is about; they are no
    question.
    """
    put = prompt.reading.asked
    terms = frozenset() if put is None else ask_terms(put, prompt.language)
    return [one for one in candidates if one.held & terms] or candidates


def _settle_conflicts(
    chosen: Sequence[Candidate], candidates: Sequence[Candidate], prompt: Prompt
) -> tuple[list[Candidate], list[str]]:
    """The sentences in the order of the sources, the newer of two that contradict each other in
    the place of both, and a warning that names both."""
    conflicts = find_conflicts(chosen, candidates, prompt.sources, prompt.language)
    newer = {conflict.older: conflict.newer for conflict in conflicts}
    settled = dict.fromkeys(newer.get(one, one) for one in chosen)
    ordered = sorted(settled, key=lambda one: (one.numbers[0], one.unit.start))
    return ordered, [*dict.fromkeys(conflict.warning for conflict in conflicts)]


def _bring_antecedents(chosen: Sequence[Candidate], prompt: Prompt) -> list[Candidate]:
    """The sentences, each after those that tell what it speaks of."""
    asked = ask_terms(prompt.question, prompt.language)
    shown: dict[str, Candidate] = {}
    for one in chosen:
        number = one.numbers[0]
        units = split_passage(prompt.sources[number - 1], prompt.language)
        for unit in find_antecedents(one.unit, units, asked, prompt.language):
            shown.setdefault(unit.text, Candidate(unit, (number,), frozenset(), frozenset()))
        shown.setdefault(one.unit.text, one)
    return list(shown.values())


@record
class Scored:
    """A candidate with its score, and whether it holds the kind of thing that is asked for."""

    candidate: Candidate
    score: float
    tells: bool


def score_candidates(
    part: str,
    asked: str,
    candidates: Sequence[Candidate],
    likeness: Mapping[tuple[str, str], float],
    *,
    words: float = 1.0,
) -> list[Scored]:
    """The candidates with their scores, best first; equal ones in the order they came.

    `part` says what kind of thing is asked for, `asked` is the question that they were found for;
    `words` multiplies what their words count beside their meaning.
    """
    kinds = find_kinds(part)
    scored = []
    for one in candidates:
        tells = any(kind.told().search(one.unit.text) for kind in kinds)
        score = (
            MEANING * likeness.get((asked, one.text), 0.0)
            + words * (COVERAGE * one.covered + CUE * tells)
            + RANK / one.numbers[0]
            + NAMED * one.names
        )
        scored.append(Scored(one, score, tells))
    return sorted(scored, key=lambda one: -one.score)


def select_sentences(question: str, scored: Sequence[Scored]) -> list[Candidate]:
    """The best sentence, then further ones that come close and tell the same kind of thing.

    Where a list is asked for, or the best one only leads into a list: its items or rows. One row
    never brings another along: all rows of a table are alike in their words.
    """
    if not scored:
        return []
    single = any(kind.single for kind in find_kinds(question))
    margin = FACT_MARGIN if single else MARGIN
    close = [one for one in scored if one.score >= scored[0].score - margin]
    first = next((one for one in close if one.tells), scored[0])
    best = first.candidate
    listed = _find_list(best, [one.candidate for one in scored])
    if (
        listed
        and not best.names
        and (asks_for_list(question) or best.unit.text in listed[0].unit.context)
    ):
        return listed[:MOST_ITEMS]
    company = 0.0 if single else COMPANY
    further = [
        one.candidate
        for one in scored
        if one is not first
        and one.tells >= first.tells
        and one.candidate.unit.kind != "row"
        and one.score + company * (not {*best.numbers}.isdisjoint(one.candidate.numbers))
        >= first.score - margin
    ]
    return [best, *further][:MOST_SENTENCES]


def _find_list(best: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The items or rows of the list that a candidate is of or leads into, in their order."""
    above = best.unit.text if best.unit.kind == "sentence" else best.unit.context
    of_list = [
        one
        for one in candidates
        if one.unit.kind != "sentence"
        and one.unit.context == above
        and one.numbers[0] == best.numbers[0]
        and above
    ]
    return sorted(of_list, key=lambda one: one.unit.start)


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
