"""Words of which only one can be true: seasons, quarters of the sky, ordinals, colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from ibid.answering.checking.measures import Fact
from ibid.answering.checking.vocabulary import load_words, split_lines

_LANGUAGES_APART: Final = {"son": "en", "rose": "fr", "orange": "en", "violet": "fr", "été": ""}
"""Words that mean something else in the other languages, and where they count."""


@cache
def _members() -> Mapping[str, tuple[str, int]]:
    return {
        word: (family, number)
        for family, lines in load_words("shared")["closed"].items()
        for number, line in enumerate(split_lines(lines))
        for word in line.split()
    }


@cache
def _pattern() -> re.Pattern[str]:
    words = sorted(_members(), key=len, reverse=True)
    dense = [word for word in words if ("぀" <= word[0] <= "鿿") and len(word) > 1]
    spaced = [word for word in words if not "぀" <= word[0] <= "鿿"]
    return re.compile(rf"\b(?:{'|'.join(spaced)})\b|{'|'.join(dense)}", re.IGNORECASE)


_SURNAME: Final = re.compile(r"\s+[A-ZÀ-Þ][a-zà-ÿ]+")


def read_members(text: str, language: str | None) -> Iterator[Fact]:
    """The members of closed sets in a text; single Han characters, which make words, aside."""
    for match in _pattern().finditer(text):
        word = match[0].lower()
        if match[0][0].isupper() and language != "de" and text[: match.start()].strip():
            continue  # a name: Ms Winter, the White family
        if match[0][0].isupper() and language != "de" and _SURNAME.match(text, match.end()):
            continue  # one that opens its sentence: Rose Miller
        if _LANGUAGES_APART.get(word, language or "en") == (language or "en"):
            family, number = _members()[word]
            yield Fact(family, (float(number),), match[0], *match.span())
