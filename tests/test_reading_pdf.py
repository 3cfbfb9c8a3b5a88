"""PDF becomes headings, paragraphs and lists with their pages; what can't be read says why."""

from __future__ import annotations

from pathlib import Path

import pypdfium2 as pdfium
import pytest

from ibid.errors import EmptyDocument, UnreadableDocument
from ibid.reading.pdf import ocr
from ibid.reading.pdf.properties import parse_date
from ibid.reading.pool import FileToRead, ReaderPool
from ibid.reading.registry import read_bytes
from ibid.records import BlockKind, Document
from pdf_making import PdfMaker, make_encrypted_pdf, make_pdf


@pytest.fixture
def no_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "find_languages", lambda: ())


def read_texts(data: bytes) -> list[str]:
    return read_bytes(data, "a.pdf").text.split("\n\n")


def words_in_boxes(data: bytes, document: Document) -> list[bool]:
    """For each block with boxes: do they hold all of its words on the page, as PDFium sees it?"""
    pdf = pdfium.PdfDocument(data)
    found = []
    for block in document.blocks:
        seen = ""
        for box in block.boxes:
            page = pdf[box.page - 1]
            assert page.get_rotation() == 0
            height = page.get_height()
            seen += page.get_textpage().get_text_bounded(
                box.left - 1, height - box.bottom - 1, box.right + 1, height - box.top + 1
            )
        text = document.text[block.span].replace("|", " ").replace("---", " ")
        if block.boxes:
            squeezed = "".join(seen.split()).replace("\ufffe", "").replace("\x02", "")
            found.append(all(word.strip("-") in squeezed for word in text.split()))
    return found


def test_pages_paragraphs_headings_and_metadata() -> None:
    first = [
        (20, 50, 700, "Big heading"),
        (10, 50, 660, "First line of a paragraph that goes on"),
        (10, 50, 648, "in its second line, and there it ends."),
        (10, 50, 610, "Another paragraph, set apart by a gap."),
    ]
    info = "/Title(Untitled)/Author(Ann)/CreationDate(D:20240130101500+01'00')"
    data = make_pdf(first, [], [(10, 50, 700, "Third page.")], info=info)
    document = read_bytes(data, "a.pdf")
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
    assert box.page == 1
    assert round(box.left) == 50
    assert 80 < box.top < 100 < box.bottom < 110  # 800 - 700, the letters standing above it
    assert all(words_in_boxes(data, document))


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_boxes_of_a_turned_page_are_those_of_the_page_as_shown(rotate: int) -> None:
    document = read_bytes(make_pdf([(10, 50, 700, "turned")], rotate=rotate), "a.pdf")
    (box,) = document.blocks[0].boxes
    edges = (box.left, box.top, box.right, box.bottom)
    left, right, above, below = 50, 79, 92, 102  # upright, from the top left
    expected = {
        90: (800 - below, left, 800 - above, right),
        180: (600 - right, 800 - below, 600 - left, 800 - above),
        270: (above, 600 - right, below, 600 - left),
    }[rotate]
    assert edges == pytest.approx(expected, abs=3)


@pytest.mark.parametrize("up", [True, False])
def test_text_that_runs_up_or_down_the_page_is_read_in_its_lines(up: bool) -> None:
    turn, step = ("0 1 -1 0", 12) if up else ("0 -1 1 0", -12)
    lines = ["The first line of the turned page goes", "on in the second, that ends here."]
    draw = "".join(
        f"BT /F 10 Tf {turn} {300 + step * i} {100 if up else 700} Tm ({text}) Tj ET\n"
        for i, text in enumerate(lines)
    )
    maker = PdfMaker()
    maker.add_page(draw=draw)
    data = maker.build()
    document = read_bytes(data, "a.pdf")
    assert document.text == " ".join(lines)
    assert words_in_boxes(data, document) == [True]


