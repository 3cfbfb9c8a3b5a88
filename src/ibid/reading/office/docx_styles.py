"""What the styles and the numbering of a Word file say of a paragraph: level, label, font."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from lxml import etree

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_LEVEL: Final = 6
_VAL: Final = f"{W}val"
_HEADING: Final = re.compile(r"heading\s*([1-9])", re.I)
_CODE_STYLE: Final = re.compile(
    r"(source )?code( block)?|html preformatted|preformatted text", re.I
)
_MONOSPACE: Final = re.compile(
    r"(courier|consolas|menlo|monaco|lucida (console|sans typewriter)|andale mono|fira (code|mono)"
    r"|sf mono|cascadia|jetbrains|inconsolata|source code|hack\b|.*\bmono(space)?\b)",
    re.I,
)
_NUMBER: Final = re.compile("[0-9]{1,9}")
_NOT_A_LIST: Final = "0"  # the numbering id that takes a paragraph out of its style's list


def is_monospace(font: str | None) -> bool:
    """True for a font that code is set in."""
    return bool(font and _MONOSPACE.match(font))


def read_value(node: etree._Element | None, path: str) -> str | None:
    """The `val` of the element at a path such as "pPr/outlineLvl"; None where there is none."""
    found = None if node is None else node.find("/".join(W + name for name in path.split("/")))
    return None if found is None else found.get(_VAL)


def is_on(node: etree._Element | None, name: str) -> bool:
    """True when properties hold a switch such as "vanish" and it isn't set to off."""
    found = None if node is None else node.find(W + name)
    return found is not None and found.get(_VAL) not in ("0", "false", "off")


def read_outline_level(properties: etree._Element | None) -> int | None:
    """The heading level from 1 that properties give, 0 for body text, None for nothing said."""
    value = _to_int(read_value(properties, "outlineLvl"), None)
    if value is None:
        return None
    return min(value + 1, MAX_LEVEL) if value < 9 else 0


@dataclass(frozen=True, slots=True)
class Style:
    """A style with what it takes from those it is based on; None where none of them says it."""

    id: str = ""
    name: str = ""
    level: int | None = None
    number_id: str | None = None
    number_level: int | None = None
    monospace: bool | None = None
    code: bool = False


def read_styles(root: etree._Element | None) -> dict[str, Style]:
    """The styles of a document by id; the paragraphs' default one is under "" too."""
    nodes = {} if root is None else {s.get(f"{W}styleId", ""): s for s in root.iter(f"{W}style")}
    styles: dict[str, Style] = {}
    for id, node in nodes.items():
        _resolve(id, nodes, styles)
        if node.get(f"{W}type") == "paragraph" and node.get(f"{W}default") in ("1", "true"):
            styles[""] = styles[id]
    return styles


def _resolve(id: str, nodes: dict[str, etree._Element], styles: dict[str, Style]) -> None:
    """Put a style and those it is based on among `styles`, the most basic ones first."""
    chain: list[str] = []
    while id in nodes and id not in styles and id not in chain:
        chain.append(id)
        id = read_value(nodes[id], "basedOn") or ""
    base = styles.get(id, Style()) if id else Style()
    for own in reversed(chain):
        base = styles[own] = _read_style(own, nodes[own], base)


def _read_style(id: str, node: etree._Element, base: Style) -> Style:
    name = read_value(node, "name") or ""
    properties = node.find(f"{W}pPr")
    level = read_outline_level(properties)
    heading = _HEADING.fullmatch(name)
    if heading:
        level = min(int(heading[1]), MAX_LEVEL)
    elif name.lower() == "title":
        level = 1
    number = read_value(properties, "numPr/numId")
    depth = read_value(properties, "numPr/ilvl")
    fonts = node.find(f"{W}rPr/{W}rFonts")
    font = None if fonts is None else fonts.get(f"{W}ascii")
    return replace(
        base,
        id=id,
        name=name,
        level=base.level if level is None else level,
        number_id=number or base.number_id,
        number_level=_to_int(depth, base.number_level),
        monospace=is_monospace(font) if font else base.monospace,
        code=bool(_CODE_STYLE.fullmatch(name)) or base.code,
    )


