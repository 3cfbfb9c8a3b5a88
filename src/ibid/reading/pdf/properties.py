"""What a PDF says of itself: title, language, author, subject, keywords and dates."""

from __future__ import annotations

import ctypes
import re
from datetime import datetime, timedelta, timezone
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.records import JSON

_MAX_LANGUAGE: Final = 64  # letters of the name of a language
_DATE: Final = re.compile(
    r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?"
)
_NO_TITLE: Final = re.compile(
    r"\W*(untitled|anonymous|unspecified|powerpoint presentation|microsoft \w+ - .*|.*\.\w{2,4})"
    r"\W*",
    re.I | re.S,
)


def find_title(pdf: pdfium.PdfDocument) -> str | None:
    """The title that somebody has given the PDF; None for one that a program made up."""
    title = pdf.get_metadata_value("Title").strip()
    return title if title and not _NO_TITLE.fullmatch(title) else None


def find_language(pdf: pdfium.PdfDocument) -> str:
    """The language that a PDF says it is in, such as `cs-CZ`; empty where it says none."""
    buffer = (ctypes.c_ushort * _MAX_LANGUAGE)()
    size = pdfium_c.FPDFCatalog_GetLanguage(pdf.raw, buffer, ctypes.sizeof(buffer))
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")


def read_metadata(pdf: pdfium.PdfDocument) -> dict[str, JSON]:
    """Author, subject, keywords, and the dates in ISO form, as far as there are any."""
    metadata: dict[str, JSON] = {}
    for key in ("Author", "Subject", "Keywords"):
        value = pdf.get_metadata_value(key).strip()
        if value and not _NO_TITLE.fullmatch(value):
            metadata[key.lower()] = value
    for key, name in (("CreationDate", "created"), ("ModDate", "modified")):
        date = parse_date(pdf.get_metadata_value(key))
        if date:
            metadata[name] = date
    return metadata


def parse_date(value: str) -> str | None:
    """A PDF date such as `D:20240130101500+01'00'` in ISO form; None for anything else."""
    match = _DATE.match(value)
    if not match:
        return None
    *numbers, sign, hours, minutes = match.groups()
    year, month, day, hour, minute, second = (
        int(n or default) for n, default in zip(numbers, (0, 1, 1, 0, 0, 0), strict=True)
    )
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    zone = timezone(-offset if sign == "-" else offset) if "Z" in value or sign else None
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).isoformat()
    except ValueError:
        return None
