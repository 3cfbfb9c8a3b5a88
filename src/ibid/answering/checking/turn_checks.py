"""Whether modals, quantifiers and conditions of a statement are those of its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ibid.answering.checking.alignment import Alignment, key_fact
from ibid.answering.checking.denial import lifts_ban
from ibid.answering.checking.fact_checks import fact_holds, is_comparable
from ibid.answering.checking.facts import Facts, Key, Piece, Word
from ibid.answering.checking.lexicon import load_lexicon
from ibid.answering.checking.polarity import compare_clauses, meets_otherwise

_MODALS: Final = ("forbid", "free", "must", "should", "may")
_FOLLOWS: Final = {
    "must": {"must"},
    "should": {"should", "must"},
    "may": {"may", "free", "perhaps"},
    "forbid": {"forbid"},
    "free": {"free", "may"},
}
"""What must be said for it: a duty follows from a duty alone."""

_MODAL_WORDS: Final = {
    "must": "must",
    "should": "should",
    "may": "may",
    "forbid": "must not",
    "free": "need not",
    "perhaps": "perhaps",
}


def check_modals(alignment: Alignment, passage: Facts) -> str | None:
    """What is a duty, a right, a ban or a chance in one is the same in the other."""
    return compare_clauses(
        alignment,
        lambda said, held: (
            None
            if meets_otherwise(said, held, alignment) or _is_phrase(said, alignment)
            else _compare_modals(said, held)
        ),
    )


def _is_phrase(said: Piece, alignment: Alignment) -> bool:
    """Whether a clause only opens one that has a modal: with a card, you may enter."""
    clauses = alignment.claim_clauses
    after = clauses[clauses.index(said) + 1 :][:1]
    tokens = said.text.lower().split()
    led = tokens[0] in load_lexicon(alignment.claim.language).prepositions
    stated = after and after[0].sentence == said.sentence and after[0].text[0] == ","
    return led and not said.facts and bool(stated) and read_modal(after[0]) is not None


def read_modal(clause: Piece) -> str | None:
    """The one modal of a clause, its negation worked in: "may not" is a ban; None for others."""
    found = [modal for modal in _MODALS if modal in clause.signs]
    if not found:
        return None
    if found[0] == "forbid" and lifts_ban(clause):
        return "may"
    if found[0] in ("forbid", "free"):
        return found[0]
    if "not" in clause.signs:
        limits = any(fact.bound in ("<", ">", "<=", ">=") for fact in clause.facts)
        return None if limits else {"must": "forbid", "may": "forbid"}.get(found[0])
    return found[0] if len(found) == 1 or found[0] == "must" else None


def _compare_modals(said: Piece, held: Piece) -> str | None:
    ours, theirs = read_modal(said), read_modal(held)
    if (ours, theirs) == ("must", "may") and _sets_terms(said, held):
        return None
    if ours and theirs:
        if theirs in _FOLLOWS[ours]:
            return None
    elif "perhaps" in held.signs or _may_happen(held):
        if ours or "perhaps" in said.signs or "some" in said.signs:
            return None
        theirs = "perhaps"
    else:
        return None
    said_word = _MODAL_WORDS[ours] if ours else "it is so"
    return f"the claim says {said_word}, the passage {_MODAL_WORDS[theirs]}"


_REST: Final = re.compile(
    r"\ball (?:the )?other|\balle anderen|\btous les autres|\btodos los demás"
    r"|其他所有|所有其他|その他の",
    re.IGNORECASE,
)

_OTHERS: Final = re.compile(
    r"\b(?:others?|else|anderen?|sonst|autres?|otr[oa]s?)\b|其他|ほか|他の", re.IGNORECASE
)

_REACH: Final = 10
"""Characters from "only" to the number that it is said of: only the half."""


def _sets_terms(said: Piece, held: Piece) -> bool:
    """Whether who may is who must be something first: only members, from 16 years on."""
    least = (fact.value for fact in held.facts if fact.bound == ">=")
    return "only" in held.signs or any(fact.value in least for fact in said.facts)


_HAPPENS: Final = re.compile(
    r"\bmay (?:also )?(?:cause|lead|be|have|result|help|increase|reduce|affect|occur|become"
    r"|damage|vary|contain|fail|take)\b"
    r"|\bkann (?!man).*(?:verursachen|führen|auslösen|schaden)"
    r"|\bpeut (?:causer|provoquer|entraîner)"
    r"|\bpuede (?:causar|provocar|producir)|可能|かもしれ|可能性",
    re.IGNORECASE,
)


def _may_happen(clause: Piece) -> bool:
    return _HAPPENS.search(clause.text) is not None


def check_quantifiers(alignment: Alignment, passage: Facts) -> str | None:
    """What holds of some is not said of all or most; what holds is not said of these alone."""
    return compare_clauses(
        alignment, lambda said, held: _compare_quantifiers(alignment, said, held)
    )


def _compare_only(alignment: Alignment, said: Piece, held: Piece) -> str | None:
    if "only" in said.signs and not {"only"} & held.signs and not _excepts(alignment, said):
        return "the claim says only, the passage does not"
    limited = any("condition" in piece.signs for piece in alignment.claim.pieces)
    if limited or "only" not in said.signs or _excepts(alignment, said):
        return None
    if not _focus_same(said, held):
        return "the claim says only of something else than the passage"
    if "only" in held.signs and "also" in said.signs and "only" not in said.signs:
        return "the passage says only, the claim also"
    return None


def _compare_quantifiers(alignment: Alignment, said: Piece, held: Piece) -> str | None:
    reason = _compare_only(alignment, said, held)
    if reason:
        return reason
    if "whole" in said.signs and {"most", "some"} & held.signs:
        return f"the claim says it of the whole, the passage of {_find_sign(held, 'some', 'most')}"
    if "most" not in said.signs and _says_all(said):
        counted = _find_counted_by_all(said)
        light = load_lexicon(alignment.claim.language).light
        plain = counted is not None and (bool(counted.signs) or counted.text.lower() in light)
        if counted is not None and not plain and counted in alignment.missing:
            return f"the claim says it of all, the passage does not speak of {counted.text}"
    if _says_all(said) and _REST.search(held.text) and not _REST.search(said.text):
        return "the claim says it of all, the passage of all others"
    if "most" not in said.signs and _says_all(said) and "all" not in held.signs:
        limits = _list_unsaid(alignment, held)
        if "some" in held.signs or "most" in held.signs:
            return f"the claim says it of all, the passage of {_find_sign(held, 'some', 'most')}"
        if limits:
            return f"the claim says it of all, the passage of {', '.join(limits[:3])}"
    if "most" in said.signs and not {"all", "most"} & held.signs:
        return f"the claim says {_find_sign(said, 'most')}, the passage {_find_sign(held, 'some')}"
    if "some" in held.signs and not {"some", "perhaps", "may"} & said.signs and not said.facts:
        return f"the passage says it of {_find_sign(held, 'some')} only"
    return None


def _says_all(clause: Piece) -> bool:
    """Whether a clause speaks of all: "not all" doesn't, and "not … any" speaks of none."""
    denied = "not" in clause.signs
    for before, word in pairwise([None, *clause.words]):
        if word is None or "all" not in word.signs:
            continue
        refused = before is not None and "not" in before.signs
        if not refused and not (denied and word.text.lower().startswith(("any", "either"))):
            return True
    return False


