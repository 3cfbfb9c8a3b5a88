"""Rich Text Format: headings by style or outline level, lists, tables, notes; no pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from ibid.errors import UnreadableDocument
from ibid.reading.builder import DocumentBuilder, format_table
from ibid.reading.docx_lists import ListWriter
from ibid.reading.docx_styles import MAX_LEVEL, is_monospace
from ibid.reading.ooxml import select_properties
from ibid.reading.pages import report_pages
from ibid.reading.rtf_tokens import (
    CLOSE,
    HEX,
    OPEN,
    TEXT,
    Token,
    find_code_page,
    join_surrogates,
    read_tokens,
)
from ibid.records import BlockKind, Document

_BYTES_A_PAGE: Final = 30_000
_MAX_DEPTH: Final = 10_000  # open groups
_HEADING: Final = re.compile(r"heading ([1-9])", re.I)
_DATE_PARTS: Final = ("yr", "mo", "dy", "hr", "min")

_BODY: Final = "body"
_SKIPPED: Final = "skipped"
# Groups that hold something else than text of the page; those with a star are unknown and skipped
# unless they are here.
_DESTINATIONS: Final = {
    **dict.fromkeys(
        ["colortbl", "pict", "objdata", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "ftnsep", "ftnsepc", "ftncn", "nonshppict", "shprslt", "sp", "xe", "tc", "nonesttables", "fldinst"],
        _SKIPPED,
    ),
    **dict.fromkeys(["fonttbl", "stylesheet", "title", "author", "creatim", "revtim"], ""),
    "footnote": "", "annotation": "", "atnauthor": "", "listtext": "", "pntext": "listtext",
    "info": _SKIPPED, "shpinst": _BODY, "shptxt": _BODY, "shppict": _SKIPPED,
}
_SYMBOLS: Final = {
    "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "~": "\xa0",
    "-": "\xad", "_": "\u2011", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
    "\\": "\\", "{": "{", "}": "}", "\t": "\t", "nestcell": " ", "zwj": "\u200d",
    "zwnj": "\u200c", "ltrmark": "\u200e", "rtlmark": "\u200f", "softline": "\n",
}


def read_rtf(data: bytes, name: str) -> Document:
    """The text of an RTF file as it would be printed with all changes accepted.

    Headings are known by style or outline level; lists keep their labels; a cell merged with the
    one above repeats it; notes and comments follow their paragraph. Page headers, footers and
    pictures are dropped. The title is the file's own, else the first heading of level 1; author
    and dates are metadata.

    Raises UnreadableDocument for bytes that aren't RTF.
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableDocument("damaged: not an RTF file, which begins with {\\rtf")
    report_pages(len(data) // _BYTES_A_PAGE)
    reader = _Reader()
    for token in read_tokens(data):
        reader.take(token)
    reader.finish()
    title, metadata = select_properties(reader.properties)
    return reader.builder.build(title=title or reader.title, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _State:
    """What holds within a group: where its text goes, in which font, and what it skips."""

    destination: str = _BODY
    font: int = -1
    skip: int = 1  # characters that stand for a Unicode one, for old readers
    unseen: bool = False


@dataclass(slots=True)
class _Paragraph:
    """What is said of the paragraph at hand."""

    style: int | None = None
    level: int | None = None  # of a heading
    depth: int = 0  # of a list item
    in_table: bool = False
    label: str = ""
    notes: list[str] = field(default_factory=list)
    code: bool = True


class _Reader:
    """Takes the tokens of a file one by one and puts what they show into a builder."""

    def __init__(self) -> None:
        self.builder = DocumentBuilder()
        self.title: str | None = None
        self.properties: dict[str, str | None] = {}
        self._list = ListWriter(self.builder)
        self._states = [_State()]
        self._texts: dict[str, list[str]] = {}  # by destination
        self._bytes = bytearray()  # text that has not been decoded
        self._to_skip = 0
        self._starred = False  # the group may be skipped by those who don't know it
        self._file_encoding = "cp1252"
        self._fonts: dict[int, str | None] = {}
        self._monospaced: set[int] = set()
        self._default_font = -1
        self._defined = 0  # font or style that is being defined
        self._levels: dict[int, int] = {}  # heading level by style
        self._paragraph = _Paragraph()
        self._code: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._merges: list[str] = []
        self._merge = ""
        self._header = False
        self._author = ""
        self._date: dict[str, int] = {}

    @property
    def _state(self) -> _State:
        return self._states[-1]

    def take(self, token: Token) -> None:
        """Take one token."""
        word = token.word
        if word == TEXT or word == HEX:
            self._take_bytes(token.data)
        elif word == OPEN:
            self._flush()
            if len(self._states) > _MAX_DEPTH:
                raise UnreadableDocument(f"damaged: more than {_MAX_DEPTH} groups in each other")
            self._states.append(self._state)
        elif word == CLOSE:
            self._close_group()
        elif word == "*":
            self._starred = True
        else:
            self._take_word(word, token.number)
            self._starred = False

    def finish(self) -> None:
        """Put what is still open at the end of the file."""
        self._flush()
        if self._paragraph.in_table and self._cells:
            self._end_row()
        self._end_paragraph()
        self._put_table()
        self._put_code()
        self._list.close()

    def _take_bytes(self, data: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        if self._state.destination != _SKIPPED:
            self._bytes += data

    def _flush(self) -> None:
        """Decode the bytes at hand in the font's encoding and add them to their destination."""
        if self._bytes:
            encoding = self._fonts.get(self._state.font) or self._file_encoding
            text = self._bytes.decode(encoding, "replace")
            self._bytes.clear()
            self._add(text)

    def _add(self, text: str) -> None:
        state = self._state
        if state.unseen or state.destination == _SKIPPED:
            return
        self._texts.setdefault(state.destination, []).append(text)
        if state.destination == _BODY and text.strip():
            code = state.font in self._monospaced and state.font != self._default_font
            self._paragraph.code = self._paragraph.code and code

    def _take_text(self, destination: str) -> str:
        return join_surrogates("".join(self._texts.pop(destination, [])))

    def _take_word(self, word: str, number: int | None) -> None:
        self._flush()
        if word == "u":
            if not self._to_skip:
                self._add(chr((number or 0) & 0xFFFF))
            self._to_skip = self._state.skip
            return
        self._to_skip = 0
        if word in _SYMBOLS:
            self._add(_SYMBOLS[word])
        elif word in _DESTINATIONS:
            self._set(destination=_DESTINATIONS[word] or word)
        elif self._starred:
            self._set(destination=_SKIPPED)
        elif self._state.destination in _TABLE_WORDS:
            _TABLE_WORDS[self._state.destination](self, word, number)
        elif word in _WORDS:
            _WORDS[word](self, number)

    def _set(self, **changes: object) -> None:
        self._states[-1] = replace(self._state, **changes)  # type: ignore[arg-type]  # by name

    def _close_group(self) -> None:
        self._flush()
        self._to_skip = 0
        self._starred = False
        destination = self._state.destination
        if len(self._states) > 1:
            self._states.pop()
        if destination in ("fonttbl", "stylesheet"):
            self._define(destination)
        elif destination != self._state.destination and destination in _ENDS:
            _ENDS[destination](self)

    # -- tables of fonts and styles, properties of the file --

    def _take_font(self, word: str, number: int | None) -> None:
        if word == "f":
            self._defined = number or 0
        elif word == "fcharset":
            self._fonts[self._defined] = find_code_page(number or 0)

    def _take_style(self, word: str, number: int | None) -> None:
        if word == "s":
            self._defined = number or 0
        elif word == "outlinelevel" and number is not None and 0 <= number < 9:
            self._levels[self._defined] = number + 1

    def _take_date(self, word: str, number: int | None) -> None:
        if word in _DATE_PARTS and number is not None:
            self._date[word] = number

    def _define(self, destination: str) -> None:
        """The name at the end of a font's or a style's definition."""
        name = self._take_text(destination).strip().rstrip(";")
        heading = _HEADING.fullmatch(name)
        if destination == "fonttbl" and is_monospace(name):
            self._monospaced.add(self._defined)
        elif destination == "stylesheet" and heading:
            self._levels[self._defined] = int(heading[1])
        elif destination == "stylesheet" and name.lower() == "title":
            self._levels[self._defined] = 1
        self._defined = 0 if destination == "stylesheet" else self._defined

    def _end_property(self, name: str) -> None:
        self.properties[name] = self._take_text(name)

    def _end_date(self, name: str) -> None:
        parts = [self._date.get(part, 0) for part in _DATE_PARTS]
        self._date.clear()
        try:
            self.properties[name] = datetime(*parts).isoformat()
        except (ValueError, OverflowError):
            self.properties[name] = None

    # -- paragraphs and what hangs on them --

    def _end_note(self, destination: str) -> None:
        text = " ".join(self._take_text(destination).split())
        label = "Footnote"
        if destination == "annotation":
            label = f"Comment by {self._author}" if self._author else "Comment"
        if text:
            self._paragraph.notes.append(f"{label}: {text}")

    def _end_author(self) -> None:
        self._author = self._take_text("atnauthor").strip()

    def _end_label(self) -> None:
        self._paragraph.label = self._take_text("listtext").strip()

    def _end_line(self, number: int | None) -> None:
        if self._state.destination != _BODY or self._paragraph.in_table:
            self._add("\n")
        else:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        """Put the paragraph at hand; its properties hold on for the next one."""
        said = self._paragraph
        text = self._take_text(_BODY)
        self._put_table()
        level = said.level if said.level is not None else self._levels.get(said.style or 0)
        if not text.strip():
            if self._code:
                self._code.append("")
        elif level:
            self._put_heading(" ".join(f"{said.label} {text}".split()), min(level, MAX_LEVEL))
        elif said.label:
            self._put_code()
            label = said.label if any(map(str.isalnum, said.label)) else "-"
            self._list.put(text.strip(), label, said.depth)
        elif said.code:
            self._list.close()
            self._code.append(text)
        else:
            self._put_code()
            self._list.close()
            self.builder.append(BlockKind.PARAGRAPH, text.strip())
        self._put_notes()
        self._paragraph = replace(said, label="", notes=[], code=True)

    def _put_heading(self, text: str, level: int) -> None:
        self._put_code()
        self._list.close()
        if level == 1:
            self.title = self.title or text
        self.builder.append(BlockKind.HEADING, text, level=level)

    def _put_code(self) -> None:
        if self._code:
            self.builder.append(BlockKind.CODE, "\n".join(self._code).strip("\n"))
            self._code.clear()

    def _put_notes(self) -> None:
        for note in self._paragraph.notes:
            self._put_code()
            self.builder.append(BlockKind.PARAGRAPH, note)
        self._paragraph.notes = []

    def _reset_paragraph(self, number: int | None) -> None:
        said = self._paragraph
        self._paragraph = _Paragraph(label=said.label, notes=said.notes, code=said.code)

    def _set_level(self, number: int | None) -> None:
        if number is not None:
            self._paragraph.level = number + 1 if 0 <= number < 9 else 0

    # -- tables --

    def _begin_row(self, number: int | None) -> None:
        self._merges, self._merge, self._header = [], "", self._header and bool(self._rows)

    def _end_column(self, number: int | None) -> None:
        self._merges.append(self._merge)
        self._merge = ""

    def _end_cell(self, number: int | None) -> None:
        text = " ".join(f"{self._paragraph.label} {self._take_text(_BODY)}".split())
        self._paragraph.label = ""
        self._cells.append(text)

    def _end_row(self, number: int | None = None) -> None:
        cells, self._cells = self._cells, []
        above = self._rows[-1] if self._rows else []
        for column, merge in enumerate(self._merges[: len(cells)]):
            if merge == "up" and column < len(above):
                cells[column] = cells[column] or above[column]
            elif merge == "left" and column:
                cells[column] = cells[column] or cells[column - 1]
        if any(cells):
            self._rows.append(cells)

    def _put_table(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        self._put_code()
        self._list.close()
        if max(map(len, rows)) > 1:
            header = self._header and len(rows) > 1
            self.builder.append(BlockKind.TABLE, format_table(rows, header=header))
        else:
            for (text,) in rows:
                self.builder.append(BlockKind.PARAGRAPH, text)
        self._header = False
        self._put_notes()


_TABLE_WORDS: Final[dict[str, Callable[[_Reader, str, int | None], None]]] = {
    "fonttbl": _Reader._take_font,
    "stylesheet": _Reader._take_style,
    "creatim": _Reader._take_date,
    "revtim": _Reader._take_date,
}
_ENDS: Final[dict[str, Callable[[_Reader], None]]] = {
    "title": lambda reader: reader._end_property("title"),
    "author": lambda reader: reader._end_property("author"),
    "creatim": lambda reader: reader._end_date("created"),
    "revtim": lambda reader: reader._end_date("modified"),
    "footnote": lambda reader: reader._end_note("footnote"),
    "annotation": lambda reader: reader._end_note("annotation"),
    "atnauthor": _Reader._end_author,
    "listtext": _Reader._end_label,
}


def _set_attribute(name: str, value: object) -> Callable[[_Reader, int | None], None]:
    return lambda reader, number: setattr(reader, name, value)


def _set_paragraph(name: str) -> Callable[[_Reader, int | None], None]:
    return lambda reader, number: setattr(reader._paragraph, name, number or 0)


def _set_state(name: str, default: int) -> Callable[[_Reader, int | None], None]:
    def change(reader: _Reader, number: int | None) -> None:
        reader._set(**{name: default if number is None else number})

    return change
