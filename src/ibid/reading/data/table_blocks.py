"""Long tables as blocks: some rows each, the header on every one, a sea of numbers summed up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final, TypeAlias

from ibid.reading.builder import DocumentBuilder, format_table
from ibid.records import BlockKind

Row: TypeAlias = Sequence[str]

ROWS_A_BLOCK: Final = 50
_MAX_NUMBERS: Final = 200  # rows; of a longer table of numbers alone only the columns are told
_KEPT_ROWS: Final = 100  # the first rows of such a table
_NUMERIC: Final = 0.95  # share of its cells that are numbers
_NUMBER: Final = re.compile(
    r"[-+(]?[$€£¥]?\d[\d.,:/ _'-]*(?:[eE][-+]?\d+)?\s?[%)]?|nan|null|none|n/?a|-", re.I
)
_PLAIN_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


def append_rows(
    builder: DocumentBuilder,
    rows: Sequence[Row],
    *,
    header: Row | None,
    place: Callable[[int, int], str],
    lines: Callable[[int, int], tuple[int, int]] | None = None,
) -> None:
    """Put the rows as tables of at most `ROWS_A_BLOCK`, each with the header where there is one.

    `place` and `lines` say where the rows are found, given the numbers, from 0, of the first and
    the last. A table of numbers alone that is long keeps its first rows, and a table that sums up
    the columns of the rest.
    """
    kept = _KEPT_ROWS if _is_sea_of_numbers(rows) else len(rows)
    for first in range(0, kept, ROWS_A_BLOCK):
        last = min(first + ROWS_A_BLOCK, kept) - 1
        table = [*([header] if header else []), *rows[first : last + 1]]
        builder.place = place(first, last)
        builder.append(
            BlockKind.TABLE,
            format_table(table, header=header is not None),
            lines=lines(first, last) if lines else None,
        )
    if kept < len(rows):
        last = len(rows) - 1
        builder.place = place(kept, last)
        said = f"{len(rows) - kept} more rows of numbers are left out here. Their columns:"
        builder.append(BlockKind.PARAGRAPH, said)
        builder.append(
            BlockKind.TABLE,
            format_table(_sum_up(rows[kept:], header), header=True),
            lines=lines(kept, last) if lines else None,
        )
    builder.place = None


def is_header(row: Row) -> bool:
    """True for a first row that can name the columns: words, and numbers only if they are years."""
    return any(row) and all(
        _YEAR.fullmatch(cell.strip()) or not _NUMBER.fullmatch(cell.strip()) for cell in row if cell
    )


def _is_sea_of_numbers(rows: Sequence[Row]) -> bool:
    if len(rows) <= _MAX_NUMBERS:
        return False
    most = sum(map(len, rows)) * (1 - _NUMERIC)  # words beyond which it can't be one any more
    cells = words = 0
    for cell in filter(None, map(str.strip, chain.from_iterable(rows))):
        cells += 1
        words += not _NUMBER.fullmatch(cell)
        if words > most:
            return False
    return cells - words >= cells * _NUMERIC


def _sum_up(rows: Sequence[Row], header: Row | None) -> list[list[str]]:
    """A row for each column: how many values it has, the smallest and the largest number."""
    table = [["Column", "Count", "Smallest", "Largest"]]
    for column in range(max(map(len, rows))):
        name = header[column] if header and column < len(header) else f"column {column + 1}"
        values = [row[column].strip() for row in rows if column < len(row) and row[column].strip()]
        numbers = [value for value in values if _PLAIN_NUMBER.fullmatch(value)]
        ends = [min(numbers, key=float), max(numbers, key=float)] if numbers else []
        table.append([name, str(len(values)), *ends])
    return table
