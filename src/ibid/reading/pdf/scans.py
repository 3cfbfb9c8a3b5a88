"""Pages of a PDF that are only a picture: rendered, and their text recognized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.reading.pages import report_scan
from ibid.reading.pdf import ocr
from ibid.reading.pdf.page import Line, PageText
from ibid.reading.pdf.words import is_gibberish

_POINTS: Final = 72  # an inch
_SCALE: Final = ocr.DPI / _POINTS
_EM: Final = 1.25  # times as large is a font as its letters are high
_MAX_DOTS: Final = 6_000  # of the longer side; a poster is rendered coarser
_FEW_LETTERS: Final = 50  # on a page whose picture is larger than half of it: a stamp on a scan
_LARGE_PICTURE: Final = 0.5


def needs_recognition(page: pdfium.PdfPage, text: PageText) -> bool:
    """True for a page whose text layer is not what it shows: none, gibberish, or a mere stamp."""
    letters = sum(len(line.text) for line in text.lines)
    if letters > _FEW_LETTERS:
        return has_gibberish(text)
    if not letters:
        return bool(pdfium_c.FPDFPage_CountObjects(page.raw))
    return has_gibberish(text) or _is_picture(page)


def has_gibberish(text: PageText) -> bool:
    """True for a text layer whose letters are not those that the page shows."""
    return is_gibberish("\n".join(line.text for line in text.lines), text.unmapped)


class RecognizedPage(NamedTuple):
    """The text of a page's image, and the mean confidence of its words, up to 100."""

    text: PageText
    confidence: float


def recognize_page(
    page: pdfium.PdfPage, number: int, languages: Sequence[str]
) -> RecognizedPage | None:
    """The text of a page's image in these languages, turned the way it reads best.

    None where nothing can be recognized, or no language is there to do it in.
    """
    if not languages:
        return None
    best: RecognizedPage | None = None
    for turns in (0, 1, 3, 2):
        image, scale = _render(page, turns)
        if image.dots.count(image.dots[:1]) == len(image.dots):  # nothing on it
            return None
        report_scan()
        found = _recognize(image, languages)
        if found.lines and (best is None or found.confidence > best.confidence):
            lines = [_make_line(line, scale) for line in found.lines]
            width, height = page.get_size()
            best = RecognizedPage(PageText(number, lines, width, height, turns), found.confidence)
        if found.confidence >= ocr.TRUST or not found.confidence:
            break
    return best


def _recognize(image: ocr.Image, languages: Sequence[str]) -> ocr.Recognition:
    """The lines on a picture, trusted by half where they run up or down: it lies on its side."""
    found = ocr.recognize(image, languages)
    turned = sum(1 for line in found.lines if line.bottom - line.top > line.right - line.left)
    sideways = turned * 2 > len(found.lines)
    return replace(found, confidence=found.confidence / 2) if sideways else found


def _render(page: pdfium.PdfPage, turns: int) -> tuple[ocr.Image, float]:
    """The page as a grey picture, and how many dots a point takes on it."""
    scale = min(_SCALE, _MAX_DOTS / max(*page.get_size(), 1.0))
    bitmap = page.render(scale=scale, rotation=turns * 90, grayscale=True)
    try:
        data, width, stride = bytes(bitmap.buffer), bitmap.width, bitmap.stride
        rows = (data[i * stride : i * stride + width] for i in range(bitmap.height))
        dots = data if stride == width else b"".join(rows)
        return ocr.Image(width, bitmap.height, dots), scale
    finally:
        bitmap.close()


def _make_line(line: ocr.TextLine, scale: float) -> Line:
    divided = line.text[-2:-1].isalpha() and line.text.endswith("-")
    return Line(
        line.text[:-1] if divided else line.text,
        line.left / scale,
        line.top / scale,
        line.right / scale,
        line.bottom / scale,
        line.height / scale * _EM,
        divided,
    )


def _is_picture(page: pdfium.PdfPage) -> bool:
    """True when one image fills most of the page."""
    width, height = page.get_size()
    for thing in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = thing.get_bounds()
        if (right - left) * (top - bottom) > width * height * _LARGE_PICTURE:
            return True
    return False
