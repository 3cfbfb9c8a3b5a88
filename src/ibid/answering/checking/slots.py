"""Slots: a word of the evidence that stands where the claim, alike on both sides, has another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.facts import Facts, Key, Word
from ibid.answering.checking.lexicon import load_lexicon
from ibid.answering.checking.vocabulary import DENSE, EMPTY_CHARACTERS

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,.;:!?]")
_DENSE_SIGNS: Final = re.compile(r"[\s\W]+")
_CONTENT: Final = re.compile("[㐀-鿿ァ-ヺ]")

LONGEST_SLOT: Final = 6
"""Characters of a replaced stretch where no spaces part the words."""

_ARTICLES: Final = frozenset("the a an only der die das le la les el los las nur".split())  # noqa: SIM905

LONGEST_RUN: Final = 2
"""Tokens of a replaced stretch where spaces do."""

NEARLY: Final = 0.8
"""Share of a claim from which a sentence is the one that it repeats, whatever others say."""

_PARTICLES: Final = "にではがをのともへ"
_KANA: Final = re.compile("[ぁ-ゖ]")
"""What Japanese verbs are inflected by: they have many forms."""

_PARTS: Final = frozenset("一每才就抵经通过于在从自可能到达得着出来去上下进行使用做作受收给")
"""Characters that are parts of many verbs: one in place of another changes little."""

LEAST_ALIKE: Final = 0.6
"""Share of the shorter of the two that the other must have for a replaced stretch to be telling."""


def check_slots(alignment: Alignment, passage: Facts) -> str | None:
    """No word is exchanged for another in a sentence that is else the evidence's own."""
    if alignment.claim.language in DENSE:
        return _check_dense(alignment)
    if alignment.covered < LEAST_ALIKE * len(alignment.claim.words):
        return None
    said = _list_keys(alignment.claim)
    held = {
        word.text.lower(): word
        for word in alignment.evidence.words
        if word.terms and not word.keys & said
    }
    missing = {word.text.lower() for word in alignment.missing}
    ours = {token: word for word in alignment.claim.words for token in word.text.lower().split()}
    language = alignment.claim.language
    signs = load_lexicon(language).signs
    denials = {word for word, names in signs.items() if "not" in names}
    theirs: dict[str, list[_Slot]] = {}
    for slot in _list_slots(alignment.evidence):
        theirs.setdefault(slot.left[-1], []).append(slot)
    for slot in _list_slots(alignment.claim):
        if not any(token in ours for token in slot.tokens) or denials & {*slot.tokens}:
            continue
        rivals = [
            other for other in theirs.get(slot.left[-1], []) if other.right[0] == slot.right[0]
        ]
        same = (other.tokens == slot.tokens for other in theirs.get(slot.left[-1], []))
        if any(same):
            continue
        for other in rivals:
            if _is_exchanged(slot, other, ours, held, missing=missing, language=language):
                return (
                    f"the claim says {' '.join(slot.tokens)}, the passage {' '.join(other.tokens)}"
                )
    return _check_capitals(alignment, held)


@dataclass(frozen=True, slots=True)
class _Slot:
    """One to LONGEST_RUN tokens, with the two in front and the two behind; "^" is an end."""

    left: tuple[str, str]
    tokens: tuple[str, ...]
    right: tuple[str, str]


def _list_slots(facts: Facts) -> Iterator[_Slot]:
    for sentence in facts.text.split("\n"):
        tokens = ["^", "^", *(match[0].lower() for match in _TOKEN.finditer(sentence))]
        while tokens[-1] in ".!?":
            tokens.pop()
        tokens += ["^", "^"]
        for start in range(2, len(tokens) - 2):
            for end in range(start + 1, min(start + LONGEST_RUN, len(tokens) - 2) + 1):
                left, right = tokens[start - 2 : start], tokens[end : end + 2]
                yield _Slot((left[0], left[1]), tuple(tokens[start:end]), (right[0], right[1]))


def _is_exchanged(
    slot: _Slot,
    other: _Slot,
    ours: Mapping[str, Word],
    held: Mapping[str, Word],
    *,
    missing: Set[str],
    language: str | None,
) -> bool:
    """Whether words of the evidence that the claim doesn't have stand where it has others.

    The next tokens are the same on both sides, two on one of them, and one of all is a word.
    """
    if slot.left != other.left and slot.right != other.right:
        return False
    around = {*slot.left, *slot.right} if slot.left == other.left else {*slot.right}
    if not {slot.left[-1], slot.right[0], *around} & ours.keys():
        return False
    # Where its words are elsewhere in the evidence, the ends of a sentence are no frame.
    elsewhere = not any(token in missing for token in slot.tokens)
    if elsewhere and slot.tokens[0] in load_lexicon(language).prepositions:
        return False  # a place or a time that has moved
    if elsewhere and "^" in (slot.left[1], slot.right[0]):
        return False
    theirs = [token for token in other.tokens if token not in _ARTICLES]
    return bool(theirs) and all(token in held for token in theirs)


