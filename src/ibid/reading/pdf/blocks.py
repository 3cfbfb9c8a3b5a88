"""The pages of a PDF put as blocks: headings, paragraphs, lists and tables, each in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ibid.reading.builder import DocumentBuilder, format_table
from ibid.reading.data.table_blocks import ROWS_A_BLOCK, is_header
from ibid.reading.pdf.boxes import Rectangle, turn_back, unite
from ibid.reading.pdf.columns import find_regions
from ibid.reading.pdf.headings import Entry, find_levels
from ibid.reading.pdf.layout import Paragraph, find_paragraphs, is_item
from ibid.reading.pdf.notes import Note
from ibid.reading.pdf.page import PageText
from ibid.reading.pdf.tables import Table
from ibid.reading.pdf.words import gather_words
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
    pieces = _find_pieces(pages, outline)
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


def _find_pieces(pages: Sequence[PageText], outline: Sequence[Entry]) -> list[_Piece]:
    """The paragraphs and tables of the pages in reading order, with the levels of headings."""
    words: frozenset[str] = frozenset()
    if any(line.hyphenated for page in pages for line in page.lines):
        words = gather_words(line.text for page in pages for line in page.lines)
    pieces: list[_Piece] = []
    for page in pages:
        for region in find_regions(page.lines, page.rules):
            found = [region] if isinstance(region, Table) else find_paragraphs(region, words)
            pieces.extend(_Piece(page, content) for content in found)
    paragraphs = [
        (piece.page.number, piece.content)
        for piece in pieces
        if isinstance(piece.content, Paragraph)
    ]
    levels = iter(find_levels(paragraphs, outline))
    return [
        piece._replace(level=next(levels)) if isinstance(piece.content, Paragraph) else piece
        for piece in pieces
    ]


def _append_pieces(builder: DocumentBuilder, pieces: Sequence[_Piece]) -> None:
    """Put the pieces of one page; paragraphs that begin with a marker are items of one list."""
    items: list[_Piece] = []
    for piece in pieces:
        content = piece.content
        if isinstance(content, Paragraph) and not piece.level and is_item(content.text):
            items.append(piece)
            continue
        _append_paragraphs(builder, items)
        items = []
        if isinstance(content, Table):
            _append_table(builder, piece.page, content)
        else:
            _append_paragraphs(builder, [piece])
    _append_paragraphs(builder, items)


def _append_paragraphs(builder: DocumentBuilder, pieces: Sequence[_Piece]) -> None:
    if not pieces:
        return
    page, _, level = pieces[0]
    found = [piece.content for piece in pieces if isinstance(piece.content, Paragraph)]
    kind = BlockKind.LIST if len(found) >= _LEAST_ITEMS else BlockKind.PARAGRAPH
    text = "\n".join(paragraph.text for paragraph in found)
    builder.append(
        BlockKind.HEADING if level else kind,
        " ".join(text.split()) if level else text,
        level=level,
        page=page.number,
        boxes=_make_boxes(page, [box for paragraph in found for box in paragraph.boxes]),
    )


def _append_table(builder: DocumentBuilder, page: PageText, table: Table) -> None:
    """Put a table, a long one in parts, each with the header."""
    header = table.rows[:1] if len(table.rows) > 1 and is_header(table.rows[0]) else []
    first = len(header)
    for start in range(first, len(table.rows), ROWS_A_BLOCK):
        rows = table.rows[start : start + ROWS_A_BLOCK]
        boxes = [unite(table.boxes[start : start + ROWS_A_BLOCK])]
        if start == first:
            boxes = [unite([*table.boxes[:first], *boxes])]
        else:
            boxes = [*table.boxes[:first], *boxes]
        builder.append(
            BlockKind.TABLE,
            format_table([*header, *rows], header=bool(header)),
            page=page.number,
            boxes=_make_boxes(page, boxes),
        )


def _make_boxes(page: PageText, boxes: Sequence[Rectangle]) -> tuple[Box, ...]:
    turned = (turn_back(box, page.turns, page.width, page.height) for box in boxes)
    return tuple(Box(page.number, *box) for box in turned)