def test_headings_by_weight_and_by_outline() -> None:
    maker = PdfMaker(catalog="/Outlines 4 0 R")
    maker.add("<</Type/Outlines/First 5 0 R/Last 5 0 R/Count 2>>")
    maker.add("<</Title(2 Methods)/Parent 4 0 R/Dest[8 0 R/Fit]/First 6 0 R/Last 6 0 R/Count 1>>")
    maker.add("<</Title(Plain words)/Parent 5 0 R/Dest[8 0 R/Fit]>>")
    number = maker.add_page(
        [
            (10, 50, 700, "*2 Methods"),
            (10, 50, 685, "A line of prose below it that has no weight of its own."),
            (10, 50, 640, "Plain words"),
            (10, 50, 600, "More prose, as long as the one above and of the same size."),
            (10, 50, 560, "*3 Results"),
            (10, 50, 545, "And some prose again, so that bold letters are the fewest here."),
        ]
    )
    assert number == 8
    document = read_bytes(maker.build(), "a.pdf")
    headings = {document.text[b.span].strip(): b.level for b in document.blocks if b.level}
    assert headings == {"2 Methods": 1, "Plain words": 2, "3 Results": 1}


def test_items_become_a_list() -> None:
    lines = [(10, 50, 700 - 12 * i, f"{i}. the item number {i}") for i in range(1, 4)]
    document = read_bytes(make_pdf([(10, 50, 712, "What there is:"), *lines]), "a.pdf")
    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH, BlockKind.LIST]
    assert document.text.endswith(
        "1. the item number 1\n2. the item number 2\n3. the item number 3"
    )


def test_what_is_drawn_twice_is_read_once() -> None:
    lines = [(10, 50, 700, "Bold by force"), (10, 50, 680, "Another line of it")]
    twice = [(s, x, y, t) for s, x, y, t in lines] + [(10, 50, 700, "Bold by force")]
    maker = PdfMaker()
    shifted = "".join(f"BT /F {s} Tf {x}.4 {y} Td ({t}) Tj ET\n" for s, x, y, t in twice)
    maker.add_page(lines, draw=shifted)
    assert read_bytes(maker.build(), "a.pdf").text.count("Bold by force") == 1


def test_hidden_text_is_kept() -> None:
    maker = PdfMaker()
    maker.add_page(draw="BT /F 10 Tf 3 Tr 50 700 Td (what a scanner understood) Tj ET\n")
    assert read_texts(maker.build()) == ["what a scanner understood"]


def test_running_lines_are_dropped_and_told() -> None:
    pages = [
        [
            (8, 50, 770, "Annual report of the firm"),
            (10, 50, 600 - i, f"What the page of number {'abcd'[i]} says."),
            (8, 290, 20, f"Page {i + 1} of 4"),
        ]
        for i in range(4)
    ]
    document = read_bytes(make_pdf(*pages), "a.pdf")
    assert document.text.split("\n\n") == [f"What the page of number {c} says." for c in "abcd"]
    assert document.metadata == {"running_text": ["Annual report of the firm"]}
    assert "Annual report" in read_bytes(make_pdf(*pages[:2]), "a.pdf").text


def test_notes_and_fields_follow_the_text_of_their_page() -> None:
    maker = PdfMaker(catalog="/AcroForm<</Fields[5 0 R 6 0 R 7 0 R]>>")
    rectangle = "/Rect[100 500 200 520]"
    maker.add(f"<</Type/Annot/Subtype/FreeText{rectangle}/Contents(Ask Ann about this)>>")
    maker.add(f"<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/V(Bob Smith){rectangle}>>")
    maker.add(f"<</Type/Annot/Subtype/Widget/FT/Tx/T(Left blank){rectangle}>>")
    maker.add(
        f"<</Type/Annot/Subtype/Widget/FT/Ch/Ff 131072/T(Town)/V(Ulm)/Opt[(Ulm)]{rectangle}>>"
    )
    maker.add_page([(10, 50, 700, "The page.")], page="/Annots[4 0 R 5 0 R 6 0 R 7 0 R]")
    maker.add_page([(10, 50, 700, "The next page.")])
    document = read_bytes(maker.build(), "a.pdf")
    assert [(document.text[b.span].strip(), b.page, b.place) for b in document.blocks] == [
        ("The page.", 1, None),
        ("Ask Ann about this", 1, "note"),
        ("Name: Bob Smith", 1, "form field"),
        ("Town: Ulm", 1, "form field"),
        ("The next page.", 2, None),
    ]
    (box,) = document.blocks[1].boxes
    assert (box.left, box.top, box.right, box.bottom) == (100, 280, 200, 300)


