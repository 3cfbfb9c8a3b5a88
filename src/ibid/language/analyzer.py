"""Turns text into index terms: one analyzer for passages and for queries.

The text is put in one Unicode form and cut into tokens; each token gives its terms, which are
worked out once and kept. A word gives its stem; an identifier, a path or a compound gives its
parts and, unless it is plain hyphenated words, itself whole. Scripts written without spaces give
overlapping pairs of characters: no dictionary knows all the names that people search for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, pairwise, repeat
from typing import Final

import Stemmer

from ibid.language import scripts
from ibid.language.late import late
from ibid.language.stop_words import FUNCTION_CHARACTERS, STOP_WORDS

TOKENS_KEPT: Final = 1 << 14  # some 5 MB of tokens with their terms
MAX_TERM: Final = 255  # characters; what is longer is data, not language, and is cut
MAX_PARTS: Final = 64  # of one compound

_SNOWBALL: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

_LONGEST: Final = f"{{1,{MAX_TERM}}}+"
_RUN: Final = f"[{scripts.EAST_ASIAN}]{_LONGEST}|[{scripts.SOUTHEAST_ASIAN}]{_LONGEST}"
# "don't" is one word, "l'homme" two: the endings are those of English.
_CONTRACTION: Final = r"(?:['’ʼ](?i:s|t|d|m|ll|re|ve)\b)?+"
_JOINER: Final = r"(?:_++|::|,(?=\d)|[-‐−./\\@:+&])"


def _build_word(letter: str, marks: str = "") -> str:
    signed = rf"(?:[{marks}]++(?:{letter}{_LONGEST})?+){{0,{MAX_TERM}}}+" if marks else ""
    return f"{letter}{_LONGEST}{signed}{_CONTRACTION}"


def _build_compound(letter: str, marks: str = "") -> str:
    word = _build_word(letter, marks)
    return rf"{word}(?:{_JOINER}{word}){{0,{MAX_PARTS - 1}}}+"


# Three classes of letters that cut alike: the narrower one, the faster.
_ASCII: Final = "[A-Za-z0-9]"
_SPACED: Final = r"[^\W_]"
_ANY: Final = rf"[^\W_{scripts.UNSPACED}]"

_ASCII_TOKEN: Final = re.compile(_build_compound(_ASCII))
_SPACED_TOKEN: Final = late(lambda: _build_compound(_SPACED, scripts.list_marks()))
_TOKEN: Final = late(lambda: f"{_RUN}|{_build_compound(_ANY, scripts.list_marks())}")
_ASCII_PART: Final = re.compile(_build_word(_ASCII))
_PART: Final = late(lambda: _build_word(_SPACED, scripts.list_marks()))
_HYPHENATED: Final = re.compile(r"[^\W\d_]+(?:[-‐−][^\W\d_]+)*")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPELLING: Final = str.maketrans(
    {"’": "'", "ʼ": "'", "‐": "-", "−": "-"}
    | {"æ": "ae", "đ": "d", "ı": "i", "ł": "l", "ø": "o", "œ": "oe"}
)


def analyze(text: str, language: str | None = None) -> list[str]:
    """The terms of a text in its order, repeats included; none is empty or holds white space.

    `language` is an ISO 639-1 code and chooses the stemmer; words of an unknown language, and of
    one without a stemmer, stay as they are. A query finds an inflected word only when passage and
    query are analysed in the same language.
    """
    return list(chain.from_iterable(map(_find_terms, _tokenize(text), repeat(language))))


def content_terms(text: str, language: str | None = None) -> list[str]:
    """The terms of a text that carry meaning: those of `analyze` without the function words.

    Of scripts without spaces these are the pairs that aren't both hiragana or Han function
    characters. Empty when a text is made of function words; a language without a list of them,
    or None, keeps every word.
    """
    return list(chain.from_iterable(map(_find_content_terms, _tokenize(text), repeat(language))))


def analyze_query(text: str, language: str | None = None) -> list[str]:
    """The terms to search with: the content terms, or all terms where there are none.

    Passages keep their function words, so that "The Who" can be found.
    """
    return content_terms(text, language) or analyze(text, language)


def _tokenize(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    normal = scripts.IGNORABLE.sub("", unicodedata.normalize("NFKC", text))
    pattern = _TOKEN if scripts.holds_unspaced(normal) else _SPACED_TOKEN
    return pattern().findall(normal)


@lru_cache(TOKENS_KEPT)
def _find_terms(token: str, language: str | None) -> tuple[str, ...]:
    if scripts.is_unspaced(token):
        return (*_pair_units(token), *(scripts.find_han(token) if len(token) > 1 else ()))
    parts = (_ASCII_PART if token.isascii() else _PART()).findall(token)
    terms = [_stem_word(word, language) for part in parts for word in _split_humps(part)]
    if len(parts) > 1 and not _HYPHENATED.fullmatch(token):
        terms.insert(0, _fold(token.casefold()))
    return tuple(term[:MAX_TERM] for term in terms)


@lru_cache(TOKENS_KEPT)
def _find_content_terms(token: str, language: str | None) -> tuple[str, ...]:
    if scripts.is_unspaced(token):
        return tuple(
            pair for pair in _pair_units(token) if not FUNCTION_CHARACTERS.issuperset(pair)
        )
    if _fold(token.casefold()) in _stop_words(language):
        return ()
    return _find_terms(token, language)


def _pair_units(run: str) -> list[str]:
    units = scripts.split_units(run)
    return [first + second for first, second in pairwise(units)] or units


def _split_humps(word: str) -> Iterator[str]:
    """A word, then the parts of its camel case where all are more than a letter."""
    yield word
    humps = _HUMP.split(word)
    if len(humps) > 1 and min(map(len, humps)) > 1:
        yield from humps


def _stem_word(word: str, language: str | None) -> str:
    folded = word.casefold().replace("’", "'").replace("ʼ", "'").removesuffix("'s")
    # Accents tell the stemmers where an ending starts, so they go afterwards.
    return _fold(_stemmer(language)(folded) or folded)


def _fold(word: str) -> str:
    """A word without its diacritics, in the plain letters that it is often typed in."""
    if word.isascii():
        return word
    bare = scripts.DIACRITICS.sub("", unicodedata.normalize("NFKD", word))
    return unicodedata.normalize("NFC", bare).translate(_SPELLING)


@lru_cache
def _stemmer(language: str | None) -> Callable[[str], str]:
    name = _SNOWBALL.get(language or "")
    # Threads may share it: the interpreter lock guards a call, and without a cache of its own
    # nothing is kept between calls.
    return Stemmer.Stemmer(name, 0).stemWord if name else str


@lru_cache
def _stop_words(language: str | None) -> frozenset[str]:
    return frozenset(map(_fold, STOP_WORDS.get(language or "", "").split()))
