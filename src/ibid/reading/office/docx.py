"""Word files: headings by style or outline level, numbered lists, tables, notes, text boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lxml import etree

from ibid.errors import UnreadableDocument
from ibid.reading.builder import DocumentBuilder, format_table
from ibid.reading.office.docx_inline import Inline, read_inline
from ibid.reading.office.docx_lists import ListWriter
from ibid.reading.office.docx_styles import (
    Numbering,
    Style,
    W,
    read_outline_level,
    read_styles,
    read_value,
)
from ibid.reading.office.docx_tables import has_one_column, read_grid
from ibid.reading.office.embedded import read_embedded
from ibid.reading.office.ooxml import Package, Relation, open_package
from ibid.reading.office.ooxml_drawing import read_graphic
from ibid.reading.pages import report_pages
from ibid.records import BlockKind, Document

_BYTES_A_PAGE: Final = 15_000  # of XML
_NOTE_LABELS: Final = {"footnote": "Footnote", "endnote": "Endnote", "comment": "Comment"}
_DELETED: Final = frozenset({f"{W}del", f"{W}moveFrom"})


def read_docx(data: bytes, name: str, *, password: str | None = None) -> Document:
    """The text of a Word file as it would be printed with all changes accepted.

    Headings are known by style or outline level; lists and numbered headings keep their labels.
    A merged cell is repeated where it reaches. Paragraphs in a monospaced font are code. Notes
    and comments follow the paragraph they hang on, text boxes and charts the one they stand in.
    Files embedded as objects are documents of their own.
    Page headers and footers are read only when there is nothing else. The title is the file's
    own, else the first heading of level 1; author and dates are metadata.

    Raises UnreadableDocument for a broken file, and for one that another password opens.
    """
    package = open_package(data, password)
    main = package.find_main()
    root = package.parse(main)
    body = root.find(f"{W}body")
    if body is None:
        raise UnreadableDocument("damaged: a Word file without its body")
    report_pages(package.measure(main) // _BYTES_A_PAGE)
    walker = _Walker(package, main)
    walker.walk(body)
    walker.finish()
    if walker.builder.is_empty:
        for kind in ("header", "footer"):
            for part in package.find_related(main, kind):
                walker.walk(package.parse(part))
        walker.finish()
    documents, lines = read_embedded(package, [main])
    walker.builder.append(BlockKind.PARAGRAPH, "\n".join(lines))
    title, metadata = package.read_properties()
    return walker.builder.build(
        title=title or walker.title, metadata=metadata, attachments=tuple(documents)
    )


@dataclass(frozen=True, slots=True)
class _Context:
    """What the parts beside the text say of it."""

    styles: dict[str, Style]
    relations: dict[str, Relation]
    notes: dict[tuple[str, str], etree._Element]


def _read_context(package: Package, main: str) -> _Context:
    notes: dict[tuple[str, str], etree._Element] = {}
    for kind in _NOTE_LABELS:
        root = package.parse_related(main, f"{kind}s")
        for node in () if root is None else root.iter(W + kind):
            notes[kind, node.get(f"{W}id") or ""] = node
    styles = read_styles(package.parse_related(main, "styles"))
    return _Context(styles, package.read_relations(main), notes)


class _Walker:
    """Goes through the body of a document and puts what it shows into a builder."""

    def __init__(self, package: Package, main: str) -> None:
        self.builder = DocumentBuilder()
        self.title: str | None = None
        self._package = package
        self._context = _read_context(package, main)
        self._numbering = Numbering(package.parse_related(main, "numbering"))
        self._list = ListWriter(self.builder)
        self._code: list[str] = []  # lines of the code block at hand
        self._carried = ""  # text of a paragraph whose end has been deleted
        self._default = self._context.styles.get("", Style())

    def walk(self, container: etree._Element) -> None:
        """Put every block of a body, a cell, a text box or a note in its order."""
        for node in container:
            if node.tag == f"{W}p":
                self._put_paragraph(node)
            elif node.tag == f"{W}tbl":
                self._put_table(node)
            elif node.tag not in _DELETED:
                self.walk(node)

    def finish(self) -> None:
        """Put what is still open."""
        self._put_code()
        self._list.close()

    def _put_paragraph(self, node: etree._Element) -> None:
        properties = node.find(f"{W}pPr")
        style = self._find_style(properties)
        inline = self._read(node, style)
        text = self._carried + inline.text
        self._carried = ""
        mark = None if properties is None else properties.find(f"{W}rPr")
        if mark is not None and mark.find(f"{W}del") is not None:
            self._carried = text
            return
        own = read_outline_level(properties)
        level = (style.level if own is None else own) or 0
        place = self._numbering.find(properties, style)
        label = self._numbering.count(*place) if place else ""
        if not text.strip():
            if self._code:
                self._code.append("")
        elif level:
            self._put_heading(" ".join(f"{label.removeprefix('-')} {text}".split()), level)
        elif self._is_code(inline, style):
            self._list.close()
            self._code.append(text)
        elif place and label:
            self._put_code()
            self._list.put(text.strip(), label, place[1])
        else:
            self.finish()
            self.builder.append(BlockKind.PARAGRAPH, text.strip())
        self._put_attached(inline)

    def _find_style(self, properties: etree._Element | None) -> Style:
        return self._context.styles.get(read_value(properties, "pStyle") or "", self._default)

    def _read(self, node: etree._Element, style: Style) -> Inline:
        return read_inline(node, self._context.styles, monospace=bool(style.monospace))

    def _is_code(self, inline: Inline, style: Style) -> bool:
        """True for text set as code, in a document that isn't set so as a whole."""
        return style.code or (inline.code and not self._default.monospace)

    def _put_heading(self, text: str, level: int) -> None:
        self.finish()
        if level == 1:
            self.title = self.title or text
        self.builder.append(BlockKind.HEADING, text, level=level)

    def _put_code(self) -> None:
        if self._code:
            self.builder.append(BlockKind.CODE, "\n".join(self._code).strip("\n"))
            self._code.clear()

    def _put_attached(self, inline: Inline) -> None:
        """Put what hangs on a paragraph: notes, then text boxes, charts and diagrams."""
        for note in inline.notes:
            self._put_note(note)
        for box in inline.boxes:
            self.finish()
            self.walk(box)
        for drawing in inline.drawings:
            tables, lines = read_graphic(drawing, self._package, self._context.relations)
            if tables or lines:
                self.finish()
            for line in lines:
                self.builder.append(BlockKind.PARAGRAPH, line)
            for rows in tables:
                self.builder.append(BlockKind.TABLE, format_table(rows, header=True))

    def _put_note(self, note: tuple[str, str]) -> None:
        node = self._context.notes.get(note)
        text = "" if node is None else self._collect(node)
        if node is None or not text:
            return
        self._put_code()
        author = node.get(f"{W}author") if note[0] == "comment" else None
        label = _NOTE_LABELS[note[0]] + (f" by {author}" if author else "")
        self.builder.append(BlockKind.PARAGRAPH, f"{label}: {text}")

    def _collect(self, node: etree._Element) -> str:
        """All the text of a note as one line."""
        texts = (self._read(p, self._default).text for p in node.iter(f"{W}p"))
        return " ".join(" ".join(texts).split())

    def _put_table(self, table: etree._Element) -> None:
        """A table of data, row by row; one that only frames or lays out text is walked."""
        if has_one_column(table) or self._has_heading(table):
            self.walk(table)
            return
        self.finish()
        attached: list[Inline] = []
        inner: list[etree._Element] = []

        def read_cell(cell: etree._Element) -> str:
            return self._read_cell(cell, attached, inner)

        rows, header = read_grid(table, read_cell)
        self.builder.append(BlockKind.TABLE, format_table(rows, header=header))
        for inline in attached:
            self._put_attached(inline)
        for nested in inner:
            self._put_table(nested)

    def _has_heading(self, table: etree._Element) -> bool:
        styles = self._context.styles
        names = (node.get(f"{W}val") or "" for node in table.iter(f"{W}pStyle"))
        return any(styles[name].level for name in names if name in styles)

    def _read_cell(
        self, container: etree._Element, attached: list[Inline], inner: list[etree._Element]
    ) -> str:
        """The words of a cell as one line; what hangs on them and tables in it are set aside."""
        texts: list[str] = []
        for node in container:
            if node.tag == f"{W}p":
                properties = node.find(f"{W}pPr")
                style = self._find_style(properties)
                place = self._numbering.find(properties, style)
                inline = self._read(node, style)
                attached.append(inline)
                label = self._numbering.count(*place) if place else ""
                texts.append(f"{label} {inline.text}" if inline.text.strip() else "")
            elif node.tag == f"{W}tbl":
                inner.append(node)
            elif node.tag not in _DELETED:
                texts.append(self._read_cell(node, attached, inner))
        return " ".join(" ".join(texts).split())
