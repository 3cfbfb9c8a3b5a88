"""PDF becomes paragraphs and headings with their pages; what can't be read says why."""

from __future__ import annotations

import pytest

from ibid.errors import EmptyDocument, UnreadableDocument
from ibid.reading.pdf import parse_date
from ibid.reading.pdf_layout import Line, find_paragraphs, mend_word
from ibid.reading.registry import read_bytes


def make_pdf(*pages: list[tuple[int, int, int, str]], info: str = "", rotate: int = 0) -> bytes:
    """A PDF of such pages: lines as (size, left, height above the bottom, text)."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        f"<<{info}>>",
    ]
    for i, lines in enumerate(pages):
        font = "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Rotate {rotate}"
            f"/Contents {5 + 2 * i} 0 R/Resources{font}>>"
        )
        content = "".join(f"BT /F {s} Tf {x} {y} Td ({text}) Tj ET\n" for s, x, y, text in lines)
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    body = "".join(f"{i} 0 obj{text}\nendobj\n" for i, text in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}trailer<</Root 1 0 R/Info 3 0 R>>\n%%EOF".encode("latin-1")


def test_pages_paragraphs_headings_and_metadata() -> None:
    first = [
        (20, 50, 700, "Big heading"),
        (10, 50, 660, "First line of a paragraph that goes on"),
        (10, 50, 648, "in its second line, and there it ends."),
        (10, 50, 610, "Another paragraph, set apart by a gap."),
    ]
    info = "/Title(Untitled)/Author(Ann)/CreationDate(D:20240130101500+01'00')"
    document = read_bytes(make_pdf(first, [], [(10, 50, 700, "Third page.")], info=info), "a.pdf")
    assert document.text.split("\n\n") == [
        "Big heading",
        "First line of a paragraph that goes on in its second line, and there it ends.",
        "Another paragraph, set apart by a gap.",
        "Third page.",
    ]
    assert [b.page for b in document.blocks] == [1, 1, 1, 3]
    assert [b.level for b in document.blocks] == [1, 0, 0, 0]
    assert document.title == "Big heading"
    assert document.metadata == {"author": "Ann", "created": "2024-01-30T10:15:00+01:00"}
    assert "".join(document.text[b.span] for b in document.blocks) == document.text
    (box,) = document.blocks[0].boxes
    assert (box.page, round(box.left)) == (1, 50)
    assert 80 < box.top < 100 < box.bottom < 110  # 800 - 700, the letters standing above it


def test_boxes_of_a_rotated_page_are_those_of_the_page_as_shown() -> None:
    document = read_bytes(make_pdf([(10, 50, 700, "turned")], rotate=90), "a.pdf")
    (box,) = document.blocks[0].boxes
    assert round(box.top) == 50
    assert 690 < box.left < 700 < box.right < 715


def test_why_a_pdf_cannot_be_read() -> None:
    with pytest.raises(UnreadableDocument, match="no text on any of 3 pages; install the ocr"):
        read_bytes(make_pdf([], [], []), "scan.pdf")
    with pytest.raises(UnreadableDocument, match="broken"):
        read_bytes(b"%PDF-1.4 nothing else", "broken.pdf")
    with pytest.raises(EmptyDocument):
        read_bytes(b"", "empty.pdf")


def line(text: str, top: float, *, left: float = 0, right: float = 100, cut: bool = False) -> Line:
    return Line(text, left, top, right, top + 10, 10, cut)


def test_words_divided_at_a_line_end_are_mended() -> None:
    (paragraph,) = find_paragraphs([line("a pas", 0, cut=True), line("sage of text", 12)], 1)
    assert paragraph.text == "a passage of text"
    assert mend_word("state-of-the", "art") == "state-of-the-art"
    assert mend_word("Covid", "19") == "Covid-19"


def test_pieces_side_by_side_are_one_line_and_columns_are_apart() -> None:
    lines = [line("left", 0, right=40), line("2", 1, left=41, right=45), line("ends.", 12)]
    lines += [line("Right column", 0, left=200, right=300), line("goes on", 12, left=200)]
    assert [p.text for p in find_paragraphs(lines, 1)][-1].startswith("Right column")
    assert find_paragraphs(lines, 1)[0].text.startswith("left 2")


def test_lines_of_chinese_join_without_a_space() -> None:
    assert find_paragraphs([line("持股比", 0), line("例", 12)], 1)[0].text == "持股比例"


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("D:20240130101500Z", "2024-01-30T10:15:00+00:00"),
        ("D:2024", "2024-01-01T00:00:00"),
        ("20240130101500-05'30'", "2024-01-30T10:15:00-05:30"),
        ("D:20241301", None),
        ("yesterday", None),
    ],
)
def test_dates(value: str, iso: str | None) -> None:
    assert parse_date(value) == iso
