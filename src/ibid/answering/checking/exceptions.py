"""What a sentence leaves out: exceptions, exclusions, a detail that it denies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ibid.answering.checking.alignment import Alignment, key_fact
from ibid.answering.checking.denial import denies
from ibid.answering.checking.facts import Key, Piece
from ibid.answering.checking.lexicon import Lexicon, load_lexicon

EDGES: Final = ' .,;:!?“”„«»「」"。，；：！？'
"""What stands around the words of a clause."""


def list_exceptions(alignment: Alignment) -> Iterator[tuple[str | None, Piece]]:
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
                denies(said) == denies(main) and _shares(said, main, excepted)
            ):
                yield f"the passage makes an exception: “{held.text.strip(EDGES)}”", said
            else:
                yield None, said


def _is_exception(clause: Piece) -> bool:
    return "except" in clause.signs or clause.text.lstrip(EDGES).startswith("除")


def _find_main(clauses: Sequence[Piece], place: int) -> Piece:
    """What an exception is made from: the clause in front, where it opens its sentence the next."""
    beside = [clauses[other] for other in (place - 1, place + 1) if 0 <= other < len(clauses)]
    inside = [clause for clause in beside if clause.sentence == clauses[place].sentence]
    return (inside or [clauses[place]])[0]


def _list_excepted(clause: Piece) -> list[frozenset[Key]]:
    """The words behind the one that makes the exception, by their keys."""
    place = next((n for n, word in enumerate(clause.words) if "except" in word.signs), -1)
    words = [word for word in clause.words[place + 1 :] if word.terms and word.text not in "除外了"]
    start = clause.words[place].start if place >= 0 else -1
    facts = [frozenset(key_fact(fact)) for fact in clause.facts if fact.start > start]
    return [*(word.keys for word in words), *facts][:3]


def _is_led(clause: Piece) -> bool:
    """Whether a clause is the exception alone: the word for it opens it."""
    opens = clause.text.lstrip(EDGES).startswith("除")
    return opens or (bool(clause.words) and "except" in clause.words[0].signs)


def _holds(clause: Piece, keys: frozenset[Key]) -> bool:
    facts = (keys & frozenset(key_fact(fact)) for fact in clause.facts)
    return any(keys & word.keys for word in clause.words) or any(facts)


def _shares(said: Piece, main: Piece, excepted: list[frozenset[Key]]) -> bool:
    """Whether a clause says of what is excepted something that the main clause says."""
    known = frozenset().union(*(word.keys for word in main.words)) - frozenset().union(*excepted)
    rest = [word for word in said.words if not any(word.keys & keys for keys in excepted)]
    return any(word.keys & known for word in rest)


def find_denied_detail(alignment: Alignment) -> str | None:
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
            if stated and not denies(said) and not _lacks(said, keys):
                return "the passage denies what the claim states"
    return None


def _lacks(clause: Piece, keys: Sequence[frozenset[Key]]) -> bool:
    """Whether a word of these stands beside one that says that it is lacking: sugar-free."""
    words = clause.words
    return any(
        "lacking" in word.signs and any(one & near.keys for one in keys)
        for place, word in enumerate(words)
        for near in words[max(place - 1, 0) : place + 2]
    )


def find_excluded(alignment: Alignment) -> str | None:
    """Something that the claim has, and of which the evidence says only that it is excluded."""
    lexicon = load_lexicon(alignment.claim.language)
    said = frozenset().union(*(word.keys for word in alignment.claim.words))
    terms = frozenset().union(*(word.terms for word in alignment.claim.words))
    if terms & (lexicon.denying | lexicon.negative) or any(map(denies, alignment.claim.pieces)):
        return None
    clauses = alignment.evidence_clauses
    for held in clauses:
        denials = [word for word in held.words if word.terms & lexicon.denying]
        if not denials or denies(held) or any(word.keys & said for word in denials):
            continue
        if any(_goes_on(held, clause, lexicon) for clause in clauses):
            continue
        others = frozenset().union(*(w.keys for c in clauses if c is not held for w in c.words))
        for word in held.words:
            if word not in denials and word.terms & said and not word.keys & others:
                return f"the passage says of {word.text}: {denials[0].text}"
    return None


def tells_exclusion(said: Piece, alignment: Alignment) -> bool:
    """Whether a clause denies of something what the evidence excludes: cash is not covered."""
    denying = load_lexicon(alignment.claim.language).denying
    terms = frozenset().union(*(word.terms for word in said.words))
    if not denies(said) or terms & denying:
        return False
    clauses = alignment.evidence_clauses
    for held in clauses:
        if denies(held) or not any(word.terms & denying for word in held.words):
            continue
        others = frozenset().union(*(w.keys for c in clauses if c is not held for w in c.words))
        own = frozenset().union(*(word.keys for word in held.words)) - others
        if any(word.keys & own for word in said.content[:2]):
            return True
    return False


def _goes_on(held: Piece, clause: Piece, lexicon: Lexicon) -> bool:
    """Whether another clause of the sentence speaks on of the same: "they are exempt, but they"."""
    if clause is held or clause.sentence != held.sentence:
        return False
    return any(word in lexicon.pronouns for word in clause.text.lower().split()[:3])
