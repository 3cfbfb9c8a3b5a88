"""What stands in one paragraph of an OpenDocument file: its text, and what hangs on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ibid.reading.archive import parse_xml
from ibid.reading.office.embedded import unwrap_object
from ibid.reading.office.odt_package import DC, DRAW, OFFICE, TEXT, OpenDocument, Styles, read_count

_SVG: Final = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_XLINK: Final = "{http://www.w3.org/1999/xlink}"
_MATH: Final = "{http://www.w3.org/1998/Math/MathML}"

_MAX_SPACES: Final = 1000
_SPACE: Final = re.compile("[ \t\r\n]+")
_MATH_FORMS: Final = {
    "msup": "{}^{}",
    "msub": "{}_{}",
    "msubsup": "{}_{}^{}",
    "mfrac": "{}/{}",
    "mroot": "√({}, {})",
    "munder": "{}_{}",
    "mover": "{}^{}",
    "munderover": "{}_{}^{}",
}


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, and what hangs on it: notes with their labels, and frames.

    `code` is True when all of its text is set in a monospaced font; `monospace` is the font of
    the text at hand.
    """

    document: OpenDocument
    styles: Styles
    monospace: bool = False
    code: bool = True
    pieces: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    frames: list[etree._Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text as a reader sees it."""
        return "".join(self.pieces)

    def read(self, node: etree._Element) -> None:
        """Take in the text of a node and all that is below it."""
        self._add(node.text)
        for child in node:
            tag = str(child.tag)
            if tag not in _SKIPPED:
                handle = _HANDLERS.get(tag, Inline.read)
                handle(self, child)
            self._add(child.tail)

    def _add(self, text: str | None) -> None:
        if text:
            self.code = self.code and (self.monospace or not text.strip())
            if "  " in text or not text.isprintable():
                text = _SPACE.sub(" ", text)
            at_start = not self.pieces or self.pieces[-1].endswith((" ", "\n"))
            self.pieces.append(text.removeprefix(" ") if at_start else text)

    def read_span(self, node: etree._Element) -> None:
        """Text in one style."""
        bases = self.styles.find_bases(node.get(f"{TEXT}style-name"))
        if self.styles.hidden.intersection(bases):
            return
        outer = self.monospace
        self.monospace = self.styles.is_code(bases, default=outer)
        self.read(node)
        self.monospace = outer

    def read_spaces(self, node: etree._Element) -> None:
        """Spaces that are meant to be there."""
        self.pieces.append(" " * min(read_count(node, f"{TEXT}c", 1), _MAX_SPACES))

    def read_tab(self, node: etree._Element) -> None:
        """A tab."""
        self.pieces.append("\t")

    def read_break(self, node: etree._Element) -> None:
        """A line end."""
        self.pieces.append("\n")

    def read_note(self, node: etree._Element) -> None:
        """A footnote or an endnote."""
        label = "Endnote" if node.get(f"{TEXT}note-class") == "endnote" else "Footnote"
        self._set_aside(label, node.iter(f"{TEXT}p", f"{TEXT}h"))

    def read_annotation(self, node: etree._Element) -> None:
        """A comment."""
        author = node.findtext(f"{DC}creator")
        label = f"Comment by {author}" if author else "Comment"
        self._set_aside(label, node.iter(f"{TEXT}p"))

    def _set_aside(self, label: str, paragraphs: Iterable[etree._Element]) -> None:
        texts: list[str] = []
        for paragraph in paragraphs:
            inline = Inline(self.document, self.styles)
            inline.read(paragraph)
            texts.append(inline.text)
            self.notes += inline.notes
        text = " ".join(" ".join(texts).split())
        if text:
            self.notes.append(f"{label}: {text}")

    def read_frame(self, node: etree._Element) -> None:
        """A frame: an equation is text of this paragraph, anything else is read after it."""
        equation = read_equation(self.document, node)
        if equation:
            self.code = False
            self.pieces.append(equation)
        else:
            self.frames.append(node)


_SKIPPED: Final = frozenset(
    {
        f"{TEXT}tracked-changes",
        f"{TEXT}note-citation",
        f"{TEXT}ruby-text",
        f"{OFFICE}annotation-end",
        f"{_SVG}title",
        f"{_SVG}desc",
    }
)
_HANDLERS: Final[dict[str, Callable[[Inline, etree._Element], None]]] = {
    f"{TEXT}span": Inline.read_span,
    f"{TEXT}s": Inline.read_spaces,
    f"{TEXT}tab": Inline.read_tab,
    f"{TEXT}line-break": Inline.read_break,
    f"{TEXT}note": Inline.read_note,
    f"{OFFICE}annotation": Inline.read_annotation,
    f"{DRAW}frame": Inline.read_frame,
    f"{DRAW}custom-shape": Inline.read_frame,
    f"{DRAW}g": Inline.read_frame,
}


def open_object(document: OpenDocument, frame: etree._Element) -> etree._Element | None:
    """The content of the formula or chart that a frame shows; None for a frame of another kind."""
    node = frame.find(f"{DRAW}object")
    if node is None:
        return None
    name = (node.get(f"{_XLINK}href") or "").removeprefix("./") + "/content.xml"
    if name in document.archive:
        return parse_xml(document.archive.read(name))
    return next(iter(node), None)


def find_objects(document: OpenDocument) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file of another program that is embedded in a document."""
    for node in document.content.iter(f"{DRAW}object-ole"):
        name = (node.get(f"{_XLINK}href") or "").removeprefix("./")
        if name in document.archive:
            yield from unwrap_object(name, document.archive.read(name))


def read_equation(document: OpenDocument, frame: etree._Element) -> str:
    """The equation in a frame as a line of text; "" when it shows something else."""
    root = open_object(document, frame)
    return _read_math(root) if root is not None and root.tag == f"{_MATH}math" else ""


def _read_math(node: etree._Element) -> str:
    tag = str(node.tag).removeprefix(_MATH)
    if tag in ("annotation", "annotation-xml"):
        return ""
    parts = [_read_math(child) for child in node]
    form = _MATH_FORMS.get(tag)
    if form and len(parts) == form.count("{}"):
        return form.format(*(p if p.isalnum() or len(p) < 2 else f"({p})" for p in parts))
    if tag == "msqrt":
        return f"√({''.join(parts)})"
    return (node.text or "").strip() + "".join(parts)
