"""Spreadsheets as text: each sheet a heading, each table Markdown rows that know their cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeAlias

from ibid.reading.builder import DocumentBuilder, format_table
from ibid.records import BlockKind

_BLOCK_ROWS: Final = 50
# A table with more rows of mere numbers than this shows the first of them and sums up the others.
_MAX_NUMBER_ROWS: Final = 200
_SHOWN_NUMBER_ROWS: Final = 100
_YEARS: Final = range(1900, 2101)
_MIN_WORDS: Final = 0.1  # share of a row's cells that hold words, for it to be more than numbers

Kind: TypeAlias = Literal["words", "number", "date"]


class Cell(NamedTuple):
    """One cell that isn't empty: its column from 0, what it shows, and the number behind that."""

    column: int
    text: str
    kind: Kind = "words"
    number: float = 0.0


Row: TypeAlias = tuple[int, list[Cell]]
"""The number of a row, from 1, and its cells from left to right."""


@dataclass(slots=True)
class Sheet:
    """One sheet: its rows from top to bottom, and the words that stand beside its cells."""

    name: str
    rows: list[Row] = field(default_factory=list)
    hidden: bool = False
    comments: list[tuple[str, str]] = field(default_factory=list)  # the cell, the words
    lines: list[str] = field(default_factory=list)  # of text boxes


@lru_cache(maxsize=1024)
def name_column(column: int) -> str:
    """The letters of a column that is counted from 0: A, Z, AA."""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def put_sheet(builder: DocumentBuilder, sheet: Sheet) -> None:
    """Put a sheet: its name, tables, text boxes and comments; one with nothing in it is left out.

    Rows between two empty ones are a table, in blocks of 50 rows that repeat its header, each
    with its cells as place. Lines alone above a table are paragraphs. Rows of mere numbers beyond
    the first 100 are summed up by column, and the text says so.
    """
    if not (sheet.rows or sheet.comments or sheet.lines):
        return
    builder.place = sheet.name
    hidden = " (hidden)" if sheet.hidden else ""
    builder.append(BlockKind.HEADING, sheet.name + hidden, level=1)
    header: Row | None = None
    for band in _split_bands(sheet.rows):
        for row in _pop_captions(band):
            builder.place = _name_place(sheet, [row])
            builder.append(BlockKind.PARAGRAPH, row[1][0].text)
        if band:
            header = _put_table(builder, sheet, band, header)
    builder.place = sheet.name
    for line in sheet.lines:
        builder.append(BlockKind.PARAGRAPH, line)
    for cell, words in sheet.comments:
        builder.place = f"{sheet.name}!{cell}"
        builder.append(BlockKind.PARAGRAPH, words)
    builder.place = None


