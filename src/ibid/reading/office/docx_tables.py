"""The tables of Word files as grids of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from lxml import etree

from ibid.reading.office.docx_styles import W, is_on, read_value

_MAX_SPAN: Final = 63  # columns, as many as Word has
_FIRST_ROW: Final = 0x20  # bit of a table's look: its first row is set apart


def has_one_column(table: etree._Element) -> bool:
    """True for a table that frames text: no row has a second cell."""
    return all(sum(1 for _ in _find(row, "tc")) < 2 for row in _find(table, "tr"))


def read_grid(
    table: etree._Element, read_cell: Callable[[etree._Element], str]
) -> tuple[list[list[str]], bool]:
    """The texts of a table's cells, row by row; True when the first row is a header.

    A cell that is merged is repeated in every row and column it covers, so that each row can be
    understood alone; one that covers the whole row stands in it once.
    """
    rows: list[list[str]] = []
    for row in _find(table, "tr"):
        properties = row.find(f"{W}trPr")
        if properties is not None and properties.find(f"{W}del") is not None:
            continue
        above = rows[-1] if rows else []
        cells = [""] * _read_count(properties, "gridBefore", 0)
        whole = not cells
        for cell in _find(row, "tc"):
            whole = whole and not cells
            span = _read_count(cell.find(f"{W}tcPr"), "gridSpan", 1)
            text = read_cell(cell)
            if _goes_on(cell) and len(cells) < len(above):
                text = text or above[len(cells)]
            cells += [text] * span
        rows.append(cells[:1] + [""] * (len(cells) - 1) if whole else cells)
    filled = [row for row in rows if any(row)]
    return filled, len(filled) > 1 and filled[0] == rows[0] and _has_header(table)


def _find(node: etree._Element, name: str) -> Iterator[etree._Element]:
    """The rows of a table or the cells of a row, also those within content controls."""
    for child in node:
        if child.tag == W + name:
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml"):
            yield from _find(child, name)


def _read_count(properties: etree._Element | None, name: str, default: int) -> int:
    value = read_value(properties, name) or ""
    if not value.isdecimal() or len(value) > 9:
        return default
    return min(max(int(value), default), _MAX_SPAN)


def _goes_on(cell: etree._Element) -> bool:
    """True for a cell that belongs to the one above it."""
    merge = cell.find(f"{W}tcPr/{W}vMerge")
    return merge is not None and merge.get(f"{W}val") != "restart"


def _has_header(table: etree._Element) -> bool:
    first = next(_find(table, "tr"))
    if is_on(first.find(f"{W}trPr"), "tblHeader"):
        return True
    look = table.find(f"{W}tblPr/{W}tblLook")
    if look is None:
        return False
    if look.get(f"{W}firstRow"):
        return look.get(f"{W}firstRow") in ("1", "true", "on")
    try:
        return bool(int(look.get(f"{W}val") or "0", 16) & _FIRST_ROW)
    except ValueError:
        return False
