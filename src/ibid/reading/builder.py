"""The one way in which a reader makes its document: block after block, text and spans together."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ibid.errors import EmptyDocument
from ibid.records import BlockKind, Blocks, Box, Document, make_corners

_SEPARATOR: Final = "\n\n"
_MAX_INDENT: Final = 24  # characters; deeper items of a list stand no further in
MAX_CELLS: Final = 1_000_000
"""Cells to which a table is filled up; one that would have more keeps its rows as they are."""

# All white space but the blank and the line end.
_ODD_SPACE: Final = (
    "\t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)

_SURROGATE = re.compile("[\ud800-\udfff]")

# Scripts that set no space between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.
_UNSPACED: Final = re.compile(
    "[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uffee\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)


def normalize_text(text: str) -> str:
    r"""The text with `\n` as its only line end, no NUL, byte-order mark or half of a surrogate."""
    if "\r" in text:
        text = io.IncrementalNewlineDecoder(None, translate=True).decode(text, final=True)
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    return _SURROGATE.sub("\ufffd", text.replace("\ufeff", ""))


def trim_text(text: str) -> str:
    """The text without the blank lines before it and the white space after it."""
    text = text.rstrip()
    if not text[:1].isspace():
        return text
    indented = text.lstrip()
    return text[text.rfind("\n", 0, len(text) - len(indented)) + 1 :]


def join_words(text: str) -> str:
    """The text in one line, with one space between two words."""
    # Of printable characters the blank alone is white space.
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


def format_table(rows: Sequence[Sequence[str]], *, header: bool) -> str:
    """The rows as Markdown: one line each, `| --- |` below the first one if it is a header."""
    width = max(map(len, rows), default=0)
    if width * len(rows) > MAX_CELLS:
        width = 0
    table = _join_plain(rows, width) or "\n".join(_join_cells(row, width) for row in rows)
    if not header or not table:
        return table
    first, line_end, rest = table.partition("\n")
    return f"{first}\n|{' --- |' * (width or len(rows[0]))}{line_end}{rest}"


def _join_plain(rows: Sequence[Sequence[str]], width: int) -> str:
    """The lines of rows whose cells need no change, made all at once; empty for others.

    Such cells have no bar in them, no white space to mend, and there are as many in every row.
    """
    lines = " |\n| ".join(map(" | ".join, rows))
    table = f"| {lines} |"
    plain = (
        min(map(len, rows), default=0) >= max(width, 1)
        and table.count("\n") == len(rows) - 1
        and table.count("|") == sum(map(len, rows)) + len(rows)
        and "  " not in table
        and not any(map(table.__contains__, _ODD_SPACE))
    )
    return table if plain else ""


def _join_cells(row: Sequence[str], width: int) -> str:
    cells = [join_words(cell).replace("|", "\\|") for cell in row]
    return f"| {' | '.join(cells + [''] * (width - len(cells)))} |"


def join_lines(lines: Iterable[str]) -> str:
    """The lines as one: a space between two, but none where the script is written without."""
    lines = list(lines)
    if all(map(str.isascii, lines)):
        return " ".join(lines)
    joined: list[str] = []
    last = ""
    for line in lines:
        if joined and not (_UNSPACED.match(last) and _UNSPACED.match(line)):
            joined.append(" ")
        joined.append(line)
        last = line[-1:] or last
    return "".join(joined)


@dataclass(slots=True)
class _Item:
    """An open list item: where its text stands, and its marker until that is written."""

    outer: int
    inner: int
    marker: str


_Rest: TypeAlias = tuple[
    int, int | None, str | None, tuple[int, int] | None, Sequence[Sequence[float]]
]
"""Level, page, place, lines and boxes of a block, as its row has them."""


class DocumentBuilder:
    """Gathers blocks in reading order; `build` gives the document they make.

    One blank line stands between two blocks. Blocks without a visible character are left out.
    Within a list item paragraphs become lines of one list block, each item with its marker and
    indented by its depth; a block of another kind, such as code, stands between two list blocks.
    Set `place` to say where the blocks that are put from then on are found.
    """

    def __init__(self) -> None:
        self.place: str | None = None
        self._texts: list[str] = []
        self._blocks: list[tuple[BlockKind, int, _Rest]] = []  # with where each begins
        self._length = 0
        self._items: list[_Item] = []
        self._list_texts: list[str] = []
        self._list_lines: list[tuple[int, int]] = []
        self._list_place: str | None = None

    def append(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        page: int | None = None,
        boxes: tuple[Box, ...] = (),
        lines: tuple[int, int] | None = None,
    ) -> None:
        """Put one block at the end; `lines` are its first and last line in the source file."""
        text = trim_text(normalize_text(text))
        if not text:
            return
        if self._items and kind is BlockKind.PARAGRAPH:
            self._append_to_list(text, lines)
            return
        self._finish_list()
        self._put(
            text, kind, (level, page, self.place, lines, make_corners(boxes) if boxes else ())
        )

    def open_item(self, marker: str) -> None:
        """Begin a list item, "-" or "1." being its marker; within another item it is nested."""
        outer = self._items[-1].inner if self._items else 0
        self._items.append(_Item(outer, min(outer + len(marker) + 1, _MAX_INDENT), marker))

    def close_item(self) -> None:
        """End the item opened last."""
        self._items.pop()

    def close_list(self) -> None:
        """End a list: what follows one that stands in no other list begins a new block."""
        if not self._items:
            self._finish_list()

    @property
    def is_empty(self) -> bool:
        """True until a block has been put."""
        return not (self._blocks or self._list_texts)

    def build(self, **fields: Any) -> Document:
        """The document of the blocks so far; `fields` are those that Document has beside them.

        Its id is empty and set by the caller. Raises EmptyDocument when no block has any text.
        """
        self._finish_list()
        if not self._blocks:
            raise EmptyDocument("no text in it")
        ends = [start for _, start, _ in self._blocks[1:]] + [self._length]
        rows = [
            (kind, start, end, *rest)
            for (kind, start, rest), end in zip(self._blocks, ends, strict=True)
        ]
        text = _SEPARATOR.join(self._texts)
        return Document(id="", text=text, blocks=Blocks(rows), **fields)

    def _append_to_list(self, text: str, lines: tuple[int, int] | None) -> None:
        item = self._items[-1]
        if item.marker:
            first = f"{' ' * item.outer}{item.marker} "
            item.marker = ""
        else:
            first = " " * item.inner
        self._list_place = self._list_place if self._list_texts else self.place
        self._list_texts.append(first + text.replace("\n", "\n" + " " * item.inner))
        if lines:
            self._list_lines.append(lines)

    def _finish_list(self) -> None:
        if not self._list_texts:
            return
        lines = None
        if self._list_lines:
            lines = (min(self._list_lines)[0], max(end for _, end in self._list_lines))
        text = "\n".join(self._list_texts)
        self._list_texts, self._list_lines = [], []
        self._put(text, BlockKind.LIST, (0, None, self._list_place, lines, ()))

    def _put(self, text: str, kind: BlockKind, rest: _Rest) -> None:
        start = self._length + len(_SEPARATOR) if self._texts else 0
        self._length = start + len(text)
        self._texts.append(text)
        self._blocks.append((kind, start, rest))
