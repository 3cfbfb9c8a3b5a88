"""OpenDocument files: the parts of the package, and what its styles say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ibid.reading.archive import Archive, make_protected_error, open_archive, parse_xml
from ibid.reading.office.docx_styles import is_monospace, write_number
from ibid.reading.office.ooxml import select_properties
from ibid.records import JSON

_ODF: Final = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE: Final = _ODF + "office:1.0}"
TEXT: Final = _ODF + "text:1.0}"
TABLE: Final = _ODF + "table:1.0}"
DRAW: Final = _ODF + "drawing:1.0}"
STYLE: Final = _ODF + "style:1.0}"
META: Final = _ODF + "meta:1.0}"
PRESENTATION: Final = _ODF + "presentation:1.0}"
_COUNT: Final = re.compile("[0-9]{1,9}")
_FO: Final = _ODF + "xsl-fo-compatible:1.0}"
DC: Final = "{http://purl.org/dc/elements/1.1/}"

_NUMBER_FORMATS: Final = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
}


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """An OpenDocument file: its content, and what is known of it."""

    archive: Archive
    content: etree._Element
    styles: etree._Element | None
    title: str | None
    metadata: dict[str, JSON]


def open_document(data: bytes) -> OpenDocument:
    """The OpenDocument file that the bytes hold.

    Raises UnreadableDocument for one that is broken, too large, or protected by a password.
    """
    archive = open_package(data)
    title, metadata = read_properties(archive)
    return OpenDocument(
        archive=archive,
        content=parse_xml(archive.read("content.xml")),
        styles=parse_xml(archive.read("styles.xml")) if "styles.xml" in archive else None,
        title=title,
        metadata=metadata,
    )


def open_package(data: bytes) -> Archive:
    """The parts of an OpenDocument file. Raises UnreadableDocument as `open_document` does."""
    archive = open_archive(data)
    manifest = "META-INF/manifest.xml"
    if manifest in archive and b"encryption-data" in archive.read(manifest):
        raise make_protected_error()
    return archive


def read_properties(archive: Archive) -> tuple[str | None, dict[str, JSON]]:
    """The title that somebody gave the file, and its author and dates."""
    if "meta.xml" not in archive:
        return None, {}
    root = parse_xml(archive.read("meta.xml"))
    values = {
        "title": root.findtext(f".//{DC}title"),
        "author": root.findtext(f".//{META}initial-creator") or root.findtext(f".//{DC}creator"),
        "created": root.findtext(f".//{META}creation-date"),
        "modified": root.findtext(f".//{DC}date"),
    }
    return select_properties(values)


@dataclass(frozen=True, slots=True)
class Styles:
    """The styles of a file by name: what each is based on, its font, and the levels of lists."""

    parents: dict[str, str] = field(default_factory=dict)
    fonts: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    lists: dict[str, dict[int, etree._Element]] = field(default_factory=dict)
    outline: dict[int, etree._Element] = field(default_factory=dict)

    def find_bases(self, name: str | None) -> list[str]:
        """A style and those it is based on, the nearest first."""
        chain: list[str] = []
        while name and name not in chain:
            chain.append(name)
            name = self.parents.get(name)
        return chain

    def is_code(self, names: Iterable[str], *, default: bool = False) -> bool:
        """True when the first of these styles that names a font names one that code is set in."""
        font = next((self.fonts[name] for name in names if name in self.fonts), None)
        return is_monospace(font) if font else default


def read_styles(document: OpenDocument) -> Styles:
    """The styles of a file, the automatic ones of its content included."""
    styles = Styles()
    for root in (document.styles, document.content):
        for node in () if root is None else root.iter(f"{STYLE}style"):
            name = node.get(f"{STYLE}name") or ""
            styles.parents[name] = node.get(f"{STYLE}parent-style-name") or ""
            properties = node.find(f"{STYLE}text-properties")
            if properties is None:
                continue
            font = properties.get(f"{STYLE}font-name") or properties.get(f"{_FO}font-family")
            if font:
                styles.fonts[name] = font.strip("'\" ")
            if properties.get(f"{TEXT}display") == "none":
                styles.hidden.add(name)
        for node in () if root is None else root.iter(f"{TEXT}list-style"):
            styles.lists[node.get(f"{STYLE}name") or ""] = _read_levels(node)
        for node in () if root is None else root.iter(f"{TEXT}outline-style"):
            styles.outline.update(_read_levels(node))
    return styles


def _read_levels(node: etree._Element) -> dict[int, etree._Element]:
    return {read_count(level, f"{TEXT}level", 1): level for level in node}


def read_count(node: etree._Element, name: str, default: int) -> int:
    """A whole number among the attributes of an element."""
    value = node.get(name)
    return int(value) if value and _COUNT.fullmatch(value) else default


def write_label(levels: dict[int, etree._Element], counts: dict[int, int], level: int) -> str:
    """The label of a list item or heading; "-" for a bullet, "" where the style shows none."""
    own = levels.get(level)
    if own is None or own.tag == f"{TEXT}list-level-style-bullet":
        return "-"
    if not own.get(f"{STYLE}num-format"):
        return ""
    shown: list[str] = []
    for upper in range(level - read_count(own, f"{TEXT}display-levels", 1) + 1, level + 1):
        style = levels.get(upper)
        format = None if style is None else style.get(f"{STYLE}num-format")
        if format:
            shown.append(write_number(counts.get(upper, 1), _NUMBER_FORMATS.get(format, "")))
    prefix, suffix = own.get(f"{STYLE}num-prefix") or "", own.get(f"{STYLE}num-suffix") or ""
    return f"{prefix}{'.'.join(shown)}{suffix}".strip()
