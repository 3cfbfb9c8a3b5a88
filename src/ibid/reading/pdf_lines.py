"""The lines of a PDF page as its text layer has them, cut where white space sets pieces apart."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.reading.pdf_words import clean_line, mend_arabic

_GAP: Final = 0.8  # times the height of a line: two pieces, not two words
_WIDE: Final = 0.5  # of the height for each character: there may be a gap within
_UPRIGHT: Final = 1.5  # a piece so many times higher than wide is turned
_LEAST_TURNED: Final = 4  # characters; fewer may stand higher than wide as they are
_TWICE: Final = 0.4  # of the height: the same text so near is drawn for a bold look
_MAX_SIZE: Final = 1000.0
_MAX_NAME: Final = 128  # bytes of a font's name
_LOOK_BACK: Final = 8  # drawn twice, a text comes again soon

# PDFium puts U+FFFE (earlier: U+0002) for a hyphen that divides a word at the end of a line.
_LINE: Final = re.compile("(?P<text>[^\r\n\ufffe\x02]*)(?P<end>\r\n|[\r\n\ufffe\x02]|$)")
_WORD: Final = re.compile(r"\S+")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_BEYOND_BMP: Final = re.compile("[\U00010000-\U0010ffff]")
_ALEF_LAM: Final = re.compile("[اأإآ]ل")
_BOLD: Final = re.compile(r"bold|black|heavy|demi|medi$|cmbx|cmssbx|[-,]bd", re.I)


class Line(NamedTuple):
    """A line of text, or a piece of one, in points from the page's top left corner.

    `size` is that of its font; `hyphenated` when its last word goes on in the next.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    hyphenated: bool = False
    bold: bool = False


class PageText(NamedTuple):
    """The pieces of one page in the order of the file.

    `turns` is how often the page must be turned by 90° for most of its text to stand upright;
    the pieces are given in coordinates of the page so turned, `width` and `height` are of the
    page as it is shown. `unmapped` is the share of pieces whose letters are unknown.
    """

    lines: list[Line]
    width: float
    height: float
    turns: int = 0
    unmapped: float = 0.0


def read_lines(page: pdfium.PdfPage, text_page: pdfium.PdfTextPage) -> PageText:
    """The pieces of a page's text layer, each text once."""
    glyphs = _Glyphs(page, text_page)
    lines = list(glyphs.read())
    turns = glyphs.find_turns(lines)
    if turns:
        glyphs = _Glyphs(page, text_page, turns)
        lines = list(glyphs.read())
    width, height = page.get_size()
    unmapped = glyphs.unmapped / glyphs.probed if glyphs.probed else 0.0
    return PageText(_drop_doubles(lines), width, height, turns, unmapped)


def turn_back(
    box: tuple[float, float, float, float], page: PageText
) -> tuple[float, float, float, float]:
    """A box in coordinates of the page as it is shown."""
    left, top, right, bottom = box
    if page.turns == 1:
        return top, page.height - right, bottom, page.height - left
    if page.turns == 2:
        return page.width - right, page.height - bottom, page.width - left, page.height - top
    if page.turns == 3:
        return page.width - bottom, left, page.width - top, right
    return box


