"""Lays a claim beside its evidence: which words are met, and which piece speaks of which."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ibid.answering.checking.facts import Facts, Key, Piece, Word
from ibid.answering.checking.lexicon import load_lexicon
from ibid.answering.checking.measures import Fact

SHORTEST_STEM: Final = 4
"""Letters that two words must share at their start, or one hold of the other, to be akin."""

SHARED_START: Final = 0.65
"""The share of the longer word that must be the same at the start."""

# What the words around a piece count for it. A fragment ("adults, seniors and …") belongs to the
# piece that follows; a piece in front lends what the next leaves out ("adults pay 12, children 7").
OWN: Final = 1.0
FRAGMENT_BEFORE: Final = 0.9
FRAGMENT_AFTER: Final = 0.75
ELLIPSIS_BEFORE: Final = 0.85
BEFORE: Final = 0.5
AFTER: Final = 0.2
CLAIMED_BEFORE: Final = 0.15
OPENING_WORDS: Final = 1.0
"""What words that open a claim count for a number behind them: for students, it costs 60."""

SENTENCE_BEFORE: Final = 0.5
OTHER_SENTENCE: Final = 0.2

FACT: Final = 2.0
"""What another fact beside one counts: the weekday tells which of two hours is meant."""

OPPOSITE: Final = 0.8
"""What a word counts for a clause that has its opposite: they speak of the same."""

OPENING: Final = 0
"""The concept of opening and closing, the first line of every language."""

_PLAIN: Final = frozenset({"and", "title", "agent"})
_DAYS: Final = frozenset({"date", "weekday", "season", "part"})
_QUOTES: Final = '“„«「"'
_DENIALS: Final = ("un", "in", "im", "ir", "il", "non", "dis", "mis", "nicht", "des", "dés")


@dataclass(frozen=True, slots=True)
class _Lens:
    """How a clause is looked at: what its opposites count, which fact aside, whether it is an end.

    `before` is what a fragment in front of it lends.
    """

    opposite: float = 0.0
    but: Fact | None = None
    closes: bool = False
    before: float = CLAIMED_BEFORE


@dataclass(frozen=True)
class Alignment:
    """A claim and its evidence with what is met between them; worked out once for all checks."""

    claim: Facts
    evidence: Facts

    @cached_property
    def _known(self) -> frozenset[Key]:
        return frozenset().union(*(word.keys for word in self.evidence.words))

    @cached_property
    def _met(self) -> dict[Word, frozenset[Key]]:
        return {word: self._meet(word) for word in self.claim.words}

    def _meet(self, word: Word) -> frozenset[Key]:
        met = word.keys & self._known
        if len(word.text) > 2 and word.text.isupper() and spells(word.text, self.evidence.text):
            return word.keys  # AGM
        if met or word.opposites & self._known:
            return met | word.opposites & self._known
        return frozenset(
            key
            for key in self._known
            if isinstance(key, str) and any(are_akin(term, key) for term in word.terms)
        )

    @cached_property
    def missing(self) -> list[Word]:
        """The words of the claim that the evidence doesn't have in any form."""
        return [word for word, keys in self._met.items() if not keys]

    @property
    def covered(self) -> int:
        """How many words of the claim the evidence has."""
        return len(self._met) - len(self.missing)

    @cached_property
    def claim_clauses(self) -> list[Piece]:
        """The pieces of the claim, fragments joined to their neighbours."""
        return join_fragments(self.claim.pieces)

    @cached_property
    def evidence_clauses(self) -> list[Piece]:
        """The same of the evidence, without what only stands above it."""
        return join_fragments([piece for piece in self.evidence.pieces if piece.sentence >= 0])

    @property
    def opposed(self) -> frozenset[int]:
        """The concepts that have an opposite, in the language of the two."""
        return load_lexicon(self.claim.language).opposed

    @cached_property
    def _weights(self) -> list[dict[Key, float]]:
        return [
            weigh_words(self.evidence.pieces, place) for place in range(len(self.evidence.pieces))
        ]

    @cached_property
    def _clause_weights(self) -> list[dict[Key, float]]:
        clauses = self.evidence_clauses
        return [weigh_words(clauses, place) for place in range(len(clauses))]

    def closeness(self, claim_place: int, evidence_place: int, fact: Fact) -> float:
        """How much what the claim says of a fact has to do with a piece of the evidence.

        What is open until an hour closes at it.
        """
        weights = self._weights[evidence_place]
        closes = fact.family == "time" and fact.bound in ("<", "<=")
        lens = _Lens(but=fact, closes=closes, before=OPENING_WORDS)
        return self._score(self.claim.pieces, claim_place, weights, lens)

    def closeness_without(
        self, claim_place: int, evidence_place: int, names: Sequence[str]
    ) -> float:
        """The same for a name: how much the words beside it have to do with a piece."""
        piece = self.claim.pieces[claim_place]
        words = tuple(word for word in piece.words if word.text not in names)
        pieces = [*self.claim.pieces[:claim_place], replace(piece, words=words)]
        return self._score(pieces, claim_place, self._weights[evidence_place], _Lens())

    def nearest_clauses(self, place: int) -> list[Piece]:
        """The clauses of the evidence that speak most of what this clause of the claim does."""
        scores = [
            self._score(self.claim_clauses, place, weights, _Lens(opposite=OPPOSITE))
            for weights in self._clause_weights
        ]
        best = max(scores, default=0.0)
        clause = self.claim_clauses[place]
        if best <= 0 or not (clause.facts or any(self._met.get(word) for word in clause.words)):
            return []
        return [
            clause
            for clause, score in zip(self.evidence_clauses, scores, strict=True)
            if score >= best - 0.05
        ]

    def _score(
        self,
        pieces: Sequence[Piece],
        place: int,
        weights: Mapping[Key, float],
        lens: _Lens,
    ) -> float:
        score = 0.0
        for other, piece in enumerate(pieces[: place + 1]):
            lent = OWN if other == place else lens.before if is_fragment(piece) else CLAIMED_BEFORE
            for word in piece.words:
                keys = self._met.get(word, frozenset())
                against = word.opposites
                if lens.closes and any(concept == OPENING for concept, _ in word.senses):
                    keys, against = word.opposites, frozenset(word.senses)
                found = max((weights.get(key, 0.0) for key in keys - against), default=0.0)
                turned = max((weights.get(key, 0.0) for key in against), default=0.0)
                score += lent * word.weight * max(found, lens.opposite * turned)
            for fact in piece.facts:
                if lens.but is None or fact.family != lens.but.family:
                    score += (
                        lent
                        * FACT
                        * max((weights.get(k, 0.0) for k in key_fact(fact)), default=0.0)
                    )
        return score