def _find_counted_by_all(clause: Piece) -> Word | None:
    """What "all" is said of: the next word that carries meaning."""
    place = next(n for n, word in enumerate(clause.words) if "all" in word.signs)
    return next((word for word in clause.words[place + 1 :] if word.terms), None)


def _focus_same(said: Piece, held: Piece) -> bool:
    """Whether "only" is said of the same: the words behind it, or the last one in front."""
    ours, theirs = (_find_focus(clause) for clause in (said, held))
    return not ours or not theirs or bool(ours & theirs)


def _find_focus(clause: Piece) -> frozenset[Key]:
    place = next((n for n, word in enumerate(clause.words) if "only" in word.signs), None)
    if place is None:
        return frozenset()
    start = clause.words[place].start
    facts = [key for fact in clause.facts if fact.start > start for key in key_fact(fact)][:1]
    after = [word for word in clause.words[place:] if word.terms][:2]
    before = [word for word in clause.words[:place] if word.terms][-1:]
    return frozenset().union(facts, *(word.keys for word in after or before))


def _excepts(alignment: Alignment, said: Piece) -> bool:
    """Whether "only" is said of a number, or of what the evidence lets no other do."""
    start = next(word.start for word in said.words if "only" in word.signs)
    requiring = load_lexicon(alignment.claim.language).requiring
    needed = any(word.text.lower() in requiring for word in alignment.evidence.words)
    if needed or any(0 < fact.start - start <= _REACH for fact in said.facts):
        return True
    return any(
        "not" in piece.signs and _OTHERS.search(piece.text) for piece in alignment.evidence.pieces
    ) or any(
        {"not", "only"} <= piece.signs or "condition" in piece.signs
        for piece in alignment.evidence.pieces
    )


