"""XML: the text of the elements under their names; the items of a news feed as its sections."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from lxml import etree

from ibid.errors import UnreadableDocument
from ibid.reading.archive import parse_xml
from ibid.reading.builder import DocumentBuilder, join_words, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.markup.html import append_html
from ibid.reading.pages import report_pages
from ibid.reading.text import build_text
from ibid.records import BlockKind, Document

_CHARACTERS_A_PAGE: Final = 6000
_DECLARATION: Final = re.compile(r"\s*<\?xml[^>]*\?>")
_DECLARED: Final = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)""")
_HEADINGS: Final = frozenset({"title", "head", "heading", "name"})
_FEEDS: Final = frozenset({"rss", "feed", "RDF"})
_ITEMS: Final = frozenset({"item", "entry"})
_FEED_TEXTS: Final = ("encoded", "content", "description", "summary", "subtitle", "tagline")
_FEED_FIELDS: Final = {  # what is said of a feed or an item, by the elements that say it
    "Author": ("creator", "author", "managingEditor"),
    "Date": ("pubDate", "published", "date", "updated", "lastBuildDate"),
    "Categories": ("category",),
}


def read_xml(data: bytes, name: str) -> Document:
    """The text of every element in a line that begins with its name, a block for each record.

    Elements with text among their elements are paragraphs; a title that opens an element is a
    heading. RSS and Atom become a section for each item, its HTML read as such. What is not well
    formed is kept as plain text.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for no text in it.
    """
    declared = _DECLARED.match(data)
    source = decode_bytes(data, declared=declared[1].decode("ascii") if declared else None)
    source = normalize_text(source)
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    try:
        root = parse_xml(_drop_declaration(source).encode())
    except UnreadableDocument:
        return build_text(source)
    builder = DocumentBuilder()
    if _name(root) in _FEEDS:
        title = _put_feed(builder, root)
    else:
        _Walker(builder).walk(root)
        title = _find_title(root)
    return builder.build(title=title or None)


def _drop_declaration(source: str) -> str:
    """The source from its root on: what it says of its encoding is no longer so."""
    declaration = _DECLARATION.match(source)
    return source[declaration.end() if declaration else 0 :].lstrip()


def _name(element: etree._Element) -> str:
    """The name of an element without its namespace; empty for an entity."""
    return _drop_namespace(element.tag)


@lru_cache(maxsize=1024)
def _drop_namespace(tag: object) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _collect_text(element: etree._Element) -> str:
    text = "".join(map(str, element.itertext())) if len(element) else element.text or ""
    return join_words(text)


def _find_title(root: etree._Element) -> str:
    first = next(iter(root), None)
    return _collect_text(first) if first is not None and _name(first) in _HEADINGS else ""


class _Walker:
    """Puts elements into a builder; the lines of a record are gathered until it ends."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._lines: list[str] = []

    def walk(self, root: etree._Element) -> None:
        """Put the root and all that is in it."""
        self._visit(root, 1)
        self._flush()

    def _visit(self, element: etree._Element, level: int) -> None:
        children = list(element)
        if not children:
            self._put_leaf(element)
        elif _is_mixed(element, children):
            self._flush()
            self._builder.append(BlockKind.PARAGRAPH, _collect_text(element))
        else:
            self._flush()
            if element.keys():
                self._lines.append(_label(element))
            self._visit_children(children, level)
            self._flush()

    def _visit_children(self, children: list[etree._Element], level: int) -> None:
        first = children[0]
        if not len(first) and _name(first) in _HEADINGS and (text := _collect_text(first)):
            self._builder.append(BlockKind.HEADING, text, level=min(level, 6))
            del children[0]
        for child in children:
            if len(child):
                self._visit(child, level + 1)
            else:
                self._put_leaf(child)

    def _put_leaf(self, element: etree._Element) -> None:
        """Put the line of an element with no other in it."""
        label = _label(element)
        text = join_words(element.text or "")
        if text:
            self._lines.append(f"{label}: {text}")
        elif element.keys():
            self._lines.append(label)

    def _flush(self) -> None:
        self._builder.append(BlockKind.LIST, "\n".join(self._lines))
        self._lines.clear()


def _is_mixed(element: etree._Element, children: Iterable[etree._Element]) -> bool:
    """True for an element with text of its own beside its elements."""
    own = [element.text, *(child.tail for child in children)]
    return any(text and not text.isspace() for text in own)


def _label(element: etree._Element) -> str:
    """The name of an element and its attributes."""
    name = _name(element)
    if not element.keys():
        return name
    said = (f"{_drop_namespace(str(key))}={value!s}" for key, value in element.items())
    return " ".join([name, *said])


def _put_feed(builder: DocumentBuilder, root: etree._Element) -> str:
    """The feed's own section, then one for each item; gives its title."""
    channel = next((child for child in root if _name(child) == "channel"), root)
    title = _put_entry(builder, channel, 1)
    items = [element for element in root.iter() if _name(element) in _ITEMS]
    for number, item in enumerate(items, 1):
        builder.place = f"item {number}"
        _put_entry(builder, item, 2)
    return title


def _put_entry(builder: DocumentBuilder, entry: etree._Element, level: int) -> str:
    """Put title, author, date, categories and the fullest text of a feed or an item."""
    said: dict[str, list[etree._Element]] = {}
    for child in entry:
        said.setdefault(_name(child), []).append(child)
    title = next(map(_collect_text, said.get("title", ())), "")
    builder.append(BlockKind.HEADING, title, level=level)
    lines = []
    for label, names in _FEED_FIELDS.items():
        found = next((said[name] for name in names if name in said), [])
        if values := list(filter(None, map(_collect_text, found))):
            lines.append(f"{label}: {', '.join(values)}")
    builder.append(BlockKind.PARAGRAPH, "\n".join(lines))
    texts = [_as_html(said[name][0]) for name in _FEED_TEXTS if name in said]
    append_html(builder, max(texts, key=len, default=""), levels=level)
    return title


def _as_html(element: etree._Element) -> str:
    """The HTML in an element, whether it stands as text or as elements."""
    if len(element):
        return etree.tostring(element, encoding="unicode", with_tail=False)
    return element.text or ""
