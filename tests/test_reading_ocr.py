"""Scanned pages are recognized where tesseract is installed, upright or not, with their places."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from command_line import call
from ibid.errors import UnreadableDocument
from ibid.reading.pdf import ocr
from ibid.reading.pdf.ocr import parse_table
from ibid.reading.pdf.properties import find_language
from ibid.reading.pool import read_file
from ibid.reading.registry import read_bytes
from pdf_making import PdfMaker, make_pdf
from system import require

LETTER = [
    (20, 60, 700, "A letter about the archive"),
    (13, 60, 650, "The museum asks for three boxes of old photographs and"),
    (13, 60, 632, "will send them back before the end of the summer."),
    (13, 60, 590, "The second paragraph is about the insurance of them."),
]
HEAD = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
)


def make_scan(*, rotate: int = 0) -> bytes:
    maker = PdfMaker(rotate=rotate)
    maker.add_picture(make_pdf(LETTER))
    return maker.build()


def test_the_table_of_words_becomes_lines() -> None:
    rows = [
        HEAD,
        "1\t1\t0\t0\t0\t0\t0\t0\t1700\t2200\t-1\t",
        "5\t1\t1\t1\t1\t1\t100\t50\t80\t20\t96.5\tTwo",
        "5\t1\t1\t1\t1\t2\t190\t52\t90\t18\t91.5\twords",
        "5\t1\t1\t1\t2\t1\t100\t80\t60\t20\t94.0\tmore",
        "5\t1\t2\t1\t1\t1\t400\t300\t60\t20\t10.0\t~|;",
        "5\t1\t2\t1\t2\t1\t400\t330\t60\t20\t95\t ",
    ]
    found = parse_table("\n".join(rows))
    assert [(one.text, one.left, one.top, one.right, one.bottom) for one in found.lines] == [
        ("Two words", 100, 50, 280, 70),
        ("more", 100, 80, 160, 100),
    ]
    assert found.confidence == pytest.approx((96.5 + 91.5 + 94 + 10) / 4)
    assert parse_table("") == ocr.Recognition()


@pytest.mark.system("tesseract")
@pytest.mark.parametrize("rotate", [0, 90])
def test_a_scan_is_read_in_the_child_with_its_places(tmp_path: Path, rotate: int) -> None:
    require("tesseract")
    path = tmp_path / "scan.pdf"
    path.write_bytes(make_scan(rotate=rotate))
    document = read_file(path)
    texts = document.text.split("\n\n")
    assert texts == [
        "A letter about the archive",
        "The museum asks for three boxes of old photographs and will send them back before the"
        " end of the summer.",
        "The second paragraph is about the insurance of them.",
    ]
    assert document.metadata["recognized_pages"] == [1]
    confidence = document.metadata["recognition_confidence"]
    assert isinstance(confidence, float)
    assert confidence > ocr.TRUST
    (box,) = document.blocks[-1].boxes
    left, right, above, below = 60, 375, 199, 212  # upright, from the top left
    expected = (
        (left, above, right, below) if rotate == 0 else (800 - below, left, 800 - above, right)
    )
    assert (box.left, box.top, box.right, box.bottom) == pytest.approx(expected, abs=8)


@pytest.mark.system("tesseract")
def test_text_pages_are_kept_as_they_are_beside_scanned_ones() -> None:
    require("tesseract")
    maker = PdfMaker()
    maker.add_page([(10, 50, 700, "A page with text of its own.")])
    maker.add_picture(make_pdf(LETTER))
    maker.add_page()
    document = read_bytes(maker.build(), "mixed.pdf")
    assert document.metadata["recognized_pages"] == [2]
    assert "pages_without_text" not in document.metadata
    assert [block.page for block in document.blocks] == [1, 2, 2, 2]


@pytest.mark.system("tesseract")
def test_a_picture_without_words_is_no_text() -> None:
    require("tesseract")
    maker = PdfMaker()
    maker.add_page(draw="100 100 m 500 700 l S\n")
    with pytest.raises(UnreadableDocument, match=r"no text on any of 1 page$"):
        read_bytes(maker.build(), "line.pdf")


def test_without_the_program_nothing_is_recognized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    ocr.find_languages.cache_clear()
    try:
        assert ocr.find_languages() == ()
        assert ocr.choose_languages(["eng"], "en") == ()
        assert ocr.recognize(ocr.Image(1, 1, b"\0"), ["eng"]) == ocr.Recognition()
        with pytest.raises(UnreadableDocument, match="tesseract"):
            read_bytes(make_scan(), "scan.pdf")
    finally:
        ocr.find_languages.cache_clear()


@pytest.mark.parametrize(
    ("asked", "told", "chosen"),
    [
        ((), "", ("eng", "ces", "deu", "fra")),
        ((), "de-AT", ("deu", "eng", "ces", "fra")),
        ((), "zh-TW", ("chi_tra", "eng", "ces", "deu")),
        ((), "sv", ("eng", "ces", "deu", "fra")),
        (("ces",), "de", ("ces",)),
    ],
)
def test_the_languages_of_a_scan(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...], told: str, chosen: tuple[str, ...]
) -> None:
    installed = ("eng", "ces", "deu", "fra", "chi_tra")
    monkeypatch.setattr(ocr, "find_languages", lambda: installed)
    assert ocr.choose_languages(asked, told) == chosen
    with pytest.raises(UnreadableDocument, match=r"no data for the language swe; it has eng, ces"):
        ocr.choose_languages(["eng", "swe"])


@pytest.mark.system("tesseract")
def test_a_language_that_is_not_installed_fails_a_scan_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("tesseract")
    monkeypatch.setenv("IBID_READING_OCR_LANGUAGES", "eng+xxx")
    (tmp_path / "scan.pdf").write_bytes(make_scan())
    (tmp_path / "text.pdf").write_bytes(make_pdf(LETTER))
    refused = call("convert", tmp_path / "scan.pdf")
    assert refused.code == 1
    assert "tesseract has no data for the language xxx" in refused.err
    assert call("convert", tmp_path / "text.pdf").code == 0


@pytest.mark.system("tesseract")
def test_the_language_that_a_pdf_tells_is_its_own() -> None:
    require("tesseract")
    maker = PdfMaker(catalog="/Lang(de-DE)")
    maker.add_page([(10, 50, 700, "Text")])
    with closing(pdfium.PdfDocument(maker.build())) as pdf:
        assert find_language(pdf) == "de-DE"
