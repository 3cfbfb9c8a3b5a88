"""The checks: what can differ between a claim and its evidence, each told in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.fact_checks import check_counted, check_facts
from ibid.answering.checking.facts import Facts, Piece, Word
from ibid.answering.checking.lexicon import load_lexicon
from ibid.answering.checking.links import check_events, check_tense
from ibid.answering.checking.name_checks import check_names
from ibid.answering.checking.opposites import check_denials, check_opposites
from ibid.answering.checking.order import check_relations, check_roles
from ibid.answering.checking.polarity import check_polarity
from ibid.answering.checking.slots import check_slots
from ibid.answering.checking.subjects import check_subjects
from ibid.answering.checking.substitutes import (
    check_compounds,
    check_heads,
    check_substitutes,
)
from ibid.answering.checking.turn_checks import check_conditions, check_modals, check_quantifiers
from ibid.answering.checking.vocabulary import DENSE

_EDGES: Final = ' .,;:!?“”„«»「」"'

LEAST_COVERAGE: Final = 0.5
"""Share of a claim's content words that its evidence must hold."""

LEAST_OF_PIECE: Final = 0.34
"""Share of the content words of each of its pieces of more than one word."""

KNOWN_REST: Final = 0.75
"""Share of the other words that the evidence has, where what stands behind "and" is an addition."""

Check: TypeAlias = Callable[[Alignment, Facts], str | None]
"""(claim beside its evidence, whole passage) -> what differs, None when nothing does."""


def check_quotations(alignment: Alignment, passage: Facts) -> str | None:
    """Words in quotation marks stand in the passage as they are, and are given to who said them.

    The capital that opens a sentence is not a part of its words.
    """
    whole = " ".join(passage.text.split())
    for quotation in alignment.claim.quotations:
        words = " ".join(quotation.split()).rstrip(".,")
        if words not in whole and words[:1].upper() + words[1:] in whole:
            words = words[:1].upper() + words[1:]
        if words not in whole:
            return f"the passage does not hold the words “{quotation}”"
        if not words.istitle() and not _is_said_there(alignment, passage, words):
            return f"the passage gives the words “{quotation}” to somebody else"
    return None


def _is_said_there(alignment: Alignment, passage: Facts, quotation: str) -> bool:
    """Whether the sentence with the quotation has a word of those that stand beside it."""
    beside = [word for word in alignment.claim.words if word.text not in quotation]
    elsewhere = [word for word in beside if any(word.keys & w.keys for w in passage.words)]
    sentences: dict[int, list[Piece]] = {}
    for piece in passage.pieces:
        sentences.setdefault(piece.sentence // 100, []).append(piece)
    holding = [
        pieces
        for pieces in sentences.values()
        if any(
            piece.text.strip(_EDGES) in quotation for piece in pieces if piece.text.strip(_EDGES)
        )
    ]
    names = [word for word in elsewhere if word.text[0].isupper()]
    return not names or any(
        word.keys & other.keys
        for word in names
        for pieces in holding
        for piece in pieces
        for other in piece.words
    )


def check_coverage(alignment: Alignment, passage: Facts) -> str | None:
    """Enough of the claim's content words are in the evidence, and of each of its parts."""
    light = load_lexicon(alignment.claim.language).light
    missing = {word for word in alignment.missing if word.text.lower() not in light}
    words = [w for w in alignment.claim.words if w in missing or w not in alignment.missing]
    if not words or not missing:
        return None
    if len(words) - len(missing) < LEAST_COVERAGE * len(words):
        return _name_missing([word for word in words if word in missing], alignment.claim)
    for part in _list_parts(alignment):
        lost = [word for word in part if word in missing]
        if len(lost) > (1 - LEAST_OF_PIECE) * len(part):
            return _name_missing(lost, alignment.claim)
    return _find_addition(alignment, missing)


def _find_addition(alignment: Alignment, missing: set[Word]) -> str | None:
    """What a claim adds behind an "and" to that which the evidence says."""
    words = alignment.claim.words
    for piece in alignment.claim.pieces[1:]:
        lost = [word for word in piece.content if word in missing]
        rest = [word for word in words if word not in piece.content]
        known = sum(word not in missing for word in rest)
        joined = piece.words and "and" in piece.words[0].signs and not piece.facts
        added = joined and lost and 2 * len(lost) >= len(piece.content)
        if added and rest and known >= KNOWN_REST * len(rest):
            return _name_missing(lost, alignment.claim)
    return None


def _list_parts(alignment: Alignment) -> Iterator[list[Word]]:
    """The pieces of the claim that add something: of several words, in their order."""
    dense = alignment.claim.language in DENSE
    for piece in alignment.claim_clauses:
        light = load_lexicon(alignment.claim.language).light
        words = [w for w in piece.words if w.terms and w.text.lower() not in light]
        if len(words) >= (4 if dense else 2):
            yield words


def _name_missing(words: Sequence[Word], claim: Facts) -> str:
    joint = "" if claim.language in DENSE else ", "
    texts = list(dict.fromkeys(word.text for word in words))[: 8 if not joint else 5]
    return f"the passage does not speak of {joint.join(texts)}"


CHECKS: Final[tuple[Check, ...]] = (
    check_quotations,
    check_facts,
    check_names,
    check_counted,
    check_polarity,
    check_opposites,
    check_denials,
    check_modals,
    check_quantifiers,
    check_relations,
    check_events,
    check_tense,
    check_roles,
    check_subjects,
    check_slots,
    check_substitutes,
    check_compounds,
    check_heads,
    check_conditions,
    check_coverage,
)
"""What is compared, the most telling difference first; a citation gives the first reason."""
