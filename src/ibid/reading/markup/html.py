"""HTML: the parsed tree walked once, in reading order, into headings, lists, tables and code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ibid.reading.builder import DocumentBuilder, format_table, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.markup.html_nodes import (
    BLOCKS,
    collect_raw,
    collect_text,
    is_seen,
    read_plain_rows,
    read_rows,
    squeeze,
    stand_in,
    walk,
)
from ibid.reading.pages import report_pages
from ibid.records import JSON, BlockKind, Document

_CHARACTERS_A_PAGE: Final = 6000
_MAX_DEPTH: Final = 2000  # open elements; parsing takes the square of it, browsers stop at 512
_MAIN_SHARE: Final = 0.6  # of a page's text that <main> must hold to stand for the page


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LAYOUT: Final = "table, h1, h2, h3, h4, h5, h6, pre"
_LINE_BREAK: Final = "\x0b"  # stands for <br> until white space is one space

_DECLARED: Final = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]+)""", re.I)
_DECLARED_WITHIN: Final = 4096  # bytes
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][\w:-]*)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_OPENED: Final = re.compile(r"<([a-zA-Z][\w:-]*)")
_XHTML: Final = re.compile(r"\s*<\?xml|[^>]*(?:>[^>]*){0,3}xmlns=[\"']http://www.w3.org/1999/xhtml")
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
    source = decode_html(data)
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    tree = parse_html(source)
    title = " ".join(collect_raw(tree.css_first("head > title")).split())
    builder = DocumentBuilder()
    walker = _Walker(builder)
    if title and not tree.any_css_matches(("h1",)):
        builder.append(BlockKind.HEADING, title, level=1)
    if (root := tree.body or tree.root) is not None:
        walker.walk(_find_main(root))
    title = title or walker.title
    return builder.build(title=title or None, media_type="text/html", metadata=_find_metadata(tree))


def append_html(builder: DocumentBuilder, source: str, *, levels: int = 0) -> None:
    """Put what a reader of a page sees, as `read_html` does; its headings `levels` deeper."""
    append_page(builder, parse_html(source), levels=levels)


def append_page(builder: DocumentBuilder, tree: LexborHTMLParser, *, levels: int = 0) -> None:
    """Put the same of a page that has been parsed."""
    if (root := tree.body or tree.root) is not None:
        _Walker(builder, levels).walk(root)


def decode_html(data: bytes, *, declared: str | None = None) -> str:
    """The source of a page from its bytes, in the encoding that they bear out.

    Raises UnsupportedFormat for bytes that are no text.
    """
    return normalize_text(decode_bytes(data, declared=declared or _find_declared(data)))


def parse_html(source: str) -> LexborHTMLParser:
    """The page as a tree, cut off where it is nested deeper than a page may be."""
    if _XHTML.match(source):
        source = _SELF_CLOSED.sub(_open_and_close, source)
    return LexborHTMLParser(_flatten(source))


def _find_declared(data: bytes) -> str | None:
    head = data[:_DECLARED_WITHIN]
    folded = head.lower()
    if b"charset" not in folded and b"encoding" not in folded:  # found much faster than by pattern
        return None
    match = _DECLARED.search(head)
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

    # No deeper than there are elements that nest.
    opened = _OPENED.findall(source) if source.count("<") > _MAX_DEPTH else []
    if len(opened) - sum(map(_UNNESTED.__contains__, opened)) <= _MAX_DEPTH:
        return source
    return _TAG.sub(keep, source)


def _find_main(root: LexborNode) -> LexborNode:
    """The element that holds most of the text of the page, `<main>` or the page itself."""
    found = root.css("main, [role=main]") or root.css("article")
    if len(found) != 1:
        return root
    share = len(collect_text(found[0])) / max(len(collect_text(root)), 1)
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


class _Walker:
    """Goes through the seen part of a page and puts what it shows into a builder."""

    def __init__(self, builder: DocumentBuilder, levels: int = 0) -> None:
        self.builder = builder
        self.title = ""
        self._levels = levels  # how much deeper headings are put than they stand
        self._pieces: list[str] = []  # text of the block at hand
        self._level = 0  # of the heading it stands in
        self._numbers: list[int | None] = []  # next number of each open list, None for bullets

    def walk(self, root: LexborNode) -> None:
        """Put every block below the root in its order."""
        walk(root, self._enter, self._leave)
        self._flush()

    def _enter(self, node: LexborNode) -> bool:
        if node.is_text_node:
            self._pieces.append(node.text_content or "")
            return False
        if not is_seen(node):
            return False
        tag = node.tag or ""
        if tag in BLOCKS:
            self._flush()
            handle = _ENTER.get(tag)
            return handle(self, node) if handle else True
        self._pieces.append(_LINE_BREAK if tag == "br" else stand_in(node))
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in BLOCKS:
            self._flush()
            handle = _LEAVE.get(tag)
            if handle:
                handle(self)

    def _flush(self) -> None:
        """Put the block at hand."""
        if not self._pieces:
            return
        text = squeeze("".join(self._pieces))
        self._pieces.clear()
        between = " " if self._level else "\n"
        text = between.join(filter(None, map(str.strip, text.split(_LINE_BREAK))))
        if self._level == 1:
            self.title = self.title or text
        kind = BlockKind.HEADING if self._level else BlockKind.PARAGRAPH
        if text:
            self.builder.append(kind, text, level=self._level)

    def open_heading(self, node: LexborNode) -> bool:
        """A heading: what comes until its end is its text."""
        self._level = min(int((node.tag or "h6")[1]) + self._levels, 6)
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
        self.builder.append(BlockKind.CODE, collect_raw(node))
        return False

    def put_table(self, node: LexborNode) -> bool:
        """A table of data, row by row; one that lays out the page is walked as it is."""
        plain = read_plain_rows(node.html or "")
        if plain is None and (
            node.attributes.get("role") == "presentation"
            or any(inner.mem_id != node.mem_id for inner in node.css(_LAYOUT))
        ):
            return True
        rows, header = plain or read_rows(node)
        if max(map(len, rows), default=0) < 2:  # a list or a frame rather than a table
            return True
        for caption in () if plain else node.css("caption"):
            self.builder.append(BlockKind.PARAGRAPH, collect_text(caption))
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