def _split_bands(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows in groups that no empty row parts."""
    band: list[Row] = []
    for row in rows:
        if band and row[0] > band[-1][0] + 1:
            yield band
            band = []
        band.append(row)
    if band:
        yield band


def _pop_captions(band: list[Row]) -> Iterator[Row]:
    """Take the lines alone above a table off it."""
    if len(_find_columns(band)) > 1:
        while band and len(band[0][1]) == 1 and band[0][1][0].kind == "words":
            yield band.pop(0)


def _find_columns(rows: Iterable[Row]) -> list[int]:
    return sorted({cell.column for _, cells in rows for cell in cells})


def _put_table(
    builder: DocumentBuilder, sheet: Sheet, band: list[Row], earlier: Row | None
) -> Row | None:
    """Put the rows of a table; gives its header, which stands for those below without their own."""
    columns = _find_columns(band)
    header: Row | None = None
    rest = band
    if _is_header(band, columns):
        header, rest = band[0], band[1:]
    elif earlier and _goes_on(band, columns, earlier):
        header, columns = earlier, _find_columns([earlier])
    kept, left_out = _leave_out_numbers(rest)
    for rows in _batch(kept):
        shown = [header, *rows] if header else rows
        whole = header is band[0] and rows[0] is rest[0]
        builder.place = _name_place(sheet, shown if whole else rows)
        grid = [_lay_out(cells, columns) for _, cells in shown]
        if len(columns) == 1:
            builder.append(BlockKind.PARAGRAPH, "\n".join(text for (text,) in grid))
        else:
            builder.append(BlockKind.TABLE, format_table(grid, header=header is not None))
    if left_out:
        _put_summary(builder, sheet, left_out, header)
    return header or earlier


def _goes_on(band: list[Row], columns: list[int], header: Row) -> bool:
    """True for rows with values that stand under the names of the table above."""
    values = any(cell.kind != "words" for _, cells in band for cell in cells)
    return values and len(columns) > 1 and set(columns) <= set(_find_columns([header]))


def _batch(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows in groups of as many as one block holds."""
    return (list(rows[start : start + _BLOCK_ROWS]) for start in range(0, len(rows), _BLOCK_ROWS))


def _is_header(band: list[Row], columns: list[int]) -> bool:
    """True when the first row names most of the columns: by words, years or dates."""
    first = band[0][1]
    if len(band) < 2 or len(first) < 2 or 2 * len(first) <= len(columns):
        return False
    if all(cell.kind == "words" for cell in first):
        return True
    labelled = first[0].kind == "words" or first[0].column > columns[0]
    return labelled and all(map(_is_name, first)) and not all(map(_is_name, band[1][1]))


def _is_name(cell: Cell) -> bool:
    """True for a cell that may well name a column."""
    return cell.kind != "number" or cell.number in _YEARS


def _lay_out(cells: Sequence[Cell], columns: list[int]) -> list[str]:
    if [cell.column for cell in cells] == columns:
        return [cell.text for cell in cells]
    texts = {cell.column: cell.text for cell in cells}
    return [texts.get(column, "") for column in columns]


def _leave_out_numbers(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """The rows to show, and those of mere numbers that are too many to show."""
    numbers = [index for index, (_, cells) in enumerate(rows) if not _has_words(cells)]
    if len(numbers) <= _MAX_NUMBER_ROWS:
        return rows, []
    left_out = set(numbers[_SHOWN_NUMBER_ROWS:])
    kept = [row for index, row in enumerate(rows) if index not in left_out]
    return kept, [rows[index] for index in numbers[_SHOWN_NUMBER_ROWS:]]


def _has_words(cells: list[Cell]) -> bool:
    needed = max(math.ceil(_MIN_WORDS * len(cells)), 1)
    if needed == 1 and cells and cells[0].kind == "words" and cells[0].text[:1].isalpha():
        return True  # as in nearly every row of words
    words = (c for c in cells if c.kind == "words" and any(map(str.isalpha, c.text)))
    return sum(1 for _ in islice(words, needed)) == needed


def _put_summary(
    builder: DocumentBuilder, sheet: Sheet, rows: list[Row], header: Row | None
) -> None:
    """Put what is known of the columns of rows that are left out, and say that they are."""
    names = {cell.column: cell.text for cell in header[1]} if header else {}
    by_column: dict[int, list[Cell]] = {}
    for _, cells in rows:
        for cell in cells:
            by_column.setdefault(cell.column, []).append(cell)
    table = [["Column", "Type", "Count", "Smallest", "Largest"]]
    for column in sorted(by_column):
        cells = by_column[column]
        kind = cells[0].kind if len({cell.kind for cell in cells}) == 1 else "mixed"
        ends: list[str] = ["", ""]
        if kind in ("number", "date"):
            smallest = min(cells, key=lambda cell: cell.number)
            largest = max(cells, key=lambda cell: cell.number)
            ends = [smallest.text, largest.text]
        name = names.get(column) or name_column(column)
        table.append([name, kind, str(len(cells)), *ends])
    builder.place = _name_place(sheet, rows)
    builder.append(
        BlockKind.PARAGRAPH,
        f"{len(rows)} rows of numbers between rows {rows[0][0]} and {rows[-1][0]} of"
        f" {sheet.name} are left out here. Their columns:",
    )
    builder.append(BlockKind.TABLE, format_table(table, header=True))


def _name_place(sheet: Sheet, rows: Sequence[Row]) -> str:
    """The place of rows as a spreadsheet writes it: Prices!A2:D9."""
    columns = [cell.column for _, cells in rows for cell in cells]
    first = f"{name_column(min(columns))}{rows[0][0]}"
    last = f"{name_column(max(columns))}{rows[-1][0]}"
    return f"{sheet.name}!{first}" + (f":{last}" if last != first else "")
