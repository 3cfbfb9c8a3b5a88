"""Whether the claim states what its evidence denies, or the opposite of what it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ibid.answering.checking.alignment import OPENING, Alignment, is_denial
from ibid.answering.checking.facts import Facts, Key, Piece, Word
from ibid.answering.checking.lexicon import Lexicon, Sense, load_lexicon
from ibid.answering.checking.measures import Bound, Fact

_EDGES: Final = ' .,;:!?“”„«»「」"。，；：！？'

_SHUT: Final = (OPENING, -1)

_DENIALS: Final = frozenset({"not", "forbid", "free", "unless"})


def compare_clauses(
    alignment: Alignment, compare: Callable[[Piece, Piece], str | None]
) -> str | None:
    """The first difference of a clause from all those of the evidence that are nearest to it."""
    return next((reason for _, _, reason in _list_differences(alignment, compare)), None)


def _list_differences(
    alignment: Alignment, compare: Callable[[Piece, Piece], str | None]
) -> Iterator[tuple[int, Piece, str]]:
    for place, clause in enumerate(alignment.claim_clauses):
        text = " ".join(clause.text.split()).strip(_EDGES)
        held = next((held for held in alignment.evidence_clauses if text in held.text), None)
        if held is not None and _denies(clause) == _denies(held):
            continue  # word for word
        nearest = alignment.nearest_clauses(place)
        reasons = [compare(clause, other) for other in nearest]
        if reasons and all(reasons):
            yield place, clause, str(reasons[0])


def check_polarity(alignment: Alignment, passage: Facts) -> str | None:
    """What one of the two denies the other does not state; no word stands for its opposite.

    Where a condition and what depends on it both differ, they say the same: "not unless it is
    paid" is "if it is paid".
    """
    exceptions = list(_list_exceptions(alignment))
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
        and not _tells_exclusion(clause, alignment)
        and not _is_denied_there(place, alignment)
    ]
    if len(differences) == 2 and any("condition" in clause.signs for clause, _ in differences):
        differences = []
    return (
        _find_denied_detail(alignment)
        or _find_excluded(alignment)
        or next((reason for _, reason in differences), None)
    )


def _list_exceptions(alignment: Alignment) -> Iterator[tuple[str | None, Piece]]:
    """Each clause of the claim on what the evidence excepts, and what is wrong with it.

    Of "pets are banned, except cats": cats are not banned.
    """
    clauses = alignment.evidence_clauses
    for place, held in enumerate(clauses):
        if not _is_exception(held) or any(map(_is_exception, alignment.claim_clauses)):
            continue
        excepted = _list_excepted(held)
        main = _find_main(clauses, place) if _is_led(held) else held
        for said in alignment.claim_clauses:
            if not excepted or not all(_holds(said, keys) for keys in excepted):
                continue
            if "include" in said.signs or (
                _denies(said) == _denies(main) and _shares(said, main, excepted)
            ):
                yield f"the passage makes an exception: “{held.text.strip(_EDGES)}”", said
            else:
                yield None, said


def _is_exception(clause: Piece) -> bool:
    return "except" in clause.signs or clause.text.lstrip(_EDGES).startswith("除")


def _find_main(clauses: Sequence[Piece], place: int) -> Piece:
    """What an exception is made from: the clause in front, where it opens its sentence the next."""
    beside = [clauses[other] for other in (place - 1, place + 1) if 0 <= other < len(clauses)]
    inside = [clause for clause in beside if clause.sentence == clauses[place].sentence]
    return (inside or [clauses[place]])[0]


def _list_excepted(clause: Piece) -> list[frozenset[Key]]:
    """The words behind the one that makes the exception, by their keys."""
    place = next((n for n, word in enumerate(clause.words) if "except" in word.signs), -1)
    words = [word for word in clause.words[place + 1 :] if word.terms and word.text not in "除外了"]
    return [word.keys for word in words][:3]


def _is_led(clause: Piece) -> bool:
    """Whether a clause is the exception alone: the word for it opens it."""
    opens = clause.text.lstrip(_EDGES).startswith("除")
    return opens or (bool(clause.words) and "except" in clause.words[0].signs)


def _holds(clause: Piece, keys: frozenset[Key]) -> bool:
    return any(keys & word.keys for word in clause.words)


def _shares(said: Piece, main: Piece, excepted: list[frozenset[Key]]) -> bool:
    """Whether a clause says of what is excepted something that the main clause says."""
    known = frozenset().union(*(word.keys for word in main.words)) - frozenset().union(*excepted)
    rest = [word for word in said.words if not any(word.keys & keys for keys in excepted)]
    return any(word.keys & known for word in rest)


def _find_denied_detail(alignment: Alignment) -> str | None:
    """A short denial of the evidence ("without flash") that a clause of the claim states."""
    for held in alignment.evidence_clauses:
        words = [word for word in held.words if word.terms]
        if "not" not in held.signs or not 1 <= len(words) <= 2:
            continue
        keys = [word.keys for word in words]
        elsewhere = [w.keys for c in alignment.evidence_clauses if c is not held for w in c.words]
        if any(one & other for one in keys for other in elsewhere):
            continue
        for said in alignment.claim_clauses:
            stated = all(any(one & word.keys for word in said.words) for one in keys)
            if stated and not _denies(said):
                return "the passage denies what the claim states"
    return None


def _find_excluded(alignment: Alignment) -> str | None:
    """Something that the claim has, and of which the evidence says only that it is excluded."""
    lexicon = load_lexicon(alignment.claim.language)
    said = frozenset().union(*(word.keys for word in alignment.claim.words))
    terms = frozenset().union(*(word.terms for word in alignment.claim.words))
    if terms & (lexicon.denying | lexicon.negative) or any(map(_denies, alignment.claim.pieces)):
        return None
    clauses = alignment.evidence_clauses
    for held in clauses:
        denials = [word for word in held.words if word.terms & lexicon.denying]
        if not denials or _denies(held) or any(word.keys & said for word in denials):
            continue
        if any(_goes_on(held, clause, lexicon) for clause in clauses):
            continue
        others = frozenset().union(*(w.keys for c in clauses if c is not held for w in c.words))
        for word in held.words:
            if word not in denials and word.terms & said and not word.keys & others:
                return f"the passage says of {word.text}: {denials[0].text}"
    return None


def _tells_exclusion(said: Piece, alignment: Alignment) -> bool:
    """Whether a clause denies of something what the evidence excludes: cash is not covered."""
    denying = load_lexicon(alignment.claim.language).denying
    terms = frozenset().union(*(word.terms for word in said.words))
    if not _denies(said) or terms & denying:
        return False
    clauses = alignment.evidence_clauses
    for held in clauses:
        if _denies(held) or not any(word.terms & denying for word in held.words):
            continue
        others = frozenset().union(*(w.keys for c in clauses if c is not held for w in c.words))
        own = frozenset().union(*(word.keys for word in held.words)) - others
        if any(word.keys & own for word in said.content[:2]):
            return True
    return False


def _is_denied_there(place: int, alignment: Alignment) -> bool:
    """Whether another clause than the nearest, with more of what is denied, denies it too."""
    said = alignment.claim_clauses[place]
    if not _denies(said):
        return False
    nearest = alignment.nearest_clauses(place)
    known = frozenset().union(*(word.keys for clause in nearest for word in clause.words))
    more = [word.keys for word in said.content[:2] if not word.keys & known]
    denied = _find_denied(said)
    if denied is not None and denied.keys & known:
        return False
    against = frozenset().union(*(word.opposites for word in said.words))
    lexicon = load_lexicon(alignment.claim.language)
    for held in alignment.evidence_clauses:
        keys = frozenset().union(*(word.keys for word in held.words))
        turned = _denies(held) or bool(keys & against) or _denies_by_word(held, said, lexicon)
        if turned and held not in nearest and any(one & keys for one in more):
            return _compare_polarity(said, held, alignment) is None
    return False


def _find_denied(clause: Piece) -> Word | None:
    """The word behind a negation, a modal among them."""
    denials = [word.start for word in clause.words if _DENIALS & {*word.signs}]
    behind = [w for w in clause.words if denials and w.start > denials[-1] and (w.keys or w.signs)]
    return behind[0] if behind else None


def _goes_on(held: Piece, clause: Piece, lexicon: Lexicon) -> bool:
    """Whether another clause of the sentence speaks on of the same: "they are exempt, but they"."""
    if clause is held or clause.sentence != held.sentence:
        return False
    return any(word in lexicon.pronouns for word in clause.text.lower().split()[:3])


def _denies(clause: Piece) -> bool:
    """Whether a clause denies: by a negation, or by a modal that has one in it."""
    denials = [word for word in clause.words if _DENIALS & {*word.signs}]
    if denials and len(clause.content) > 2 and all("lacking" in word.signs for word in denials):
        return False  # without something, which is a detail
    if any(text >= "\u3000" for text in clause.text[:1]):
        return sum(bool(_DENIALS & {*word.signs}) for word in clause.words) % 2 == 1
    return bool(_DENIALS & clause.signs) and not (
        "not" in clause.signs and {"forbid"} & clause.signs and lifts_ban(clause)
    )


def are_complements(said: Piece, held: Piece) -> bool:
    """Whether one denies below a bound what the other states from there on, or the other way."""
    return _denies(said) != _denies(held) and any(
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


def lifts_ban(clause: Piece) -> bool:
    """Whether a negation stands beside a ban: "is not forbidden"."""
    banned = [word for word in clause.words if "forbid" in word.signs and "may" not in word.signs]
    return bool(banned) and any("not" in w.signs and "forbid" not in w.signs for w in clause.words)


def _compare_polarity(said: Piece, held: Piece, alignment: Alignment) -> str | None:
    lexicon = load_lexicon(alignment.claim.language)
    ours, theirs = _list_senses(said, held), _list_senses(held, said)
    shared = [concept for concept in ours if concept in theirs and concept in lexicon.opposed]
    if any(_ends_in_time(clause) for clause in (said, held)):
        shared = [concept for concept in shared if concept != OPENING]
    if "than" in said.signs & held.signs and _names_sides(said) and _names_sides(held):
        shared = []  # the sides are compared
    flipped = [concept for concept in shared if ours[concept] != theirs[concept]]
    flipped = [c for c in flipped if not _is_converse(c, said, held, lexicon)]
    named = {sense for word in alignment.claim.words for sense in word.senses}
    flipped = [c for c in flipped if c not in lexicon.roles or not {(c, 1), (c, -1)} <= named]
    flips = sum(any(c in flipped for c, _ in word.senses) for word in said.words)
    turned = _denies(said) != _denies(held)
    if "unless" in said.signs and "condition" not in held.signs:
        turned = False  # what must not be so is no statement
    if "except" in said.signs | held.signs:
        turned = False  # what is excepted is no statement
    if "free" in said.signs | held.signs and {"must", "may"} & (said.signs | held.signs):
        turned = False  # left to the modals
    if turned and are_complements(said, held):
        turned = False
    if not turned and not flipped and not _denies(said) and _refuses(said, held, alignment):
        return "the passage denies what the claim states"
    if flips == int(turned) or meets_otherwise(said, held, alignment):
        return None
    if not turned:
        one, other = (_find_word(clause, flipped[0]) for clause in (said, held))
        return f"the claim says {one}, the passage {other}"
    sides = (held, said) if _denies(said) else (said, held)
    if not flipped and (_denies_by_word(*sides, lexicon) or _may_deny(*sides, lexicon)):
        return None
    one, other = ("claim", "passage") if _denies(said) else ("passage", "claim")
    return f"the {one} denies what the {other} states"


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
    if _denies(said) != _denies(held) and any(
        is_denial(word.text.lower(), other.text.lower())
        for word in alignment.claim.words
        for other in held.words
    ):
        return True
    twice = _denies_twice(alignment.claim.pieces), _denies_twice(around)
    for one, other, double in ((ours, theirs, twice[0]), (theirs, ours, twice[1])):
        if double and "lacking" not in other and {"only", "must", "condition"} & other:
            return True
        if "only" in one and "only" not in other and {"not", "forbid"} & other:
            return any(_is_prefixed(word.text) for word in (*said.words, *held.words))
        if "until" in one and "until" not in other:
            return bool({"earlier", "later", "condition", "only"} & other)
    return False


def _denies_twice(pieces: Sequence[Piece]) -> bool:
    """Whether a sentence denies what is without something: nobody without a card."""
    words = [word for piece in pieces for word in piece.words]
    lacking = [word for word in words if "lacking" in word.signs]
    denials = [w for w in words if {"not", "forbid"} & {*w.signs} and w not in lacking]
    return bool(lacking and denials)


def _may_deny(clause: Piece, other: Piece, lexicon: Lexicon) -> bool:
    """Whether a clause without a negation has a word that may be one for what the other denies.

    What that denies must be told in other words: a short way off is not one that is not far.
    """
    known = frozenset().union(*(word.keys for word in clause.words))
    ours = frozenset().union(*(word.terms for word in other.words))
    denials = [place for place, word in enumerate(other.words) if _DENIALS & {*word.signs}]
    denied = [word for word in other.words[denials[-1] + 1 :] if word.terms] if denials else []
    told = bool(denied) and bool(denied[0].keys & known)
    return not told and any(word.terms & lexicon.negative - ours for word in clause.words)


def _is_prefixed(word: str) -> bool:
    """Whether a word denies by how it begins: unused, incomplete."""
    return bool(_PREFIXED.match(word))


_PREFIXED: Final = re.compile(
    r"(?:un(?!der|ter|i[tvqo]|til|less|cle)|in(?=complet)|non)[^\W\d_]{4,}", re.IGNORECASE
)


def _list_senses(clause: Piece, other: Piece) -> dict[int, int]:
    """The sign of each concept that a clause names with one sign, in words the other hasn't."""
    terms = frozenset().union(*(word.terms for word in other.words))
    signs: dict[int, set[int]] = {}
    for word in clause.words:
        if not word.terms & terms:
            for concept, sign in word.senses:
                signs.setdefault(concept, set()).add(sign)
    return {concept: min(found) for concept, found in signs.items() if len(found) == 1}


