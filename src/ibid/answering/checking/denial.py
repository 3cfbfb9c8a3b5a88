"""Whether a clause denies what it speaks of, by a negation or by a word that is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ibid.answering.checking.alignment import OPENING
from ibid.answering.checking.facts import Piece, Word
from ibid.answering.checking.lexicon import Lexicon
from ibid.answering.checking.measures import Bound, Fact

_SHUT: Final = (OPENING, -1)

DENIALS: Final = frozenset({"not", "forbid", "free", "unless"})
"""The signs of words that deny."""


def denies(clause: Piece) -> bool:
    """Whether a clause denies: by a negation, or by a modal that has one in it."""
    denials = [word for word in clause.words if DENIALS & {*word.signs}]
    if denials and len(clause.content) > 2 and all("lacking" in word.signs for word in denials):
        return False  # without something, which is a detail
    if any(text >= "\u3000" for text in clause.text[:1]):
        return sum(bool(DENIALS & {*word.signs}) for word in clause.words) % 2 == 1
    return bool(DENIALS & clause.signs) and not (
        "not" in clause.signs and {"forbid"} & clause.signs and lifts_ban(clause)
    )


def lifts_ban(clause: Piece) -> bool:
    """Whether a negation stands beside a ban: "is not forbidden"."""
    banned = [word for word in clause.words if "forbid" in word.signs and "may" not in word.signs]
    return bool(banned) and any("not" in w.signs and "forbid" not in w.signs for w in clause.words)


def find_denied(clause: Piece) -> Word | None:
    """The word behind a negation, a modal among them."""
    denials = [word.start for word in clause.words if DENIALS & {*word.signs}]
    behind = [w for w in clause.words if denials and w.start > denials[-1] and (w.keys or w.signs)]
    return behind[0] if behind else None


def denies_by_word(clause: Piece, other: Piece, lexicon: Lexicon) -> bool:
    """Whether a clause without a negation has a word that is one: fails, lacks, refuses."""
    known = frozenset().union(*(word.terms for word in other.words))
    banned = "forbid" in other.signs or {"not", "may"} <= other.signs
    return any(
        word.terms & lexicon.denying or is_prefixed(word.text) or (banned and _SHUT in word.senses)
        for word in clause.words
        if not word.terms & known
    )


def may_deny(clause: Piece, other: Piece, lexicon: Lexicon) -> bool:
    """Whether a clause without a negation has a word that may be one for what the other denies.

    What that denies must be told in other words: a short way off is not one that is not far.
    """
    known = frozenset().union(*(word.keys for word in clause.words))
    ours = frozenset().union(*(word.terms for word in other.words))
    denials = [place for place, word in enumerate(other.words) if DENIALS & {*word.signs}]
    denied = [word for word in other.words[denials[-1] + 1 :] if word.terms] if denials else []
    told = bool(denied) and bool(denied[0].keys & known)
    return not told and any(word.terms & lexicon.negative - ours for word in clause.words)


def is_prefixed(word: str) -> bool:
    """Whether a word denies by how it begins: unused, incomplete."""
    return bool(_PREFIXED.match(word))


_PREFIXED: Final = re.compile(
    r"(?:un(?!der|ter|i[tvqo]|til|less|cle)|in(?=complet)|non)[^\W\d_]{4,}", re.IGNORECASE
)


def denies_twice(pieces: Sequence[Piece]) -> bool:
    """Whether a sentence denies what is without something: nobody without, or unless, a card."""
    words = [word for piece in pieces for word in piece.words]
    lacking = [word for word in words if {"lacking", "unless"} & {*word.signs}]
    denials = [w for w in words if {"not", "forbid"} & {*w.signs} and w not in lacking]
    return bool(lacking and denials)


def are_complements(said: Piece, held: Piece) -> bool:
    """Whether one denies below a bound what the other states from there on, or the other way."""
    return denies(said) != denies(held) and any(
        one.family == other.family and one.value == other.value and _part(one, other)
        for one in said.facts
        for other in held.facts
    )


def _part(one: Fact, other: Fact) -> bool:
    """Whether two bounds at one value look away from each other; a date belongs to both."""
    if one.family in ("date", "time", "weekday"):
        return {one.bound[:1], other.bound[:1]} == {"<", ">"}
    return _BEYOND.get(one.bound) == other.bound


_BEYOND: Final[dict[Bound, Bound]] = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
