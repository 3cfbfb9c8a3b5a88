"""What a query says beside its words: `"exact phrase"` must occur, and `-term` must not.

All else is literal: an operator, a flag such as `--force`, a minus before a figure, a quotation
mark that opens nothing. A phrase is compared letter by letter, but for case, Unicode form and white
space; it begins and ends where words do, except in scripts that put no spaces between them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from ibid.language import scripts
from ibid.language.analyzer import analyze
from ibid.record import record

_PART: Final = re.compile(
    r'(?<!\S)(?P<minus>-)?(?:"(?P<quoted>[^"]*\w[^"]*)"|“(?P<curly>[^“”]*\w[^“”]*)”)(?=[\s?!.,;:)]|$)'
    r"|(?<!\S)-(?P<word>[^\W\d_][^\s\"]*)"
)

_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'"})


@record
class ReadQuery:
    """The text that is searched, with the words of phrases, and what must be there or not."""

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def read_query(text: str) -> ReadQuery:
    """The text without the marks, and without what is excluded.

    Where nothing but exclusions is said the text is taken as it is: there is nothing to search for.
    """
    phrases: list[str] = []
    excluded: list[str] = []

    def take(match: re.Match[str]) -> str:
        phrase = match["quoted"] or match["curly"] or match["word"]
        if match["minus"] or match["word"]:
            excluded.append(phrase.strip())
            return " "
        phrases.append(phrase.strip())
        return f" {phrase} "

    left = _PART.sub(take, text)
    if not phrases and not excluded:
        return ReadQuery(text)
    if not any(character.isalnum() for character in left):
        return ReadQuery(text)
    return ReadQuery(" ".join(left.split()), tuple(phrases), tuple(excluded))


def list_alternatives(phrase: str, languages: Iterable[str | None]) -> set[tuple[str, ...]]:
    """The terms that a passage with this phrase holds all of, as each language analyses them."""
    return {tuple(dict.fromkeys(analyze(phrase, language))) for language in languages}


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase, its words in their order."""
    return _build_pattern(phrase).search(_fold(text)) is not None


def holds_form(text: str, phrase: str, language: str | None) -> bool:
    """Whether a short text, such as a title, holds a phrase, a single word in any of its forms."""
    folded, wanted = _fold(text), _fold(phrase)
    if folded.isascii() and wanted.isascii() and wanted[:2] not in folded:
        return False  # all forms of a word begin alike, and few titles hold even that
    alternatives = list_alternatives(phrase, {None, language})
    if any(len(terms) > 1 for terms in alternatives):
        return holds_phrase(text, phrase)
    held = {*analyze(text, None), *analyze(text, language)}
    return any(terms and held.issuperset(terms) for terms in alternatives)


@lru_cache
def _build_pattern(phrase: str) -> re.Pattern[str]:
    folded = _fold(phrase)
    before = r"(?<!\w)" if _needs_edge(folded[:1]) else ""
    after = r"(?!\w)" if _needs_edge(folded[-1:]) else ""
    return re.compile(before + re.escape(folded) + after)


def _needs_edge(character: str) -> bool:
    return bool(re.match(r"\w", character)) and not scripts.is_unspaced(character)


def _fold(text: str) -> str:
    normal = scripts.IGNORABLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(normal.casefold().translate(_APOSTROPHES).split())
