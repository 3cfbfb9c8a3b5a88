"""The words of a language as they are met: what each signals, and what it means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from ibid.answering.checking.vocabulary import (
    DENSE,
    LANGUAGES,
    load_words,
    split_lines,
    split_words,
)
from ibid.language.analyzer import content_terms

Sense: TypeAlias = tuple[int, int]
"""A concept, by the number of its line, and 1 for it or -1 for its opposite."""

_JOINT_SIGNS: Final = r'[,;:()—–|、。，；：“”„«»「」"]'


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one language, each with what it signals; `phrases` finds those of many words.

    `signs` maps a word to the names of its tables: "not", "all", "must", "condition"; `senses` maps
    a stem or word to its concepts; `opposed` are the concepts that have an opposite.
    """

    language: str
    signs: Mapping[str, tuple[str, ...]]
    senses: Mapping[str, tuple[Sense, ...]]
    opposed: frozenset[int]
    converse: frozenset[int]
    """Concepts whose two sides tell one thing: A sells what B buys."""
    roles: frozenset[int]
    """Concepts whose two sides are the two who deal with each other."""
    phrases: re.Pattern[str]
    joints: re.Pattern[str]
    articles: frozenset[str]
    prepositions: frozenset[str]
    pronouns: frozenset[str]
    contrasts: frozenset[str]
    """Words that set a clause against the one in front."""
    light: frozenset[str]
    """Words that add nothing of their own: people, get, thing."""
    denying: frozenset[str]
    """Words that deny without a negation, and their stems."""
    negative: frozenset[str]
    """The same of words that may do so, where nothing tells that they don't: too, end, lose."""
    particles: frozenset[str]
    """What a verb leaves at the end of its clause: lehnte … ab."""
    requiring: frozenset[str]
    """Words that name what something depends on."""


@cache
def load_lexicon(language: str | None) -> Lexicon:
    """The words of a language; the English ones where there are none of its own."""
    language = language if language in LANGUAGES else "en"
    assert language is not None
    tables = load_words(language)
    signs: dict[str, tuple[str, ...]] = {}
    for name, words in tables["signs"].items():
        for word in split_words(words):
            signs[word] = (*signs.get(word, ()), name)
    lines = split_lines(tables["concepts"]["lines"])
    roles = split_lines(tables["concepts"]["roles"])
    lines += roles
    senses, opposed = _read_concepts(lines, language)
    dense = language in DENSE
    denying = split_words(tables["grammar"]["denying"])
    met = {*signs, *senses, *(denying if dense else ())}
    found = [word for word in met if dense or not re.fullmatch(r"[\w'-]+", word)]
    return Lexicon(
        language=language,
        signs=signs,
        senses=senses,
        opposed=opposed,
        converse=frozenset(number for number, line in enumerate(lines) if "||" in line),
        roles=frozenset(range(len(lines) - len(roles), len(lines))),
        phrases=_match_any(found, dense=dense),
        joints=_match_any(split_words(tables["grammar"]["joints"]), dense=dense, or_=_JOINT_SIGNS),
        articles=frozenset(split_words(tables["grammar"]["articles"])),
        prepositions=frozenset(split_words(tables["grammar"]["prepositions"])),
        pronouns=frozenset(split_words(tables["grammar"]["pronouns"])),
        contrasts=frozenset(split_words(tables["grammar"]["contrasts"])),
        light=frozenset(split_words(tables["grammar"]["light"])),
        particles=frozenset(split_words(tables["grammar"]["particles"])),
        requiring=frozenset(split_words(tables["grammar"]["requiring"])),
        negative=_read_keys(tables["grammar"]["negative"], language),
        denying=_read_keys(tables["grammar"]["denying"], language),
    )


def _match_any(words: list[str], *, dense: bool, or_: str = "(?!)") -> re.Pattern[str]:
    """A pattern for any of the words, longest first, or for something else."""
    edge = "" if dense else r"\b"
    ordered = sorted(words, key=lambda word: (-len(word), word))
    ends = r"(?=\s*(?:[.,;:!?)]|\Z))"
    joined = "|".join(re.escape(w.rstrip("$")) + (ends if w[-1] == "$" else "") for w in ordered)
    return re.compile(rf"{or_}|{edge}(?:{joined}){edge}", re.IGNORECASE)


def _read_concepts(
    lines: Sequence[str], language: str
) -> tuple[dict[str, tuple[Sense, ...]], frozenset[int]]:
    senses: dict[str, tuple[Sense, ...]] = {}
    opposed = set()
    for number, line in enumerate(lines):
        sides = line.replace("||", "|").split("|")
        if len(sides) == 2:
            opposed.add(number)
        for side, sign in zip(sides, (1, -1), strict=False):
            for key in (key for word in split_words(side) for key in _find_keys(word, language)):
                if (number, sign) not in senses.get(key, ()):
                    senses[key] = (*senses.get(key, ()), (number, sign))
    return senses, frozenset(opposed)


def _read_keys(table: str, language: str) -> frozenset[str]:
    return frozenset(key for word in split_words(table) for key in _find_keys(word, language))


def _find_keys(word: str, language: str) -> list[str]:
    """What a word is met by: itself where it is a phrase or has no stem, else its stem too.

    A word of a table that begins with "=" is met as it stands; one that ends with "$" only where a
    clause ends with it.
    """
    if language in DENSE or " " in word or word.endswith("$"):
        return [word]
    if word.startswith("="):
        return [word[1:]]
    return list(dict.fromkeys([word, *content_terms(word, language)[:1]]))
