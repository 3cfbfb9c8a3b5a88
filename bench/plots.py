"""Draws the figures of docs/PERFORMANCE.md out of the dated results.

    python bench/plots.py

The newest file of each kind in bench/results is taken; the pictures are SVG files in docs/plots,
light or dark as their reader has it. Nothing is measured.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
RESULTS: Final = ROOT / "bench" / "results"
PLOTS: Final = ROOT / "docs" / "plots"

STYLE: Final = """
text{font:13px system-ui,sans-serif;fill:#333}.grid{stroke:#ddd}.name{text-anchor:end}
.s0{stroke:#7a1f2b;fill:#7a1f2b}.s1{stroke:#4a6a8a;fill:#4a6a8a}.s2{stroke:#8a8a8a;fill:#8a8a8a}
polyline{fill:none!important;stroke-width:2}text.s0,text.s1,text.s2{stroke:none}
@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}
.s0{stroke:#e08a94;fill:#e08a94}.s1{stroke:#8fb4d8;fill:#8fb4d8}.s2{stroke:#aaa;fill:#aaa}}
"""

PLOT: Final = (70, 20, 420, 220)
"""Left, top, width and height of a plot of curves."""

BAR: Final = (150, 300, 22)
"""Left, width and height of a bar."""

LINE: Final = 16

Curve = Sequence[tuple[float, float]]


def main() -> None:
    PLOTS.mkdir(exist_ok=True)
    runs = {count: newest(f"search-{count}") for count in (10_000, 100_000, 1_000_000, 5_000_000)}
    found = {count: figures for count, figures in runs.items() if figures is not None}
    if found:
        write(
            "search",
            draw_curves(
                tell_searches(found), "hybrid search as a share of a numpy scan, by passages"
            ),
        )
        write("memory", draw_curves(tell_memory(found), "MB of a process, by passages"))
    peers = newest("peers")
    for name in ("scifact", "cranfield") if peers else ():
        write(f"peers-{name}", draw_peers(peers[name], name))


def newest(kind: str) -> Any:
    """The figures of the newest result of a kind; None where there is none."""
    paths = sorted(RESULTS.glob(f"{kind}-20*.json"))
    return json.loads(paths[-1].read_text("utf-8"))["figures"] if paths else None


def tell_searches(runs: Mapping[int, Any]) -> dict[str, Curve]:
    """Medians of a search, without embedding, over that of the scan in the same run."""

    def compare(scope: str) -> Curve:
        return [
            (count, one[scope]["hybrid"] / one["numpy scan"]["scan"]) for count, one in runs.items()
        ]

    return {
        "all": compare("no filter"),
        "10% allowed": compare("filter passing 10%"),
        "0.1% allowed": compare("filter passing 0.1%"),
    }


def tell_memory(runs: Mapping[int, Any]) -> dict[str, Curve]:
    """What a searching process holds of its own, what it maps, and the bytes of the vectors."""
    return {
        "its own": [(count, one["process"]["anonymous, MB"]) for count, one in runs.items()],
        "mapped": [(count, one["process"]["mapped, MB"]) for count, one in runs.items()],
        "on disk": [(count, one["size"]["all, MB"]) for count, one in runs.items()],
    }


# -- drawing --------------------------------------------------------------------------------------


def draw_curves(curves: Mapping[str, Curve], title: str) -> str:
    """Curves over two logarithmic axes, each named at its end."""
    left, top, width, height = PLOT
    across = _span([x for curve in curves.values() for x, _ in curve])
    up = _span([y for curve in curves.values() for _, y in curve])

    def place(x: float, y: float) -> tuple[float, float]:
        along = (math.log10(x) - across[0]) / (across[1] - across[0])
        rise = (math.log10(y) - up[0]) / (up[1] - up[0])
        return left + width * along, top + height * (1 - rise)

    parts = [f'<text x="{left}" y="14">{escape(title)}</text>']
    for power in range(up[0], up[1] + 1):
        _, y = place(10 ** across[0], 10**power)
        parts.append(f'<path class="grid" d="M{left} {y:.0f}h{width}"/>')
        parts.append(f'<text class="name" x="{left - 8}" y="{y + 4:.0f}">{10**power:,g}</text>')
    for power in range(across[0], across[1] + 1):
        x, _ = place(10**power, 10 ** up[0])
        parts.append(f'<text x="{x - 20:.0f}" y="{top + height + 20}">{10**power:,}</text>')
    ends = _spread([place(*max(curve))[1] for curve in curves.values()])
    for number, (name, curve) in enumerate(curves.items()):
        points = [place(x, y) for x, y in sorted(curve)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="s{number}" points="{line}"/>')
        parts += [f'<circle class="s{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
        x, y = points[-1][0] + 8, ends[number] + 4
        parts.append(f'<text class="s{number}" x="{x:.0f}" y="{y:.0f}">{name}</text>')
    return _page(left + width + 110, top + height + 30, title, parts)


def draw_peers(rows: Mapping[str, Mapping[str, float]], name: str) -> str:
    """nDCG@10 of each system as a bar, with its interval."""
    left, width, height = BAR
    title = f"nDCG@10 on {name}, the same passages and vectors"
    parts = [f'<text x="8" y="14">{escape(title)}</text>']
    for number, (system, row) in enumerate(rows.items()):
        y = 26 + number * (height + 6)
        middle, colour = y + height / 2, "s0" if system == "ibid" else "s2"
        low, mean, high = (left + width * row[key] for key in ("low", "nDCG@10", "high"))
        parts += [
            f'<text class="name" x="{left - 8}" y="{middle + 4:.0f}">{escape(system)}</text>',
            f'<rect class="{colour}" fill-opacity=".6" x="{left}" y="{y}"'
            f' width="{mean - left:.1f}" height="{height}"/>',
            f'<path class="{colour}" d="M{low:.1f} {middle}H{high:.1f}"/>',
            f'<text x="{high + 8:.0f}" y="{middle + 4:.0f}">{row["nDCG@10"]:.3f}</text>',
        ]
    return _page(left + width + 60, 30 + len(rows) * (height + 6), title, parts)


def _spread(heights: Sequence[float]) -> list[float]:
    """Heights for names, each at least a line below the one above it."""
    placed = list(heights)
    last = -math.inf
    for number in sorted(range(len(placed)), key=placed.__getitem__):
        placed[number] = last = max(placed[number], last + LINE)
    return placed


def _span(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around the values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _page(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' width="{width}" aria-label="{escape(title)}"><style>{STYLE}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def write(name: str, picture: str) -> None:
    path = PLOTS / f"{name}.svg"
    path.write_text(picture, "utf-8")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
