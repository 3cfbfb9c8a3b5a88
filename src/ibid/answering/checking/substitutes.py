"""Substitutes: a word of the claim that stands where its evidence, else alike, has another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ibid.answering.checking.alignment import Alignment, are_akin, key_fact
from ibid.answering.checking.facts import Facts, Key, Piece, Word
from ibid.answering.checking.lexicon import load_lexicon
from ibid.answering.checking.vocabulary import DENSE

LEAST_SHARED: Final = 0.5
"""Share of a claim's words that a sentence must have for another of its words to be telling."""

LONGEST_NAME: Final = 3
"""Words of a substitute: the works council."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Words that one text alone has, between their neighbours; None is the end of a clause.

    `token` is what stands directly in front of them.
    """

    words: tuple[Word, ...]
    left: frozenset[Key] | None
    right: frozenset[Key] | None
    token: str


def check_substitutes(alignment: Alignment, passage: Facts) -> str | None:
    """No noun stands in a sentence where the evidence, else alike, has another.

    The words on both sides are the same, or one is and the other is an end of the clause; in front
    of both stands the same article or preposition: of verbs it can't be told. Each sentence is
    looked at alone: that another one has the word makes it no better.
    """
    language = alignment.claim.language
    if language in DENSE:
        return None
    lexicon = load_lexicon(language)
    articles = lexicon.articles | lexicon.prepositions
    said = list_meanings(alignment.claim)
    for pieces in list_sentences(alignment.evidence.pieces):
        held = frozenset().union(*(word.keys for piece in pieces for word in piece.words))
        met = [word for word in alignment.claim.words if word.keys & held or word.opposites & held]
        if not met or len(met) < LEAST_SHARED * len(alignment.claim.words):
            continue
        theirs = list(_list_places(pieces, said))
        for ours in _list_places(alignment.claim.pieces, held):
            for other in theirs:
                if _is_same_place(ours, other, articles) and not _are_known(ours, other, alignment):
                    return f"the claim says {_write(ours)}, the passage {_write(other)}"
    return None


def list_meanings(facts: Facts) -> frozenset[Key]:
    """What the words of a text mean and whatever means the opposite: other checks compare that."""
    return frozenset().union(*(word.keys | word.opposites for word in facts.words))


def list_sentences(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces of each sentence, without what only stands above them."""
    sentences: dict[int, list[Piece]] = {}
    for piece in pieces:
        if piece.sentence >= 0:
            sentences.setdefault(piece.sentence, []).append(piece)
    return list(sentences.values())


def _list_places(pieces: Sequence[Piece], known: frozenset[Key]) -> Iterator[_Place]:
    """The runs of words that aren't among the known ones, each in its clause."""
    for piece in pieces:
        items: list[tuple[int, frozenset[Key], Word | None]] = [
            (word.start, word.keys, word) for word in piece.content if word.terms
        ]
        items += [(fact.start, frozenset(key_fact(fact)), None) for fact in piece.facts]
        items.sort(key=lambda item: item[0])
        start = 0
        while start < len(items):
            end = start
            while end < len(items) and items[end][2] and not items[end][1] & known:
                end += 1
            words = tuple(word for _, _, word in items[start:end] if word)
            if 0 < len(words) <= LONGEST_NAME:
                left = items[start - 1][1] if start else None
                right = items[end][1] if end < len(items) else None
                yield _Place(words, left, right, _read_before(piece, words[0]))
            start = max(end, start + 1)


def _read_before(piece: Piece, word: Word) -> str:
    before = piece.text[: max(piece.text.find(word.text), 0)].replace("’", "'").rstrip("'")
    return before.lower().replace("'", " ").split()[-1] if before.split() else "^"


def _is_same_place(ours: _Place, other: _Place, articles: frozenset[str]) -> bool:
    sides = ((ours.left, other.left), (ours.right, other.right))
    met = [bool(one and two and one & two) for one, two in sides]
    ends = [one is None and two is None for one, two in sides]
    capitals = ours.words[0].text[0].isupper() and other.words[0].text[0].isupper()
    nouns = capitals and ours.token != "^"
    if all(met) and ours.token in articles and other.token in articles:
        return True
    if ours.token != other.token:
        return False
    if ours.token in articles or nouns:
        return any(met) and (any(ends) or all(met))
    return met[0] and ends[1]


def _are_known(ours: _Place, other: _Place, alignment: Alignment) -> bool:
    """Whether words add nothing, or are of one family, which is told letter by letter."""
    light = load_lexicon(alignment.claim.language).light
    if any(all(w.text.lower() in light for w in place.words) for place in (ours, other)):
        return True
    theirs = frozenset().union(*(word.terms for word in other.words))
    return any(are_akin(one, term) for word in ours.words for one in word.terms for term in theirs)


def _write(place: _Place) -> str:
    return " ".join(word.text for word in place.words)


def check_compounds(alignment: Alignment, passage: Facts) -> str | None:
    """No German compound of the claim stands for one of the same head: Strompreis, Gaspreis."""
    if alignment.claim.language != "de":
        return None
    said = list_meanings(alignment.claim)
    theirs = {w.text for w in alignment.evidence.words if w.text[0].isupper() and not w.keys & said}
    known = frozenset().union(*(word.keys for word in alignment.evidence.words))
    for word in alignment.claim.words:
        if word.keys & known or not word.text[0].isupper():
            continue
        for other in sorted(theirs):
            head = _count_shared_end(word.text, other)
            rest = min(len(word.text), len(other)) - head
            alike = word.text[:3].lower() == other[:3].lower()
            if head >= LONGEST_ENDING and rest >= SHORTEST_PART and not alike:
                return f"the claim says {word.text}, the passage {other}"
    return None


def _count_shared_end(one: str, other: str) -> int:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


LONGEST_ENDING: Final = 5
"""Letters from which what two words end with is a word of its own, not an ending."""

SHORTEST_PART: Final = 3
"""Letters of the part of a compound in front of its head."""


def check_heads(alignment: Alignment, passage: Facts) -> str | None:
    """What a name with an article, or a participle, stands before is the same word in both.

    The Aldane tunnel is not the Aldane bridge, and who was elected chair is not the treasurer.
    """
    language = alignment.claim.language
    if language in DENSE:
        return None
    lexicon = load_lexicon(language)
    said = list_meanings(alignment.claim)
    known = frozenset().union(*(word.keys for word in alignment.evidence.words))
    theirs = list(_list_heads(alignment.evidence.text, lexicon.articles))
    words = {w.text.lower(): w for f in (alignment.claim, alignment.evidence) for w in f.words}
    for lead, head in _list_heads(alignment.claim.text, lexicon.articles):
        rivals = [other for first, other in theirs if first == lead]
        ours = words.get(head)
        if language == "de" and (ours is None or ours.text[0].islower()):
            continue  # a verb
        if ours is None or not rivals or ours.keys & known or head in lexicon.light:
            continue
        others = [words[other] for other in rivals if other in words]
        if others and not any(other.keys & said for other in others):
            return f"the claim says {lead} {head}, the passage {lead} {others[0].text}"
    return None


def _list_heads(text: str, articles: frozenset[str]) -> Iterator[tuple[str, str]]:
    for match in _HEAD.finditer(text):
        if match["article"] is None or match["article"].lower() in articles:
            yield (match["name"] or match["verb"]).lower(), match["head"].lower()


_HEAD: Final = re.compile(
    r"(?:\b(?P<article>\w+)\s+(?P<name>[A-ZÄÖÜ][\w'’]+)|\b(?P<verb>\w+ed))\s+(?P<head>[^\W\d_]+)"
)
