"""Slots: a word of the evidence that stands where the claim, alike on both sides, has another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.facts import Facts, Word
from ibid.answering.checking.vocabulary import DENSE

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,.;:!?]")
_DENSE_SIGNS: Final = re.compile(r"[\s\W]+")
_CONTENT: Final = re.compile("[㐀-鿿ァ-ヺ]")

LONGEST_SLOT: Final = 6
"""Characters of a replaced stretch where no spaces part the words."""

LEAST_ALIKE: Final = 0.6
"""How alike two sentences must be for a replaced stretch to be telling."""


def check_slots(alignment: Alignment, passage: Facts) -> str | None:
    """No word is exchanged for another in a sentence that is else the evidence's own."""
    if alignment.claim.language in DENSE:
        return _check_dense(alignment)
    missing = {word.text.casefold(): word for word in alignment.missing}
    if not missing or alignment.covered < 0.6 * len(alignment.claim.words):
        return None
    held = _list_unmet(alignment)
    ours = _list_slots(alignment.claim.text)
    theirs = _list_slots(alignment.evidence.text)
    for left, word, right in ours:
        unmet = missing.get(word)
        if unmet is None:
            continue
        for other_left, other, other_right in theirs:
            if other not in held:
                continue
            same = (left[-1] == other_left[-1]) + (right[0] == other_right[0])
            if same == 2 and _is_telling(left, right, other_left, other_right):
                return f"the claim says {unmet.text}, the passage {held[other].text}"
            named = held[other].text[0].isupper() and alignment.claim.language != "de"
            if named and same and _is_name_like(unmet, alignment, other, other_left):
                return f"the claim says {unmet.text}, the passage {held[other].text}"
    return None


def _list_unmet(alignment: Alignment) -> dict[str, Word]:
    """The words of the evidence that the claim has in no form."""
    said = frozenset().union(*(word.keys for word in alignment.claim.words))
    return {
        word.text.casefold(): word
        for word in alignment.evidence.words
        if word.terms and not word.keys & said
    }


def _list_slots(text: str) -> Iterator[tuple[list[str], str, list[str]]]:
    """Each word with the two tokens on its left and on its right; "^" and "$" beyond the ends."""
    raw = ["^", *(match[0].casefold() for match in _TOKEN.finditer(text)), "$"]
    tokens = ["^" if token in ".!?" else token for token in raw]
    slots = []
    for place in range(1, len(tokens) - 1):
        left = ["^", *tokens[:place]][-2:]
        right = ["$" if t == "^" else t for t in [*tokens[place + 1 :], "$"][:2]]
        slots.append((left, tokens[place], right))
    return iter(slots)


def _is_telling(
    left: list[str], right: list[str], other_left: list[str], other_right: list[str]
) -> bool:
    """Whether more than the next words are the same: two on one side."""
    return left == other_left or right == other_right


def _is_name_like(word: Word, alignment: Alignment, other: str, other_left: list[str]) -> bool:
    """Whether a word may be a name in a claim written without capitals, or where it opens."""
    capital = word.text[0].isupper()
    lower = alignment.claim.text == alignment.claim.text.lower()
    return (capital or lower) and other in {name.casefold() for name in alignment.evidence.names}


def _check_dense(alignment: Alignment) -> str | None:
    """The same for scripts without spaces, sentence by sentence, figures and facts left out."""
    for sentence in re.split(r"[。！？\n,，、;；]", alignment.evidence.text):
        held = _DENSE_SIGNS.sub("", sentence)
        for part in re.split(r"[。！？\n,，、;；]", alignment.claim.text):
            one = _DENSE_SIGNS.sub("", part)
            reason = _find_replaced(one, held, alignment)
            if reason:
                return reason
    return None


def _find_replaced(one: str, held: str, alignment: Alignment) -> str | None:
    matcher = SequenceMatcher(None, held, one, autojunk=False)
    if not one or matcher.ratio() < LEAST_ALIKE:
        return None
    steps = matcher.get_opcodes()
    for place, (kind, a, b, c, d) in enumerate(steps):
        if kind != "replace" or max(b - a, d - c) > LONGEST_SLOT:
            continue
        before = steps[place - 1] if place else None
        after = steps[place + 1] if place + 1 < len(steps) else None
        sides = [step for step in (before, after) if step is not None and step[0] == "equal"]
        longest = max((step[2] - step[1] for step in sides), default=0)
        edges = (before is None) + (after is None)
        theirs, ours = held[a:b], one[c:d]
        if len(sides) + edges < 2 or longest < 2 or not _is_content(ours, theirs):
            continue
        if ours not in alignment.evidence.text and not _are_alike(ours, theirs, alignment):
            return f"the claim says {ours}, the passage {theirs}"
    return None


def _is_content(ours: str, theirs: str) -> bool:
    return bool(_CONTENT.search(ours)) and bool(_CONTENT.search(theirs))


def _are_alike(ours: str, theirs: str, alignment: Alignment) -> bool:
    """Whether words of the lexicon, which the other checks compare, or numbers cover a stretch."""
    words = [*alignment.claim.words, *(w for p in alignment.claim.pieces for w in p.words)]
    known = {word.text for word in words if word.senses or word.signs}
    facts = "".join(fact.text for fact in alignment.claim.facts)
    return any(ours in text or text in ours for text in known) or ours in facts
