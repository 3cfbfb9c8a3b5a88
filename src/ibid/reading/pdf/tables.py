"""Tables of a PDF page: told from prose in columns, and their pieces put into cells."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median
from typing import Final, TypeAlias

from ibid.reading.pdf.boxes import Rectangle, unite
from ibid.reading.pdf.page import Line, Rule

_SAME_ROW: Final = 0.5  # of the lower height is shared
_PROSE: Final = 25  # characters on the mean in a line of a column of prose
_FILLED: Final = 0.5  # of the column's width, by half of its lines: prose
_ALIGNED: Final = 0.6  # of the columns
_NEAR: Final = 0.4  # of the size: at the same place
_LEAST_ROWS: Final = 3  # where no figures tell that it is a table
_SHORT: Final = 0.6  # times as long as what they name
_TELLING: Final = 0.5  # share of cells with figures, or of labels with a colon
_LABELS: Final = 0.7  # times the lines of the column beside: a column of labels
_FEW: Final = 6  # one row in so many may cover what divides columns
_VOTERS: Final = 0.5  # of the pieces of the fullest row: such rows say where columns are
_TIGHT: Final = 0.8  # times the usual distance of rows: the same row goes on
_RULED: Final = 0.5  # of the table's width
_MAX_RULED_ROW: Final = 8  # rows of text between two rules; more are no cell

_FIGURES: Final = re.compile(r"[^\w]*[\d][\d.,:/%\s-]*\D{0,3}|[-–—]|n/?a", re.I)

Row: TypeAlias = list[Line]


@dataclass(frozen=True, slots=True)
class _Grid:
    """The columns of a table, by the places midway between them."""

    edges: tuple[float, ...]

    @property
    def columns(self) -> int:
        return len(self.edges) + 1

    def find(self, piece: Line) -> int:
        """The number of the column that the middle of a piece is in."""
        return bisect(self.edges, (piece.left + piece.right) / 2)


@dataclass(slots=True)
class Table:
    """Rows of cells, and where on the page each row stands: left, top, right, bottom."""

    rows: list[list[str]] = field(default_factory=list)
    boxes: list[Rectangle] = field(default_factory=list)
    size: float = 0.0


def find_rows(pieces: Sequence[Line]) -> list[Row]:
    """The pieces from top to bottom, those together that stand side by side."""
    rows: list[Row] = []
    top = bottom = 0.0
    for piece in sorted(pieces, key=lambda piece: piece.top + piece.bottom):
        shared = min(bottom, piece.bottom) - max(top, piece.top)
        lower = min(bottom - top, piece.bottom - piece.top)
        if rows and shared > lower * _SAME_ROW:
            rows[-1].append(piece)
        else:
            rows.append([piece])
            top, bottom = piece.top, piece.bottom
    return rows


def find_table(
    rows: Sequence[Row], columns: Sequence[Row], rules: Sequence[Rule], *, backwards: bool
) -> tuple[list[Row], Table, list[Row]] | None:
    """The table that the rows are, with those before and after that aren't of it; None for prose.

    `columns` are the same pieces by the gutters between them. No piece is lost: each is in one
    cell, or in a row before or after.
    """
    column_of = {id(piece): i for i, column in enumerate(columns) for piece in column}
    full = [i for i, row in enumerate(rows) if len({column_of[id(piece)] for piece in row}) > 1]
    if len(full) < 2:
        return None
    first, last = full[0], full[-1] + 1
    inner = list(rows[first:last])
    rules = _choose_rules(inner, rules)
    grid = _find_grid(inner)
    ruled = bool(_group_by_rules(inner, rules, grid))
    if not ruled and not (_is_tabular(inner, columns) and _is_aligned(inner, grid)):
        return None
    while last < len(rows) and _goes_on(rows[last - 1], rows[last], grid):
        last += 1
    inner = list(rows[first:last])
    groups = _group_by_rules(inner, rules, grid) or _group_by_distance(inner, grid)
    table = Table(size=median(piece.size for row in inner for piece in row))
    for group in groups:
        table.rows.append(_fill_cells(group, grid, backwards))
        table.boxes.append(_find_box([piece for row in group for piece in row]))
    return list(rows[:first]), table, list(rows[last:])


def _is_tabular(rows: Sequence[Row], columns: Sequence[Row]) -> bool:
    """True when the pieces are cells that belong to rows, rather than lines of columns."""
    beside = sum(len(row) for row in rows if len(row) > 1)
    if beside < sum(len(row) for row in rows) * _TELLING:
        return False
    prose = [column for column in columns if _is_prose(column)]
    figures = any(map(_tells, columns))
    if len(prose) > 1 or (len(rows) < _LEAST_ROWS and not figures):
        return False
    if len(columns) > 2 or figures:
        return True
    left, right = columns
    if prose and len(left) != len(right):
        other = left if prose[0] is right else right
        return len(other) <= len(prose[0]) * _LABELS
    return _names(left, right)


def _is_aligned(rows: Sequence[Row], grid: _Grid) -> bool:
    """True when in most columns but the first the pieces stand one below the other."""
    columns: list[Row] = [[] for _ in range(grid.columns)]
    for row in rows:
        for piece in row:
            columns[grid.find(piece)].append(piece)
    inner = [_stands_in_line(column) for column in columns[1:] if column]
    return sum(inner) > len(inner) * _ALIGNED


def _stands_in_line(column: Sequence[Line]) -> bool:
    """True when half of the pieces begin, end or are centred at the same place."""
    near = median(piece.size for piece in column) * _NEAR
    lefts, rights = [piece.left for piece in column], [piece.right for piece in column]
    # Lines of prose end at the same place as well.
    edges = [lefts] if _is_prose(column) else [lefts, rights]
    edges.append([(left + right) / 2 for left, right in zip(lefts, rights, strict=True)])
    return any(
        sum(1 for place in places if abs(place - middle) <= near) >= len(places) * _TELLING
        for places, middle in ((edge, median(edge)) for edge in edges)
    )


def _names(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """True for a column of short names beside one of as many longer explanations."""
    if len(left) != len(right):
        return False
    return fmean(len(one.text) for one in left) < fmean(len(one.text) for one in right) * _SHORT


def _is_prose(column: Sequence[Line]) -> bool:
    if fmean(len(piece.text) for piece in column) < _PROSE:
        return False
    left, right = min(one.left for one in column), max(one.right for one in column)
    return median(one.right - one.left for one in column) > (right - left) * _FILLED


def _tells(column: Sequence[Line]) -> bool:
    """True for a column of figures, or of labels that end in a colon."""
    telling = [one for one in column if _FIGURES.fullmatch(one.text) or one.text.endswith(":")]
    return len(telling) >= len(column) * _TELLING


def _goes_on(above: Row, row: Row, grid: _Grid) -> bool:
    """True for a row that is the second line of a cell in the row above, the first column's not."""
    near = row[0].top - max(piece.bottom for piece in above) < row[0].size / 2
    return near and all(grid.find(piece) > 0 and piece.left >= grid.edges[0] for piece in row)


