"""What lies on the pages of a PDF: remarks, and fields of a form with what is filled in."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.reading.pdf.boxes import Rectangle, place_box

_MAX_NOTES: Final = 2000  # on a page
_MAX_LENGTH: Final = 1 << 20  # bytes of one

# Links say nothing of their own, and a pop-up repeats what it belongs to.
_SILENT: Final = frozenset({pdfium_c.FPDF_ANNOT_LINK, pdfium_c.FPDF_ANNOT_POPUP})
_UNSEEN: Final = pdfium_c.FPDF_ANNOT_FLAG_HIDDEN | pdfium_c.FPDF_ANNOT_FLAG_NOVIEW
_NO_VALUES: Final = frozenset(
    {pdfium_c.FPDF_FORMFIELD_PUSHBUTTON, pdfium_c.FPDF_FORMFIELD_SIGNATURE}
)
_TICKED: Final = frozenset({pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON})


class Note(NamedTuple):
    """A remark, or a form's field with its value, and where it lies on the page as shown."""

    place: str
    text: str
    box: Rectangle


def read_notes(pdf: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[Note]:
    """The notes of a page in the order of the file, those without a word left out."""
    for i in range(min(pdfium_c.FPDFPage_GetAnnotCount(page.raw), _MAX_NOTES)):
        raw = pdfium_c.FPDFPage_GetAnnot(page.raw, i)
        if not raw:
            continue
        try:
            note = _read_note(pdf, page, raw)
        finally:
            pdfium_c.FPDFPage_CloseAnnot(raw)
        if note:
            yield note


def _read_note(pdf: pdfium.PdfDocument, page: pdfium.PdfPage, raw: Any) -> Note | None:
    kind = pdfium_c.FPDFAnnot_GetSubtype(raw)
    if kind in _SILENT or pdfium_c.FPDFAnnot_GetFlags(raw) & _UNSEEN:
        return None
    if kind == pdfium_c.FPDF_ANNOT_WIDGET:
        place, text = "form field", _read_field(pdf, raw)
    else:
        place, text = "note", _read_string(raw, b"Contents")
    rect = pdfium_c.FS_RECTF()
    if not text or not pdfium_c.FPDFAnnot_GetRect(raw, ctypes.byref(rect)):
        return None
    turns = page.get_rotation() // 90
    box = place_box(page.get_cropbox(), turns, rect.left, rect.bottom, rect.right, rect.top)
    return Note(place, text, box)


def _read_field(pdf: pdfium.PdfDocument, raw: Any) -> str:
    """What a form's field is called and what is filled in; empty for one left blank."""
    if pdf.formenv is None:
        return ""
    form = pdf.formenv.raw
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, raw)
    if kind in _NO_VALUES:
        return ""
    name = _read_wide(lambda *into: pdfium_c.FPDFAnnot_GetFormFieldAlternateName(form, raw, *into))
    name = name or _read_wide(lambda *into: pdfium_c.FPDFAnnot_GetFormFieldName(form, raw, *into))
    if kind in _TICKED:
        return name if pdfium_c.FPDFAnnot_IsChecked(form, raw) else ""
    value = _read_wide(lambda *into: pdfium_c.FPDFAnnot_GetFormFieldValue(form, raw, *into))
    return f"{name}: {value}" if name and value else value


def _read_string(raw: Any, key: bytes) -> str:
    return _read_wide(lambda *into: pdfium_c.FPDFAnnot_GetStringValue(raw, key, *into))


def _read_wide(get: Callable[[Any, int], int]) -> str:
    """A string of PDFium's, whose function is asked for the length first."""
    length = get(None, 0)
    if not 2 < length <= _MAX_LENGTH:
        return ""
    buffer = (pdfium_c.FPDF_WCHAR * (length // 2))()
    get(buffer, length)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0").strip()
