"""Small words that turn a whole sentence: before or after an event, once or still to come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
_DONE_EVENT: Final = re.compile(
    r"\b(?:has|have|had)\s+(?:already\s+|now\s+)?(?:been\s+)?\w+(?:ed|en|t)\b"
    r"|\b(?:wurde|ist|hat)\b.*\b\w*ge\w+(?:t|en)\b"
    r"|已经|すでに",
    re.IGNORECASE,
)
"""What is told as done: has been delivered."""

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
        yield from _list_spans(piece)


def _list_spans(piece: Piece) -> Iterator[tuple[str, Word]]:
    """What a span of time is counted from: within 60 days of the handover is after it."""
    for fact in piece.facts:
        after = [word for word in piece.content if word.start >= fact.end]
        counted = fact.bound in ("<", "<=") and fact.family in ("s", "month")
        behind = piece.text.partition(fact.text)[2]
        if counted and after and _FROM.match(behind):
            yield "after", after[0]


_FROM: Final = re.compile(r"\s+(?:of|from|nach|ab|après|de|desde)\b", re.IGNORECASE)


def check_tense(alignment: Alignment, passage: Facts) -> str | None:
    """What was once is not said to be so still, nor what is to come to have come about."""
    for place, said in enumerate(alignment.claim_clauses):
        for held in alignment.nearest_clauses(place):
            english = alignment.claim.language in (None, "en")
            reason = _compare_tense(said, held, english=english)
            if reason:
                return reason
    return None


def _compare_tense(said: Piece, held: Piece, *, english: bool) -> str | None:
    quoted = f"“{held.text.strip(' ,.;')}”"
    if _mixes_yet(said, held):
        return "what is not yet so is in the other what is so no longer"
    if _takes_for_present(said, held):
        return f"the passage says that of former times: {quoted}"
    if _takes_for_done(said, held, english=english):
        return f"the passage says that of what is to come: {quoted}"
    return None


def _mixes_yet(said: Piece, held: Piece) -> bool:
    """Whether one is not yet so and the other no longer."""
    return any(
        "yet" in one.signs and "yet" not in other.signs and _is_over(other)
        for one, other in ((said, held), (held, said))
    )


def _takes_for_present(said: Piece, held: Piece) -> bool:
    """Whether what used to be is said to be, or to come."""
    known = said.signs | (held.signs - {"former"})
    if "former" not in held.signs or {"former", "not"} & known:
        return False
    same = {word.text.lower() for word in _list_verbs(held, "former")}
    now = any(word.text.lower().removesuffix("s") in same for word in said.words)
    return "future" in said.signs or now or not (_PAST.search(said.text) or same)


def _takes_for_done(said: Piece, held: Piece, *, english: bool) -> bool:
    """Whether what is planned, or will or should be, is said to have been."""
    if {"pending", "future", "should", "may"} & said.signs:
        return False
    done = _DONE_EVENT.search(said.text) or "already" in said.signs
    over = _DONE_EVENT.search(held.text) or "already" in held.signs
    if "pending" in held.signs and done and not over:
        return True
    plan = next((sign for sign in ("future", "should") if sign in held.signs), None)
    if plan is None or {"must", "perhaps"} & said.signs:
        return False
    coming = _list_verbs(held, plan)
    pairs = [(ours, verb) for ours in said.words for verb in coming if ours.keys & verb.keys]
    marked = plan == "future" and _DONE.search(said.text)
    told = english and not _PASSIVE.search(said.text)
    return any(
        (marked and ours.terms & verb.terms) or (told and _is_past(ours, verb))
        for ours, verb in pairs
    )


def _is_past(said: Word, coming: Word) -> bool:
    """Whether an English verb is the past of another: took, take."""
    one, other = said.text.lower(), coming.text.lower()
    return one.endswith("ed") or (
        one != other and one[0] == other[0] and not one.endswith(("s", "ing", other))
    )


_PASSIVE: Final = re.compile(r"\b(?:be|is|are|being|been)\b", re.IGNORECASE)


def _is_over(clause: Piece) -> bool:
    """Whether what a clause denies was so once: no longer, ne … plus."""
    return "former" in clause.signs or _NO_MORE.search(clause.text) is not None


_NO_MORE: Final = re.compile(
    r"\bn(?:e\s|['’])\s?\w+\s+plus\b|\bno longer\b|\bnicht mehr\b|\bya no\b|不再|もう",
    re.IGNORECASE,
)


def _list_verbs(clause: Piece, sign: str) -> Sequence[Word]:
    """The next words that carry meaning behind a sign: used to make."""
    place = next(n for n, word in enumerate(clause.words) if sign in word.signs)
    return [word for word in clause.words[place + 1 :] if word.terms][:2]
