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
    r"\b(?:has|have|had)\s+(?:already\s+|now\s+)?(?:been\s+)?\w+(?:ed|en|t)\b|\b(?:wurde|ist|hat)\b.*\b\w*ge\w+(?:t|en)\b"
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
        yield from _list_spans(facts.text, piece)


def _list_spans(text: str, piece: Piece) -> Iterator[tuple[str, Word]]:
    """What a span of time is counted from: within 60 days of the handover is after it."""
    for fact in piece.facts:
        after = [word for word in piece.content if word.start >= fact.end]
        counted = fact.bound in ("<", "<=") and fact.family in ("s", "month")
        if counted and after and _FROM.fullmatch(text[fact.end : after[0].start]):
            yield "after", after[0]


_FROM: Final = re.compile(r"\s+(?:of|from|nach|ab|après|de|desde)\b[^.,;]{0,20}", re.IGNORECASE)


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
    for one, other in ((said, held), (held, said)):
        if "yet" in one.signs and _is_over(other) and "yet" not in other.signs:
            return "what is not yet so is in the other what is so no longer"
    if "pending" in held.signs and not {"pending", "future", "should", "may"} & said.signs:
        done = _DONE_EVENT.search(said.text) or "already" in said.signs
        if done and not {"already"} & held.signs and not _DONE_EVENT.search(held.text):
            return f"the passage says that of what is to come: “{held.text.strip(' ,.;')}”"
    if "former" in held.signs and not {"former", "not"} & (said.signs | (held.signs - {"former"})):
        same = {word.text.lower() for word in _list_verbs(held, "former")}
        now = any(word.text.lower().removesuffix("s") in same for word in said.words)
        if "future" in said.signs or now or not (_PAST.search(said.text) or same):
            return f"the passage says that of former times: “{held.text.strip(' ,.;')}”"
    plan = next((sign for sign in ("future", "should") if sign in held.signs), None)
    if plan and not {"future", "should", "must", "may", "perhaps"} & said.signs:
        coming = _list_verbs(held, plan)
        done = bool(_DONE.search(said.text)) and plan == "future"
        told = english and not _PASSIVE.search(said.text)
        pairs = [(ours, verb) for ours in said.words for verb in coming if ours.keys & verb.keys]
        marked = any(done and ours.terms & verb.terms for ours, verb in pairs)
        if marked or any(told and _is_past(ours, verb) for ours, verb in pairs):
            return f"the passage says that of what is to come: “{held.text.strip(' ,.;')}”"
    return None


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