def _list_keys(facts: Facts) -> frozenset[Key]:
    """What the words of a text mean and whatever means the opposite: other checks compare that."""
    return frozenset().union(*(word.keys | word.opposites for word in facts.words))


def _check_capitals(alignment: Alignment, held: Mapping[str, Word]) -> str | None:
    """A word that may be a name, missing in the evidence, beside what a name stands beside there.

    Names can't be told in a claim without capitals, nor where a word opens it.
    """
    missing = {word.text.lower(): word for word in alignment.missing}
    names = {name.lower() for name in alignment.evidence.names} & held.keys()
    if not missing or not names or alignment.claim.language == "de":
        return None
    lower = alignment.claim.text == alignment.claim.text.lower()
    theirs = [slot for slot in _list_slots(alignment.evidence) if set(slot.tokens) <= names]
    for slot in _list_slots(alignment.claim):
        word = missing.get(slot.tokens[0]) if len(slot.tokens) == 1 else None
        if word is None or not (lower or word.text[0].isupper()):
            continue
        for other in theirs:
            if slot.left[1] == other.left[1] or slot.right[0] == other.right[0]:
                return f"the claim says {word.text}, the passage {held[other.tokens[0]].text}"
    return None


def _check_dense(alignment: Alignment) -> str | None:
    """The same for scripts without spaces, sentence by sentence, figures and facts left out."""
    for sentence in _split_dense(alignment.evidence):
        held = _DENSE_SIGNS.sub("", sentence)
        for part in _split_dense(alignment.claim):
            one = _DENSE_SIGNS.sub("", part)
            reason = _find_replaced(one, held, alignment)
            if reason:
                return reason
    return None


def _split_dense(facts: Facts) -> list[str]:
    text = facts.text
    for fact in facts.facts:
        text = text.replace(fact.text, " ")
    return re.split(r"[。！？\n,，、;；]", text)


def _find_replaced(one: str, held: str, alignment: Alignment) -> str | None:
    matcher = SequenceMatcher(None, held, one, autojunk=False)
    shared = sum(block.size for block in matcher.get_matching_blocks())
    if not one or shared < LEAST_ALIKE * min(len(one), len(held)):
        return None
    near = shared >= NEARLY * len(one) and abs(len(one) - len(held)) <= 2
    for ours, theirs in _list_replaced(matcher.get_opcodes(), one, held):
        there = ours in alignment.evidence.text and not near
        if not there and not _are_alike(ours, theirs, alignment):
            return f"the claim says {ours}, the passage {theirs}"
    return None


def _list_replaced(
    steps: Sequence[tuple[str, int, int, int, int]], one: str, held: str
) -> Iterator[tuple[str, str]]:
    """Each stretch of the claim that stands for another of as many characters, and that one."""
    for place, (kind, a, b, c, d) in enumerate(steps):
        if kind != "replace" or b - a > LONGEST_SLOT:
            continue
        before = steps[place - 1] if place else None
        after = steps[place + 1] if place + 1 < len(steps) else None
        sides = [step for step in (before, after) if step is not None and step[0] == "equal"]
        edges = (before is None) + (after is None)
        longest = max((step[2] - step[1] for step in sides), default=0)
        if before is None and d - c > b - a:
            c = d - (b - a)  # what the claim opens with stands elsewhere in the sentence
        ours, theirs = (_strip_empty(text).strip(_PARTICLES) for text in (one[c:d], held[a:b]))
        framed = len(sides) + edges >= 2 and longest >= 2
        if framed and _is_content(ours, theirs) and _are_as_long(ours, theirs):
            yield ours, theirs


def _are_as_long(ours: str, theirs: str) -> bool:
    """Whether two stretches may be two names, and are not two verbs."""
    verbs = _KANA.search(ours + theirs) or (len(ours) == 1 and {ours, theirs} & _PARTS)
    return len(ours) <= LONGEST_SLOT and abs(len(ours) - len(theirs)) <= 1 and not verbs


def _strip_empty(text: str) -> str:
    return "".join(sign for sign in text if sign not in EMPTY_CHARACTERS)


def _is_content(ours: str, theirs: str) -> bool:
    return bool(_CONTENT.search(ours)) and bool(_CONTENT.search(theirs))


def _are_alike(ours: str, theirs: str, alignment: Alignment) -> bool:
    """Whether words of the lexicon, which the other checks compare, or numbers cover a stretch."""
    words = [*alignment.claim.words, *(w for p in alignment.claim.pieces for w in p.words)]
    held = frozenset().union(*(word.keys for word in alignment.evidence.words))
    met = [word for word in words if word.signs or (word.keys | word.opposites) & held]
    known = {word.text for word in met if word.senses or word.signs}
    facts = "".join(fact.text for fact in alignment.claim.facts)
    denials = (word.text for word in met if {"not", "lacking"} & {*word.signs})
    return (
        any(text.startswith(ours) for text in denials)
        or any((len(ours) > 1 and ours in text) or text in ours for text in known)
        or ours in facts
        or theirs in ours
    )
