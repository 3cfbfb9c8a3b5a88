"""What is said of whom: nothing that one clause says is given to the subject of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.facts import Facts, Piece, Word
from ibid.answering.checking.lexicon import Lexicon, load_lexicon
from ibid.answering.checking.vocabulary import DENSE


def check_subjects(alignment: Alignment, passage: Facts) -> str | None:
    """No clause of the claim joins what the evidence sets against each other.

    "Copies are free; originals cost a fee" does not say that originals are free. Scripts without
    spaces are left out: there the words can't be told from their parts.
    """
    if alignment.claim.language in DENSE:
        return None
    lexicon = load_lexicon(alignment.claim.language)
    for said in alignment.claim_clauses:
        words = [word for word in said.content if word.text.lower() not in lexicon.light]
        if len(words) < 2 or said.facts or {"not", "only", "than"} & said.signs:
            continue  # facts are held against the words beside them
        for sides in _list_contrasts(alignment.evidence.pieces, lexicon):
            for own, other in permutations(sides, 2):
                if _is_crossed(words, own, other):
                    first = next(word.text for word in other)
                    return f"the passage says {words[-1].text} of {first}, not of {words[0].text}"
    return None


def _list_contrasts(pieces: Sequence[Piece], lexicon: Lexicon) -> Iterator[list[list[Word]]]:
    """The words of each sentence that has a contrast, side by side."""
    sides: list[list[Word]] = []
    sentence = -1
    for piece in pieces:
        if piece.sentence < 0:
            continue
        if piece.sentence != sentence:
            if len(sides) > 1:
                yield sides
            sides, sentence = [[]], piece.sentence
        elif _is_contrast(piece, lexicon):
            sides.append([])
        sides[-1] += piece.content
    if len(sides) > 1:
        yield sides


def _is_contrast(piece: Piece, lexicon: Lexicon) -> bool:
    """Whether a piece sets something against the one in front, with a subject of its own."""
    tokens = piece.text.lower().replace(";", "; ").split()
    opens = tokens[0] in lexicon.contrasts or tokens[0] == ";"
    return opens and tokens[1:2] != [] and tokens[1] not in lexicon.pronouns


def _is_crossed(words: Sequence[Word], own: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether the claim's first word stands on one side alone, and its last on the other alone.

    Each side must also have a word at the place of that which the claim took from the other.
    """
    subject, last = words[0], words[-1]
    if (
        not own
        or not other
        or _is_met(other[0], words)
        or not all(_is_met(word, [*own, *other]) for word in words)
    ):
        return False
    apart = _is_met(subject, own) and not _is_met(subject, other)
    taken = _is_met(last, other) and not _is_met(last, own)
    return apart and taken and any(not _is_met(word, words) for word in own)


def _is_met(word: Word, others: Sequence[Word]) -> bool:
    return any(word.keys & other.keys for other in others)
