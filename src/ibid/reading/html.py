"""HTML: the parsed tree walked once, in reading order, into headings, lists, tables and code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ibid.reading.builder import DocumentBuilder, format_table, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.records import JSON, BlockKind, Document

_CHARACTERS_A_PAGE: Final = 6000
_MAX_DEPTH: Final = 2000  # open elements; parsing takes the square of it, browsers stop at 512
_MAX_SPAN: Final = 1000  # columns or rows that one cell may cover, as browsers have it
_MAIN_SHARE: Final = 0.6  # of a page's text that <main> must hold to stand for the page


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNSEEN: Final = _names(
    "script style noscript template head iframe object embed canvas audio video map datalist"
    " nav annotation annotation-xml"
)
_BLOCKS: Final = _names(
    "html body address article aside blockquote center dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu ol"
    " optgroup option p pre search section select summary table tbody td tfoot th thead tr ul"
    " caption textarea"
)
_LAYOUT: Final = "table, h1, h2, h3, h4, h5, h6, pre"
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_LINE_BREAK: Final = "\x0b"  # stands for <br> until white space is one space
_SPACE: Final = re.compile(r"[ \t\n\r\f\xa0]+")

_DECLARED: Final = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]+)""", re.I)
_DECLARED_WITHIN: Final = 4096  # bytes
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][\w:-]*)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_SELF_CLOSED: Final = re.compile(r"<([a-zA-Z][\w:-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*?)\s*/>")
_VOID: Final = _names("area base br col embed hr img input link meta param source track wbr")
# Elements whose end may be left out: an open one says nothing of the depth.
_UNNESTED: Final = _VOID | _names(
    "html head body p li dt dd tr td th thead tbody tfoot colgroup option optgroup rt rp"
)

_METADATA: Final = {
    "author": ("author", "article:author", "dc.creator", "dcterms.creator"),
    "description": ("description", "og:description", "dc.description", "dcterms.description"),
    "date": (
        "article:published_time",
        "date",
        "dc.date",
        "dcterms.date",
        "dcterms.created",
        "dc.date.issued",
        "citation_publication_date",
    ),
}


def read_html(data: bytes, name: str) -> Document:
    """The text that a reader of the page sees, without scripts, hidden parts and navigation.

    Tables become Markdown rows, `pre` code; a table that only lays out the page is walked as the
    page is. Words of links and alternative texts of images are kept. `<main>` stands for the page
    when it holds most of its text. The title is the page's own, else its first h1; a page without
    h1 begins with its title as one. Language, author, description and date are metadata.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for nothing to see.
    """
    source = normalize_text(decode_bytes(data, declared=_find_declared(data)))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    if source.lstrip().startswith("<?xml"):
        source = _SELF_CLOSED.sub(_open_and_close, source)
    tree = LexborHTMLParser(_flatten(source))
    root = tree.body or tree.root
    title = " ".join(_collect_raw(tree.css_first("head > title")).split())
    walker = _Walker()
    if title and not tree.any_css_matches(("h1",)):
        walker.builder.append(BlockKind.HEADING, title, level=1)
    if root is not None:
        walker.walk(_find_main(root))
    title = title or walker.title
    return walker.builder.build(
        title=title or None, media_type="text/html", metadata=_find_metadata(tree)
    )


def _find_declared(data: bytes) -> str | None:
    match = _DECLARED.search(data[:_DECLARED_WITHIN])
    return match[1].decode("ascii", "replace") if match else None


def _open_and_close(tag: re.Match[str]) -> str:
    """XML's `<a/>` as HTML understands it."""
    return tag[0] if tag[1].lower() in _VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>"


def _flatten(source: str) -> str:
    """The source without the tags that are nested too deeply; the text between them stays."""
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        if tag[2].lower() in _UNNESTED:
            return tag[0]
        before, depth = depth, max(depth - 1, 0) if tag[1] else depth + 1
        return tag[0] if min(before, depth) < _MAX_DEPTH else ""

    if source.count("<") <= _MAX_DEPTH:
        return source
    return _TAG.sub(keep, source)


def _find_main(root: LexborNode) -> LexborNode:
    """The element that holds most of the text of the page, `<main>` or the page itself."""
    found = root.css("main, [role=main]") or root.css("article")
    if len(found) != 1:
        return root
    share = len(_collect_text(found[0])) / max(len(_collect_text(root)), 1)
    return found[0] if share > _MAIN_SHARE else root


