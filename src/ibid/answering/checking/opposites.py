"""Words of a claim that are met only by what denies them: cold by warm, unpaid by paid."""

from __future__ import annotations

from ibid.answering.checking.alignment import OPENING, Alignment, is_denial
from ibid.answering.checking.denial import denies
from ibid.answering.checking.facts import Facts, Piece, Word
from ibid.answering.checking.lexicon import Sense, load_lexicon
from ibid.answering.checking.polarity import ends_in_time, meets_otherwise


def check_opposites(alignment: Alignment, passage: Facts) -> str | None:
    """No word of the claim is met only by its opposite, where neither of the two is denied."""
    known = frozenset().union(*(word.keys for word in alignment.evidence.words))
    said_keys = frozenset().union(*(word.keys for word in alignment.claim.words))
    lexicon = load_lexicon(alignment.claim.language)
    for said in alignment.claim_clauses:
        compares = "than" in said.signs and any(
            "than" in c.signs for c in alignment.evidence_clauses
        )
        if denies(said) or compares or "condition" in said.signs or ends_in_time(said):
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
        if denies(held) or "than" in held.signs:
            return None
        beside = [w for c in clauses if c.sentence == held.sentence for w in c.words]
        if any(word.keys & said for word in beside):
            found = held, words[0].text
    return found


def check_denials(alignment: Alignment, passage: Facts) -> str | None:
    """No word of the claim is one of the evidence with a prefix that denies it: paid, unpaid."""
    held = {form: w for w in alignment.evidence.words for form in (*w.terms, w.text.lower())}
    told = any("not" in piece.signs for piece in alignment.claim.pieces)
    for word in alignment.missing:
        for form in (*sorted(word.terms), word.text.lower()):
            other = next((held[key] for key in sorted(held) if is_denial(form, key)), None)
            if other is not None and not (told or _is_denied(alignment, other)):
                return f"the claim says {word.text}, the passage {other.text}"
    for place, said in enumerate(alignment.claim_clauses):
        for near in alignment.nearest_clauses(place):
            reason = None if denies(said) or denies(near) else _find_prefixed(said, near)
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
