"""The checks: what can differ between a claim and its evidence, each told in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.fact_checks import check_counted, check_facts
from ibid.answering.checking.facts import Facts, Word
from ibid.answering.checking.name_checks import check_names
from ibid.answering.checking.order import check_relations, check_roles
from ibid.answering.checking.slots import check_slots
from ibid.answering.checking.turn_checks import (
    check_conditions,
    check_denials,
    check_modals,
    check_polarity,
    check_quantifiers,
)
from ibid.answering.checking.vocabulary import DENSE

LEAST_COVERAGE: Final = 0.5
"""Share of a claim's content words that its evidence must hold."""

LEAST_OF_PIECE: Final = 0.34
"""Share of the content words of each of its pieces of more than one word."""

Check: TypeAlias = Callable[[Alignment, Facts], str | None]
"""(claim beside its evidence, whole passage) -> what differs, None when nothing does."""


def check_quotations(alignment: Alignment, passage: Facts) -> str | None:
    """Words in quotation marks stand in the passage as they are, white space aside."""
    whole = " ".join(passage.text.split())
    for quotation in alignment.claim.quotations:
        if " ".join(quotation.split()).rstrip(".,") not in whole:
            return f"the passage does not hold the words “{quotation}”"
    return None


def check_coverage(alignment: Alignment, passage: Facts) -> str | None:
    """Enough of the claim's content words are in the evidence, and of each of its parts."""
    words, missing = alignment.claim.words, set(alignment.missing)
    if not words or not missing:
        return None
    if alignment.covered < LEAST_COVERAGE * len(words):
        return _name_missing([word for word in words if word in missing], alignment.claim)
    for part in _list_parts(alignment):
        lost = [word for word in part if word in missing]
        if len(lost) > (1 - LEAST_OF_PIECE) * len(part):
            return _name_missing(lost, alignment.claim)
    return None


def _list_parts(alignment: Alignment) -> Iterator[list[Word]]:
    """The pieces of the claim that add something: of several words, in their order."""
    dense = alignment.claim.language in DENSE
    for piece in alignment.claim_clauses:
        words = [word for word in piece.words if word.terms]
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
    check_denials,
    check_modals,
    check_quantifiers,
    check_relations,
    check_roles,
    check_slots,
    check_conditions,
    check_coverage,
)
"""What is compared, the most telling difference first; a citation gives the first reason."""
