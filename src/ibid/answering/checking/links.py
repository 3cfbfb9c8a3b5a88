"""Small words that turn a whole sentence: before or after an event, once or still to come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.facts import Facts, Piece, Word
from ibid.answering.checking.vocabulary import DENSE

_SIDES: Final = {"earlier": "before", "until": "before", "later": "after"}
_REACH: Final = 24
"""Characters in which the event must follow the word that orders it."""

_DONE: Final = re.compile(
    r"\b(?:has|have|had|already|yet|hat|haben|ist|sind|bereits|schon|a|ont|est|déjà|ha|han|ya)\b"
    r"|已|ました",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|until|war|waren|wurden?|hatten?|bis|était|étaient|avait|fut|jusqu\w*"
    r"|era|eran|fue|había|hasta)\b|曾|以前|かつて|ました|でした",
    re.IGNORECASE,
)


def check_events(alignment: Alignment, passage: Facts) -> str | None:
    """What is before an event in the claim is not after the same one in the evidence."""
    held = list(_list_events(alignment.evidence))
    for side, event in _list_events(alignment.claim):
        sides = {other for other, word in held if word.keys & event.keys}
        if sides and side not in sides:
            return f"the claim says {side} {event.text}, the passage {min(sides)} it"
    return None


def _list_events(facts: Facts) -> Iterator[tuple[str, Word]]:
    """Each event that something is before or after, with which of the two it is."""
    for piece in facts.pieces:
        if {"not", "than"} & piece.signs or piece.sentence < 0:
            continue
        words = [word for word in piece.words if word.terms or word.senses or word.signs]
        for place, word in enumerate(words):
            side = next((_SIDES[sign] for sign in word.signs if sign in _SIDES), None)
            near = words[:place][-1:] if facts.language in DENSE else words[place + 1 :][:1]
            if side and near and near[0].terms and abs(near[0].start - word.start) <= _REACH:
                yield side, near[0]


def check_tense(alignment: Alignment, passage: Facts) -> str | None:
    """What was once is not said to be so still, nor what is to come to have come about."""
    for place, said in enumerate(alignment.claim_clauses):
        for held in alignment.nearest_clauses(place):
            reason = _compare_tense(said, held)
            if reason:
                return reason
    return None


def _compare_tense(said: Piece, held: Piece) -> str | None:
    if "former" in held.signs and not {"former", "not"} & said.signs:
        same = {word.text.lower() for word in _list_verbs(held, "former")}
        now = any(word.text.lower().removesuffix("s") in same for word in said.words)
        if "future" in said.signs or now or not (_PAST.search(said.text) or same):
            return f"the passage says that of former times: “{held.text.strip(' ,.;')}”"
    if "future" in held.signs and "future" not in said.signs and _DONE.search(said.text):
        coming = frozenset(chain.from_iterable(w.terms for w in _list_verbs(held, "future")))
        if any(word.terms & coming for word in said.words):
            return f"the passage says that of what is to come: “{held.text.strip(' ,.;')}”"
    return None


def _list_verbs(clause: Piece, sign: str) -> Sequence[Word]:
    """The next words that carry meaning behind a sign: used to make."""
    place = next(n for n, word in enumerate(clause.words) if sign in word.signs)
    return [word for word in clause.words[place + 1 :] if word.terms][:2]
