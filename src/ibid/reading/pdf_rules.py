"""The horizontal rules of a PDF page: where they are drawn there may be a table."""

from __future__ import annotations

from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.reading.pdf_page import PageText, Rule

_MAX_HEIGHT: Final = 2.0  # points; a higher rectangle is a frame, with a rule above and below
_MIN_LENGTH: Final = 20.0  # points
_MAX_OBJECTS: Final = 4000  # on a page; more are a drawing


def find_rules(page: pdfium.PdfPage, text: PageText) -> tuple[Rule, ...]:
    """The rules drawn on a page that stands upright, pieces at the same height as one."""
    if page.get_rotation() or text.turns or pdfium_c.FPDFPage_CountObjects(page) > _MAX_OBJECTS:
        return ()
    crop_left, _, _, crop_top = page.get_cropbox()
    found: dict[int, Rule] = {}
    for thing in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_PATH], max_depth=1):
        left, bottom, right, top = thing.get_bounds()
        edges = [top, bottom] if top - bottom > _MAX_HEIGHT else [(top + bottom) / 2]
        for edge in edges:
            height = crop_top - edge
            same = found.get(round(height), Rule(left - crop_left, right - crop_left, height))
            found[round(height)] = Rule(
                min(same.left, left - crop_left), max(same.right, right - crop_left), same.height
            )
    return tuple(rule for rule in found.values() if rule.right - rule.left > _MIN_LENGTH)
