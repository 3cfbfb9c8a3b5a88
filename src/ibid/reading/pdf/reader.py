"""PDF: its pages in reading order as headings, paragraphs, lists and tables with page and boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ibid.errors import EmptyDocument, UnreadableDocument
from ibid.reading.attachments import drop_folders, read_attachments
from ibid.reading.builder import DocumentBuilder
from ibid.reading.pages import report_page, report_pages
from ibid.reading.pdf import ocr
from ibid.reading.pdf.blocks import append_pages
from ibid.reading.pdf.headings import Entry, read_outline
from ibid.reading.pdf.lines import read_lines
from ibid.reading.pdf.margins import drop_running
from ibid.reading.pdf.notes import Note, read_notes
from ibid.reading.pdf.page import PageText
from ibid.reading.pdf.properties import find_language, find_title, read_metadata
from ibid.reading.pdf.rules import find_rules
from ibid.reading.pdf.scans import has_gibberish, needs_recognition, recognize_page
from ibid.records import JSON, BlockKind, Document

_MAX_ATTACHMENTS: Final = 1000


def read_pdf(
    data: bytes,
    name: str,
    *,
    password: str | None = None,
    last_page: int | None = None,
    languages: Sequence[str] = (),
) -> Document:
    """The pages of a PDF; every block has its page and boxes, none goes over two pages.

    Columns are read one after the other, tables as rows, running headers and footers once, in
    the metadata. Words divided at line ends are mended, ligatures taken apart, lines of a
    paragraph joined. Headings are told by the outline, by size and by weight. Remarks and filled
    in fields follow the text of their page. Pages without text, or whose text layer is gibberish,
    are recognized where tesseract is installed, in `languages` if given, and else listed as
    `pages_without_text`; pages that can't be read as `unreadable_pages`. Files within it are its
    attachments. Pages behind `last_page` are not looked at.

    Raises UnreadableDocument for one that is encrypted with another password, or broken, or
    without any text.
    """
    if not data:
        raise EmptyDocument("the file is empty")
    with closing(_open(data, password)) as pdf:
        pdf.init_forms()
        report_pages(len(pdf))
        content = _Content(
            outline=read_outline(pdf), languages=languages, language=find_language(pdf)
        )
        _read_pages(pdf, content, len(pdf) if last_page is None else min(last_page, len(pdf)))
        report_page(0)
        metadata = read_metadata(pdf)
        title = find_title(pdf)
        attachments, lines = read_attachments(_extract_attachments(pdf))
    pages, running = drop_running(content.pages)
    builder = DocumentBuilder()
    heading = append_pages(builder, pages, content.notes, content.outline)
    builder.append(BlockKind.PARAGRAPH, "\n".join(lines))
    if builder.is_empty:
        raise _explain_no_text(content)
    metadata |= content.describe()
    if running:
        metadata["running_text"] = [*running]
    return builder.build(
        title=title or heading,
        media_type="application/pdf",
        metadata=metadata,
        attachments=tuple(attachments),
    )


@dataclass(slots=True)
class _Content:
    """What the pages of a PDF hold, and the numbers of those that hold nothing.

    Its scans are in `languages` where these are asked for; `language` is the one it says it is in.
    """

    pages: list[PageText] = field(default_factory=list)
    notes: dict[int, list[Note]] = field(default_factory=dict)
    outline: list[Entry] = field(default_factory=list)
    languages: Sequence[str] = ()
    language: str = ""
    broken: list[int] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)
    garbled: bool = False
    recognized: dict[int, float] = field(default_factory=dict)

    def describe(self) -> dict[str, JSON]:
        """What a reader of the text should know about the pages."""
        told: dict[str, JSON] = {}
        if self.broken:
            told["unreadable_pages"] = [*self.broken]
        if self.silent:
            told["pages_without_text"] = [*self.silent]
        if self.recognized:
            told["recognized_pages"] = [*self.recognized]
            trust = sum(self.recognized.values()) / len(self.recognized)
            told["recognition_confidence"] = round(trust, 1)
        return told


def _open(data: bytes, password: str | None) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data, password)
    except pdfium.PdfiumError as error:
        if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
            raise UnreadableDocument(
                "the password doesn't open the PDF" if password else "the PDF is encrypted",
                hint="give its password with --password",
            ) from error
        raise UnreadableDocument("the PDF is broken: it can't be opened") from error


def _read_pages(pdf: pdfium.PdfDocument, content: _Content, count: int) -> None:
    """Add the pages up to this number to the content."""
    for index in range(count):
        number = index + 1
        report_page(number)
        try:
            with closing(pdf[index]) as page:
                content.pages.append(_read_page(page, number, content))
                notes = list(read_notes(pdf, page))
        except pdfium.PdfiumError:
            content.broken.append(number)
            continue
        if notes:
            content.notes[number] = notes


def _read_page(page: pdfium.PdfPage, number: int, content: _Content) -> PageText:
    with closing(page.get_textpage()) as text_page:
        text = read_lines(page, text_page, number)
    if needs_recognition(page, text):
        garbled = has_gibberish(text)
        languages = ocr.choose_languages(content.languages, content.language)
        found = recognize_page(page, number, languages)
        if found and (found.confidence >= ocr.TRUST or not text.lines or garbled):
            content.recognized[number] = found.confidence
            return found.text
        if garbled:
            content.garbled = True
            text = text._replace(lines=[])
        if not text.lines:
            content.silent.append(number)
    return text._replace(rules=find_rules(page, text)) if text.has_rows else text


def _extract_attachments(pdf: pdfium.PdfDocument) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of each file within the PDF that can be taken out."""
    for i in range(min(pdf.count_attachments(), _MAX_ATTACHMENTS)):
        try:
            attachment = pdf.get_attachment(i)
            name = attachment.get_name() or f"attachment {i + 1}"
            yield drop_folders(name), bytes(attachment.get_data())
        except pdfium.PdfiumError:
            continue


def _explain_no_text(content: _Content) -> UnreadableDocument:
    count = len(content.pages) + len(content.broken)
    pages = f"{count} page{'' if count == 1 else 's'}"
    if len(content.broken) == count:
        return UnreadableDocument(f"none of its {pages} can be read: the PDF is broken")
    kind = "readable text" if content.garbled else "text"
    scanned = content.silent and not ocr.find_languages()
    return UnreadableDocument(f"no {kind} on any of {pages}", hint=ocr.HINT if scanned else "")
