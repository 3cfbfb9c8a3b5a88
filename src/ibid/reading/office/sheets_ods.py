"""OpenDocument spreadsheets (.ods): cells as they are shown, streamed row by row."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from lxml import etree

from ibid.reading.archive import stream_xml
from ibid.reading.builder import DocumentBuilder
from ibid.reading.office.odt_package import (
    DC,
    OFFICE,
    STYLE,
    TABLE,
    TEXT,
    open_package,
    read_count,
    read_properties,
)
from ibid.reading.office.sheets import Cell, Kind, Sheet, name_column, put_sheet
from ibid.reading.office.sheets_format import format_date, format_plain
from ibid.reading.pages import report_pages
from ibid.records import Document

_BYTES_A_PAGE: Final = 60_000  # of XML
_MAX_REPEATED: Final = 256  # times that one cell or row with something in it is written out
_CELLS: Final = frozenset({f"{TABLE}table-cell", f"{TABLE}covered-table-cell"})
_REPEATED_CELLS: Final = f"{TABLE}number-columns-repeated"
_PARAGRAPH: Final = f"{TEXT}p"
_COMMENT: Final = f"{OFFICE}annotation"
_VALUE_TYPE: Final = f"{OFFICE}value-type"
_EPOCH: Final = datetime(1899, 12, 30)
_DAY_SECONDS: Final = 86_400
_NUMBERS: Final = frozenset({"float", "percentage", "currency"})


def read_ods(data: bytes, name: str) -> Document:
    """The sheets of a spreadsheet with the values that were computed last, as they are shown.

    Dates are in ISO form; text boxes and comments follow their sheet; hidden sheets are marked.

    Raises UnreadableDocument for a broken file, and for one protected by a password.
    """
    archive = open_package(data)
    content = archive.read("content.xml")
    report_pages(len(content) // _BYTES_A_PAGE)
    builder = DocumentBuilder()
    for sheet in _read_sheets(content):
        put_sheet(builder, sheet)
    title, metadata = read_properties(archive)
    return builder.build(title=title, metadata=metadata)


def _read_sheets(content: bytes) -> Iterator[Sheet]:
    """The sheets one after the other, each when all of its rows have been read."""
    hidden: set[str] = set()
    sheet, next_row = Sheet(""), 1
    tags = [f"{STYLE}style", f"{TABLE}table-row", f"{TABLE}shapes", f"{TABLE}table"]
    for node in stream_xml(content, tags):
        if node.tag == f"{STYLE}style":
            properties = node.find(f"{STYLE}table-properties")
            if properties is not None and properties.get(f"{TABLE}display") == "false":
                hidden.add(node.get(f"{STYLE}name") or "")
        elif node.tag == f"{TABLE}shapes":
            sheet.lines += filter(str.strip, map(_join, node.iter(f"{TEXT}p")))
        elif node.tag == f"{TABLE}table-row":
            next_row = _put_row(sheet, node, next_row)
        elif node.get(f"{TABLE}name"):
            sheet.name = node.get(f"{TABLE}name") or ""
            sheet.hidden = (node.get(f"{TABLE}style-name") or "") in hidden
            yield sheet
            sheet, next_row = Sheet(""), 1


def _put_row(sheet: Sheet, node: etree._Element, number: int) -> int:
    """Put a row as often as it is repeated; gives the number of the row after it."""
    cells: list[Cell] = []
    column = 0
    for child in node:
        if child.tag not in _CELLS:
            continue
        repeated = 1
        if child.get(_REPEATED_CELLS):
            repeated = max(read_count(child, _REPEATED_CELLS, 1), 1)
        inner = list(child)
        tags = [one.tag for one in inner]
        cell = _read_cell(child, inner, tags, column)
        if cell is not None and repeated == 1:
            cells.append(cell)
        elif cell is not None:
            copies = range(column, column + min(repeated, _MAX_REPEATED))
            cells += (cell._replace(column=copy) for copy in copies)
        if _COMMENT in tags:
            sheet.comments += _read_comments(child, f"{name_column(column)}{number}")
        column += repeated
    repeated = max(read_count(node, f"{TABLE}number-rows-repeated", 1), 1)
    if cells:
        sheet.rows += ((number + copy, cells) for copy in range(min(repeated, _MAX_REPEATED)))
    return number + repeated


def _read_cell(
    node: etree._Element, inner: list[etree._Element], tags: list[str], column: int
) -> Cell | None:
    """What a cell with these nodes in it, and their tags, shows; None for nothing."""
    if len(tags) == 1:
        text = _join(inner[0]) if tags[0] == _PARAGRAPH else ""
    else:
        paragraphs = zip(inner, tags, strict=True)
        text = " ".join([_join(one) for one, tag in paragraphs if tag == _PARAGRAPH])
    value_type = node.get(_VALUE_TYPE)
    kind: Kind = "words"
    number = 0.0
    if value_type in _NUMBERS:
        kind, number = "number", _to_number(node.get(f"{OFFICE}value") or "")
        text = text or format_plain(number)
    elif value_type == "date":
        moment = _to_moment(node.get(f"{OFFICE}date-value") or "")
        if moment is not None:
            kind, text = "date", format_date(moment)
            number = (moment - _EPOCH).total_seconds() / _DAY_SECONDS
    return Cell(column, text, kind, number) if text.strip() else None


def _to_number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return 0.0


def _to_moment(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value).replace(tzinfo=None)
    except ValueError:
        return None


def _join(paragraph: etree._Element) -> str:
    """The text of a paragraph in a cell."""
    if not len(paragraph):
        return paragraph.text or ""
    pieces: list[str] = []
    for node in paragraph.iter():
        if node.tag == f"{TEXT}s":
            pieces.append(" ")
        if node.tag != f"{TEXT}ruby-text":
            pieces.append(node.text or "")
        if node is not paragraph:
            pieces.append(node.tail or "")
    return "".join(pieces)


def _read_comments(cell: etree._Element, place: str) -> Iterator[tuple[str, str]]:
    for node in cell.iterchildren(_COMMENT):
        author = node.findtext(f"{DC}creator")
        words = " ".join(map(_join, node.iter(f"{TEXT}p"))).strip()
        if words:
            yield place, f"Comment{f' by {author}' if author else ''}: {words}"