def spells(name: str, text: str) -> bool:
    """Whether a short form is made of the first letters of words in a row: AGM."""
    letters = "".join(word[0] for word in re.findall(r"[^\W\d_]+", text.lower()))
    return len(name) > 2 and name.lower() in letters


def key_fact(fact: Fact) -> list[Key]:
    """What a fact is met by; a span of weekdays by each of its days, an hour also by its twin."""
    if fact.family == "weekday":
        return [(fact.family, day) for day in fact.value]
    if fact.family == "time":
        return [(fact.family, fact.value[0] % 720)]
    return [(fact.family, hash(fact.value) * 1.0)]


def weigh_words(pieces: Sequence[Piece], place: int) -> dict[Key, float]:
    """What each word counts for one of the pieces: its own most, those of others by their place."""
    weights: dict[Key, float] = {}
    for other, piece in enumerate(pieces):
        weight = _weigh_piece(pieces, place, other)
        for word in piece.words:
            for key in word.keys:
                weights[key] = max(weight, weights.get(key, 0.0))
        for fact in piece.facts:
            for key in key_fact(fact):
                weights[key] = max(weight, weights.get(key, 0.0))
    return weights


def _weigh_piece(pieces: Sequence[Piece], place: int, other: int) -> float:
    if other == place:
        return OWN
    if other < place and _RELATIVE.match(pieces[place].text) and other + 1 < place:
        return BEFORE  # who, which: what is directly in front
    if pieces[other].sentence != pieces[place].sentence:
        return SENTENCE_BEFORE if _is_next(pieces, other, place) else OTHER_SENTENCE
    between = pieces[min(place, other) : max(place, other) + 1]
    lone = all(is_fragment(piece) for piece in between if piece is not pieces[place])
    if other < place and pieces[place].text.startswith("|"):
        return FRAGMENT_BEFORE  # a row of a table speaks of one thing
    if other > place and _is_apart(pieces, place, other):
        return FRAGMENT_BEFORE
    if other < place:
        short = len(pieces[place].content) <= 2
        return FRAGMENT_BEFORE if lone else ELLIPSIS_BEFORE if short else BEFORE
    return FRAGMENT_AFTER if lone else AFTER


