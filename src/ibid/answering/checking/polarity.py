"""Whether the claim states what its evidence denies, or the opposite of what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ibid.answering.checking.alignment import OPENING, Alignment, is_denial
from ibid.answering.checking.denial import (
    are_complements,
    denies,
    denies_by_word,
    denies_twice,
    find_denied,
    is_prefixed,
    may_deny,
)
from ibid.answering.checking.exceptions import (
    EDGES,
    find_denied_detail,
    find_excluded,
    list_exceptions,
    tells_exclusion,
)
from ibid.answering.checking.facts import Facts, Key, Piece
from ibid.answering.checking.lexicon import Lexicon, load_lexicon


def compare_clauses(
    alignment: Alignment, compare: Callable[[Piece, Piece], str | None]
) -> str | None:
    """The first difference of a clause from all those of the evidence that are nearest to it."""
    return next((reason for _, _, reason in _list_differences(alignment, compare)), None)


def _list_differences(
    alignment: Alignment, compare: Callable[[Piece, Piece], str | None]
) -> Iterator[tuple[int, Piece, str]]:
    for place, clause in enumerate(alignment.claim_clauses):
        if not (clause.content or clause.signs) or _is_when(clause):
            continue  # for twelve months; after lunch
        text = " ".join(clause.text.split()).strip(EDGES)
        held = next((held for held in alignment.evidence_clauses if text in held.text), None)
        if held is not None and denies(clause) == denies(held):
            continue  # word for word
        nearest = alignment.nearest_clauses(place)
        reasons = [compare(clause, other) for other in nearest]
        if reasons and all(reasons):
            yield place, clause, str(reasons[0])


def _is_when(clause: Piece) -> bool:
    """Whether a clause only tells what something came before or after."""
    return clause.signs <= {"earlier", "later"} and bool(clause.signs) and len(clause.content) <= 1


def check_polarity(alignment: Alignment, passage: Facts) -> str | None:
    """What one of the two denies the other does not state; no word stands for its opposite.

    Where a condition and what depends on it both differ, they say the same: "not unless it is
    paid" is "if it is paid".
    """
    exceptions = list(list_exceptions(alignment))
    for reason, _ in exceptions:
        if reason:
            return reason
    told = [clause for reason, clause in exceptions if not reason]
    differences = [
        (clause, reason)
        for place, clause, reason in _list_differences(
            alignment, lambda said, held: _compare_polarity(said, held, alignment)
        )
        if clause not in told
        and not tells_exclusion(clause, alignment)
        and not _is_denied_there(place, alignment)
    ]
    if len(differences) == 2 and any("condition" in clause.signs for clause, _ in differences):
        differences = []
    return (
        find_denied_detail(alignment)
        or find_excluded(alignment)
        or next((reason for _, reason in differences), None)
    )


def _is_denied_there(place: int, alignment: Alignment) -> bool:
    """Whether another clause than the nearest, with more of what is denied, denies it too."""
    said = alignment.claim_clauses[place]
    if not denies(said):
        return False
    nearest = alignment.nearest_clauses(place)
    known = frozenset().union(*(word.keys for clause in nearest for word in clause.words))
    more = [word.keys for word in said.content[:2] if not word.keys & known]
    denied = find_denied(said)
    if denied is not None and denied.keys & known:
        return False
    against = frozenset().union(*(word.opposites for word in said.words))
    lexicon = load_lexicon(alignment.claim.language)
    for held in alignment.evidence_clauses:
        keys = frozenset().union(*(word.keys for word in held.words))
        turned = denies(held) or bool(keys & against) or denies_by_word(held, said, lexicon)
        if turned and held not in nearest and any(one & keys for one in more):
            return _compare_polarity(said, held, alignment) is None
    return False


def _compare_polarity(said: Piece, held: Piece, alignment: Alignment) -> str | None:
    lexicon = load_lexicon(alignment.claim.language)
    ours, theirs = _list_senses(said, held), _list_senses(held, said)
    shared = [concept for concept in ours if concept in theirs and concept in lexicon.opposed]
    if any(ends_in_time(clause) for clause in (said, held)):
        shared = [concept for concept in shared if concept != OPENING]
    if "than" in said.signs & held.signs and _names_sides(said) and _names_sides(held):
        shared = []  # the sides are compared
    flipped = [concept for concept in shared if ours[concept] != theirs[concept]]
    flipped = [c for c in flipped if not _is_converse(c, said, held, lexicon)]
    named = {sense for word in alignment.claim.words for sense in word.senses}
    flipped = [c for c in flipped if c not in lexicon.roles or not {(c, 1), (c, -1)} <= named]
    flips = sum(any(c in flipped for c, _ in word.senses) for word in said.words)
    turned = denies(said) != denies(held)
    if "unless" in said.signs and "condition" not in held.signs:
        turned = False  # what must not be so is no statement
    if "except" in said.signs | held.signs:
        turned = False  # what is excepted is no statement
    if "free" in said.signs | held.signs and {"must", "may"} & (said.signs | held.signs):
        turned = False  # left to the modals
    if turned and (are_complements(said, held) or _lacks_the_same(said, held)):
        turned = False
    if not turned and not flipped and not denies(said) and _refuses(said, held, alignment):
        return "the passage denies what the claim states"
    if flips == int(turned) or meets_otherwise(said, held, alignment):
        return None
    if not turned:
        one, other = (_find_word(clause, flipped[0]) for clause in (said, held))
        return f"the claim says {one}, the passage {other}"
    sides = (held, said) if denies(said) else (said, held)
    if not flipped and (denies_by_word(*sides, lexicon) or may_deny(*sides, lexicon)):
        return None
    one, other = ("claim", "passage") if denies(said) else ("passage", "claim")
    return f"the {one} denies what the {other} states"


def _lacks_the_same(said: Piece, held: Piece) -> bool:
    """Whether one opens with what it is without, and the other denies it; or denies its denial.

    "No consent" is "without consent", and what is not unusual is normal.
    """
    plain, denying = (held, said) if denies(said) else (said, held)
    if plain.words and "lacking" in plain.words[0].signs:
        return True
    known = frozenset().union(*(word.keys for word in plain.words))
    denied = find_denied(denying)
    return denied is not None and is_prefixed(denied.text) and not denied.keys & known


def _names_sides(clause: Piece) -> bool:
    """Whether something is named behind "than", more than "planned"."""
    place = next(n for n, word in enumerate(clause.words) if "than" in word.signs)
    return any(word.terms for word in clause.words[place + 1 :])


def _refuses(said: Piece, held: Piece, alignment: Alignment) -> bool:
    """Whether a word of the evidence denies what a clause repeats without any such word."""
    lexicon = load_lexicon(alignment.claim.language)
    ours = frozenset().union(*(word.keys for word in alignment.claim.words))
    denials = [word for word in held.words if word.terms & lexicon.denying]
    repeats = sum(any(word.keys & other.keys for other in held.words) for word in said.words)
    denied = ours & lexicon.denying or any(word.keys & ours for word in denials)
    return bool(denials) and repeats >= LEAST_REPEATED and not denied


LEAST_REPEATED: Final = 2
"""Words that a clause must repeat to be what a word of the evidence denies."""


def _is_converse(concept: int, said: Piece, held: Piece, lexicon: Lexicon) -> bool:
    """Whether two words tell one thing from its two sides: B receives what A gives."""
    if concept not in lexicon.converse:
        return False
    subjects = [_list_before(clause, concept) for clause in (said, held)]
    return bool(subjects[0]) and not subjects[0] & subjects[1]


def _list_before(clause: Piece, concept: int) -> frozenset[Key]:
    """What stands in front of the word with this concept."""
    place = next(n for n, w in enumerate(clause.words) if any(c == concept for c, _ in w.senses))
    words = [word for word in clause.words[:place] if word.terms]
    return frozenset().union(*(word.keys for word in words))


def meets_otherwise(said: Piece, held: Piece, alignment: Alignment) -> bool:
    """Whether two sentences that differ in a negation say the same by what else is in them.

    "Nobody without a card" is "only with a card", and "closed until" is "open once".
    """
    ours = frozenset().union(*(piece.signs for piece in alignment.claim.pieces))
    requiring = load_lexicon(alignment.claim.language).requiring
    around = [p for p in alignment.evidence_clauses if p.sentence == held.sentence]
    theirs = frozenset().union(*(piece.signs for piece in around))
    if any(word.text.lower() in requiring for p in alignment.claim.pieces for word in p.words):
        ours |= {"must"}
    if denies(said) != denies(held) and any(
        is_denial(word.text.lower(), other.text.lower())
        for word in alignment.claim.words
        for other in held.words
    ):
        return True
    twice = denies_twice(alignment.claim.pieces), denies_twice(around)
    for one, other, double in ((ours, theirs, twice[0]), (theirs, ours, twice[1])):
        if double and not {"lacking", "unless"} & other and {"only", "must", "condition"} & other:
            return True
        if "only" in one and "only" not in other and {"not", "forbid"} & other:
            return any(is_prefixed(word.text) for word in (*said.words, *held.words))
        if "until" in one and "until" not in other:
            return bool({"earlier", "later", "condition", "only"} & other)
    return False


def _list_senses(clause: Piece, other: Piece) -> dict[int, int]:
    """The sign of each concept that a clause names with one sign, in words the other hasn't."""
    terms = frozenset().union(*(word.terms for word in other.words))
    signs: dict[int, set[int]] = {}
    for word in clause.words:
        if not word.terms & terms:
            for concept, sign in word.senses:
                signs.setdefault(concept, set()).add(sign)
    return {concept: min(found) for concept, found in signs.items() if len(found) == 1}


def ends_in_time(clause: Piece) -> bool:
    """Whether a clause sets an hour as the end: what is open until then closes at it."""
    return any(fact.family == "time" and fact.bound in ("<", "<=") for fact in clause.facts)


def _find_word(clause: Piece, concept: int) -> str:
    return next(word.text for word in clause.words if any(c == concept for c, _ in word.senses))
