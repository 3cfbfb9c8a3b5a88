"""OpenDocument texts and presentations: headings, numbered lists, tables, notes, text frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from lxml import etree

from ibid.errors import UnreadableDocument
from ibid.reading.attachments import read_attachments
from ibid.reading.builder import DocumentBuilder, format_table, join_words
from ibid.reading.office.docx_styles import MAX_LEVEL
from ibid.reading.office.odt_inline import Inline, find_objects, open_object
from ibid.reading.office.odt_package import (
    DRAW,
    OFFICE,
    PRESENTATION,
    STYLE,
    TABLE,
    TEXT,
    OpenDocument,
    open_document,
    read_count,
    read_styles,
    write_label,
)
from ibid.reading.pages import report_pages
from ibid.records import BlockKind, Document

_BYTES_A_PAGE: Final = 15_000  # of XML
_MAX_SPAN: Final = 1000  # columns or rows that one cell covers or is repeated over
_PARAGRAPH: Final = f"{TEXT}p"
_HEADING: Final = f"{TEXT}h"
_STYLE_NAME: Final = f"{TEXT}style-name"
_TABLE: Final = f"{TABLE}table"
_CELL: Final = f"{TABLE}table-cell"
_COVERED: Final = f"{TABLE}covered-table-cell"
_COLUMNS: Final = f"{TABLE}number-columns-spanned"
_ROWS: Final = f"{TABLE}number-rows-spanned"
_REPEATED_CELLS: Final = f"{TABLE}number-columns-repeated"
_CODE_STYLE: Final = "Preformatted_20_Text"
# What is no text of the page, or stands on every one of it.
_SKIPPED: Final = frozenset(
    {
        f"{TEXT}tracked-changes",
        f"{OFFICE}forms",
        f"{OFFICE}annotation",
        f"{PRESENTATION}notes",
        f"{TABLE}shapes",
    }
)
_REPEATED: Final = frozenset({"date-time", "footer", "header", "page-number", "page"})
_ROW_GROUPS: Final = frozenset(
    TABLE + n for n in ("table-header-rows", "table-rows", "table-row-group")
)


def read_odt(data: bytes, name: str) -> Document:
    """The text of an OpenDocument text as it would be printed with all changes accepted.

    Headings and lists keep their numbers; a merged cell is repeated where it reaches; notes and
    comments follow the paragraph they hang on, frames the one they stand in. Page headers and
    footers are read only when there is nothing else. The title is the file's own, else the first
    heading of level 1; author and dates are metadata.

    Raises UnreadableDocument for a broken file, and for one protected by a password.
    """
    document, body = _open_body(data, "text")
    walker = _Walker(document)
    walker.walk(body)
    walker.finish()
    if walker.builder.is_empty and document.styles is not None:
        for tag in ("header", "footer"):
            for node in document.styles.iter(STYLE + tag):
                walker.walk(node)
        walker.finish()
    documents, lines = read_attachments(find_objects(document))
    walker.builder.append(BlockKind.PARAGRAPH, "\n".join(lines))
    return walker.builder.build(
        title=document.title or walker.title,
        metadata=document.metadata,
        attachments=tuple(documents),
    )


def read_odp(data: bytes, name: str) -> Document:
    """The slides of an OpenDocument presentation, `page` being the number of each.

    The presentation's title is a heading of level 1, each slide's title one of level 2; a slide
    without one is called by its number. Shapes come in their order on the slide, then the notes.

    Raises UnreadableDocument for a broken file, and for one protected by a password.
    """
    document, body = _open_body(data, "presentation")
    slides = body.findall(f"{DRAW}page")
    report_pages(len(slides))
    builder = DocumentBuilder()
    if document.title:
        builder.append(BlockKind.HEADING, document.title, level=1)
    for page, slide in enumerate(slides, 1):
        _put_slide(builder, document, slide, page)
    documents, lines = read_attachments(find_objects(document))
    builder.append(BlockKind.PARAGRAPH, "\n".join(lines), page=len(slides) or None)
    return builder.build(
        title=document.title, metadata=document.metadata, attachments=tuple(documents)
    )


def _open_body(data: bytes, kind: str) -> tuple[OpenDocument, etree._Element]:
    document = open_document(data)
    report_pages(document.archive.measure("content.xml") // _BYTES_A_PAGE)
    body = document.content.find(f"{OFFICE}body/{OFFICE}{kind}")
    if body is None:
        raise UnreadableDocument(f"damaged: an OpenDocument {kind} without its body")
    return document, body


def _put_slide(
    builder: DocumentBuilder, document: OpenDocument, slide: etree._Element, page: int
) -> None:
    title, walker = "", _Walker(document)
    for shape in slide:
        role = shape.get(f"{PRESENTATION}class")
        if role == "title" and not title:
            title = walker.collect(shape)
        elif role not in _REPEATED and shape.tag not in _SKIPPED:
            walker.walk_frame(shape)
    notes = slide.find(f"{PRESENTATION}notes")
    if notes is not None:
        spoken = [f for f in notes if f.get(f"{PRESENTATION}class") == "notes"]
        text = "\n".join(filter(None, map(walker.collect, spoken)))
        walker.finish()
        walker.builder.append(BlockKind.PARAGRAPH, f"Notes: {text}" if text else "")
    walker.finish()
    if not title and walker.builder.is_empty:
        return
    builder.append(BlockKind.HEADING, title or f"Slide {page}", level=2, page=page)
    if not walker.builder.is_empty:
        read = walker.builder.build()
        for block in read.blocks:
            level = min(block.level + 2, MAX_LEVEL) if block.level else 0
            builder.append(block.kind, read.text[block.span], level=level, page=page)


class _Walker:
    """Goes through the body of a document and puts what it shows into a builder."""

    def __init__(self, document: OpenDocument) -> None:
        self.builder = DocumentBuilder()
        self.title: str | None = None
        self._document = document
        self._styles = read_styles(document)
        self._monospaced = self._styles.is_code(["Standard"])  # all of it: then it is no code
        self._counts: dict[str, dict[int, int]] = {}  # by list style; "" is the outline of headings
        self._lists: list[str] = []  # styles of the lists that are open
        self._code: list[str] = []  # lines of the code block at hand

    def walk(self, container: etree._Element) -> None:
        """Put every block of a body, a section, a cell or a text frame in its order."""
        for node in container:
            tag = str(node.tag)
            if tag not in _SKIPPED:
                _PUT.get(tag, _Walker.walk)(self, node)

    def walk_frame(self, frame: etree._Element) -> None:
        """Put what a frame or a shape shows: text, a table, an equation, the data of a chart."""
        root = open_object(self._document, frame)
        if root is None:
            self.walk(frame)
            return
        for table in root.iter(_TABLE):
            self.put_table(table)

    def finish(self) -> None:
        """Put the code that is still open, and end the list when nothing of it is."""
        if self._code:
            self.builder.append(BlockKind.CODE, "\n".join(self._code).strip("\n"))
            self._code.clear()
        self.builder.close_list()

    def collect(self, container: etree._Element) -> str:
        """All the text below a node as one line."""
        nodes = container.iter(f"{TEXT}p", f"{TEXT}h")
        return " ".join(" ".join(self._read(node).text for node in nodes).split())

    def _read(self, node: etree._Element) -> Inline:
        bases = self._styles.find_bases(node.get(_STYLE_NAME))
        code = not self._monospaced and (_CODE_STYLE in bases or self._styles.is_code(bases))
        inline = Inline(self._document, self._styles, monospace=code)
        inline.read(node)
        inline.code = inline.code and not self._monospaced
        return inline

    def put_heading(self, node: etree._Element) -> None:
        """A heading, with its number where it has one."""
        level = read_count(node, f"{TEXT}outline-level", 1)
        inline = self._read(node)
        label = ""
        if self._styles.outline and node.get(f"{TEXT}is-list-header") != "true":
            label = self._count("", self._styles.outline, level).removeprefix("-")
        text = " ".join(inline.text.split())
        if text:
            self.finish()
            if level == 1:
                self.title = self.title or text
            level = min(level, MAX_LEVEL)
            self.builder.append(BlockKind.HEADING, f"{label} {text}".strip(), level=level)
        self._put_attached(inline)

    def put_paragraph(self, node: etree._Element) -> None:
        """A paragraph, a line of code, or the title of the text."""
        if "Title" in self._styles.find_bases(node.get(_STYLE_NAME)):
            self._put_heading_of_page(node)
            return
        inline = self._read(node)
        text = inline.text
        if not text.strip():
            if self._code:
                self._code.append("")
        elif inline.code and not self._lists:
            self.builder.close_list()
            self._code.append(text)
        else:
            self.finish()
            self.builder.append(BlockKind.PARAGRAPH, text.strip())
        self._put_attached(inline)

    def _put_heading_of_page(self, node: etree._Element) -> None:
        """The title of the text itself, which counts as no chapter."""
        inline = self._read(node)
        text = " ".join(inline.text.split())
        if text:
            self.finish()
            self.title = self.title or text
            self.builder.append(BlockKind.HEADING, text, level=1)
        self._put_attached(inline)

    def _put_attached(self, inline: Inline) -> None:
        """Put what hangs on a paragraph: notes, then frames."""
        for note in inline.notes:
            self.finish()
            self.builder.append(BlockKind.PARAGRAPH, note)
        for frame in inline.frames:
            self.finish()
            self.walk_frame(frame)

    def put_list(self, node: etree._Element) -> None:
        """A list, each item with its label."""
        style = node.get(_STYLE_NAME) or (self._lists[-1] if self._lists else "-")
        if not self._lists and node.get(f"{TEXT}continue-numbering") != "true":
            self._counts.pop(style, None)
        self._lists.append(style)
        level = len(self._lists)
        levels = self._styles.lists.get(style, {})
        for item in node:
            if item.tag == f"{TEXT}list-item":
                start = read_count(item, f"{TEXT}start-value", -1)
                self.builder.open_item(self._count(style, levels, level, start))
                self.walk(item)
                self.builder.close_item()
            elif item.tag == f"{TEXT}list-header":
                self.walk(item)
        self._lists.pop()
        self.builder.close_list()

    def _count(
        self, style: str, levels: dict[int, etree._Element], level: int, start: int = -1
    ) -> str:
        """The label of the next list item or heading."""
        counts = self._counts.setdefault(style, {})
        if start >= 0:
            counts[level] = start
        elif level in counts:
            counts[level] += 1
        else:
            own = levels.get(level)
            counts[level] = 1 if own is None else read_count(own, f"{TEXT}start-value", 1)
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]
        return write_label(levels, counts, level)

    def put_table(self, table: etree._Element) -> None:
        """A table of data, row by row; one that only frames text is walked."""
        rows = list(_find_rows(table))
        if all(sum(1 for _ in _find_cells(row)) < 2 for row in rows):
            self.walk(table)
            return
        self.finish()
        attached: list[Inline] = []
        inner: list[etree._Element] = []
        grid = self._read_grid(rows, attached, inner)
        header = table.find(f"{TABLE}table-header-rows") is not None and len(grid) > 1
        self.builder.append(BlockKind.TABLE, format_table(grid, header=header))
        for inline in attached:
            self._put_attached(inline)
        for nested in inner:
            self.put_table(nested)

    def _read_grid(
        self, rows: list[etree._Element], attached: list[Inline], inner: list[etree._Element]
    ) -> list[list[str]]:
        """The texts of a table's cells; one that is merged is in every row and column it covers."""
        grid: list[list[str]] = []
        below: dict[int, tuple[int, str]] = {}  # column -> rows from here on, text
        for row in rows:
            texts: list[str] = []
            for cell in row:
                if cell.tag not in (_CELL, _COVERED):
                    continue
                text = self._read_cell(cell, attached, inner)
                span, high = _read_span(cell, _COLUMNS), _read_span(cell, _ROWS)
                for _ in range(_read_span(cell, _REPEATED_CELLS)):
                    column = len(texts)
                    if column in below and cell.tag == _COVERED:
                        texts.append(text or below[column][1])
                    else:
                        texts.append(text)
                    for covered in range(column, column + span):
                        below[covered] = (high, text)
            below = {c: (left - 1, text) for c, (left, text) in below.items() if left > 1}
            grid.append(texts)
        return [row for row in grid if any(row)]

    def _read_cell(
        self, cell: etree._Element, attached: list[Inline], inner: list[etree._Element]
    ) -> str:
        """The words of a cell as one line; what hangs on them and tables in it are set aside."""
        if len(cell) == 1 and not len(cell[0]) and cell[0].tag == _PARAGRAPH:  # as in most of them
            return join_words(cell[0].text or "")
        texts: list[str] = []
        for node in cell.iter(_PARAGRAPH, _HEADING, _TABLE):
            if next(node.iterancestors(_CELL, _COVERED)) is not cell:
                continue
            if node.tag == _TABLE:
                inner.append(node)
            elif _is_own(node, cell):
                inline = self._read(node)
                attached.append(inline)
                texts.append(inline.text)
        return join_words(" ".join(texts))


_PUT: Final[dict[str, Callable[[_Walker, etree._Element], None]]] = {
    _HEADING: _Walker.put_heading,
    _PARAGRAPH: _Walker.put_paragraph,
    f"{TEXT}list": _Walker.put_list,
    _TABLE: _Walker.put_table,
    f"{DRAW}frame": _Walker.walk_frame,
}


def _is_own(node: etree._Element, cell: etree._Element) -> bool:
    """True for a paragraph of the cell itself, not one of a note or a frame that is in it."""
    for above in node.iterancestors():
        if above is cell:
            return True
        if above.tag in (f"{TEXT}note", f"{OFFICE}annotation", f"{DRAW}frame"):
            return False
    return False


def _find_rows(table: etree._Element) -> Iterator[etree._Element]:
    for node in table:
        if node.tag == f"{TABLE}table-row":
            yield node
        elif node.tag in _ROW_GROUPS:
            yield from _find_rows(node)


def _find_cells(row: etree._Element) -> Iterator[etree._Element]:
    return row.iterchildren(_CELL, _COVERED)


def _read_span(cell: etree._Element, name: str) -> int:
    return min(max(read_count(cell, name, 1), 1), _MAX_SPAN)