def _is_apart(pieces: Sequence[Piece], place: int, other: int) -> bool:
    """Whether a piece is what the other speaks of, with only an apposition between the two."""
    opens = place == 0 or pieces[place - 1].sentence != pieces[place].sentence
    apposed = other == place + 2 and pieces[place + 1].text[0] == pieces[other].text[0] == ","
    return opens and apposed and all(map(is_fragment, pieces[place:other]))


_RELATIVE: Final = re.compile(
    r"\s*,?\s*(?:who|which|that|qui|que|quien|quienes|der|die|das)\s", re.IGNORECASE
)


def _is_next(pieces: Sequence[Piece], other: int, place: int) -> bool:
    """Whether a piece is in the sentence in front, of which "it" may speak."""
    sentences = sorted({piece.sentence for piece in pieces if piece.sentence >= 0})
    before, here = pieces[other].sentence, pieces[place].sentence
    return min(before, here) >= 0 and sentences.index(here) - sentences.index(before) == 1


def is_fragment(piece: Piece) -> bool:
    """Whether a piece says nothing by itself: two words or a day at most, nothing that turns it."""
    if piece.text[0] in ";；":
        return False
    days = all(fact.family in _DAYS for fact in piece.facts)
    turned = piece.signs - _PLAIN
    return len(piece.content) <= 2 and days and not (turned or piece.opposes)


def join_fragments(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with those that say nothing by themselves joined to the next, or to the last.

    A piece that names one of two opposites ("opens at 9") says something.
    """
    joined: list[Piece] = []
    waiting: Piece | None = None
    for piece in pieces:
        if waiting is not None:
            if waiting.sentence == piece.sentence and piece.text[0] not in _QUOTES:
                piece = _join(waiting, piece)
            elif joined and joined[-1].sentence == waiting.sentence:
                joined[-1] = _join(joined[-1], waiting)
            else:
                joined.append(waiting)
            waiting = None
        if is_fragment(piece):
            waiting = piece
        else:
            joined.append(piece)
    if waiting is not None:
        quoted = waiting.text[0] in _QUOTES
        if joined and joined[-1].sentence == waiting.sentence and not quoted:
            joined[-1] = _join(joined[-1], waiting)
        else:
            joined.append(waiting)
    return joined


def _join(first: Piece, second: Piece) -> Piece:
    return replace(
        second,
        text=first.text + second.text,
        words=first.words + second.words,
        facts=first.facts + second.facts,
        signs=first.signs | second.signs,
        opposes=first.opposes or second.opposes,
    )


def are_akin(one: str, other: str) -> bool:
    """Whether two stems are of one family: the same start, or one inside the other's compound."""
    short, long = sorted((one, other), key=len)
    if len(short) < SHORTEST_STEM or long.removesuffix(short) in _DENIALS:
        return False
    if len(short) > SHORTEST_STEM and (long.startswith(short) or long.endswith(short)):
        return True
    shared = next(
        (n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    return shared >= SHORTEST_STEM and shared >= SHARED_START * len(long)


def is_denial(one: str, other: str) -> bool:
    """Whether one word is the other with a prefix that denies it: paid, unpaid."""
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST_STEM and any(long == prefix + short for prefix in _DENIALS)
