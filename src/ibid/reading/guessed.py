"""The text of bytes that don't say their encoding: the reading that looks written by a person."""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final

_SAMPLE: Final = 65_536  # bytes looked at for a guess
_JUDGED: Final = 4096  # characters by which a reading is judged
_READINGS: Final = 6  # the likeliest, one of which is taken
_CLEARLY: Final = 0.05  # by so much a less likely reading must be the better written one
_LEAST_WRITTEN: Final = 0.5
"""Share of characters in whole words or numbers: texts have 0.75 and more, in short ones 0.5."""

_SHORT: Final = 16  # bytes; noise so short may well look like words, so it must all be words
_LEAST_WRITTEN_SHORT: Final = 0.65

# The encodings in which people have texts, by the names that chardet and Python share.
_KNOWN: Final = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp437 cp850 cp852 cp866 cp874"
    " iso8859-2 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-13 iso8859-15 koi8-r"
    " koi8-u mac-roman mac-cyrillic cp932 euc_jis_2004 gb18030 big5hkscs cp949"
)

_DENSE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# Where the old standards keep the characters of everyday use: the first bytes of two.
_EVERYDAY: Final = (
    ("gb2312", range(0xB0, 0xD8)),
    ("big5", range(0xA4, 0xC7)),
    ("euc_kr", range(0xB0, 0xC9)),
    ("euc_jp", range(0xA4, 0xD0)),
)


def guess_text(data: bytes) -> str | None:
    """The bytes as text in the likeliest encoding; None when no reading looks written.

    Of the readings that the general guess holds likely, the first is taken unless the words of
    another are clearly whole where its own mix scripts or break off.
    """
    # Imported here: most files are UTF-8 and never ask for a guess.
    from chardet import detect_all  # noqa: PLC0415

    sample = data[:_SAMPLE]
    likely = detect_all(
        sample, ignore_threshold=True, include_encodings=_KNOWN.split(), compat_names=False
    )
    best, best_share = None, 0.0
    for encoding in (*(one["encoding"] for one in likely[:_READINGS]), "latin-1"):
        share = _judge_reading(sample, encoding) if encoding else 0.0
        if share > best_share + _CLEARLY:
            best, best_share = encoding, share
    least = _LEAST_WRITTEN_SHORT if len(data) < _SHORT else _LEAST_WRITTEN
    return data.decode(best, "replace") if best and best_share >= least else None


def looks_written(text: str) -> bool:
    """True when most of the characters stand in words of one script each, or are digits."""
    return share_written(text) >= _LEAST_WRITTEN


def share_written(text: str) -> float:
    """The share of characters that stand in words or are digits, from 0 to 1; 0 for no text.

    White space doesn't count, and a sign that is repeated counts once. A word is of one script,
    has more than one letter and no capital after a small one. Of scripts without spaces a
    character counts when it is of everyday use: bytes at random give mostly rare ones.
    """
    written = total = 0
    for kind, run in groupby(text[:_JUDGED], _find_kind):
        word = "".join(run)
        if kind == "word":
            written += _count_written(word)
            total += len(word)
        elif kind == "number":
            written += len(word)
            total += len(word)
        elif kind == "sign":
            total += 1 + sum(a != b for a, b in pairwise(word))
    return written / total if total else 0.0


def _judge_reading(sample: bytes, encoding: str) -> float:
    """How much of the sample looks written in an encoding, 0 where it isn't in it at all."""
    try:  # a character may be cut in two at the end of the sample
        return share_written(codecs.getincrementaldecoder(encoding)().decode(sample))
    except UnicodeDecodeError:
        return 0.0


def _find_kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] in "LM":
        return "word"
    if category == "Nd":
        return "number"
    return "space" if character.isspace() else "sign"


def _count_written(word: str) -> int:
    if _DENSE.search(word):
        return sum(1 for c in word if c.isascii() or _is_everyday(c))
    broken = any(a.islower() and b.isupper() for a, b in pairwise(word))
    scripts = {unicodedata.name(c, "").partition(" ")[0] for c in word if c.isalpha()}
    return 0 if len(word) < 2 or broken or len(scripts) > 1 else len(word)


@lru_cache(maxsize=8192)
def _is_everyday(character: str) -> bool:
    places = ((character.encode(encoding, "ignore"), first) for encoding, first in _EVERYDAY)
    return any(len(place) == 2 and place[0] in first for place, first in places)