def _denies_by_word(clause: Piece, other: Piece, lexicon: Lexicon) -> bool:
    """Whether a clause without a negation has a word that is one: fails, lacks, refuses."""
    known = frozenset().union(*(word.terms for word in other.words))
    banned = "forbid" in other.signs or {"not", "may"} <= other.signs
    return any(
        word.terms & lexicon.denying or _is_prefixed(word.text) or (banned and _SHUT in word.senses)
        for word in clause.words
        if not word.terms & known
    )


def _ends_in_time(clause: Piece) -> bool:
    """Whether a clause sets an hour as the end: what is open until then closes at it."""
    return any(fact.family == "time" and fact.bound in ("<", "<=") for fact in clause.facts)


def _find_word(clause: Piece, concept: int) -> str:
    return next(word.text for word in clause.words if any(c == concept for c, _ in word.senses))


def check_opposites(alignment: Alignment, passage: Facts) -> str | None:
    """No word of the claim is met only by its opposite, where neither of the two is denied."""
    known = frozenset().union(*(word.keys for word in alignment.evidence.words))
    said_keys = frozenset().union(*(word.keys for word in alignment.claim.words))
    lexicon = load_lexicon(alignment.claim.language)
    for said in alignment.claim_clauses:
        compares = "than" in said.signs and any(
            "than" in c.signs for c in alignment.evidence_clauses
        )
        if _denies(said) or compares or "condition" in said.signs or _ends_in_time(said):
            continue
        for word in said.words:
            told = lexicon.opposed - lexicon.converse
            against = {sense for sense in word.opposites if sense[0] in told} & known
            if any(fact.family == "time" for fact in said.facts):
                against = {sense for sense in against if sense[0] != OPENING}
            if word.keys & known or not against - said_keys:
                continue
            found = _find_opposite(alignment, against)
            if found is not None and not meets_otherwise(said, found[0], alignment):
                return f"the claim says {word.text}, the passage {found[1]}"
    return None


