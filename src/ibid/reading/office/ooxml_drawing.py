"""What drawings of Office files say: text bodies, tables, charts' data and SmartArt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lxml import etree

from ibid.reading.office.docx_math import M, read_math
from ibid.reading.office.docx_styles import write_number
from ibid.reading.office.ooxml import A, Package, R, Relation

C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DIAGRAM: Final = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MAX_POINTS: Final = 10_000
_MAX_INDENT: Final = 8  # levels, as PowerPoint has them
_NUMBER_FORMATS: Final = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
}
_NUMBER_SIGNS: Final = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}
_SCHEME: Final = re.compile(r"([a-z]+[A-Z]c|arabic)(Period|ParenR|ParenBoth|Plain)")


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph of a drawing: its text, how far it is indented, and its marker as a list item."""

    text: str
    indent: int = 0
    marker: str = ""


def read_text_body(body: etree._Element, *, bullets: bool = False) -> list[Line]:
    """The paragraphs of a text body; `bullets` says that those without a word of it have one."""
    lines: list[Line] = []
    counts: dict[int, int] = {}
    for paragraph in body.findall(f"{A}p"):
        text = read_line(paragraph)
        if not text.strip():
            continue
        properties = paragraph.find(f"{A}pPr")
        indent = _read_indent(properties)
        marker = _read_marker(properties, indent, counts, "-" if bullets else "")
        lines.append(Line(text, indent, marker))
    return lines


def read_line(paragraph: etree._Element) -> str:
    """The text of one paragraph, its equations included."""
    pieces: list[str] = []
    for node in paragraph.iter():
        if node.tag == f"{A}t":
            pieces.append(node.text or "")
        elif node.tag == f"{A}br":
            pieces.append("\n")
        elif node.tag == f"{M}oMath":
            pieces.append(read_math(node))
    return "".join(pieces).replace("\v", "\n")


def _read_indent(properties: etree._Element | None) -> int:
    value = "0" if properties is None else properties.get("lvl", "0")
    return min(int(value), _MAX_INDENT) if re.fullmatch("[0-9]{1,3}", value) else 0


def _read_marker(
    properties: etree._Element | None, indent: int, counts: dict[int, int], default: str
) -> str:
    """The marker of a paragraph; `counts` holds the numbers given so far, by indent."""
    for deeper in [n for n in counts if n > indent]:
        del counts[deeper]
    number = None if properties is None else properties.find(f"{A}buAutoNum")
    if number is None:
        counts.pop(indent, None)
        if properties is None:
            return default
        if properties.find(f"{A}buNone") is not None:
            return ""
        return "-" if properties.find(f"{A}buChar") is not None else default
    start = number.get("startAt", "1")
    first = int(start) if re.fullmatch("[0-9]{1,5}", start) else 1
    counts[indent] = counts.get(indent, first - 1) + 1
    scheme = _SCHEME.match(number.get("type", ""))
    if not scheme:
        return f"{counts[indent]}."
    written = write_number(counts[indent], _NUMBER_FORMATS.get(scheme[1], "decimal"))
    return _NUMBER_SIGNS[scheme[2]].format(written)


def read_table(table: etree._Element) -> list[list[str]]:
    """The cells of a table; one that is merged is repeated in every row and column it covers."""
    rows: list[list[str]] = []
    for row in table.findall(f"{A}tr"):
        cells: list[str] = []
        for cell in row.findall(f"{A}tc"):
            if cell.get("hMerge") in ("1", "true") and cells:
                text = cells[-1]
            elif cell.get("vMerge") in ("1", "true") and rows and len(cells) < len(rows[-1]):
                text = rows[-1][len(cells)]
            else:
                text = " ".join(map(read_line, cell.iter(f"{A}p")))
            cells.append(text)
        rows.append(_unspread(cells))
    return [row for row in rows if any(map(str.strip, row))]


def _unspread(cells: list[str]) -> list[str]:
    """The row, with its text once when one cell covers the whole of it."""
    return [cells[0]] + [""] * (len(cells) - 1) if len(set(cells)) == 1 else cells


def read_chart(root: etree._Element) -> tuple[str, list[list[str]]]:
    """The title of a chart and its data: a row of series names, then a row for each category."""
    title = root.find(f"{C}chart/{C}title")
    words = "" if title is None else " ".join(map(read_line, title.iter(f"{A}p")))
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter(f"{C}ser"):
        names.append(" ".join(_read_points(series.find(f"{C}tx")).values()))
        for tag in ("cat", "xVal"):
            for index, text in _read_points(series.find(C + tag)).items():
                categories.setdefault(index, text)
        columns.append(_read_points(_find_first(series, ("val", "yVal"))))
    indexes = sorted(set(categories).union(*columns))
    rows = [[categories.get(i, ""), *(column.get(i, "") for column in columns)] for i in indexes]
    return words.strip(), [["", *names], *rows] if rows else []


def _find_first(node: etree._Element, names: Iterable[str]) -> etree._Element | None:
    return next((found for name in names if (found := node.find(C + name)) is not None), None)


def _read_points(node: etree._Element | None) -> dict[int, str]:
    """The cached values of a reference by their index."""
    points: dict[int, str] = {}
    if node is None:
        return points
    for point in node.iter(f"{C}pt"):
        index = point.get("idx", "")
        if re.fullmatch("[0-9]{1,6}", index) and len(points) < _MAX_POINTS:
            value = point.findtext(f"{C}v") or ""
            points[int(index)] = f"{points[int(index)]} {value}" if int(index) in points else value
    return points


def read_smart_art(root: etree._Element) -> list[str]:
    """The words of a diagram, box by box."""
    points = root.iter(f"{DIAGRAM}pt")
    texts = (" ".join(map(read_line, point.iter(f"{A}p"))).strip() for point in points)
    return [text for text in texts if text]


def read_graphic(
    frame: etree._Element, package: Package, relations: dict[str, Relation]
) -> tuple[list[list[list[str]]], list[str]]:
    """The tables and the lines that the charts and diagrams of a frame show."""
    tables: list[list[list[str]]] = []
    lines: list[str] = []
    for node in frame.iter(f"{C}chart", f"{DIAGRAM}relIds"):
        id = node.get(f"{R}id") if node.tag == f"{C}chart" else node.get(f"{R}dm")
        relation = relations.get(id or "")
        if relation is None:
            continue
        root = package.parse(relation.target)
        if node.tag == f"{C}chart":
            title, rows = read_chart(root)
            lines += [title] if title else []
            tables += [rows] if rows else []
        else:
            lines += read_smart_art(root)
    return tables, lines