def _find_metadata(tree: LexborHTMLParser) -> dict[str, JSON]:
    """Language, author, description and date, those that the page gives."""
    given: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        key = node.attributes.get("name") or node.attributes.get("property") or ""
        given.setdefault(key.lower(), " ".join((node.attributes.get("content") or "").split()))
    html = tree.css_first("html")
    found: dict[str, JSON] = {}
    if html is not None and html.attributes.get("lang"):
        found["language"] = html.attributes["lang"]
    for name, keys in _METADATA.items():
        value = next((given[key] for key in keys if given.get(key)), None)
        if value:
            found[name] = value
    return found


def _walk(
    root: LexborNode, enter: Callable[[LexborNode], bool], leave: Callable[[LexborNode], None]
) -> None:
    """Call `enter` for every node in order, and `leave` after what is in it where that was True."""
    node = root
    while True:
        if enter(node):
            if node.first_child is not None:
                node = node.first_child
                continue
            leave(node)
        while node.mem_id == root.mem_id or node.next is None:
            if node.mem_id == root.mem_id or node.parent is None:
                return
            node = node.parent
            leave(node)
        node = node.next


def _is_seen(node: LexborNode) -> bool:
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


def _collect_raw(root: LexborNode | None) -> str:
    """The text of an element with its white space as it stands in the source."""
    pieces: list[str] = []

    def enter(node: LexborNode) -> bool:
        if node.is_text_node:
            pieces.append(node.text_content or "")
        elif node.tag == "br":
            pieces.append("\n")
        return _is_seen(node)

    if root is not None:
        _walk(root, enter, lambda node: None)
    return "".join(pieces)


def _collect_text(root: LexborNode | None) -> str:
    """All the text that can be seen in an element, as one line."""
    pieces: list[str] = []

    def enter(node: LexborNode) -> bool:
        if node.is_text_node:
            pieces.append(node.text_content or "")
        elif _is_seen(node):
            pieces.append(_stand_in(node))
            return True
        return False

    if root is not None:
        _walk(root, enter, lambda node: pieces.append(" " if node.tag in _BLOCKS else ""))
    return _SPACE.sub(" ", "".join(pieces)).replace("\xad", "").strip()


def _stand_in(node: LexborNode) -> str:
    """What an element shows beside the text in it."""
    if node.tag == "br" or node.tag in _BLOCKS:
        return " "
    return node.attributes.get("alt") or "" if node.tag == "img" else ""


