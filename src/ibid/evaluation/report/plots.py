"""Pictures of measures as inline SVG: bars with intervals, curves over ranks, times of stages.

Colours and fonts come from the classes of the page, so that it can be light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from ibid.evaluation.intervals import Estimate

WIDTH: Final = 680
LABEL: Final = 170
"""Width of the names before bars."""

ROW: Final = 30
TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)

CURVE: Final = (680, 280)
"""Width and height of a curve's picture."""

MARGIN: Final = (52, 16, 20, 40)
"""Left, top, right and bottom of a curve's plot."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a picture: its name, how long it is, and what stands behind it.

    `mark` is a second length, such as the time that nearly all stayed within.
    """

    name: str
    length: float
    note: str
    mark: float | None = None


def draw_estimates(estimates: Mapping[str, Estimate], title: str) -> str:
    """Each measure from 0 to 1 as a bar, with its interval as a whisker."""
    width = WIDTH - LABEL - 150
    height = ROW * len(estimates) + 28
    parts = [
        f'<line class="grid" x1="{_at(LABEL + tick * width)}" x2="{_at(LABEL + tick * width)}"'
        f' y1="4" y2="{height - 22}"/>'
        f'<text class="tick" x="{_at(LABEL + tick * width)}" y="{height - 6}"'
        f' text-anchor="middle">{tick:g}</text>'
        for tick in TICKS
    ]
    for number, (name, found) in enumerate(estimates.items()):
        middle = ROW * number + ROW / 2 + 2
        low, high = LABEL + found.low * width, LABEL + found.high * width
        parts += [
            _write_name(name, middle),
            f'<rect class="bar" x="{LABEL}" y="{_at(middle - 8)}" height="16"'
            f' width="{_at(found.mean * width)}"/>',
            f'<path class="whisker" d="M{_at(low)} {_at(middle)}H{_at(high)}'
            f'M{_at(low)} {_at(middle - 5)}v10M{_at(high)} {_at(middle - 5)}v10"/>',
            f'<text class="value" x="{LABEL + width + 12}" y="{_at(middle + 4)}">{found.mean:.3f}'
            f' <tspan class="faint">n = {found.n}</tspan></text>',
        ]
    return _wrap(parts, WIDTH, height, title)


def draw_times(bars: Sequence[Bar], title: str) -> str:
    """Lengths of one unit as bars, the longest as wide as the picture lets it be."""
    width = WIDTH - LABEL - 150
    longest = max((max(bar.length, bar.mark or 0.0) for bar in bars), default=0.0) or 1.0
    parts = []
    for number, bar in enumerate(bars):
        middle = ROW * number + ROW / 2 + 2
        parts += [
            _write_name(bar.name, middle),
            f'<rect class="bar" x="{LABEL}" y="{_at(middle - 8)}" height="16"'
            f' width="{_at(bar.length / longest * width)}"/>',
            f'<text class="value" x="{LABEL + width + 12}" y="{_at(middle + 4)}">'
            f"{escape(bar.note)}</text>",
        ]
        if bar.mark is not None:
            end = LABEL + bar.mark / longest * width
            parts.append(f'<path class="whisker" d="M{_at(end)} {_at(middle - 8)}v16"/>')
    return _wrap(parts, WIDTH, ROW * len(bars) + 6, title)


def draw_curves(curves: Mapping[str, Mapping[int, Estimate]], title: str) -> str:
    """A measure over ranks, one line for each system, with intervals at the ranks measured.

    Ranks stand at even distances, however far apart they are.
    """
    ranks = sorted({rank for curve in curves.values() for rank in curve})
    left, top, right, bottom = MARGIN
    across, down = CURVE[0] - left - right, CURVE[1] - top - bottom
    places = {rank: left + across * (place + 0.5) / len(ranks) for place, rank in enumerate(ranks)}
    parts = []
    for tick in TICKS:
        y = top + (1 - tick) * down
        parts.append(
            f'<line class="grid" x1="{left}" x2="{left + across}" y1="{_at(y)}" y2="{_at(y)}"/>'
            f'<text class="tick" x="{left - 10}" y="{_at(y + 4)}" text-anchor="end">{tick:g}</text>'
        )
    parts += [
        f'<text class="tick" x="{_at(x)}" y="{top + down + 22}" text-anchor="middle">{rank}</text>'
        for rank, x in places.items()
    ]
    for number, (name, curve) in enumerate(curves.items()):
        shift = 10 * (number - (len(curves) - 1) / 2)
        points = {rank: places[rank] + shift for rank in sorted(curve)}
        parts += _draw_curve(points, curve, number, name if len(curves) > 1 else "")
    return _wrap(parts, *CURVE, title)


def _draw_curve(
    points: Mapping[int, float], curve: Mapping[int, Estimate], number: int, name: str
) -> list[str]:
    _, top, _, bottom = MARGIN
    down = CURVE[1] - top - bottom

    def rise(value: float) -> str:
        return _at(top + (1 - value) * down)

    path = "L".join(f"{_at(x)} {rise(curve[rank].mean)}" for rank, x in points.items())
    drawn = [f'<path class="curve c{number}" d="M{path}"/>']
    for rank, x in points.items():
        found = curve[rank]
        drawn.append(
            f'<path class="whisker c{number}" d="M{_at(x)} {rise(found.low)}V{rise(found.high)}"/>'
            f'<circle class="dot c{number}" cx="{_at(x)}" cy="{rise(found.mean)}" r="4">'
            f"<title>at {rank}: {found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]</title>"
            "</circle>"
        )
    if name:
        drawn.append(
            f'<text class="legend c{number}" x="{CURVE[0] - 24}" text-anchor="end"'
            f' y="{CURVE[1] - bottom - 14 - 18 * number}">{escape(name)}</text>'
        )
    return drawn


def _write_name(name: str, middle: float) -> str:
    return (
        f'<text class="name" x="{LABEL - 12}" y="{_at(middle + 4)}" text-anchor="end">'
        f"{escape(name)}</text>"
    )


def _wrap(parts: Sequence[str], width: int, height: int, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


def _at(place: float) -> str:
    """A coordinate to a tenth, which is finer than a pixel."""
    return f"{place:.1f}".removesuffix(".0")
