"""Rich Text Format: headings by style or outline level, lists, tables, notes; no pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ibid.errors import UnreadableDocument
from ibid.reading.office.docx_styles import is_monospace
from ibid.reading.office.ooxml import select_properties
from ibid.reading.office.rtf_blocks import BlockWriter
from ibid.reading.office.rtf_tokens import (
    CLOSE,
    HEX,
    OPEN,
    TEXT,
    Token,
    find_code_page,
    join_surrogates,
    name_code_page,
    read_tokens,
)
from ibid.reading.pages import report_pages
from ibid.records import Document

_BYTES_A_PAGE: Final = 30_000
_MAX_DEPTH: Final = 10_000  # open groups
_BODY_LEVEL: Final = 9  # from this outline level on it is body text
_HEADING: Final = re.compile(r"heading ([1-9])", re.I)
_DATE_PARTS: Final = ("yr", "mo", "dy", "hr", "min")

# Where the text of a group goes.
_BODY: Final = "body"
_FONTS: Final = "fonts"
_STYLES: Final = "styles"
_SKIPPED: Final = "skipped"
_DROPPED: Final = (
    "colortbl pict objdata header headerl headerr headerf footer footerl footerr footerf ftnsep"
    " ftnsepc ftncn nonshppict shppict shprslt sp xe tc nonesttables fldinst"
)
_KEPT: Final = "info title author footnote annotation atnauthor listtext"
_DESTINATIONS: Final = {
    **dict.fromkeys(_DROPPED.split(), _SKIPPED),
    **{name: name for name in _KEPT.split()},
    "fonttbl": _FONTS,
    "stylesheet": _STYLES,
    "creatim": "created",
    "revtim": "modified",
    "pntext": "listtext",
    "shpinst": _BODY,
    "shptxt": _BODY,
}
_SYMBOLS: Final = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "~": "\xa0",
    "-": "\xad",
    "_": "\u2011",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "\t": "\t",
    "nestcell": " ",
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "ltrmark": "\u200e",
    "rtlmark": "\u200f",
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
    blocks = reader.blocks
    return blocks.builder.build(title=title or blocks.title, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _State:
    """What holds within a group: where its text goes, in which font, and what it skips."""

    destination: str = _BODY
    font: int = 0
    skip: int = 1  # characters that stand for a Unicode one, for old readers
    unseen: bool = False


class _Reader:
    """Takes the tokens of a file one by one and hands what they show to a writer of blocks."""

    def __init__(self) -> None:
        self.blocks = BlockWriter()
        self.properties: dict[str, str | None] = {}
        self._states = [_State()]
        self._texts: dict[str, list[str]] = {}  # by destination
        self._bytes = bytearray()  # text that has not been decoded
        self._to_skip = 0
        self._starred = False  # the group may be skipped by those who don't know it
        self._encoding = "cp1252"
        self._fonts: dict[int, str | None] = {}  # encodings
        self._monospaced: set[int] = set()
        self._default_font = 0
        self._defined = 0  # font or style that is being defined
        self._author = ""
        self._date: dict[str, int] = {}

    def take(self, token: Token) -> None:
        """Take one token."""
        word = token.word
        if word in (TEXT, HEX):
            self._take_bytes(token.data)
        elif word == OPEN:
            self._flush()
            if len(self._states) > _MAX_DEPTH:
                raise UnreadableDocument(f"damaged: more than {_MAX_DEPTH} groups in each other")
            self._states.append(self._states[-1])
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
        self.blocks.finish(self._take_text(_BODY))

    def _take_bytes(self, data: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        if self._states[-1].destination != _SKIPPED:
            self._bytes += data

    def _flush(self) -> None:
        """Decode the bytes at hand in the font's encoding and add them to their destination."""
        if self._bytes:
            encoding = self._fonts.get(self._states[-1].font) or self._encoding
            text = self._bytes.decode(encoding, "replace")
            self._bytes.clear()
            self._add(text)

    def _add(self, text: str) -> None:
        state = self._states[-1]
        if state.unseen or state.destination == _SKIPPED:
            return
        self._texts.setdefault(state.destination, []).append(text)
        if state.destination == _BODY and text.strip():
            code = state.font in self._monospaced and state.font != self._default_font
            self.blocks.paragraph.code = self.blocks.paragraph.code and code

    def _take_text(self, destination: str) -> str:
        return join_surrogates("".join(self._texts.pop(destination, [])))

    def _take_word(self, word: str, number: int | None) -> None:
        self._flush()
        destination = self._states[-1].destination
        if word == "u":
            self._take_character(number or 0)
            return
        self._to_skip = 0
        if destination == _SKIPPED:
            return
        if word in _SYMBOLS:
            self._add(_SYMBOLS[word])
        elif word in _DESTINATIONS:
            self._set(replace(self._states[-1], destination=_DESTINATIONS[word]))
        elif self._starred:
            self._set(replace(self._states[-1], destination=_SKIPPED))
        elif destination in _DEFINITIONS:
            _DEFINITIONS[destination](self, word, number)
        elif word in _BLOCK_WORDS:
            if destination == _BODY:
                _BLOCK_WORDS[word](self.blocks, number)
        elif word in _WORDS:
            _WORDS[word](self, number)

    def _take_character(self, number: int) -> None:
        """A Unicode character, and after it what old readers show in its place."""
        self._add(chr(number & 0xFFFF))
        self._to_skip = self._states[-1].skip

    def _set(self, state: _State) -> None:
        self._states[-1] = state

    def _close_group(self) -> None:
        self._flush()
        self._to_skip = 0
        self._starred = False
        destination = self._states[-1].destination
        if len(self._states) > 1:
            self._states.pop()
        if destination in (_FONTS, _STYLES):
            self._end_definition(destination)
        elif destination != self._states[-1].destination and destination in _ENDS:
            _ENDS[destination](self, destination)

    # -- words of the text --

    def set_font(self, number: int | None) -> None:
        """Text comes in another font."""
        self._set(replace(self._states[-1], font=number or 0))

    def reset_font(self, number: int | None) -> None:
        """Text comes in the file's own font."""
        self._set(replace(self._states[-1], font=self._default_font, unseen=False))

    def hide(self, number: int | None) -> None:
        """Text comes that isn't seen, as it is hidden or deleted; 0 ends it."""
        self._set(replace(self._states[-1], unseen=number != 0))

    def set_skip(self, number: int | None) -> None:
        """Say how many characters stand for a Unicode one."""
        self._set(replace(self._states[-1], skip=max(number or 0, 0)))

    def set_default_font(self, number: int | None) -> None:
        """Name the font of text that names none."""
        self._default_font = number or 0
        self.reset_font(None)

    def set_encoding(self, number: int | None) -> None:
        """Name the code page of the file."""
        self._encoding = name_code_page(number)

    def end_line(self, number: int | None) -> None:
        """The end of a paragraph, or of a line within a cell or a note."""
        if self._states[-1].destination != _BODY or self.blocks.paragraph.in_table:
            self._add("\n")
        else:
            self.blocks.put_paragraph(self._take_text(_BODY))

    def end_cell(self, number: int | None) -> None:
        """The end of a table's cell."""
        self.blocks.put_cell(self._take_text(_BODY))

    # -- tables of fonts and styles, properties of the file, notes --

    def define_font(self, word: str, number: int | None) -> None:
        """A word of a font's definition."""
        if word == "f":
            self._defined = number or 0
        elif word == "fcharset":
            self._fonts[self._defined] = find_code_page(number or 0)

    def define_style(self, word: str, number: int | None) -> None:
        """A word of a style's definition."""
        if word == "s":
            self._defined = number or 0
        elif word == "outlinelevel" and number is not None and 0 <= number < _BODY_LEVEL:
            self.blocks.levels[self._defined] = number + 1

    def define_date(self, word: str, number: int | None) -> None:
        """A part of a date."""
        if number is not None:
            self._date[word] = number

    def _end_definition(self, destination: str) -> None:
        """The name at the end of a font's or a style's definition."""
        name = self._take_text(destination).strip().rstrip(";")
        if destination == _FONTS:
            if is_monospace(name):
                self._monospaced.add(self._defined)
            return
        heading = _HEADING.fullmatch(name)
        if heading or name.lower() == "title":
            self.blocks.levels[self._defined] = int(heading[1]) if heading else 1
        self._defined = 0

    def end_property(self, name: str) -> None:
        """The title or the author of the file."""
        self.properties[name] = self._take_text(name)

    def end_date(self, name: str) -> None:
        """When the file was made or changed."""
        year, month, day, hour, minute = (self._date.get(part, 0) for part in _DATE_PARTS)
        self._date.clear()
        try:
            self.properties[name] = datetime(year, month, day, hour, minute).isoformat()
        except (ValueError, OverflowError):
            self.properties[name] = None

    def end_note(self, destination: str) -> None:
        """A footnote or a comment."""
        text = " ".join(self._take_text(destination).split())
        label = "Footnote"
        if destination == "annotation":
            label = f"Comment by {self._author}" if self._author else "Comment"
        if text:
            self.blocks.paragraph.notes.append(f"{label}: {text}")

    def end_author(self, destination: str) -> None:
        """Who wrote the comment that comes next."""
        self._author = self._take_text(destination).strip()

    def end_label(self, destination: str) -> None:
        """The number or bullet of a list item."""
        self.blocks.paragraph.label = self._take_text(destination).strip()


