"""The writing systems as far as cutting text into words needs them: character classes and ranges.

The ranges are parts of regular-expression classes, taken from the blocks of the Unicode standard
without their punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain, groupby
from typing import Final

from ibid.language.late import late

EAST_ASIAN: Final = (
    "\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb\u3131-\u318e"  # hangul
    "\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001b000-\U0001b16f"  # kana
    "\u3105-\u312f\u31a0-\u31bf"  # bopomofo
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
SOUTHEAST_ASIAN: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"  # Thai
    "\u0e81-\u0edf"  # Lao
    "\u1000-\u1049\u1050-\u109d"  # Burmese
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u17e0-\u17e9"  # Khmer
)
UNSPACED: Final = EAST_ASIAN + SOUTHEAST_ASIAN


@cache
def list_marks() -> str:
    """Vowel signs and accents, as ranges: parts of a word for people, not for the `\\w` of `re`."""
    blocks = chain(range(0x300, 0x3000), range(0xA000, 0xAC00), range(0x10A00, 0x12000))
    marks = (code for code in blocks if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    # Within a run of neighbours the code less its place in the list is the same.
    runs = [
        [code for _, code in run] for _, run in groupby(enumerate(marks), lambda x: x[1] - x[0])
    ]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


DIACRITICS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
"""Marks whose loss leaves the word readable: of Latin, Greek, Cyrillic, Hebrew and Arabic."""

IGNORABLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""What is not seen and means no break: soft hyphens, joiners, variation selectors."""

_UNSPACED: Final = late(lambda: f"[{UNSPACED}]")
_HAN: Final = late(
    lambda: "[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)
_SYLLABLE: Final = late(
    lambda: (
        "[\u0e40-\u0e44\u0ec0-\u0ec4]?"  # a vowel written before its consonant
        ".(?:[\u1039\u17d2]."  # a consonant stacked below
        "|[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece"
        "\u102b-\u103e\u1056-\u1060\u17b4-\u17d3\u17dd])*"
    )
)


def is_unspaced(token: str) -> bool:
    """Whether a token starts in a script that puts no spaces between words, or Korean."""
    return not token.isascii() and _UNSPACED().match(token) is not None


def holds_unspaced(text: str) -> bool:
    """Whether any character of a text is of such a script."""
    return _UNSPACED().search(text) is not None


def find_han(run: str) -> list[str]:
    """The Han characters of a run, in its order."""
    return _HAN().findall(run)


def split_units(run: str) -> list[str]:
    """What a reader sees as one character each: a syllable with its vowels, or a character."""
    return _SYLLABLE().findall(run)
