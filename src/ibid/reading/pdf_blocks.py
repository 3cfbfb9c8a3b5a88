"""The pages of a PDF put as blocks: headings, paragraphs, lists and tables, each where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ibid.reading.builder import DocumentBuilder, format_table
from ibid.reading.pdf_boxes import Rectangle, turn_back, unite
from ibid.reading.pdf_columns import find_regions
from ibid.reading.pdf_headings import Entry, find_levels
from ibid.reading.pdf_layout import Paragraph, find_paragraphs, is_item
from ibid.reading.pdf_lines import PageText
from ibid.reading.pdf_notes import Note
from ibid.reading.pdf_tables import Table
from ibid.reading.pdf_words import gather_words
from ibid.reading.table_blocks import ROWS_A_BLOCK, is_header
from ibid.records import BlockKind, Box

_LEAST_ITEMS: Final = 2  # paragraphs with a marker make a list


class _Piece(NamedTuple):
    """A paragraph or a table, and the page it stands on."""

    page: PageText
    content: Paragraph | Table
    level: int = 0


def append_pages(
    builder: DocumentBuilder,
    pages: Sequence[PageText],
    notes: Mapping[int, Sequence[Note]],
    outline: Sequence[Entry],
) -> str | None:
    """Put the text of the pages, after each its notes; the first heading of level 1 on page 1."""
    pieces = _find_pieces(pages)
    title = next(
        (
            piece.content.text
            for piece in pieces
            if piece.level == 1 and piece.page.number == 1 and isinstance(piece.content, Paragraph)
        ),
        None,
    )
    by_page: dict[int, list[_Piece]] = {}
    for piece in pieces:
        by_page.setdefault(piece.page.number, []).append(piece)
    for number in sorted({*by_page, *notes}):
        _append_pieces(builder, by_page.get(number, []))
        for note in notes.get(number, ()):
            builder.place = note.place
            boxes = (Box(number, *note.box),)
            builder.append(BlockKind.PARAGRAPH, note.text, page=number, boxes=boxes)
        builder.place = None
    return " ".join(title.split()) if title else None
