"""Workbooks in Excel's binary formats (.xls, .xlsb), through calamine."""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from typing import Final

import python_calamine as calamine

from ibid.errors import UnreadableDocument
from ibid.reading.archive import make_protected_error
from ibid.reading.builder import DocumentBuilder
from ibid.reading.office.sheets import Cell, Sheet, put_sheet
from ibid.reading.office.sheets_format import format_date, format_plain
from ibid.reading.pages import report_pages
from ibid.records import Document

_BYTES_A_PAGE: Final = 20_000
_DAY_SECONDS: Final = 86_400
_EPOCH: Final = datetime(1899, 12, 30)


def read_xls(data: bytes, name: str) -> Document:
    """The sheets of a workbook with the values that were computed last; numbers without format.

    Raises UnreadableDocument for a broken file, and for one protected by a password.
    """
    report_pages(len(data) // _BYTES_A_PAGE)
    builder = DocumentBuilder()
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        for known in book.sheets_metadata:
            if known.typ == calamine.SheetTypeEnum.WorkSheet:
                hidden = known.visible != calamine.SheetVisibleEnum.Visible
                put_sheet(builder, _read_sheet(book, known.name, hidden=hidden))
    except calamine.PasswordError as error:
        raise make_protected_error() from error
    except calamine.CalamineError as error:
        raise UnreadableDocument(f"damaged: not a whole workbook ({error})") from error
    return builder.build()


def _read_sheet(book: calamine.CalamineWorkbook, name: str, *, hidden: bool) -> Sheet:
    found = Sheet(name, hidden=hidden)
    sheet = book.get_sheet_by_name(name)
    if sheet.start is None:
        return found
    left = sheet.start[1]
    # Row by row: as one list a sparse sheet takes twice the memory. It begins with the empty rows
    # above the first cell, but leaves the empty columns before it out.
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = [_make_cell(column, value) for column, value in enumerate(row, left) if value != ""]
        if cells:
            found.rows.append((number, cells))
    return found


def _make_cell(
    column: int, value: int | float | str | bool | time | date | datetime | timedelta
) -> Cell:
    if isinstance(value, bool):
        return Cell(column, "TRUE" if value else "FALSE")
    if isinstance(value, int | float):
        return Cell(column, format_plain(value), "number", value)
    if isinstance(value, str):
        return Cell(column, value)
    return Cell(column, format_date(value), "date", _count_days(value))


def _count_days(value: time | date | datetime | timedelta) -> float:
    """The number that stands for a moment in a workbook: days since the end of 1899."""
    if isinstance(value, timedelta):
        return value.total_seconds() / _DAY_SECONDS
    if isinstance(value, time):
        value = datetime.combine(_EPOCH.date(), value)
    elif not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return (value - _EPOCH).total_seconds() / _DAY_SECONDS
