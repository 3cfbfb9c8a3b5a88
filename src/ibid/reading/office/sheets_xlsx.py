"""Excel workbooks (.xlsx, .xlsm): cells as they are shown, streamed row by row.

Cells are taken as they are listed, so a sheet with one cell in each corner costs no more than its
two cells; a reader that lays out the whole rectangle would die of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lxml import etree

from ibid.reading.archive import stream_xml
from ibid.reading.builder import DocumentBuilder
from ibid.reading.office.embedded import read_embedded
from ibid.reading.office.ooxml import Package, R, find_ole_name, is_ole, open_package
from ibid.reading.office.ooxml_drawing import read_text_body
from ibid.reading.office.sheets import Cell, Row, Sheet, put_sheet
from ibid.reading.office.sheets_format import BUILT_IN, format_plain, format_value, is_date_format
from ibid.reading.office.sheets_xls import read_xls
from ibid.reading.pages import report_pages
from ibid.records import BlockKind, Document

S: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_BYTES_A_PAGE: Final = 60_000  # of XML
_REFERENCE: Final = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_INDEX: Final = re.compile("[0-9]{1,9}")
_GENERAL: Final = "General"
_VALUE: Final = f"{S}v"
_TEXT: Final = f"{S}t"
_PHONETIC: Final = f"{S}rPh"
_MAX_LETTERS: Final = 3  # of the name of a column
_MAX_REPEATED: Final = 100_000  # cells that are filled from merged ones, in a sheet
_THREAD: Final = re.compile(r"\[Threaded comment\].*?Comment:\s*", re.S)  # a note to old programs


def read_xlsx(data: bytes, name: str, *, password: str | None = None) -> Document:
    """The sheets of a workbook with the values that were computed last.

    Numbers are written as their format shows them, dates in ISO form. A cell merged over several
    rows stands in each of them. Text boxes and comments follow their sheet; page headers and
    footers are dropped; hidden sheets are marked. Files embedded as objects are documents of their
    own.

    Raises UnreadableDocument for a broken file, and for one that another password opens.
    """
    if is_ole(data) and find_ole_name(data, "Workbook"):
        return read_xls(data, name)
    package = open_package(data, password)
    main = package.find_main()
    if main.endswith(".bin"):
        return read_xls(data, name)
    workbook = package.parse(main)
    book = _read_book(package, main, workbook)
    builder = DocumentBuilder()
    relations = package.read_relations(main)
    parts = []
    for node in workbook.iter(f"{S}sheet"):
        relation = relations.get(node.get(f"{R}id") or "")
        if relation is not None and relation.kind == "worksheet":
            hidden = node.get("state", "visible") != "visible"
            parts.append(relation.target)
            sheet = Sheet(node.get("name") or "", hidden=hidden)
            _read_sheet(sheet, package, relation.target, book)
            put_sheet(builder, sheet)
    documents, lines = read_embedded(package, parts)
    builder.append(BlockKind.PARAGRAPH, "\n".join(lines))
    title, metadata = package.read_properties()
    return builder.build(title=title, metadata=metadata, attachments=tuple(documents))


@dataclass(frozen=True, slots=True)
class _Book:
    """What all sheets share: the texts, the code of each cell style's format, the calendar."""

    strings: list[str]
    formats: list[str]
    from_1904: bool


def _read_book(package: Package, main: str, workbook: etree._Element) -> _Book:
    strings: list[str] = []
    for part in package.find_related(main, "sharedStrings"):
        strings += (_read_string(node) for node in stream_xml(package.read(part), [f"{S}si"]))
    properties = workbook.find(f"{S}workbookPr")
    calendar = None if properties is None else properties.get("date1904")
    styles = package.parse_related(main, "styles")
    return _Book(strings, _read_formats(styles), calendar in ("1", "true"))


def _read_formats(styles: etree._Element | None) -> list[str]:
    """The format codes of the cell styles, in their order."""
    if styles is None:
        return []
    codes = {str(id): code for id, code in BUILT_IN.items()}
    for node in styles.iter(f"{S}numFmt"):
        codes[node.get("numFmtId") or ""] = node.get("formatCode") or ""
    cells = styles.findall(f"{S}cellXfs/{S}xf")
    return [codes.get(node.get("numFmtId") or "", _GENERAL) for node in cells]


