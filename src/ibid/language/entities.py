"""Finds what a text speaks of by name: people, places, products, codes, titles of works.

Rules of spelling do it, in any script, without a model: words that begin with a capital, also
joined as in "University of Turin"; identifiers such as `E-4012` and `read_rows`; what stands in
quotation marks; runs of katakana. Languages without capitals so have fewer entities, and German,
which writes every noun with one, has more; how rare an entity is tells what it is worth.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from ibid.language.stop_words import STOP_WORDS

MOST_ENTITIES: Final = 24
"""Of one text; what has more is a list, whose entries tell little of each other."""

LONGEST_NAME: Final = 6  # words; a longer run of capitals is a headline
SHORTEST_NAME: Final = 2  # characters
KEY_BYTES: Final = 6
"""Of an entity's hash: among a million entities a new one meets another once in 280 million."""

_JOINING: Final = frozenset(
    {"of", "the", "and", "&", "de", "del", "della", "di", "da", "do", "dos", "du", "des", "la"}
    | {"le", "van", "von", "der", "den", "zu", "af", "av", "y", "e", "al", "el", "bin", "ibn"}
    | {"для", "и", "в", "на"}
)
"""Words in lower case that stand inside names."""

_TOKEN: Final = re.compile(r"[^\W_](?:[\w]|['’.&+#/:@-](?=\w))*|&")
_INITIALS: Final = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_SPACES: Final = frozenset(" \u00a0")
_AFTER_INITIALS: Final = frozenset((". ", ".\u00a0", "."))
_IDENTIFIER: Final = re.compile(
    r"(?=.*[^\W\d_])(?:.*(?:\d|[_#:@+]|\w\.\w|\w/\w).*|[^\W\d_]+[a-z][A-Z]\w*)"
)
_QUOTED: Final = re.compile(
    r"《([^》\n]{2,40})》|「([^」\n]{2,40})」|『([^』\n]{2,40})』|“([^”\n]{2,40})”|«([^»\n]{2,40})»"
    r'|„([^“”\n]{2,40})[“”]|(?<!\w)"([^"\n]{2,40})"(?!\w)|`([^`\n]{2,40})`'
)
_KATAKANA: Final = re.compile("[\u30a1-\u30fa\u30fc・]{3,24}")
_APPENDED: Final = re.compile(r"\s*[(（][^)）]*[)）]\s*$")
_EDGES: Final = " .,;:!?'’\"-–—*"
_POINT: Final = re.compile(r"\b(\w)\.\s?")
_MARKS: Final = re.compile("[\u0300-\u036f]")


def find_entities(text: str, language: str | None = None) -> list[str]:
    """The names in a text in one spelling, each once, in their order; MOST_ENTITIES at most.

    `language` (ISO 639-1) chooses the function words that are no names at a sentence's start.
    """
    quoted = (part for found in _QUOTED.finditer(text) for part in found.groups() if part)
    katakana = () if text.isascii() else (found[0] for found in _KATAKANA.finditer(text))
    names = chain(_find_names(text, _list_stop_words(language)), quoted, katakana)
    return list(islice(_fold_all(names), MOST_ENTITIES))


def find_title_entities(title: str) -> list[str]:
    """The names that a title or heading stands for: all of it, and without an appended "(film)"."""
    return list(_fold_all((title, _APPENDED.sub("", title))))


def hash_entity(name: str) -> int:
    """The number that stands for a name as `find_entities` gives it; never negative."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES)
    return int.from_bytes(digest.digest())


def _find_names(text: str, stop_words: frozenset[str]) -> Iterator[str]:
    """Runs of capitalised words with a single space between them, and identifiers."""
    run: list[str] = []
    end = 0
    for found in _TOKEN.finditer(text):
        word, start = found[0], found.start()
        if run and not _is_joined(text, end, start, run[-1]):
            yield from _close_run(run, stop_words)
            run = []
        end = found.end()
        if word[0].isupper() or (run and (word in _JOINING or word.isdigit())):
            run.append(word)
            continue
        if run:
            yield from _close_run(run, stop_words)
            run = []
        plain = word.islower() and word.isalpha()  # most words, and the match is slow
        if not plain and _IDENTIFIER.fullmatch(word):
            yield word
    yield from _close_run(run, stop_words)


def _is_joined(text: str, end: int, start: int, before: str) -> bool:
    """Whether a word goes on with the name before it: after a space, or the point of an initial."""
    gap = text[end:start]
    return gap in _SPACES or (gap in _AFTER_INITIALS and _INITIALS.fullmatch(before) is not None)


def _close_run(run: list[str], stop_words: frozenset[str]) -> Iterator[str]:
    """The name that a run of words is, without function words and numbers around it."""
    first, last = 0, len(run)
    while first < last and run[first].casefold() in stop_words:
        first += 1
    while first < last and (run[last - 1] in _JOINING or run[last - 1].casefold() in stop_words):
        last -= 1
    if 0 < last - first <= LONGEST_NAME:
        yield " ".join(run[first:last])
    elif "and" in run[first:last]:  # two names, rather than one
        cut = run.index("and", first)
        yield from _close_run(run[first:cut], stop_words)
        yield from _close_run(run[cut + 1 : last], stop_words)


def _fold_all(names: Iterable[str]) -> Iterator[str]:
    """The names in one spelling, each once, without those too short to name anything."""
    folded = dict.fromkeys(map(_fold_name, names))
    return (name for name in folded if len(name) >= SHORTEST_NAME and not name.isdigit())


@lru_cache(1 << 12)
def _fold_name(name: str) -> str:
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", name)))
    folded = _POINT.sub(r"\1 ", " ".join(name.casefold().split())).strip(_EDGES)
    folded = folded.removesuffix("'s").removesuffix("’s")
    article, _, rest = folded.partition(" ")
    return rest if article in _ARTICLES and rest else folded


_ARTICLES: Final = frozenset(
    {
        "the",
        "a",
        "an",
        "der",
        "die",
        "das",
        "le",
        "la",
        "les",
        "el",
        "los",
        "las",
        "il",
        "lo",
        "gli",
    }
)


@lru_cache
def _list_stop_words(language: str | None) -> frozenset[str]:
    return frozenset(STOP_WORDS.get(language or "", "").split())
