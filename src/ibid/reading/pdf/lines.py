"""The lines of a PDF page as its text layer has them, cut where white space sets pieces apart."""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from math import inf, pi
from statistics import median
from typing import Any, Final, TypeAlias

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.reading.pdf.boxes import Rectangle, measure_gap, place_box, unite
from ibid.reading.pdf.page import Line, PageText
from ibid.reading.pdf.words import clean_line, mend_arabic

_GAP: Final = 0.8  # times the height of a line: two pieces, not two words
_STRETCHED: Final = 2.5  # times the usual gap of its line: justified words are less far apart
_WIDE: Final = 0.5  # of the height for each character: there may be a gap within
_WIDEST: Final = 1.2  # of the height for each character: no letters are so wide
_TALL: Final = 1.8  # times its height: a piece is turned, or on several rows
_TWICE: Final = 0.4  # of the height: the same text so near is drawn for a bold look
_MAX_SIZE: Final = 1000.0
_MAX_NAME: Final = 128  # bytes of a font's name
_LOOK_BACK: Final = 8  # drawn twice, a text comes again soon

# PDFium puts U+FFFE (earlier: U+0002) for a hyphen that divides a word at the end of a line.
_LINE: Final = re.compile("(?P<text>[^\r\n\ufffe\x02]*)(?P<end>\r\n|[\r\n\ufffe\x02]|$)")
_WORD: Final = re.compile(r"\S+")
_ARABIC: Final = re.compile("[\u0600-\u06ff]")
_BEYOND_BMP: Final = re.compile("[\U00010000-\U0010ffff]")
_ALEF_LAM: Final = re.compile("[اأإآ]ل")
_BOLD: Final = re.compile(r"bold|black|heavy|demi|medi$|cmbx|cmssbx|[-,]bd", re.I)


def read_lines(page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, number: int) -> PageText:
    """The pieces of a page's text layer, each text once."""
    glyphs = _Glyphs(page, text_page)
    lines = list(glyphs.read())
    turns = glyphs.find_turns(lines)
    if turns:
        glyphs = _Glyphs(page, text_page, turns)
        lines = list(glyphs.read())
    width, height = page.get_size()
    return PageText(number, _drop_doubles(lines), width, height, turns, glyphs.count_unmapped())


_Piece: TypeAlias = "tuple[int, int, Rectangle]"
"""Where a piece begins and ends in the text of the page, and its box."""