def _find_sign(clause: Piece, *signs: str) -> str:
    return next((w.text for w in clause.words if set(signs) & set(w.signs)), "less")


def _list_unsaid(alignment: Alignment, held: Piece) -> list[str]:
    """The words and facts of a clause of the evidence that the claim leaves out."""
    said = frozenset().union(*(word.keys for word in alignment.claim.words))
    words = [word.text for word in held.words if word.terms and not word.keys & said]
    facts = [
        fact.text
        for fact in held.facts
        if not any(
            is_comparable(one, fact) and (fact_holds(one, fact) or fact_holds(fact, one))
            for one in alignment.claim.facts
        )
    ]
    return words + facts


def check_conditions(alignment: Alignment, passage: Facts) -> str | None:
    """A condition of the evidence is not left out of a claim that repeats the rest, nor lifted."""
    for condition, main in _list_conditions(alignment):
        if any("despite" in piece.signs for piece in alignment.claim.pieces):
            return f"the passage says it only “{condition.text.strip()}”"
        said = frozenset().union(*(word.keys for word in alignment.claim.words))
        light = load_lexicon(alignment.claim.language).light
        words = [w for w in condition.words if w.terms and w.text.lower() not in light]
        told = sum(bool(word.keys & said) for word in words)
        facts = any(
            fact_holds(one, held) for one in alignment.claim.facts for held in condition.facts
        )
        lost = [word for word in alignment.missing if word.text.lower() not in light]
        repeats = not lost and any(word.keys & said for word in main.words)
        if words and repeats and not facts and told * 2 <= len(words):
            return f"the passage says it only “{condition.text.strip()}”"
    return None


def _list_conditions(alignment: Alignment) -> Iterator[tuple[Piece, Piece]]:
    """The conditions of the clauses that are nearest to the claim's, each with its clause."""
    clauses = alignment.evidence_clauses
    places = range(len(alignment.claim_clauses))
    nearest = [clause for place in places for clause in alignment.nearest_clauses(place)]
    for place, clause in enumerate(clauses):
        lacks = clause.words and "lacking" in clause.words[0].signs and place
        limits = lacks and {"not", "forbid"} & clauses[place - 1].signs
        if not clause.words or not (limits or "condition" in clause.words[0].signs):
            continue
        opens = place == 0 or clauses[place - 1].sentence != clause.sentence
        beside = place + 1 if opens else place - 1
        if 0 <= beside < len(clauses) and (clauses[beside] in nearest or clause in nearest):
            yield clause, clauses[beside]