def _to_int(value: str | None, default: int | None) -> int | None:
    return int(value) if value and _NUMBER.fullmatch(value) else default


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a list: how its label is written, and where it begins to count."""

    format: str
    text: str
    start: int
    style: str | None
    legal: bool


class Numbering:
    """Counts the numbered paragraphs of a document as they come."""

    def __init__(self, root: etree._Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, str] = {}  # list id -> id of the abstract list, which counts
        self._starts: dict[str, dict[int, int]] = {}  # list id -> level -> number to begin at anew
        self._counts: dict[str, dict[int, int]] = {}
        if root is None:
            return
        for node in root.findall(f"{W}abstractNum"):
            self._levels[node.get(f"{W}abstractNumId") or ""] = _read_levels(node)
        for node in root.findall(f"{W}num"):
            id = node.get(f"{W}numId") or ""
            self._lists[id] = read_value(node, "abstractNumId") or ""
            for override in node.findall(f"{W}lvlOverride"):
                start = _to_int(read_value(override, "startOverride"), None)
                if start is not None:
                    level = _to_int(override.get(f"{W}ilvl"), 0) or 0
                    self._starts.setdefault(id, {})[level] = start

    def find(self, properties: etree._Element | None, style: Style) -> tuple[str, int] | None:
        """The list and the level that a paragraph stands in; None for one that isn't numbered."""
        own = read_value(properties, "numPr/numId")
        id = own or style.number_id
        if id is None or id == _NOT_A_LIST or id not in self._lists:
            return None
        level = _to_int(read_value(properties, "numPr/ilvl"), None)
        if level is None and own is None:
            level = self._find_level(id, style)
        return id, min(level or 0, 8)

    def count(self, id: str, level: int) -> str:
        """The label of the next paragraph of a list: "-", "3.", "(b)"; "" for none."""
        abstract = self._lists[id]
        levels = self._levels.get(abstract, {})
        counts = self._counts.setdefault(abstract, {})
        restart = self._starts.get(id, {}).pop(level, None)
        if restart is not None:
            counts[level] = restart
        elif level in counts:
            counts[level] += 1
        else:
            counts[level] = levels[level].start if level in levels else 1
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]
        return _write_label(levels, counts, level)

    def _find_level(self, id: str, style: Style) -> int | None:
        for level, said in self._levels.get(self._lists[id], {}).items():
            if said.style == style.id:
                return level
        return style.number_level


def _read_levels(node: etree._Element) -> dict[int, _Level]:
    return {
        _to_int(level.get(f"{W}ilvl"), 0) or 0: _Level(
            format=read_value(level, "numFmt") or "decimal",
            text=read_value(level, "lvlText") or "",
            start=_to_int(read_value(level, "start"), 1) or 0,
            style=read_value(level, "pStyle"),
            legal=is_on(level, "isLgl"),
        )
        for level in node.findall(f"{W}lvl")
    }


def _write_label(levels: dict[int, _Level], counts: dict[int, int], level: int) -> str:
    own = levels.get(level)
    if own is None or own.format == "bullet":
        return "-"

    def write(match: re.Match[str]) -> str:
        index = int(match[1]) - 1
        said = levels.get(index)
        if said is None:
            return ""
        format = "decimal" if own.legal else said.format
        return write_number(counts.get(index, said.start), format)

    return re.sub(r"%([1-9])", write, own.text).strip() if own.format != "none" else ""


def write_number(number: int, format: str) -> str:
    """A number as a list writes it: "decimal", "lowerLetter", "upperRoman" and the like."""
    return _FORMATS.get(format, str)(number)


def _write_letter(number: int) -> str:
    """a to z, then aa, bb and on."""
    count, index = divmod(max(number, 1) - 1, 26)
    return chr(ord("a") + index) * min(count + 1, 9)


def _write_roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    written = ""
    for value, sign in _ROMAN:
        written += sign * (number // value)
        number %= value
    return written


_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_FORMATS: Final[dict[str, Callable[[int], str]]] = {
    "none": lambda number: "",
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": _write_letter,
    "upperLetter": lambda number: _write_letter(number).upper(),
    "lowerRoman": _write_roman,
    "upperRoman": lambda number: _write_roman(number).upper(),
}