class _Glyphs:
    """Asks PDFium where the characters of a page stand, as seldom as can be: a call is 0.6 µs."""

    def __init__(self, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, turns: int = 0) -> None:
        self._raw = text_page.raw
        self._text = text_page.get_text_range()
        self._crop = page.get_cropbox()
        self._turns: int = (page.get_rotation() // 90 + turns) % 4
        self._fonts: dict[int, tuple[float, bool]] = {}
        self._indices = self._map_indices(text_page.count_chars())
        self._loose = pdfium_c.FS_RECTF()
        self._loose_ref = ctypes.byref(self._loose)
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._edge_refs = [ctypes.byref(edge) for edge in self._edges]
        self._boxes: dict[int, Rectangle] = {}
        self._suspect = False

    def read(self) -> Iterator[Line]:
        """The pieces of the page's lines."""
        for match in _LINE.finditer(self._text):
            text, start = match["text"], match.start()
            if not text or text.isspace():
                continue
            hyphenated = match["end"] in ("\ufffe", "\x02")
            first = start + len(text) - len(text.lstrip())
            pieces, uniform = self._cut(first, start + len(text.rstrip()))
            for piece in pieces:
                divided = hyphenated and piece is pieces[-1]
                line = self._make_line(piece, divided=divided, uniform=uniform)
                if line.text:
                    yield line

    def find_turns(self, lines: list[Line]) -> int:
        """How often to turn the page for most of its text to be upright; 0 mostly."""
        turned = [line for line in lines if line.is_turned]
        if sum(len(n.text) for n in turned) * 2 <= sum(len(n.text) for n in lines):
            return 0
        place = self._text.find(max((n.text.split()[0] for n in turned), key=len))
        angle: float = pdfium_c.FPDFText_GetCharAngle(self._raw, self._index(max(place, 0)))
        # The angle is clockwise, in radians, on the page before it is turned to be shown.
        return (-round(angle / (pi / 2)) - self._turns) % 4

    def count_unmapped(self) -> float:
        """The share of characters whose letter is unknown; all are asked where a few are."""
        if not self._suspect:
            return 0.0
        count: int = pdfium_c.FPDFText_CountChars(self._raw)
        chars = range(count)
        unmapped: int = sum(pdfium_c.FPDFText_HasUnicodeMapError(self._raw, i) == 1 for i in chars)
        return unmapped / count

    def _map_indices(self, count: int) -> list[int] | None:
        """Of each character of the text its number among PDFium's; None when they are the same.

        Characters that PDFium can't map are missing in the text, those beyond U+FFFF are two
        there. The numbers run ahead of the text ever further, and mostly by the same.
        """
        text = self._text
        if count == len(text) and not _BEYOND_BMP.search(text):
            return None
        wide = [match.start() for match in _BEYOND_BMP.finditer(text)]
        numbers = [*range(len(text))]

        def find(place: int) -> int:
            unit = place + bisect_left(wide, place)
            found: int = pdfium_c.FPDFText_GetCharIndexFromTextIndex(self._raw, unit)
            return max(found, 0)

        stretches = [(0, len(text) - 1)] if text else []
        while stretches:
            first, last = stretches.pop()
            start, end = find(first), find(last)
            if end - start == last - first or last - first < 2:
                numbers[first : last + 1] = [*range(start, start + last - first), end]
            else:
                middle = (first + last) // 2
                stretches += [(first, middle), (middle, last)]
        return numbers

    def _index(self, place: int) -> int:
        return place if self._indices is None else self._indices[place]

    def _cut(self, start: int, end: int) -> tuple[list[_Piece], bool]:
        """The pieces of a line, and True when the file draws all of it at once, in one font."""
        first, last = self._index(start), self._index(end - 1)
        if pdfium_c.FPDFText_HasUnicodeMapError(self._raw, first) == 1:
            self._suspect = True
        ends = self._find_box(start, end)
        runs = pdfium_c.FPDFText_CountRects(self._raw, first, last - first + 1)
        boxes = self._find_runs(runs) if runs > 1 else []
        whole = unite([ends, *boxes]) if boxes else ends
        _, top, _, bottom = self._find_loose(first if runs == 1 else (first + last) // 2)
        height = min(bottom - top or whole[3] - whole[1], _MAX_SIZE)
        across = [a for a, b in pairwise(boxes) if measure_gap(a, b) > height * _GAP]
        wide = whole[2] - whole[0] >= (end - start) * height * _WIDE
        if not (across or wide or self._goes_over(first, whole, height)):
            return [(start, end, whole)], runs == 1
        words = [
            word
            for match in _WORD.finditer(self._text, start, end)
            for word in self._find_word(match.start(), match.end(), height)
        ]
        gaps = [_find_gap(one[2], other[2]) for one, other in pairwise(words)]
        least = _choose_gap(gaps, height)
        pieces = words[:1]
        for word, gap in zip(words[1:], gaps, strict=True):
            if gap > least:
                pieces.append(word)
            else:
                first, _, box = pieces[-1]
                pieces[-1] = first, word[1], unite([box, word[2]])
        return pieces, runs == 1

    def _goes_over(self, first: int, box: Rectangle, height: float) -> bool:
        """True for an upright line that PDFium has put together of several rows."""
        return box[3] - box[1] > height * _TALL and (
            pdfium_c.FPDFText_GetCharAngle(self._raw, first) == 0
        )

    def _find_word(self, start: int, end: int, height: float) -> list[_Piece]:
        """A word as it is, or its characters where they stand too far apart to be one."""
        box = self._find_box(start, end)
        if box[2] - box[0] <= (end - start) * height * _WIDEST:
            return [(start, end, box)]
        return [(i, i + 1, self._find_loose(self._index(i))) for i in range(start, end)]

    def _find_box(self, start: int, end: int) -> Rectangle:
        first, last = self._index(start), self._index(end - 1)
        ends = self._find_loose(first), self._find_loose(last)
        if self._text[start:end].isascii():
            return unite(ends)
        # Where the direction changes, the first character and the last may stand side by side.
        runs = pdfium_c.FPDFText_CountRects(self._raw, first, last - first + 1)
        return unite([*ends, *self._find_runs(runs)])

    def _make_line(self, piece: _Piece, *, divided: bool, uniform: bool) -> Line:
        start, end, box = piece
        text = self._text[start:end]
        if _ARABIC.search(text):
            text = mend_arabic(text, self._find_ligatures(start, text))
        size, top, bottom, bold = self._measure(self._index(start))
        if not uniform:
            # A raised figure may stand at the start or in the middle: the larger one counts.
            middle = self._measure(self._index((start + end - 1) // 2))
            bold = bold and middle[-1]
            size, top, bottom, _ = max((size, top, bottom, bold), middle)
        if not size or box[3] - box[1] > size * _TALL:  # turned, or on several lines
            top, bottom = box[1], box[3]
            size = size or min(bottom - top, _MAX_SIZE)
        return Line(clean_line(text), box[0], top, box[2], bottom, size, divided, bold)

    def _measure(self, char: int) -> tuple[float, float, float, bool]:
        """The size of a character's font, the top and bottom of its line, True for bold."""
        _, top, _, bottom = self._find_loose(char)
        height, bold = self._find_font(char)
        return min(bottom - top, _MAX_SIZE) / height, top, bottom, bold

    def _find_ligatures(self, start: int, text: str) -> set[int]:
        """Where in an Arabic text alef and lam are one glyph: it stands for lam, then alef."""
        return {
            match.start()
            for match in _ALEF_LAM.finditer(text)
            if self._find_loose(self._index(start + match.start()))
            == self._find_loose(self._index(start + match.start() + 1))
        }

    def _find_loose(self, char: int) -> Rectangle:
        """The room that a character takes, its letter's own size aside."""
        box = self._boxes.get(char)
        if box is None:
            pdfium_c.FPDFText_GetLooseCharBox(self._raw, char, self._loose_ref)
            loose = self._loose
            found = loose.left, loose.bottom, loose.right, loose.top
            box = self._boxes[char] = place_box(self._crop, self._turns, *found)
        return box

    def _find_runs(self, count: int) -> list[Rectangle]:
        """A box for each run of characters that the file draws at once, those counted last."""
        boxes = []
        left, top, right, bottom = self._edges
        for i in range(count):
            pdfium_c.FPDFText_GetRect(self._raw, i, *self._edge_refs)
            found = left.value, bottom.value, right.value, top.value
            boxes.append(place_box(self._crop, self._turns, *found))
        return boxes

    def _find_font(self, char: int) -> tuple[float, bool]:
        """How high a line of the character's font is, 1 for its size; True when it is bold."""
        found = pdfium_c.FPDFText_GetTextObject(self._raw, char)
        font = pdfium_c.FPDFTextObj_GetFont(found) if found else None
        if not font:
            return 1.0, False
        address = ctypes.addressof(font.contents)
        if address not in self._fonts:
            self._fonts[address] = _describe_font(font)
        return self._fonts[address]


def _find_gap(one: Rectangle, other: Rectangle) -> float:
    """How far apart two words are; those on two rows are so without end."""
    if one[3] <= other[1] or other[3] <= one[1]:
        return inf
    return measure_gap(one, other)


def _choose_gap(gaps: list[float], height: float) -> float:
    """From which width on a gap sets pieces apart: justified prose has wide ones as well."""
    usual = median(gaps) if gaps else 0.0
    least = height * _GAP
    return least if usual > least else max(least, min(usual * _STRETCHED, least * 2))


def _describe_font(font: Any) -> tuple[float, bool]:
    buffer = ctypes.create_string_buffer(_MAX_NAME)
    pdfium_c.FPDFFont_GetBaseFontName(font, buffer, _MAX_NAME)
    bold = bool(_BOLD.search(buffer.value.decode("utf-8", "replace")))
    up, down = ctypes.c_float(), ctypes.c_float()
    pdfium_c.FPDFFont_GetAscent(font, 1.0, ctypes.byref(up))
    pdfium_c.FPDFFont_GetDescent(font, 1.0, ctypes.byref(down))
    height = up.value - down.value
    return (height if 0.5 < height < 2 else 1.0), bold or pdfium_c.FPDFFont_GetWeight(font) >= 700


def _drop_doubles(lines: list[Line]) -> list[Line]:
    """The lines without those that are drawn once more at nearly the same place."""
    seen: dict[str, list[Line]] = {}
    kept = []
    for line in lines:
        same = seen.setdefault(line.text, [])
        if any(_is_near(line, other) for other in same[-_LOOK_BACK:]):
            continue
        same.append(line)
        kept.append(line)
    return kept


def _is_near(line: Line, other: Line) -> bool:
    distance = max(abs(line.left - other.left), abs(line.top - other.top))
    return distance < line.size * _TWICE