_DEFINITIONS: Final[dict[str, Callable[[_Reader, str, int | None], None]]] = {
    _FONTS: _Reader.define_font,
    _STYLES: _Reader.define_style,
    "created": _Reader.define_date,
    "modified": _Reader.define_date,
}
_ENDS: Final[dict[str, Callable[[_Reader, str], None]]] = {
    **dict.fromkeys(("title", "author"), _Reader.end_property),
    **dict.fromkeys(("created", "modified"), _Reader.end_date),
    **dict.fromkeys(("footnote", "annotation"), _Reader.end_note),
    "atnauthor": _Reader.end_author,
    "listtext": _Reader.end_label,
}
_WORDS: Final[dict[str, Callable[[_Reader, int | None], None]]] = {
    **dict.fromkeys(("par", "sect", "page"), _Reader.end_line),
    **dict.fromkeys(("v", "deleted"), _Reader.hide),
    "cell": _Reader.end_cell,
    "f": _Reader.set_font,
    "plain": _Reader.reset_font,
    "uc": _Reader.set_skip,
    "deff": _Reader.set_default_font,
    "ansicpg": _Reader.set_encoding,
}
_BLOCK_WORDS: Final[dict[str, Callable[[BlockWriter, int | None], None]]] = {
    "pard": BlockWriter.reset_paragraph,
    "s": BlockWriter.set_style,
    "outlinelevel": BlockWriter.set_level,
    "li": BlockWriter.set_indent,
    "intbl": BlockWriter.enter_table,
    "trowd": BlockWriter.begin_row,
    "trhdr": BlockWriter.mark_header,
    "clvmrg": BlockWriter.merge_up,
    "clmrg": BlockWriter.merge_left,
    "cellx": BlockWriter.end_column,
    "row": BlockWriter.end_row,
}
