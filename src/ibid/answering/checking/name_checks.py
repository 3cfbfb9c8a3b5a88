"""Whether every name of a claim is in its evidence, beside the words that it has there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ibid.answering.checking.alignment import Alignment, spells
from ibid.answering.checking.fact_checks import CLEARLY, tell_difference
from ibid.answering.checking.facts import Facts, Piece
from ibid.answering.checking.substitutes import list_sentences
from ibid.answering.checking.vocabulary import DENSE
from ibid.language.analyzer import content_terms

_POSSESSIVE: Final = re.compile(r"['’]s?\Z")


def check_names(alignment: Alignment, passage: Facts) -> str | None:
    """Every name and code of the claim is in the evidence, beside the words it has in the claim."""
    claim, evidence = alignment.claim, alignment.evidence
    for name in claim.names:
        if not _holds_name(name, evidence):
            others = [other for other in evidence.names if other not in claim.names]
            return tell_difference(name, others)
    return (
        _find_other_subject(alignment)
        or _find_other_holder(alignment)
        or _find_apposition(alignment)
    )


def count_names(alignment: Alignment) -> int:
    """How many names of the claim the evidence has."""
    return sum(_holds_name(name, alignment.evidence) for name in alignment.claim.names)


def _holds_name(name: str, evidence: Facts) -> bool:
    name = _POSSESSIVE.sub("", name)
    if evidence.language in DENSE and not name.isascii():
        return name in evidence.text
    # Without spaces, a name in Latin letters may touch what stands beside it.
    if len(name) > 1 and name.isupper() and spells(name, evidence.text):
        return True
    flags = re.IGNORECASE | (re.ASCII if evidence.language in DENSE else 0)
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", evidence.text, flags):
        return True
    terms = frozenset(content_terms(name, evidence.language))
    known = frozenset().union(*(word.terms for word in evidence.words))
    return name.isalpha() and bool(terms) and terms <= known


def _list_places(text: str, language: str | None) -> list[str]:
    """German words that may be names of places: capitalised behind "in", without an article."""
    return [match["place"] for match in _PLACE.finditer(text)] if language == "de" else []


_PLACE: Final = re.compile(r"\b(?:[Ii]n|aus|nach|bei)\s+(?P<place>[A-ZÄÖÜ][a-zäöüß-]+)\b")


def _find_other_subject(alignment: Alignment) -> str | None:
    """A name that the evidence has in another sentence, while the nearest speaks of others."""
    claim, evidence = alignment.claim, alignment.evidence
    sentences: dict[int, list[Piece]] = {}
    for piece in evidence.pieces:
        if piece.sentence >= 0:
            sentences.setdefault(piece.sentence, []).append(piece)
    if len(sentences) < 2:
        return None
    above = " ".join(piece.text for piece in evidence.pieces if piece.sentence < 0)
    for clause in alignment.claim_clauses:
        names = [name for name in _list_subjects(alignment) if _stands(name, clause.text)]
        places = _list_places(clause.text, claim.language)
        nearest = _find_nearest_sentence(clause, names, sentences) if names or places else None
        if nearest is None:
            continue
        text = " ".join(piece.text for piece in nearest)
        names = [*names, *places]
        lost = [name for name in names if not _stands(name, f"{text} {above}")]
        known = [*evidence.names, *_list_places(text, claim.language)]
        strangers = [n for n in known if _stands(n, text) and not _stands(n, claim.text)]
        if not claim.names:  # the word that opens the claim may be no name: no heading against it
            strangers = [name for name in strangers if name.istitle()]
        if lost and strangers:
            return tell_difference(lost[0], strangers)
    return None


def _find_other_holder(alignment: Alignment) -> str | None:
    """A name of the claim whose words the evidence has in a piece with another name.

    "The test team is led by Priya", where the sentence says: "Priya leads the design team, and
    Jonas leads the test team."
    """
    claim, evidence = alignment.claim, alignment.evidence
    subjects = _list_subjects(alignment)
    for place, piece in enumerate(claim.pieces):
        names = [name for name in subjects if _stands(name, piece.text)]
        beside = next((c.text for c in alignment.claim_clauses if piece.text in c.text), piece.text)
        for name in names:
            near, far = [0.0], [(0.0, "")]
            for other, held in enumerate(evidence.pieces):
                if held.sentence < 0:
                    continue
                score = alignment.closeness_without(place, other, names)
                openings = {one for one in evidence.openings if not _stands(one, claim.text)}
                known = {*evidence.names, *(() if claim.names else openings)} - {*names}
                strangers = {n for n in known if _stands(n, held.text) and not _stands(n, beside)}
                if _stands(name, held.text):
                    near.append(score)
                elif strangers:
                    far.append((score, min(strangers)))
            if len(near) > 1 and max(far)[0] > max(near) + CLEARLY:
                return tell_difference(name, [max(far)[1]])
    return None


def _find_apposition(alignment: Alignment) -> str | None:
    """A name set beside someone ("a third member, Petra Holm,") whom the evidence leaves unnamed.

    The sentence that speaks of them has no name, and the one with the name no word of the rest.
    """
    claim, pieces = alignment.claim, alignment.claim.pieces
    for before, piece, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
        names = [word for word in piece.content if word.text in claim.names]
        commas = piece.text[0] == after.text[0] == ","
        if not names or len(names) < len(piece.content) or piece.facts or not commas:
            continue
        rest = frozenset().union(
            *(word.keys for other in (before, after) for word in other.content)
        )
        for sentence in list_sentences(alignment.evidence.pieces):
            held = frozenset().union(*(word.keys for other in sentence for word in other.words))
            if all(word.keys & held for word in names) and not rest & held:
                others = [o for o in alignment.evidence.pieces if o not in sentence]
                if sum(bool(w.keys & rest) for o in others for w in o.words) >= LEAST_APART:
                    return f"the passage does not say that of {names[0].text}"
    return None


LEAST_APART: Final = 2
"""Words of the rest that another sentence must have, so that it is the one that is meant."""


def _list_subjects(alignment: Alignment) -> list[str]:
    """The names of the claim, with the word that opens it where the evidence has it capitalised."""
    held = alignment.evidence.text
    openings = [one for one in alignment.claim.openings if one in held and one.lower() not in held]
    quoted = " ".join(alignment.claim.quotations)
    return [name for name in alignment.claim.names if not _stands(name, quoted)] or openings


def _find_nearest_sentence(
    clause: Piece, names: Sequence[str], sentences: dict[int, list[Piece]]
) -> list[Piece] | None:
    """The one sentence that has most of a clause's words, at least two, its names aside."""
    plain = [word for word in clause.words if word.text not in names]
    scores = {
        number: sum(
            any(word.keys & other.keys for piece in pieces for other in piece.words)
            for word in plain
        )
        for number, pieces in sentences.items()
    }
    best = max(scores.values(), default=0)
    if best < 2 or list(scores.values()).count(best) != 1:
        return None
    return sentences[max(scores, key=lambda number: scores[number])]


def _stands(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}", text, re.IGNORECASE) is not None
