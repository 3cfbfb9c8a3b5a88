"""Pictures of measures as inline SVG in tables: bars with intervals, curves over ranks, times.

Colours and letters come from the style sheets, so that a page can be light or dark; the same ones
draw the figures of the service's page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from ibid.evaluation.intervals import Estimate
from ibid.evaluation.outcomes import StageTime

TICKS: Final = (0.0, 0.5, 1.0)

PLOT: Final = (34, 12, 300, 150)
"""Left, top, width and height of the plot of a curve."""

SHIFT: Final = 10
"""How far the curves of two systems stand apart, so that their intervals can be told."""


def render_measures(estimates: Mapping[str, Estimate], caption: str) -> str:
    """Each measure from 0 to 1 as a row: a bar to the mean, a stroke over its interval, numbers."""
    rows = [
        (
            name.replace("@", " at ").replace("_", " "),
            draw_bar(found.mean, (found.low, found.high)),
            (f"{found.mean:.3f}", f"{found.low:.3f} – {found.high:.3f}", str(found.n)),
        )
        for name, found in estimates.items()
    ]
    return _render_rows(caption, ("measure", "mean", "95%", "n"), rows)


def render_times(stages: Sequence[StageTime], caption: str) -> str:
    """The time of each stage as a row; the longest is as long as the picture is wide."""
    longest = max((one.p95_ms for one in stages), default=0.0) or 1.0
    rows = [
        (
            one.stage,
            draw_bar(one.median_ms / longest, (one.p95_ms / longest,) * 2),
            (f"{one.median_ms:.1f} ms", f"{one.p95_ms:.1f} ms"),
        )
        for one in stages
    ]
    return _render_rows(caption, ("stage", "median", "19 of 20 within"), rows)


def draw_bar(length: float, interval: tuple[float, float]) -> str:
    """A bar from 0 to a length of at most 1, with a stroke over an interval."""
    low, high = (_at(100 * end) for end in interval)
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="grid" d="M0 0V10M50 0V10M100 0V10"/>'
        f'<rect y="1.5" width="{_at(100 * length)}" height="7"/>'
        f'<path class="interval" d="M{low} 5H{high}M{low} 2.5V7.5M{high} 2.5V7.5"/></svg>'
    )


def draw_curves(curves: Mapping[str, Mapping[int, Estimate]], title: str) -> str:
    """A measure over ranks, one line for each system, with intervals at the ranks measured.

    Ranks stand at even distances, however far apart they are.
    """
    left, top, width, height = PLOT
    ranks = sorted({rank for curve in curves.values() for rank in curve})
    places = {rank: left + width * (place + 0.5) / len(ranks) for place, rank in enumerate(ranks)}
    parts = [
        f'<path class="grid" d="M{left} {_rise(tick)}h{width}"/>'
        f'<text class="rank" x="{left - 8}" y="{_rise(tick, 4)}">{tick:g}</text>'
        for tick in TICKS
    ]
    parts += [
        f'<text class="stage" x="{_at(x)}" y="{top + height + 18}">at {rank}</text>'
        for rank, x in places.items()
    ]
    for number, (name, curve) in enumerate(curves.items()):
        shift = SHIFT * (number - (len(curves) - 1) / 2)
        points = {rank: places[rank] + shift for rank in sorted(curve)}
        parts.append(f'<g class="c{number}">{_draw_curve(points, curve)}')
        if len(curves) > 1:
            y = top + height - 10 - 16 * number
            parts.append(f'<text class="rank" x="{left + width}" y="{y}">{escape(name)}</text>')
        parts.append("</g>")
    return (
        f'<svg class="curve" viewBox="0 0 {left + width} {top + height + 26}" role="img"'
        f' aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def _draw_curve(points: Mapping[int, float], curve: Mapping[int, Estimate]) -> str:
    line = " ".join(f"{_at(x)},{_rise(curve[rank].mean)}" for rank, x in points.items())
    drawn = [f'<polyline points="{line}"/>']
    for rank, x in points.items():
        found = curve[rank]
        drawn.append(
            f'<path class="interval" d="M{_at(x)} {_rise(found.low)}V{_rise(found.high)}"/>'
            f'<circle cx="{_at(x)}" cy="{_rise(found.mean)}" r="4">'
            f"<title>at {rank}: {found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]</title>"
            "</circle>"
        )
    return "".join(drawn)


def _render_rows(
    caption: str, heads: Sequence[str], rows: Sequence[tuple[str, str, Sequence[str]]]
) -> str:
    """A table of names, pictures and numbers."""
    name, *others = heads
    head = "".join(f'<th scope="col" class="number">{escape(one)}</th>' for one in others)
    body = "".join(
        f'<tr><th scope="row">{escape(named)}</th><td class="drawn">{picture}</td>'
        + "".join(f'<td class="number">{escape(number)}</td>' for number in numbers)
        + "</tr>"
        for named, picture, numbers in rows
    )
    return (
        f'<table class="figures"><caption><h2>{escape(caption)}</h2></caption>'
        f'<thead><tr><th scope="col">{escape(name)}</th><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _rise(value: float, below: float = 0.0) -> str:
    """The height at which a value stands in the plot of a curve, or so far below it."""
    _, top, _, height = PLOT
    return _at(top + (1 - value) * height + below)


def _at(place: float) -> str:
    """A coordinate to a tenth, which is finer than a pixel."""
    return f"{place:.1f}".removesuffix(".0")