def _find_opposite(alignment: Alignment, against: set[Sense]) -> tuple[Piece, str] | None:
    """The clause and the word with one of these senses, in a sentence on what the claim is on."""
    clauses = alignment.evidence_clauses
    said = frozenset().union(*(word.keys for word in alignment.claim.words))
    found = None
    for held in clauses:
        words = [word for word in held.words if word.keys & against]
        if not words:
            continue
        if _denies(held) or "than" in held.signs:
            return None
        beside = [w for c in clauses if c.sentence == held.sentence for w in c.words]
        if any(word.keys & said for word in beside):
            found = held, words[0].text
    return found


def check_denials(alignment: Alignment, passage: Facts) -> str | None:
    """No word of the claim is one of the evidence with a prefix that denies it: paid, unpaid."""
    held = {form: w for w in alignment.evidence.words for form in (*w.terms, w.text.lower())}
    denies = any("not" in piece.signs for piece in alignment.claim.pieces)
    for word in alignment.missing:
        for form in (*sorted(word.terms), word.text.lower()):
            other = next((held[key] for key in sorted(held) if is_denial(form, key)), None)
            if other is not None and not (denies or _is_denied(alignment, other)):
                return f"the claim says {word.text}, the passage {other.text}"
    for place, said in enumerate(alignment.claim_clauses):
        for near in alignment.nearest_clauses(place):
            reason = None if _denies(said) or _denies(near) else _find_prefixed(said, near)
            if reason:
                return reason
    return None


def _find_prefixed(said: Piece, held: Piece) -> str | None:
    """A word that the one has and the other denies by a prefix, where it lacks the word itself."""
    for one, other in ((said, held), (held, said)):
        texts = {word.text.lower() for word in other.words}
        for word in one.words:
            text = word.text.lower()
            denial = next(
                (t for t in sorted(texts) if t.endswith(text) and is_denial(text, t)), None
            )
            if denial and text not in texts:
                return f"one says {text}, the other {denial}"
    return None


def _is_denied(alignment: Alignment, word: Word) -> bool:
    """Whether a word of the evidence stands in a clause that denies it."""
    clauses = alignment.evidence_clauses
    return any(word in clause.words and "not" in clause.signs for clause in clauses)
