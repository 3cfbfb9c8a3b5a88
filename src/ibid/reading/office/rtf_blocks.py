"""The paragraphs and table rows of an RTF file as blocks of a document."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ibid.reading.builder import DocumentBuilder, format_table
from ibid.reading.office.docx_lists import ListWriter
from ibid.reading.office.docx_styles import MAX_LEVEL
from ibid.records import BlockKind

_BODY_LEVELS: Final = 9  # from this outline level on it is body text


@dataclass(slots=True)
class Paragraph:
    """What is said of the paragraph at hand, and the notes that hang on it."""

    style: int = 0
    level: int | None = None  # of a heading; 0 for body text, None for what the style says
    indent: int = 0  # in twips; a list item that stands further in is nested
    in_table: bool = False
    label: str = ""
    notes: list[str] = field(default_factory=list)
    code: bool = True  # all of its text is in a monospaced font


@dataclass(slots=True)
class _Table:
    """The table at hand; `merges` says of each column of the row whether it goes on another."""

    rows: list[list[str]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    merges: list[str] = field(default_factory=list)
    merge: str = ""
    header: bool = False


class BlockWriter:
    """Puts paragraphs, notes and tables into a builder as they end."""

    def __init__(self) -> None:
        self.builder = DocumentBuilder()
        self.title: str | None = None
        self.paragraph = Paragraph()
        self.levels: dict[int, int] = {}  # heading level by style
        self._list = ListWriter(self.builder)
        self._table = _Table()
        self._code: list[str] = []

    def reset_paragraph(self, number: int | None) -> None:
        """Forget what has been said of the paragraph, but not what is in it."""
        said = self.paragraph
        self.paragraph = Paragraph(label=said.label, notes=said.notes, code=said.code)

    def set_style(self, number: int | None) -> None:
        """Name the style of the paragraph."""
        self.paragraph.style = number or 0

    def set_level(self, number: int | None) -> None:
        """Say which outline level it has, from 0."""
        if number is not None:
            self.paragraph.level = number + 1 if 0 <= number < _BODY_LEVELS else 0

    def set_indent(self, number: int | None) -> None:
        """Say how far in it stands."""
        self.paragraph.indent = number or 0

    def enter_table(self, number: int | None) -> None:
        """Say that it stands in a table."""
        self.paragraph.in_table = True

    def put_paragraph(self, text: str) -> None:
        """Put the paragraph at hand; what has been said of it holds for the next one too."""
        said = self.paragraph
        self._put_table()
        level = self.levels.get(said.style, 0) if said.level is None else said.level
        if not text.strip():
            if self._code:
                self._code.append("")
        elif level:
            self._put_heading(" ".join(f"{said.label} {text}".split()), min(level, MAX_LEVEL))
        elif said.label:
            self._put_code()
            label = said.label if any(map(str.isalnum, said.label)) else "-"
            self._list.put(text.strip(), label, said.indent)
        elif said.code:
            self._list.close()
            self._code.append(text)
        else:
            self._close()
            self.builder.append(BlockKind.PARAGRAPH, text.strip())
        self._put_notes()
        self.paragraph = replace(said, label="", notes=[], code=True)

    def begin_row(self, number: int | None) -> None:
        """Begin to say what the columns of a row are like."""
        self._table.merges.clear()
        self._table.merge = ""

    def merge_up(self, number: int | None) -> None:
        """Say that a column of the row goes on from the row above."""
        self._table.merge = "up"

    def merge_left(self, number: int | None) -> None:
        """Say that a column of the row goes on from the one before it."""
        self._table.merge = "left"

    def end_column(self, number: int | None) -> None:
        """End what is said of a column."""
        self._table.merges.append(self._table.merge)
        self._table.merge = ""

    def mark_header(self, number: int | None) -> None:
        """Say that the row is repeated on every page: the first such one names the columns."""
        self._table.header = self._table.header or not self._table.rows

    def put_cell(self, text: str) -> None:
        """Put a cell of the row at hand."""
        self._table.cells.append(" ".join(f"{self.paragraph.label} {text}".split()))
        self.paragraph.label = ""

    def end_row(self, number: int | None = None) -> None:
        """End the row; a cell that goes on another has its text."""
        table = self._table
        cells, table.cells = table.cells, []
        above = table.rows[-1] if table.rows else []
        for column, merge in enumerate(table.merges[: len(cells)]):
            if merge == "up" and column < len(above):
                cells[column] = cells[column] or above[column]
            elif merge == "left" and column:
                cells[column] = cells[column] or cells[column - 1]
        if any(cells):
            table.rows.append(cells)

    def finish(self, text: str) -> None:
        """Put what is still open at the end of the file, `text` being the last of it."""
        if self._table.cells:
            self.put_cell(text)
            self.end_row()
            text = ""
        self.put_paragraph(text)
        self._close()

    def _put_heading(self, text: str, level: int) -> None:
        self._close()
        if level == 1:
            self.title = self.title or text
        self.builder.append(BlockKind.HEADING, text, level=level)

    def _put_notes(self) -> None:
        for note in self.paragraph.notes:
            self._put_code()
            self.builder.append(BlockKind.PARAGRAPH, note)
        self.paragraph.notes = []

    def _put_table(self) -> None:
        table, self._table = self._table, _Table()
        if not table.rows:
            return
        self._close()
        if max(map(len, table.rows)) > 1:
            header = table.header and len(table.rows) > 1
            self.builder.append(BlockKind.TABLE, format_table(table.rows, header=header))
        else:
            for (text,) in table.rows:
                self.builder.append(BlockKind.PARAGRAPH, text)

    def _put_code(self) -> None:
        if self._code:
            self.builder.append(BlockKind.CODE, "\n".join(self._code).strip("\n"))
            self._code.clear()

    def _close(self) -> None:
        self._put_code()
        self._list.close()