class _Glyphs:
    """Asks PDFium where the characters of a page stand, as seldom as can be: a call is 0.6 µs."""

    def __init__(
        self, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, turns: int = 0
    ) -> None:
        self._raw = text_page.raw
        self._text = text_page.get_text_range()
        self._crop = page.get_cropbox()
        self._turns = (page.get_rotation() // 90 + turns) % 4
        self._fonts: dict[int, tuple[float, bool]] = {}
        self._indices = self._map_indices(text_page.count_chars())
        self._loose = pdfium_c.FS_RECTF()
        self._loose_ref = ctypes.byref(self._loose)
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._edge_refs = [ctypes.byref(edge) for edge in self._edges]
        self.probed = 0
        self.unmapped = 0

    def read(self) -> Iterator[Line]:
        """The pieces of the page's lines."""
        for match in _LINE.finditer(self._text):
            text, start = match["text"], match.start()
            if not text or text.isspace():
                continue
            hyphenated = match["end"] in ("\ufffe", "\x02")
            first = start + len(text) - len(text.lstrip())
            pieces = self._cut(first, start + len(text.rstrip()))
            for number, piece in enumerate(pieces, 1):
                line = self._make_line(*piece, hyphenated and number == len(pieces))
                if line.text:
                    yield line

    def find_turns(self, lines: list[Line]) -> int:
        """How often to turn the page for most of its text to be upright; 0 mostly."""
        turned = [line for line in lines if is_turned(line)]
        if sum(len(n.text) for n in turned) * 2 <= sum(len(n.text) for n in lines):
            return 0
        place = self._text.find(max((n.text.split()[0] for n in turned), key=len))
        angle = pdfium_c.FPDFText_GetCharAngle(self._raw, self._index(max(place, 0)))
        # The angle is counterclockwise, in radians, on the page before it is turned.
        return (round(angle / (3.141592653589793 / 2)) - self._turns) % 4

    def _map_indices(self, count: int) -> list[int] | None:
        """Of each character of the text its number among PDFium's; None when they are the same.

        Characters that PDFium can't map are missing in the text, those beyond U+FFFF are two
        there.
        """
        length = len(self._text)
        if count == length and not _BEYOND_BMP.search(self._text):
            return None
        find = pdfium_c.FPDFText_GetCharIndexFromTextIndex
        wide = accumulate((char > "\uffff" for char in self._text), initial=0)
        return [max(find(self._raw, i + w), 0) for i, w in zip(range(length), wide, strict=False)]

    def _index(self, place: int) -> int:
        return place if self._indices is None else self._indices[place]

    def _cut(self, start: int, end: int) -> list[tuple[int, int, tuple[float, ...]]]:
        """The pieces of a line: where each begins and ends in the text, and its box."""
        first, last = self._index(start), self._index(end - 1)
        boxes = self._find_rectangles(first, last - first + 1)
        whole = _unite(boxes) if boxes else self._find_loose(first)
        height = self._find_size((first + last) // 2) or min(whole[3] - whole[1], _MAX_SIZE)
        across = [a for a, b in zip(boxes, boxes[1:], strict=False) if _gap(a, b) > height * _GAP]
        if not across and whole[2] - whole[0] < (end - start) * height * _WIDE:
            return [(start, end, whole)]
        pieces: list[tuple[int, int, tuple[float, ...]]] = []
        for match in _WORD.finditer(self._text, start, end):
            first, last = self._index(match.start()), self._index(match.end() - 1)
            box = _unite([self._find_loose(first), self._find_loose(last)])
            if pieces and _gap(pieces[-1][2], box) <= height * _GAP:
                pieces[-1] = (pieces[-1][0], match.end(), _unite([pieces[-1][2], box]))
            else:
                pieces.append((match.start(), match.end(), box))
        return pieces

    def _make_line(
        self, start: int, end: int, box: tuple[float, ...], hyphenated: bool
    ) -> Line:
        text = self._text[start:end]
        if _RIGHT_TO_LEFT.search(text):
            text = mend_arabic(text, self._find_ligatures(start, text))
        first, last = self._index(start), self._index(end - 1)
        middle = (first + last) // 2
        _, top, _, bottom = self._find_loose(middle)
        if top == bottom:
            _, top, _, bottom = self._find_loose(first)
        height, bold = self._find_font(first)
        if last > first and bold:
            height, bold = self._find_font(last)
        size = min(bottom - top, _MAX_SIZE) / height
        if not size or box[3] - box[1] > size * _UPRIGHT * 1.5:  # turned, or on several lines
            top, bottom = box[1], box[3]
            size = size or min(bottom - top, _MAX_SIZE)
        return Line(clean_line(text), box[0], top, box[2], bottom, size, hyphenated, bold)

    def _find_ligatures(self, start: int, text: str) -> set[int]:
        """Where in an Arabic text alef and lam are one glyph: it stands for lam, then alef."""
        return {
            match.start()
            for match in _ALEF_LAM.finditer(text)
            if self._find_loose(self._index(start + match.start()))
            == self._find_loose(self._index(start + match.start() + 1))
        }

    def _find_loose(self, char: int) -> tuple[float, float, float, float]:
        """The room that a character takes, its letter's own size aside."""
        pdfium_c.FPDFText_GetLooseCharBox(self._raw, char, self._loose_ref)
        loose = self._loose
        return self._place(loose.left, loose.bottom, loose.right, loose.top)

    def _find_size(self, char: int) -> float:
        """The height of a character; whether its letter is known is counted."""
        self.probed += 1
        self.unmapped += pdfium_c.FPDFText_HasUnicodeMapError(self._raw, char) == 1
        _, top, _, bottom = self._find_loose(char)
        return bottom - top

    def _find_rectangles(self, first: int, count: int) -> list[tuple[float, ...]]:
        """A box for each run of characters that the file draws at once."""
        boxes = []
        left, top, right, bottom = self._edges
        for i in range(pdfium_c.FPDFText_CountRects(self._raw, first, count)):
            pdfium_c.FPDFText_GetRect(self._raw, i, *self._edge_refs)
            boxes.append(self._place(left.value, bottom.value, right.value, top.value))
        return boxes

    def _place(
        self, left: float, bottom: float, right: float, top: float
    ) -> tuple[float, float, float, float]:
        """A box counted from the top left of the page as it is shown, and turned for reading."""
        crop_left, crop_bottom, crop_right, crop_top = self._crop
        if self._turns == 1:
            return bottom - crop_bottom, left - crop_left, top - crop_bottom, right - crop_left
        if self._turns == 2:
            return crop_right - right, bottom - crop_bottom, crop_right - left, top - crop_bottom
        if self._turns == 3:
            return crop_top - top, crop_right - right, crop_top - bottom, crop_right - left
        return left - crop_left, crop_top - top, right - crop_left, crop_top - bottom

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


def _describe_font(font: Any) -> tuple[float, bool]:
    buffer = ctypes.create_string_buffer(_MAX_NAME)
    pdfium_c.FPDFFont_GetBaseFontName(font, buffer, _MAX_NAME)
    bold = bool(_BOLD.search(buffer.value.decode("utf-8", "replace")))
    up, down = ctypes.c_float(), ctypes.c_float()
    pdfium_c.FPDFFont_GetAscent(font, 1.0, ctypes.byref(up))
    pdfium_c.FPDFFont_GetDescent(font, 1.0, ctypes.byref(down))
    height = up.value - down.value
    return (height if 0.5 < height < 2 else 1.0), bold or pdfium_c.FPDFFont_GetWeight(font) >= 700


def is_turned(line: Line) -> bool:
    """True for text that runs up or down the page."""
    height, width = line.bottom - line.top, line.right - line.left
    return len(line.text) >= _LEAST_TURNED and height > width * _UPRIGHT


def runs_right_to_left(lines: list[Line]) -> bool:
    """True when most of the lines are in a script such as Arabic or Hebrew."""
    return sum(1 for line in lines if _RIGHT_TO_LEFT.search(line.text)) * 2 > len(lines)


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


def _gap(left: tuple[float, ...], right: tuple[float, ...]) -> float:
    return max(right[0] - left[2], left[0] - right[2])


def _unite(boxes: list[tuple[float, ...]]) -> tuple[float, ...]:
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
