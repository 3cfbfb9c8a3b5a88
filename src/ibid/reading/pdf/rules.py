"""The horizontal rules of a PDF page: where they are drawn there may be a table."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.reading.pdf.boxes import Rectangle
from ibid.reading.pdf.page import PageText, Rule

_MAX_HEIGHT: Final = 2.0  # points; a higher rectangle is a frame, with a rule above and below
_MIN_LENGTH: Final = 20.0  # points
_MAX_OBJECTS: Final = 4000  # on a page; more are a drawing


def find_rules(page: pdfium.PdfPage, text: PageText) -> tuple[Rule, ...]:
    """The rules drawn on a page that stands upright, pieces at the same height as one."""
    if page.get_rotation() or text.turns or pdfium_c.FPDFPage_CountObjects(page.raw) > _MAX_OBJECTS:
        return ()
    crop_left, _, _, crop_top = page.get_cropbox()
    found: dict[int, Rule] = {}
    for left, bottom, right, top in _find_paths(page):
        edges = [top, bottom] if top - bottom > _MAX_HEIGHT else [(top + bottom) / 2]
        for edge in edges:
            height = crop_top - edge
            same = found.get(round(height), Rule(left - crop_left, right - crop_left, height))
            found[round(height)] = Rule(
                min(same.left, left - crop_left), max(same.right, right - crop_left), same.height
            )
    return tuple(rule for rule in found.values() if rule.right - rule.left > _MIN_LENGTH)


def _find_paths(page: pdfium.PdfPage) -> Iterator[Rectangle]:
    """The bounds of what is drawn on a page: left, bottom, right and top, in PDF's coordinates."""
    sides = [ctypes.c_float() for _ in range(4)]
    references = [ctypes.byref(side) for side in sides]
    for i in range(pdfium_c.FPDFPage_CountObjects(page.raw)):
        thing = pdfium_c.FPDFPage_GetObject(page.raw, i)
        if pdfium_c.FPDFPageObj_GetType(thing) == pdfium_c.FPDF_PAGEOBJ_PATH:
            pdfium_c.FPDFPageObj_GetBounds(thing, *references)
            left, bottom, right, top = (side.value for side in sides)
            yield left, bottom, right, top