class _Walker:
    """Goes through the seen part of a page and puts what it shows into a builder."""

    def __init__(self) -> None:
        self.builder = DocumentBuilder()
        self.title = ""
        self._pieces: list[str] = []  # text of the block at hand
        self._level = 0  # of the heading it stands in
        self._numbers: list[int | None] = []  # next number of each open list, None for bullets

    def walk(self, root: LexborNode) -> None:
        """Put every block below the root in its order."""
        _walk(root, self._enter, self._leave)
        self._flush()

    def _enter(self, node: LexborNode) -> bool:
        if node.is_text_node:
            self._pieces.append(node.text_content or "")
            return False
        if not _is_seen(node):
            return False
        tag = node.tag or ""
        if tag == "br":
            self._pieces.append(_LINE_BREAK)
        elif tag not in _BLOCKS:
            self._pieces.append(_stand_in(node))
        else:
            self._flush()
            handle = _ENTER.get(tag)
            return handle(self, node) if handle else True
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _BLOCKS:
            self._flush()
            handle = _LEAVE.get(tag)
            if handle:
                handle(self)

    def _flush(self) -> None:
        """Put the block at hand."""
        text = _SPACE.sub(" ", "".join(self._pieces)).replace("\xad", "")
        self._pieces.clear()
        lines = [line.strip() for line in text.split(_LINE_BREAK)]
        if self._level:
            text = " ".join(filter(None, lines))
            if self._level == 1:
                self.title = self.title or text
            self.builder.append(BlockKind.HEADING, text, level=self._level)
        else:
            self.builder.append(BlockKind.PARAGRAPH, "\n".join(filter(None, lines)))

    def open_heading(self, node: LexborNode) -> bool:
        """A heading: what comes until its end is its text."""
        self._level = int((node.tag or "h6")[1])
        return True

    def close_heading(self) -> None:
        """The end of a heading."""
        self._level = 0

    def open_list(self, node: LexborNode) -> bool:
        """A list, numbered or with bullets."""
        start = node.attributes.get("start") or "1"
        number = int(start) if re.fullmatch(r"-?\d{1,9}", start) else 1
        self._numbers.append(number if node.tag == "ol" else None)
        return True

    def close_list(self) -> None:
        """The end of a list."""
        self._numbers.pop()
        self.builder.close_list()

    def open_item(self, node: LexborNode) -> bool:
        """A list item, also one that stands in no list."""
        number = self._numbers[-1] if self._numbers else None
        self.builder.open_item("-" if number is None else f"{number}.")
        if number is not None:
            self._numbers[-1] = number + 1
        return True

    def close_item(self) -> None:
        """The end of a list item."""
        self.builder.close_item()
        if not self._numbers:
            self.builder.close_list()

    def put_code(self, node: LexborNode) -> bool:
        """Preformatted text, as it stands."""
        self.builder.append(BlockKind.CODE, _collect_raw(node))
        return False

    def put_table(self, node: LexborNode) -> bool:
        """A table of data, row by row; one that lays out the page is walked as it is."""
        if node.attributes.get("role") == "presentation" or any(
            inner.mem_id != node.mem_id for inner in node.css(_LAYOUT)
        ):
            return True
        rows, header = _read_rows(node)
        if max(map(len, rows), default=0) < 2:  # a list or a frame rather than a table
            return True
        for caption in node.css("caption"):
            self.builder.append(BlockKind.PARAGRAPH, _collect_text(caption))
        self.builder.append(BlockKind.TABLE, format_table(rows, header=header))
        return False


_ENTER: Final[dict[str, Callable[[_Walker, LexborNode], bool]]] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _Walker.open_heading),
    **dict.fromkeys(("ul", "ol", "menu"), _Walker.open_list),
    "li": _Walker.open_item,
    "pre": _Walker.put_code,
    "table": _Walker.put_table,
}
_LEAVE: Final[dict[str, Callable[[_Walker], None]]] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _Walker.close_heading),
    **dict.fromkeys(("ul", "ol", "menu"), _Walker.close_list),
    "li": _Walker.close_item,
}


def _read_rows(table: LexborNode) -> tuple[list[list[str]], bool]:
    """The cells of a table as a grid without its empty rows and columns; True for a header row.

    A cell that spans columns or rows stands in the first of them, the others are empty.
    """
    grid: list[dict[int, str]] = []
    taken: dict[int, int] = {}  # column -> rows from here on that a cell above covers
    header = False
    for row in table.css("tr"):
        if not _is_seen(row):
            continue
        cells = [cell for cell in _children(row) if cell.tag in ("td", "th") and _is_seen(cell)]
        if not grid and cells:
            header = all(cell.tag == "th" for cell in cells) or _stands_in_head(row)
        grid.append(_place_cells(cells, taken))
    columns = sorted({column for row in grid for column, text in row.items() if text})
    rows = [[row.get(column, "") for column in columns] for row in grid if any(row.values())]
    return rows, header and bool(grid) and any(grid[0].values())


def _place_cells(cells: list[LexborNode], taken: dict[int, int]) -> dict[int, str]:
    """The text of a row's cells by column; `taken` is brought down to the next row."""
    placed: dict[int, str] = {}
    below: dict[int, int] = {column: left - 1 for column, left in taken.items() if left > 1}
    column = 0
    for cell in cells:
        while column in taken:
            column += 1
        placed[column] = _collect_text(cell)
        rows = _read_span(cell, "rowspan")
        for _ in range(_read_span(cell, "colspan")):
            if rows > 1:
                below[column] = rows - 1
            column += 1
    taken.clear()
    taken.update(below)
    return placed


def _read_span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    return min(max(int(value), 1), _MAX_SPAN) if re.fullmatch(r"\d{1,9}", value) else 1


def _stands_in_head(row: LexborNode) -> bool:
    return row.parent is not None and row.parent.tag == "thead"


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next
