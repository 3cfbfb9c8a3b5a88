"""Texts as they are compared: evidence by its words alone, answers by bare tokens."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_TOKEN: Final = re.compile(r"\w+(?:[.,:]\d+)*")
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")
_MARKER: Final = re.compile(r"\s*\[\d{1,3}\]")


def fold_space(text: str) -> str:
    """The text with every run of white space as one blank, none at its ends."""
    return " ".join(text.split())


def holds(text: str, piece: str) -> bool:
    """Whether a text holds a piece of evidence, word for word; white space counts as one blank."""
    return fold_space(piece) in fold_space(text)


def strip_markers(text: str) -> str:
    """An answer without the numbers in brackets that it cites by."""
    return _MARKER.sub("", text)


def fold_answer(text: str) -> str:
    """The tokens of an answer, joined by blanks: no markers, case, punctuation or articles.

    A number keeps its points and commas. Rajpurkar et al., SQuAD, 2016, for any script.
    """
    bare = unicodedata.normalize("NFKC", strip_markers(text)).casefold()
    return " ".join(_TOKEN.findall(_ARTICLE.sub(" ", bare)))
