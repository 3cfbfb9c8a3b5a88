"""EPUB: the pages of a book along its spine, under the titles of its table of contents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote, urldefrag

from lxml import etree

from ibid.errors import UnreadableDocument
from ibid.reading.archive import Archive, open_archive, parse_xml
from ibid.reading.builder import DocumentBuilder, join_words
from ibid.reading.markup.html import append_page, decode_html, parse_html
from ibid.reading.markup.html_nodes import collect_raw, collect_text
from ibid.reading.pages import report_pages
from ibid.records import JSON, BlockKind, BlockRow, Blocks, Document

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_PAGES: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_METADATA: Final = {"author": "creator", "date": "date", "language": "language"}


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book as its manifest names it."""

    path: str
    media_type: str
    properties: str

    @property
    def is_navigation(self) -> bool:
        """True for the page that holds the table of contents."""
        return "nav" in self.properties.split()


def read_epub(data: bytes, name: str) -> Document:
    """The text of the book in reading order, each block with its chapter as its place.

    A page whose headings don't name it as the table of contents does begins with that name.
    Author, date and language are metadata.

    Raises UnreadableDocument for a damaged or a protected book, EmptyDocument for one without
    text.
    """
    archive = open_archive(data)
    package_path = _find_package(archive)
    package = parse_xml(archive.read(package_path))
    items = _read_manifest(package, posixpath.dirname(package_path))
    spine = [
        items[id]
        for reference in _find(package, "itemref")
        if (id := reference.get("idref", "")) in items and items[id].media_type in _PAGES
    ]
    report_pages(len(spine))
    _refuse_protected(archive, {item.path for item in spine})
    contents = _read_contents(archive, items.values())
    builder = DocumentBuilder()
    for number, item in enumerate((item for item in spine if item.path in archive), 1):
        entries = contents.get(item.path, {})
        whole = next((title for title, fragment in entries.items() if not fragment), None)
        builder.place = whole or f"chapter {number}"
        source = decode_html(archive.read(item.path))
        if item.is_navigation:
            _put_contents(builder, source)
        else:
            _put_page(builder, source, whole, entries)
    known = {_fold(title) for entries in contents.values() for title in entries}
    document = builder.build(title=_find_text(package, "title"), metadata=_find_metadata(package))
    return _name_places(document, known)


def _find(root: etree._Element, name: str) -> Iterator[etree._Element]:
    """The elements of this name in any namespace, and in none."""
    return root.iter(f"{{*}}{name}")


def _find_text(root: etree._Element, name: str) -> str | None:
    texts = (" ".join("".join(map(str, e.itertext())).split()) for e in _find(root, name))
    return next(filter(None, texts), None)


def _find_metadata(package: etree._Element) -> dict[str, JSON]:
    return {key: text for key, name in _METADATA.items() if (text := _find_text(package, name))}


def _find_package(archive: Archive) -> str:
    """The path of the package document, which names all other files."""
    if _CONTAINER in archive:
        for root in _find(parse_xml(archive.read(_CONTAINER)), "rootfile"):
            path = root.get("full-path", "")
            if path in archive:
                return path
    found = next((name for name in archive.names if name.endswith(".opf")), None)
    if found is None:
        raise UnreadableDocument("damaged: not a book, no package document in it")
    return found


def _read_manifest(package: etree._Element, folder: str) -> dict[str, _Item]:
    return {
        item.get("id", ""): _Item(
            _resolve(folder, item.get("href", "")),
            item.get("media-type", ""),
            item.get("properties", ""),
        )
        for item in _find(package, "item")
    }


def _resolve(folder: str, reference: str) -> str:
    """The path in the archive that a reference from this folder means."""
    return posixpath.normpath(posixpath.join(folder, unquote(urldefrag(reference).url)))


def _refuse_protected(archive: Archive, spine: set[str]) -> None:
    if _ENCRYPTION not in archive:
        return
    references = _find(parse_xml(archive.read(_ENCRYPTION)), "CipherReference")
    if {_resolve("", reference.get("URI", "")) for reference in references} & spine:
        raise UnreadableDocument(
            "the book is protected against reading by other programs",
            hint="get it without digital rights management",
        )


def _read_contents(archive: Archive, items: Iterable[_Item]) -> dict[str, dict[str, str]]:
    """For each page the titles that the table of contents has for it, with their fragments."""
    found: dict[str, dict[str, str]] = {}
    for item in items:
        if item.path not in archive:
            continue
        if item.is_navigation:
            entries = _read_navigation(archive.read(item.path))
        elif item.media_type == "application/x-dtbncx+xml" and not found:
            entries = _read_ncx(archive.read(item.path))
        else:
            continue
        for reference, title in entries:
            path = _resolve(posixpath.dirname(item.path), reference)
            if title:
                found.setdefault(path, {}).setdefault(title, urldefrag(reference).fragment)
    return found


def _read_navigation(data: bytes) -> Iterator[tuple[str, str]]:
    """Reference and title of each entry of a navigation page, its landmarks left out."""
    tree = parse_html(decode_html(data))
    for nav in tree.css("nav"):
        if (nav.attributes.get("epub:type") or "toc") == "toc":
            for link in nav.css("a[href]"):
                yield link.attributes.get("href") or "", collect_text(link)


def _read_ncx(data: bytes) -> Iterator[tuple[str, str]]:
    """Reference and title of each point of a navigation map; nothing where it is broken."""
    try:
        root = parse_xml(data)
    except UnreadableDocument:
        return
    for point in _find(root, "navPoint"):
        content = next(_find(point, "content"), None)
        if content is not None:
            yield content.get("src", ""), _find_text(point, "text") or ""


def _put_contents(builder: DocumentBuilder, source: str) -> None:
    """Put the table of contents as a page, where the book shows it as one."""
    nav = parse_html(source).css_first("nav")
    if nav is not None:
        lines = [collect_text(entry) for entry in nav.css("li > a, li > span")]
        builder.append(BlockKind.HEADING, collect_text(nav.css_first("h1, h2, h3")), level=1)
        builder.append(BlockKind.LIST, "\n".join(lines))


def _put_page(
    builder: DocumentBuilder, source: str, title: str | None, titles: Iterable[str]
) -> None:
    """Put a page, below its title where it has one that none of its headings says."""
    page = parse_html(source)
    headings = page.css("h1, h2, h3, h4, h5, h6") if title else []
    shown = {_fold(collect_text(heading)) for heading in headings}
    if title is None or any(_fold(known) in text for known in titles for text in shown):
        append_page(builder, page)
        return
    own = collect_raw(page.css_first("title"))
    builder.append(BlockKind.HEADING, own if _fold(own) == _fold(title) else title, level=1)
    append_page(builder, page, levels=1)


def _fold(text: str) -> str:
    """What is left of a title when its spelling is forgiven."""
    return "".join(filter(str.isalnum, text)).casefold() or text


def _name_places(document: Document, known: set[str]) -> Document:
    """The document with chapters named by the headings that stand in the table of contents.

    A page that no entry names as a whole goes on with the chapter before it.
    """
    rows: list[BlockRow] = []
    page: str | None = None
    chapter: str | None = None
    for row in Blocks.of(document.blocks).rows:
        kind, start, end, level, number, place, lines, boxes = row
        if place != page:
            page = place
            chapter = page if _fold(page or "") in known else chapter
        if kind == BlockKind.HEADING:
            text = join_words(document.text[start:end])
            chapter = text if _fold(text) in known else chapter
        rows.append((kind, start, end, level, number, chapter or place, lines, boxes))
    return replace(document, blocks=Blocks(rows))
