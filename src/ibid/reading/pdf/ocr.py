"""Text of page images by the program tesseract, where it is installed, with places and trust.

The image goes in as a plain grey map and the words come out as a table, both through pipes: no
file is written and no imaging library is needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from statistics import fmean
from typing import Final, NamedTuple

from ibid.errors import UnreadableDocument

DPI: Final = 200  # 300 read no better
PAGE_WALL_S: Final = 60.0  # for each try; a page takes 3 to 18 s
TRUST: Final = 60.0
"""Mean confidence, of 100, below which a page may lie on its side, or hold no text at all."""

HINT: Final = "install the ocr extra and the program tesseract to have scanned pages read"

_PROGRAM: Final = "tesseract"
_MAX_LANGUAGES: Final = 4  # each makes it slower
_NO_LANGUAGES: Final = frozenset({"osd", "equ", "snum"})
_LEAST_TRUST: Final = 25.0  # a line below it is a picture taken for letters
_LARGE: Final = 1.4  # times as high as most lines: larger print, not only tall letters


# Tesseract's names by the codes of languages (BCP 47), those that it has its own data for.
_CODES: Final = """
    af:afr ar:ara az:aze be:bel bg:bul bn:ben bs:bos ca:cat cs:ces cy:cym da:dan de:deu el:ell
    en:eng eo:epo es:spa et:est eu:eus fa:fas fi:fin fr:fra ga:gle gl:glg gu:guj he:heb hi:hin
    hr:hrv hu:hun hy:hye id:ind is:isl it:ita ja:jpn ka:kat kk:kaz km:khm kn:kan ko:kor la:lat
    lt:lit lv:lav mk:mkd ml:mal mr:mar ms:msa mt:mlt my:mya nb:nor ne:nep nl:nld nn:nor no:nor
    pa:pan pl:pol pt:por ro:ron ru:rus sk:slk sl:slv sq:sqi sr:srp sv:swe sw:swa ta:tam te:tel
    th:tha tr:tur uk:ukr ur:urd vi:vie zh:chi_sim zh-cn:chi_sim zh-hans:chi_sim zh-hant:chi_tra
    zh-hk:chi_tra zh-tw:chi_tra
"""
_BY_CODE: Final = dict(pair.split(":") for pair in _CODES.split())


class Image(NamedTuple):
    """A grey picture: one byte a dot, row after row."""

    width: int
    height: int
    dots: bytes


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of recognized text with its box in dots; `height` is that of its letters."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    height: float


@dataclass(frozen=True, slots=True)
class Recognition:
    """What was read on a picture, and the mean confidence of its words, up to 100.

    It is 0 where there is no word at all.
    """

    lines: tuple[TextLine, ...] = ()
    confidence: float = 0.0


@lru_cache(1)
def find_languages() -> tuple[str, ...]:
    """The languages that are installed, English first; empty without the program."""
    program = shutil.which(_PROGRAM)
    if program is None:
        return ()
    listed = subprocess.run(
        [program, "--list-langs"], capture_output=True, text=True, timeout=PAGE_WALL_S, check=False
    )
    names = {line.strip() for line in listed.stdout.splitlines()[1:]} - _NO_LANGUAGES
    return tuple(sorted((n for n in names if n and "/" not in n), key=lambda n: (n != "eng", n)))


def choose_languages(asked: Sequence[str], told: str = "") -> tuple[str, ...]:
    """The languages to recognize text in, the likeliest first; empty without the program.

    Those that are `asked` for; else the one that the file is `told` to be in (`cs-CZ`), as far as
    it is installed, and the first few others. Raises UnreadableDocument where one that is asked
    for is missing.
    """
    installed = find_languages()
    missing = [name for name in asked if name not in installed]
    if installed and missing:
        raise UnreadableDocument(
            f"tesseract has no data for the language {missing[0]}",
            hint=f"it has {', '.join(installed)}; install it, or set reading.ocr_languages",
        )
    if asked or not installed:
        return tuple(asked) if installed else ()
    own = _BY_CODE.get(told.lower(), _BY_CODE.get(told.lower().partition("-")[0], ""))
    first = [own] if own in installed else []
    return tuple(dict.fromkeys([*first, *installed]))[:_MAX_LANGUAGES]


def recognize(image: Image, languages: Sequence[str]) -> Recognition:
    """The lines of text on a picture in these languages, in reading order.

    Empty where the program is missing, fails, or takes longer than `PAGE_WALL_S`.
    """
    options = ["-l", "+".join(languages), "--dpi", str(DPI), "tsv"]
    head = b"P5 %d %d 255\n" % (image.width, image.height)
    try:
        done = subprocess.run(
            [_PROGRAM, "stdin", "stdout", *options],
            input=head + image.dots,
            capture_output=True,
            timeout=PAGE_WALL_S,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except (subprocess.TimeoutExpired, OSError):
        return Recognition()
    return parse_table(done.stdout.decode("utf-8", "replace"))


def parse_table(table: str) -> Recognition:
    """The lines of tesseract's table of words, without those that it doesn't trust itself."""
    words = [fields for row in table.splitlines()[1:] if (fields := _parse_word(row))]
    if not words:
        return Recognition()
    usual = _find_height(words)
    lines = []
    for _, group in groupby(words, key=lambda word: word.line):
        row = list(group)
        if fmean(word.confidence for word in row) < _LEAST_TRUST:
            continue
        height = _find_height(row)
        lines.append(
            TextLine(
                " ".join(word.text for word in row),
                min(word.left for word in row),
                min(word.top for word in row),
                max(word.left + word.width for word in row),
                max(word.top + word.height for word in row),
                height if height > usual * _LARGE else usual,
            )
        )
    # Lines left out count as well: a page that lies on its side is mostly such.
    return Recognition(tuple(lines), fmean(word.confidence for word in words))


class _Word(NamedTuple):
    line: tuple[str, ...]
    left: int
    top: int
    width: int
    height: int
    confidence: float
    text: str


def _find_height(words: Sequence[_Word]) -> float:
    """The height of those words that have letters reaching up or down."""
    return sorted(word.height for word in words)[len(words) * 3 // 4]


def _parse_word(row: str) -> _Word | None:
    """A row of the table: level, page, block, paragraph, line, word, box, confidence, text."""
    fields = row.split("\t")
    if len(fields) != 12 or fields[0] != "5" or not fields[11].strip():
        return None
    left, top, width, height = map(int, fields[6:10])
    return _Word(
        tuple(fields[2:5]), left, top, width, height, float(fields[10]), fields[11].strip()
    )
