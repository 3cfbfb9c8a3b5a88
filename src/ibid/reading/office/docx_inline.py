"""What stands in one paragraph of a Word file: its text, and what hangs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ibid.reading.office.docx_math import M, read_math
from ibid.reading.office.docx_styles import Style, W, is_monospace, is_on, read_value

_NOTES: Final = {
    f"{W}footnoteReference": "footnote",
    f"{W}endnoteReference": "endnote",
    f"{W}commentReference": "comment",
}
# Deleted and moved text, instructions of fields, and the small signs above East Asian words.
_SKIPPED: Final = frozenset(
    W + name for name in ("pPr", "rPr", "sdtPr", "del", "moveFrom", "instrText", "delText", "rt")
)
_SYMBOLS: Final = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "\u2011",
}


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, with its notes as (kind, id) and its text boxes and pictures.

    `code` is True when all of its visible text is set in a monospaced font; `monospace` is the
    font of the run at hand.
    """

    styles: dict[str, Style]
    monospace: bool = False
    pieces: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[etree._Element] = field(default_factory=list)
    drawings: list[etree._Element] = field(default_factory=list)
    code: bool = True

    @property
    def text(self) -> str:
        """The text as a reader sees it."""
        return "".join(self.pieces)

    def read(self, node: etree._Element) -> None:
        """Take in all that is below a node."""
        for child in node:
            tag = str(child.tag)
            if tag in _SKIPPED:
                continue
            handle = _HANDLERS.get(tag)
            if handle:
                handle(self, child)
            else:
                self.read(child)

    def read_run(self, run: etree._Element) -> None:
        """A stretch of text in one font."""
        properties = run.find(f"{W}rPr")
        if is_on(properties, "vanish"):
            return
        outer = self.monospace
        self.monospace = self._is_monospace(properties)
        self.read(run)
        self.monospace = outer

    def read_text(self, node: etree._Element) -> None:
        """Text as it stands."""
        text = node.text or ""
        if text.strip() and not self.monospace:
            self.code = False
        self.pieces.append(text)

    def read_symbol(self, node: etree._Element) -> None:
        """A sign that has an element of its own."""
        self.pieces.append(_SYMBOLS[str(node.tag)])

    def read_equation(self, node: etree._Element) -> None:
        """An equation as its text."""
        self.pieces.append(read_math(node))
        self.code = False

    def read_note(self, node: etree._Element) -> None:
        """The place where a note or a comment hangs."""
        self.notes.append((_NOTES[str(node.tag)], node.get(f"{W}id") or ""))

    def read_box(self, node: etree._Element) -> None:
        """A text box, which is read after the paragraph."""
        self.boxes.append(node)

    def read_drawing(self, node: etree._Element) -> None:
        """A drawing: charts and diagrams are read after the paragraph, and text boxes too."""
        self.drawings.append(node)
        self.boxes += node.iter(f"{W}txbxContent")

    def _is_monospace(self, properties: etree._Element | None) -> bool:
        if properties is None:
            return self.monospace
        fonts = properties.find(f"{W}rFonts")
        if fonts is not None:
            return is_monospace(fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi"))
        style = self.styles.get(read_value(properties, "rStyle") or "")
        if style is None or style.monospace is None:
            return self.monospace
        return style.monospace


_HANDLERS: Final[dict[str, Callable[[Inline, etree._Element], None]]] = {
    f"{W}r": Inline.read_run,
    f"{W}t": Inline.read_text,
    f"{M}oMath": Inline.read_equation,
    f"{W}txbxContent": Inline.read_box,
    f"{W}drawing": Inline.read_drawing,
    **dict.fromkeys(_SYMBOLS, Inline.read_symbol),
    **dict.fromkeys(_NOTES, Inline.read_note),
}


def read_inline(
    paragraph: etree._Element, styles: dict[str, Style], *, monospace: bool = False
) -> Inline:
    """What stands in a paragraph; `monospace` is the font where its runs name none."""
    inline = Inline(styles, monospace)
    inline.read(paragraph)
    return inline
