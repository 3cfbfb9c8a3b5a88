"""The nodes of a parsed page: what of them is seen, their text, the cells of their tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import Final

from selectolax.lexbor import LexborNode

from ibid.reading.builder import MAX_CELLS

_MAX_SPAN: Final = 1000  # columns or rows that one cell may cover, as browsers have it
_MAX_COVERED: Final = 2000  # columns of a row that cells above may cover


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNSEEN: Final = _names(
    "script style noscript template head iframe object embed canvas audio video map datalist"
    " nav annotation annotation-xml"
)
BLOCKS: Final = _names(
    "html body address article aside blockquote center dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu ol"
    " optgroup option p pre search section select summary table tbody td tfoot th thead tr ul"
    " caption textarea"
)
_CELLS: Final = frozenset({"td", "th"})
# A tag that stands in no plain table, and the attributes that change nothing in one.
_NOT_PLAIN: Final = re.compile(r"<(?!/?(?:thead|tbody|tfoot|tr|td|th)>|/table>)")
_HARMLESS: Final = re.compile(
    r'<(\w+)(?: (?:class|id|align|valign|width|height|border|scope)="[^"<>]*")+>'
)
_BETWEEN: Final = re.compile(r">\s+<")
_UNEVEN: Final = ("&", "  ", "\t", "\n", "\r", "\f", "\xa0", "\xad")  # in cells that need mending
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SPACE: Final = re.compile(r"[ \t\n\r\f\xa0]+")


def walk(
    root: LexborNode, enter: Callable[[LexborNode], bool], leave: Callable[[LexborNode], None]
) -> None:
    """Call `enter` for every node in order, and `leave` after what is in it where that was True."""
    node: LexborNode = root
    end = root.mem_id
    while True:
        if enter(node):
            inner = node.first_child
            if inner is not None:
                node = inner
                continue
            leave(node)
        while True:
            after = None if node.mem_id == end else node.next
            if after is not None:
                node = after
                break
            above = None if node.mem_id == end else node.parent
            if above is None:
                return
            node = above
            leave(node)


def is_seen(node: LexborNode) -> bool:
    """True for an element that a reader of the page can see."""
    if not node.is_element_node or node.tag in _UNSEEN:
        return False
    attributes = node.attributes
    if not attributes:
        return True
    return not (
        ("hidden" in attributes and attributes["hidden"] != "until-found")
        or attributes.get("role") == "navigation"
        or _HIDDEN_STYLE.search(attributes.get("style") or "")
    )


def collect_raw(root: LexborNode | None) -> str:
    """The text of an element with its white space as it stands in the source."""
    pieces: list[str] = []

    def enter(node: LexborNode) -> bool:
        if node.is_text_node:
            pieces.append(node.text_content or "")
        elif node.tag == "br":
            pieces.append("\n")
        return is_seen(node)

    if root is not None:
        walk(root, enter, lambda node: None)
    return "".join(pieces)


def collect_text(root: LexborNode | None) -> str:
    """All the text that can be seen in an element, as one line."""
    pieces: list[str] = []

    def enter(node: LexborNode) -> bool:
        if node.is_text_node:
            pieces.append(node.text_content or "")
        elif is_seen(node):
            pieces.append(stand_in(node))
            return True
        return False

    if root is not None:
        walk(root, enter, lambda node: pieces.append(" " if node.tag in BLOCKS else ""))
    return squeeze("".join(pieces)).strip()


def squeeze(text: str) -> str:
    """The text with one space for each stretch of white space, and without soft hyphens."""
    # Of printable characters the blank alone is white space.
    if text.isprintable() and "  " not in text:
        return text
    return _SPACE.sub(" ", text).replace("\xad", "")


def stand_in(node: LexborNode) -> str:
    """What an element shows beside the text in it."""
    if node.tag == "br" or node.tag in BLOCKS:
        return " "
    return node.attributes.get("alt") or "" if node.tag == "img" else ""


def read_rows(table: LexborNode) -> tuple[list[list[str]], bool]:
    """The cells of a table as a grid without its empty rows and columns; True for a header row.

    A cell that spans columns or rows stands in the first of them, the others are empty.
    """
    grid: list[dict[int, str]] = []
    taken: dict[int, int] = {}  # column -> rows from here on that a cell above covers
    header = False
    for row in table.css("tr"):
        if not is_seen(row):
            continue
        if not grid and (tags := {cell.tag for cell in _find_cells(row)}):
            header = tags == {"th"} or _stands_in_head(row)
        grid.append(_place_cells(row, taken))
    columns = sorted({column for row in grid for column, text in row.items() if text})
    if len(columns) * len(grid) > MAX_CELLS:  # hardly any of them filled: left as they are
        rows = [list(filter(None, row.values())) for row in grid if any(row.values())]
        return rows, False
    rows = [[row.get(column, "") for column in columns] for row in grid if any(row.values())]
    return rows, header and bool(grid) and any(grid[0].values())


def read_plain_rows(source: str) -> tuple[list[list[str]], bool] | None:
    """The same of a table by its source as the tree writes it; None where it must be walked.

    That is a table with more than text in its cells, or with one that is empty, spans others or
    may be hidden.
    """
    if "=" in source:
        source = _HARMLESS.sub(r"<\1>", source)
    opened = len("<table>") if source.startswith("<table>") else 0
    if len(source) > MAX_CELLS or _NOT_PLAIN.search(source, opened):
        return None
    flat = _BETWEEN.sub("><", source)
    first = flat.partition("</tr>")[0]
    header = "<thead><tr>" in first or "<td>" not in first
    # What belongs to no tag is written as an entity where it looks like one.
    flat = flat.replace("th>", "td>")
    rows = [row.partition("</td></tr>")[0].split("</td><td>") for row in flat.split("<tr><td>")[1:]]
    if any(map(flat.__contains__, _UNEVEN)):
        rows = [[squeeze(unescape(cell)).strip() for cell in row] for row in rows]
    else:
        rows = [list(map(str.strip, row)) for row in rows]
    full = flat.count("<tr>") == len(rows) and len(set(map(len, rows))) == 1 and all(map(all, rows))
    return (rows, header) if full else None


def _place_cells(row: LexborNode, taken: dict[int, int]) -> dict[int, str]:
    """The text of a row's cells by column; `taken` is brought down to the next row."""
    placed: dict[int, str] = {}
    below: dict[int, int] = {column: left - 1 for column, left in taken.items() if left > 1}
    column = 0
    for cell in _find_cells(row):
        while column in taken:
            column += 1
        placed[column] = _collect_cell(cell)
        attributes = cell.attributes
        if not attributes:
            column += 1
            continue
        rows = _read_span(attributes, "rowspan")
        for _ in range(_read_span(attributes, "colspan")):
            if rows > 1 and column < _MAX_COVERED:
                below[column] = rows - 1
            column += 1
    taken.clear()
    taken.update(below)
    return placed


def _collect_cell(cell: LexborNode) -> str:
    """The text of a cell that is seen; most hold one piece of it and nothing else."""
    only = cell.first_child
    if only is None:
        return ""
    if only.next is not None or not only.is_text_node:
        return collect_text(cell)
    return squeeze(only.text_content or "").strip()


def _read_span(attributes: Mapping[str, str | None], name: str) -> int:
    value = attributes.get(name) or "1"
    return min(max(int(value), 1), _MAX_SPAN) if re.fullmatch(r"\d{1,9}", value) else 1


def _stands_in_head(row: LexborNode) -> bool:
    return row.parent is not None and row.parent.tag == "thead"


def _find_cells(row: LexborNode) -> Iterator[LexborNode]:
    """The cells of a row that are seen."""
    child = row.first_child
    while child is not None:
        if child.tag in _CELLS and (not child.attributes or is_seen(child)):
            yield child
        child = child.next