def _find_grid(rows: Sequence[Row]) -> _Grid:
    """The columns of a table, told by the rows with most pieces.

    What a few of them cover alone, as a heading over two columns does, divides no less.
    """
    most = max(map(len, rows))
    voters = [row for row in rows if len(row) >= most * _VOTERS]
    few = len(voters) // _FEW
    edges = sorted(
        edge for row in voters for one in row for edge in ((one.left, 1), (one.right, -1))
    )
    columns: list[tuple[float, float]] = []
    depth, start = 0, 0.0
    for place, step in edges:
        if depth <= few < depth + step:
            start = place
        elif depth + step <= few < depth:
            columns.append((start, place))
        depth += step
    return _Grid(tuple((one[1] + other[0]) / 2 for one, other in pairwise(columns)))


def _choose_rules(rows: Sequence[Row], rules: Sequence[Rule]) -> list[Rule]:
    """The rules that run through or around the rows, from top to bottom."""
    left, top, right, bottom = _find_box([piece for row in rows for piece in row])
    chosen = [
        rule
        for rule in rules
        if min(rule.right, right) - max(rule.left, left) > (right - left) * _RULED
        and top - (bottom - top) / 2 <= rule.height <= bottom + (bottom - top) / 2
    ]
    return sorted(chosen, key=lambda rule: rule.height)


def _group_by_rules(
    rows: Sequence[Row], rules: Sequence[Rule], grid: _Grid
) -> list[list[Row]] | None:
    """The rows between every two rules; None where the rules don't set row from row.

    Those with figures one below the other are rows of their own.
    """
    groups: dict[int, list[Row]] = {}
    for row in rows:
        middle = fmean((piece.top + piece.bottom) / 2 for piece in row)
        above = sum(1 for rule in rules if rule.height < middle)
        groups.setdefault(above, []).append(row)
    lined = len(groups) > 2 and all(len(group) <= _MAX_RULED_ROW for group in groups.values())
    if not lined:
        return None
    return [
        part
        for group in groups.values()
        for part in ([[row] for row in group] if _holds_rows(group, grid) else [group])
    ]


def _holds_rows(group: Sequence[Row], grid: _Grid) -> bool:
    columns = [
        {grid.find(piece) for piece in row if _FIGURES.fullmatch(piece.text)} for row in group
    ]
    return any(first & second for first, second in pairwise(columns))


def _group_by_distance(rows: Sequence[Row], grid: _Grid) -> list[list[Row]]:
    """The rows, one that goes on in the next line with its second line: it has no first cell."""
    begins = [any(grid.find(piece) == 0 for piece in row) for row in rows]
    tops = [min(piece.top for piece in row) for row in rows]
    pitches = [tops[i] - tops[i - 1] for i in range(1, len(rows)) if begins[i]]
    usual = median(pitches) if pitches else 0.0
    groups: list[list[Row]] = []
    for i, row in enumerate(rows):
        if groups and not begins[i] and tops[i] - tops[i - 1] < usual * _TIGHT:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _fill_cells(group: Sequence[Row], grid: _Grid, backwards: bool) -> list[str]:
    cells: list[list[str]] = [[] for _ in range(grid.columns)]
    for row in group:
        for piece in sorted(row, key=lambda one: -one.right if backwards else one.left):
            cells[grid.find(piece)].append(piece.text)
    texts = [" ".join(cell) for cell in cells]
    return texts[::-1] if backwards else texts


def _find_box(pieces: Sequence[Line]) -> Rectangle:
    return unite((one.left, one.top, one.right, one.bottom) for one in pieces)
