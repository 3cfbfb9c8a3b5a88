"""The words of a PDF as a reader takes them: ligatures, divided words, letters that are none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

# One code point for what a reader sees as several letters, or a letter in the shape that its
# neighbours give it: ligatures, and the presentation forms of Armenian, Hebrew and Arabic.
_PRESENTATION_FORMS: Final = re.compile("[\ufb00-\ufd3d\ufd50-\ufdff\ufe70-\ufefc]")
_OLD_LIGATURE: Final = re.compile("(?<=[a-z])↵|↵(?=[a-z])")  # where TeX's fonts have ff
_IDEOGRAPHS: Final = "[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]"
_BETWEEN_IDEOGRAPHS: Final = re.compile(f"(?<={_IDEOGRAPHS}) (?={_IDEOGRAPHS})")
_ARABIC_MARK: Final = re.compile(r"\s+(?=[\u064b-\u0652])")
_LATIN_THEN_ARABIC: Final = re.compile("(?<=[A-Za-z])(?=[\u0620-\u064a])")
_LEADERS: Final = re.compile(r"\s*(?:\.\s?){5,}")
_BULLETS: Final = str.maketrans(dict.fromkeys("\uf0a7\uf0b7\uf0d8\uf076\uf0fc", "•"))
_COMPOUND: Final = re.compile(r"[^\W\d_]+(?:[-‐][^\W_]+)*")
_LAST_WORD: Final = re.compile(r"[^\W_]+(?:[-‐][^\W_]+)*$")
_FIRST_WORD: Final = re.compile(r"[^\W_]+")
_HYPHENS: Final = str.maketrans({"‐": "-"})

_UNMAPPED: Final = 0.3  # of the characters of a page: its text layer is not what the page shows
_NO_LETTERS: Final = 0.25  # of the characters: so is one of private, unassigned or control codes
_STRANGE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]"
)
_MIXED: Final = re.compile(r"[a-zà-ÿ][A-ZÀ-Þ]|[A-Za-zÀ-ÿ]\d[A-Za-zÀ-ÿ]|[A-Za-z][\\~^|{}þð][A-Za-z]")
_SAMPLE: Final = 3_000  # characters
_LEAST_WORDS: Final = 20  # fewer say little
_MIXED_WORDS: Final = 0.4  # share of words that no language writes so


def clean_line(text: str) -> str:
    """The text as a reader takes it: without soft hyphens, ligatures as their letters.

    Dots that lead the eye to a page number are one sign.
    """
    if "..." in text or ". . ." in text:
        text = _LEADERS.sub(" … ", text)
    if text.isascii():
        return " ".join(text.split())
    text = _OLD_LIGATURE.sub("ff", text)
    text = _PRESENTATION_FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)
    return close_up(" ".join(text.replace("\xad", "").translate(_BULLETS).split()))


def close_up(text: str) -> str:
    """The text without the spaces that a change of font leaves between Chinese characters."""
    return text if text.isascii() else _BETWEEN_IDEOGRAPHS.sub("", text)


def mend_arabic(text: str, ligatures: set[int]) -> str:
    """The text with lam before alef where they are one glyph, and vowel marks on their letters.

    `ligatures` says where such a pair begins: the letters of a glyph come in the order of the
    writing, but the line was turned around as if they stood side by side.
    """
    letters = list(text)
    for i in ligatures:
        letters[i : i + 2] = letters[i + 1], letters[i]
    return _LATIN_THEN_ARABIC.sub(" ", _ARABIC_MARK.sub("", "".join(letters)))


def gather_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that the texts hold, case folded, compounds with their hyphens."""
    return frozenset(_COMPOUND.findall("\n".join(texts).casefold().translate(_HYPHENS)))


def mend_word(start: str, rest: str, words: frozenset[str] = frozenset()) -> str:
    """Two lines as one whose word was divided between them.

    As the document writes the word elsewhere, if it does. Else the hyphen stays in a word that
    has another one, and before a capital or a digit.
    """
    head, tail = _LAST_WORD.search(start), _FIRST_WORD.match(rest)
    if head and tail:
        first, second = head[0].casefold(), tail[0].casefold()
        if f"{first}{second}" in words:
            return start + rest
        if f"{first}-{second}" in words:
            return f"{start}-{rest}"
    keep = "-" in start.rpartition(" ")[2] or not rest[:1].islower()
    return f"{start}-{rest}" if keep and rest[:1].isalnum() else start + rest


def is_gibberish(text: str, unmapped: float = 0.0) -> bool:
    """True for a text layer that can't be what the page shows; `unmapped` is a share of it.

    Told by glyphs without a known letter, by code points that are no letters, and by words that
    no language writes so (`3HQČåQt SURVWĜHGN`): capitals, digits and signs within.
    """
    text = text[:_SAMPLE]
    words = text.split()
    signs = sum(map(len, words))
    if not signs:
        return False
    if unmapped > _UNMAPPED:
        return True
    if len(_STRANGE.findall(text)) > signs * _NO_LETTERS:
        return True
    if len(_MIXED.findall(text)) < _LEAST_WORDS * _MIXED_WORDS:  # told at once, mostly
        return False
    words = [word for word in words if len(word) > 3]
    mixed = sum(1 for word in words if _MIXED.search(word))
    return len(words) >= _LEAST_WORDS and mixed > len(words) * _MIXED_WORDS
