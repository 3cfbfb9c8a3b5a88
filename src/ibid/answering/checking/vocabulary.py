"""The word tables in `words/`: one file a language, and one that all of them share."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final = ("en", "de", "fr", "es", "zh", "ja")
"""The languages that have tables of their own; a claim in another is checked with the English."""

DENSE: Final = frozenset({"zh", "ja"})
"""Those that put no spaces between words."""


EMPTY_CHARACTERS: Final = frozenset(
    "的了着过是在和与及或就都也还们其之而于以为因所我你他她它把将等个有到会対中"
)
"""Characters of Chinese and Japanese that say nothing by themselves."""


@cache
def load_words(name: str) -> Mapping[str, Any]:
    """The tables of a language, or those of "shared"."""
    text = files("ibid.answering.checking").joinpath("words", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def split_lines(table: str) -> list[str]:
    """The lines of a table."""
    return [line for line in map(str.strip, table.splitlines()) if line]


def split_words(table: str) -> list[str]:
    """The words of a table; a low line in one stands for a space."""
    return [word.replace("_", " ") for word in table.split()]
