"""PDF: the text layer page by page, its lines put together to paragraphs with page and box."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.errors import EmptyDocument, UnreadableDocument
from ibid.reading.builder import DocumentBuilder
from ibid.reading.pages import report_pages
from ibid.reading.pdf_layout import (
    Line,
    Paragraph,
    can_be_heading,
    find_levels,
    find_paragraphs,
    round_size,
)
from ibid.records import JSON, BlockKind, Document

# One code point for what a reader sees as several letters, or a letter in the shape that its
# neighbours give it: ligatures, and the presentation forms of Armenian, Hebrew and Arabic.
_PRESENTATION_FORMS: Final = re.compile("[\ufb00-\ufd3d\ufd50-\ufdff\ufe70-\ufefc]")
# PDFium puts U+FFFE (earlier: U+0002) for a hyphen that divides a word at the end of a line.
_LINE: Final = re.compile("(?P<text>[^\r\n\ufffe\x02]*)(?P<end>\r\n|[\r\n\ufffe\x02]|$)")
_DATE: Final = re.compile(
    r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?"
)
_NO_TITLE: Final = re.compile(
    r"\W*(untitled|anonymous|unspecified|powerpoint presentation|microsoft \w+ - .*|.*\.\w{2,4})"
    r"\W*",
    re.I | re.S,
)


def read_pdf(data: bytes, name: str) -> Document:
    """The text layer of a PDF; every block has its page and box, none goes over two pages.

    Words divided at line ends are mended, ligatures taken apart, lines of a paragraph joined.
    Larger text than most makes headings. Title, author, subject, keywords and dates come from
    the file's own record; pages that can't be read are listed as `unreadable_pages`.

    Raises UnreadableDocument for an encrypted or broken file, and for one without any text.
    """
    if not data:
        raise EmptyDocument("the file is empty")
    with closing(_open(data)) as pdf:
        count = len(pdf)
        report_pages(count)
        paragraphs, broken = _read_pages(pdf)
        if not paragraphs:
            pages = f"{count} page{'' if count == 1 else 's'}"
            if len(broken) == count:
                raise UnreadableDocument(f"none of its {pages} can be read: the PDF is broken")
            raise UnreadableDocument(f"no text on any of {pages}", hint="install the ocr extra")
        metadata = _read_metadata(pdf)
        title = pdf.get_metadata_value("Title").strip()
    if broken:
        metadata["unreadable_pages"] = [*broken]
    builder = DocumentBuilder()
    heading = _put_paragraphs(builder, paragraphs)
    title = heading if not title or _NO_TITLE.fullmatch(title) else title
    return builder.build(title=title or None, media_type="application/pdf", metadata=metadata)


def _open(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
            raise UnreadableDocument(
                "the PDF is encrypted", hint="give its password with --password"
            ) from error
        raise UnreadableDocument("the PDF is broken: it can't be opened") from error


def _read_pages(pdf: pdfium.PdfDocument) -> tuple[list[Paragraph], list[int]]:
    """The paragraphs of all pages, and the numbers of the pages that can't be read."""
    paragraphs: list[Paragraph] = []
    broken: list[int] = []
    for index in range(len(pdf)):
        try:
            with closing(pdf[index]) as page, closing(page.get_textpage()) as text_page:
                lines = list(_read_lines(page, text_page))
        except pdfium.PdfiumError:
            broken.append(index + 1)
            continue
        paragraphs.extend(find_paragraphs(lines, index + 1))
    return paragraphs, broken


def _read_lines(page: pdfium.PdfPage, text_page: pdfium.PdfTextPage) -> Iterator[Line]:
    """The lines of a page in the order that PDFium gives them."""
    place = _Placement(page)
    for match in _LINE.finditer(text_page.get_text_range()):
        text = match["text"]
        clean = _clean(text)
        if not clean:
            continue
        first = match.start() + len(text) - len(text.lstrip())
        last = match.start() + len(text.rstrip()) - 1
        boxes = [place.find_box(text_page, i) for i in {first, (first + last) // 2, last}]
        found = [box for box in boxes if box] or [(0.0, 0.0, 0.0, 0.0)]
        left, top = min(box[0] for box in found), min(box[1] for box in found)
        right, bottom = max(box[2] for box in found), max(box[3] for box in found)
        size = round_size(sorted(box[3] - box[1] for box in found)[len(found) // 2])
        hyphenated = match["end"] in ("\ufffe", "\x02")
        yield Line(clean, left, top, right, bottom, size, hyphenated)


def _clean(text: str) -> str:
    """The text as a reader takes it: without soft hyphens, ligatures as their letters."""
    text = _PRESENTATION_FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)
    return " ".join(text.replace("\xad", "").split())


class _Placement:
    """Turns PDF's coordinates, from the bottom left, into those of the page as it is shown."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self._crop = page.get_cropbox()
        self._rotation = page.get_rotation()

    def find_box(
        self, text_page: pdfium.PdfTextPage, index: int
    ) -> tuple[float, float, float, float] | None:
        """Left, top, right and bottom of a character; None when PDFium knows no box for it."""
        char = pdfium_c.FPDFText_GetCharIndexFromTextIndex(text_page, index)
        try:
            left, bottom, right, top = text_page.get_charbox(max(char, 0), loose=True)
        except pdfium.PdfiumError:
            return None
        crop_left, crop_bottom, crop_right, crop_top = self._crop
        if self._rotation == 90:
            return bottom - crop_bottom, left - crop_left, top - crop_bottom, right - crop_left
        if self._rotation == 180:
            return crop_right - right, bottom - crop_bottom, crop_right - left, top - crop_bottom
        if self._rotation == 270:
            return crop_top - top, crop_right - right, crop_top - bottom, crop_right - left
        return left - crop_left, crop_top - top, right - crop_left, crop_top - bottom


def _put_paragraphs(builder: DocumentBuilder, paragraphs: list[Paragraph]) -> str | None:
    """Put every paragraph as a block; the first heading of the highest level on the first page."""
    levels = find_levels(paragraphs)
    title: str | None = None
    for paragraph in paragraphs:
        level = levels.get(round_size(paragraph.size), 0) if can_be_heading(paragraph) else 0
        text = " ".join(paragraph.text.split()) if level else paragraph.text
        if level == 1 and paragraph.page == 1:
            title = title or text
        builder.append(
            BlockKind.HEADING if level else BlockKind.PARAGRAPH,
            text,
            level=level,
            page=paragraph.page,
            boxes=(paragraph.box,),
        )
    return title


def _read_metadata(pdf: pdfium.PdfDocument) -> dict[str, JSON]:
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