def test_files_within_are_attachments() -> None:
    maker = PdfMaker(catalog="/Names<</EmbeddedFiles<</Names[(a)6 0 R(b)7 0 R]>>>>")
    text = maker.add_stream(b"A note of its own.", "/Type/EmbeddedFile")
    other = maker.add_stream(b"\x89PNG\r\n\x1a\n\0\0\0\0", "/Type/EmbeddedFile")
    maker.add(f"<</Type/Filespec/F(note.txt)/UF(note.txt)/EF<</F {text} 0 R>>>>")
    maker.add(f"<</Type/Filespec/F(x.png)/UF(x.png)/EF<</F {other} 0 R>>>>")
    maker.add_page([(10, 50, 700, "The cover.")])
    document = read_bytes(maker.build(), "a.pdf")
    assert document.text == "The cover.\n\nAttachment: note.txt\nAttachment: x.png"
    assert [(a.id, a.text) for a in document.attachments] == [("note.txt", "A note of its own.")]


def test_passwords() -> None:
    with pytest.raises(UnreadableDocument, match="encrypted; give its password with --password"):
        read_bytes(make_encrypted_pdf("secret", user="key"), "a.pdf")
    with pytest.raises(UnreadableDocument, match="password doesn't open"):
        read_bytes(make_encrypted_pdf("secret", user="key"), "a.pdf", password="wrong")
    assert read_bytes(make_encrypted_pdf("open"), "a.pdf").text == "open"
    locked = make_encrypted_pdf("secret", user="key")
    assert read_bytes(locked, "a.pdf", password="key").text == "secret"
    assert read_bytes(b"plain", "a.txt", password="key").text == "plain"


def test_a_password_reaches_the_child(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    path.write_bytes(make_encrypted_pdf("secret", user="key"))
    files = [FileToRead(path, "locked.pdf"), FileToRead(path, "locked.pdf", password="key")]
    assert "key" not in repr(files[1])
    with ReaderPool() as pool:
        locked, opened = pool.read(files)
    assert locked.document is None
    assert opened.document is not None
    assert opened.document.text == "secret"


@pytest.mark.usefixtures("no_tesseract")
def test_why_a_pdf_cannot_be_read() -> None:
    scan = PdfMaker()
    for _ in range(3):
        scan.add_page(draw="100 100 m 300 300 l S\n")
    with pytest.raises(UnreadableDocument, match="no text on any of 3 pages; install the ocr"):
        read_bytes(scan.build(), "scan.pdf")
    with pytest.raises(UnreadableDocument, match=r"no text on any of 2 pages$"):
        read_bytes(make_pdf([], []), "blank.pdf")
    with pytest.raises(UnreadableDocument, match="broken"):
        read_bytes(b"%PDF-1.4 nothing else", "broken.pdf")
    with pytest.raises(EmptyDocument):
        read_bytes(b"", "empty.pdf")


@pytest.mark.usefixtures("no_tesseract")
def test_pages_without_text_are_named() -> None:
    maker = PdfMaker()
    maker.add_page([(10, 50, 700, "Some text.")])
    maker.add_page(draw="100 100 m 300 300 l S\n")
    maker.add_page()
    document = read_bytes(maker.build(), "mixed.pdf")
    assert document.text == "Some text."
    assert document.metadata == {"pages_without_text": [2]}


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