def _read_string(node: etree._Element) -> str:
    """The text of a string, without the small signs that tell how it is pronounced."""
    only = node
    while len(only) == 1 and only.tag != _PHONETIC:  # most hold one piece of text and nothing else
        only = only[0]
    if only.tag == _TEXT:
        return only.text or ""
    return "".join(
        text.text or ""
        for text in node.iter(_TEXT)
        if (parent := text.getparent()) is None or parent.tag != _PHONETIC
    )


def _read_sheet(sheet: Sheet, package: Package, name: str, book: _Book) -> None:
    data = package.read(name)
    report_pages(len(data) // _BYTES_A_PAGE)
    merges: list[str] = []
    for node in stream_xml(data, [f"{S}row", f"{S}mergeCell"]):
        if node.tag == f"{S}mergeCell":
            merges.append(node.get("ref") or "")
            continue
        number = node.get("r") or ""
        last = sheet.rows[-1][0] if sheet.rows else 0
        cells = list(_read_cells(node, book))
        if cells:
            row = int(number) if re.fullmatch("[0-9]{1,7}", number) else last + 1
            sheet.rows.append((row, cells))
    sheet.rows.sort(key=lambda row: row[0])
    _repeat_merged(sheet.rows, merges)
    for part in package.find_related(name, "drawing"):
        for body in package.parse(part).iter(f"{_DRAWING}txBody"):
            sheet.lines.append("\n".join(line.text for line in read_text_body(body)))
    for part in package.find_related(name, "comments"):
        sheet.comments += _read_comments(package.parse(part))


def _read_cells(row: etree._Element, book: _Book) -> Iterator[Cell]:
    """The cells of a row that show something."""
    column = -1
    for node in row:
        letters = (node.get("r") or "").rstrip("0123456789")
        column = read_column(letters) if letters else column + 1
        kind = node.get("t", "n")
        if kind == "inlineStr":
            text = _read_string(node)
        else:
            value = _find_value(node)
            if value is None:
                continue
            if kind == "n":
                yield _read_number(value, column, node.get("s"), book)
                continue
            text = _read_text(value, kind, book)
        if text.strip():
            yield Cell(column, text)


def _find_value(cell: etree._Element) -> str | None:
    for child in cell:
        if child.tag == _VALUE:
            return child.text
    return None


def _read_text(value: str, kind: str, book: _Book) -> str:
    if kind == "s":
        index = int(value) if _INDEX.fullmatch(value) else len(book.strings)
        return book.strings[index] if index < len(book.strings) else ""
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    return value


def _read_number(value: str, column: int, style: str | None, book: _Book) -> Cell:
    try:
        number = float(value)
    except ValueError:
        return Cell(column, value)
    index = int(style) if style and _INDEX.fullmatch(style) else 0
    code = book.formats[index] if index < len(book.formats) else _GENERAL
    if code == _GENERAL:
        return Cell(column, format_plain(number), "number", number)
    text = format_value(number, code, from_1904=book.from_1904)
    return Cell(column, text, "date" if is_date_format(code) else "number", number)


@lru_cache(maxsize=1024)
def read_column(letters: str) -> int:
    """The column from 0 that letters name: A is 0, AA is 26."""
    column = 0
    for letter in letters[:_MAX_LETTERS]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return max(column - 1, 0)


def _repeat_merged(rows: list[Row], merges: list[str]) -> None:
    """Fill the rows that a merged cell reaches down to, so that each can be understood alone."""
    by_number = dict(rows)
    left = _MAX_REPEATED
    for merge in merges:
        ends = [_REFERENCE.fullmatch(end) for end in merge.split(":")]
        if len(ends) != 2 or ends[0] is None or ends[1] is None:
            continue
        column, first, last = read_column(ends[0][1]), int(ends[0][2]), int(ends[1][2])
        text = [cell for cell in by_number.get(first, []) if cell.column == column]
        for number in range(first + 1, min(last, first + left) + 1) if text else ():
            left -= 1
            cells = by_number.get(number)
            if cells is not None and all(cell.column != column for cell in cells):
                cells.append(text[0])
                cells.sort()


def _read_comments(root: etree._Element) -> Iterator[tuple[str, str]]:
    """The comments of a sheet, each with its cell."""
    authors = [node.text or "" for node in root.iter(f"{S}author")]
    for node in root.iter(f"{S}comment"):
        index = node.get("authorId") or ""
        known = _INDEX.fullmatch(index) and int(index) < len(authors)
        author = authors[int(index)] if known else ""
        words = _THREAD.sub("", _read_string(node)).removeprefix(f"{author}:").strip()
        by = f" by {author}" if author and not author.startswith("tc=") else ""
        if words:
            yield node.get("ref") or "", f"Comment{by}: {words}"
