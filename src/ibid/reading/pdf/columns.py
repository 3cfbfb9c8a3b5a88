"""The pieces of a page in reading order: bands from top to bottom, columns from side to side.

A recursive XY-cut over the boxes of the pieces (Nagy and Seth 1984): a page is cut into bands
wherever a white gutter between columns begins or ends, so that a title over two columns comes
first; a band is cut at its gutters, and each column again. A band whose pieces stand in rows is
a table and is not cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ibid.reading.pdf.page import Line, Rule, join_row, join_touching, run_right_to_left
from ibid.reading.pdf.tables import Table, find_rows, find_table

_CORE: Final = 0.25  # of the height, above and below: what lines set tightly may share
_MIN_GUTTER: Final = 0.3  # times the height of a line
_FEW_ROWS: Final = 3
_WIDE_GUTTER: Final = 2.0  # times the size: a gutter even between two rows
_PROSE: Final = 25  # characters on the mean: lines of columns, not cells
_TALL: Final = 1.3  # times the height of its lines: a strip of more than one row
_FAR: Final = 3.0  # times the height of a line: no more of the columns above
_APART: Final = 1.0  # times the height of a line: so is a bold line set apart
_MAX_DEPTH: Final = 12
_MARKER: Final = re.compile(
    r"[•‣▪◦●■∙·–—*-]|\(?([a-zA-Z]|[ivxIVX]{2,5})[.)]|[\[(]?\d{1,3}(\.\d{1,3})*[.\])]?"
)

Span: TypeAlias = tuple[float, float]
Region: TypeAlias = "list[Line] | Table"
_EVERYWHERE: Final[Span] = (float("-inf"), float("inf"))


@dataclass(slots=True)
class _Strip:
    """Pieces that share some height, and the white beside and between them."""

    pieces: list[Line]
    top: float
    bottom: float
    white: list[Span]

    @property
    def size(self) -> float:
        return max(piece.size for piece in self.pieces)

    @property
    def is_tall(self) -> bool:
        return self.bottom - self.top > self.size * _TALL


def find_regions(lines: Sequence[Line], rules: Sequence[Rule] = ()) -> list[Region]:
    """The lines in reading order: each region is the lines of some columns, or a table.

    Pieces that stand side by side in a column are one line. `rules` are the horizontal ones of
    the page. Text that runs up the margin comes last.
    """
    upright = join_touching([line for line in lines if not line.is_turned])
    backwards = run_right_to_left(upright)
    regions: list[Region] = []
    for region in _order(upright, rules, backwards, 0):
        if isinstance(region, list) and regions and isinstance(regions[-1], list):
            regions[-1].extend(region)
        else:
            regions.append(region)
    return [*regions, *([line] for line in lines if line.is_turned)]


def _order(
    lines: Sequence[Line], rules: Sequence[Rule], backwards: bool, depth: int
) -> Iterator[Region]:
    for band, gutters in _find_bands(_find_strips(lines)):
        columns = _split([piece for strip in band for piece in strip.pieces], gutters)
        rows = [row for strip in band for row in _find_rows(strip)]
        listed = len(columns) == 2 and all(_MARKER.fullmatch(one.text) for one in columns[0])
        if len(columns) < 2 or _is_chance(rows, gutters) or listed or depth > _MAX_DEPTH:
            yield [join_row(row, backwards) for row in rows]
            continue
        table = find_table(rows, columns, rules, backwards=backwards)
        if table:
            above, found, below = table
            if above:
                yield [join_row(row, backwards) for row in above]
            yield found
            yield from _order([one for row in below for one in row], (), backwards, depth + 1)
            continue
        for column in reversed(columns) if backwards else columns:
            yield from _order(column, rules, backwards, depth + 1)


def _is_chance(rows: Sequence[Sequence[Line]], gutters: Sequence[Span]) -> bool:
    """True for a row or two with white that need not be a gutter: a heading and its number."""
    width = max(right - left for left, right in gutters)
    return len(rows) < 2 or (len(rows) < _FEW_ROWS and width < rows[0][0].size * _WIDE_GUTTER)


def _find_strips(lines: Sequence[Line]) -> list[_Strip]:
    """The lines from top to bottom, those together that share some height."""
    strips: list[_Strip] = []
    for line in sorted(lines, key=lambda line: line.top):
        core = line.size * _CORE
        top, bottom = line.top + core, max(line.bottom - core, line.top + core)
        if strips and top < strips[-1].bottom:
            strips[-1].pieces.append(line)
            strips[-1].bottom = max(strips[-1].bottom, bottom)
        else:
            strips.append(_Strip([line], top, bottom, []))
    for strip in strips:
        strip.white = _find_white(strip.pieces)
    return strips


def _find_white(pieces: Sequence[Line]) -> list[Span]:
    """Where, from side to side, no piece stands; the margins without end."""
    white: list[Span] = []
    edge = _EVERYWHERE[0]
    for piece in sorted(pieces, key=lambda piece: piece.left):
        if piece.left > edge:
            white.append((edge, piece.left))
        edge = max(edge, piece.right)
    return [*white, (edge, _EVERYWHERE[1])]


def _find_bands(strips: Sequence[_Strip]) -> Iterator[tuple[list[_Strip], list[Span]]]:
    """The strips gathered while they share a gutter, or have none; with their gutters."""
    band: list[_Strip] = []
    white: list[Span] = []
    for strip in strips:
        if len(white) > 2:  # two margins and a gutter
            shared = _intersect(white, strip.white, strip.size * _MIN_GUTTER)
            if len(shared) > 2 and not _begins_band(strip, band, shared):
                band.append(strip)
                white = shared
                continue
        elif band and len(strip.white) == 2:
            band.append(strip)
            continue
        if band:
            yield band, white[1:-1]
        band, white = [strip], strip.white
    if band:
        yield band, white[1:-1]


def _begins_band(strip: _Strip, band: Sequence[_Strip], shared: Sequence[Span]) -> bool:
    """True for what is no part of the columns above, though it leaves one of their gutters free.

    That is a single piece far below, a heading, or the first row of more columns of prose.
    """
    above = band[-1]
    if len(strip.white) > 2:
        characters = sum(len(piece.text) for piece in strip.pieces)
        prose = characters > len(strip.pieces) * _PROSE
        return prose and len(band) < _FEW_ROWS and len(strip.white) > len(shared)
    distance = (strip.top - above.bottom) / strip.size
    return distance > _FAR or (distance > _APART and all(one.bold for one in strip.pieces))


def _intersect(first: Sequence[Span], second: Sequence[Span], least: float) -> list[Span]:
    """The spans that both have white, where they are wide enough."""
    spans = ((max(a, c), min(b, d)) for a, b in first for c, d in second if a < d and c < b)
    return sorted(span for span in spans if span[1] - span[0] >= least)


def _split(pieces: Sequence[Line], gutters: Sequence[Span]) -> list[list[Line]]:
    """The pieces of each column, from left to right."""
    edges = [*(right for _, right in gutters), _EVERYWHERE[1]]
    columns: list[list[Line]] = [[] for _ in edges]
    for piece in pieces:
        columns[next(i for i, edge in enumerate(edges) if piece.left < edge)].append(piece)
    return [column for column in columns if column]


def _find_rows(strip: _Strip) -> list[list[Line]]:
    return find_rows(strip.pieces) if strip.is_tall else [strip.pieces]
