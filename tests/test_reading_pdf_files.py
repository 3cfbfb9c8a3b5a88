"""The PDFs that people have: the boxes of each block are around its words on the page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pypdfium2 as pdfium
import pytest

from ibid.errors import InputError
from ibid.reading.pdf import ocr
from ibid.reading.pdf.boxes import Rectangle
from ibid.reading.registry import read_bytes
from ibid.records import Document

DATA: Final = Path(
    os.environ.get("IBID_DATA", Path(__file__).parents[2] / "shared" / "data")
).joinpath("files", "pdf")
PASSWORDS: Final = {
    "pdfminer.six__aes-256-r6.pdf": "usersecret",
    "sample-files__libreoffice-writer-password.pdf": "openpassword",
}

# The glyph of lam and alef, whose letters PDFium gives in the order they are drawn.
MENDED: Final = re.compile("ل[اأإآ]")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no files at {DATA}; set IBID_DATA"),
]


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.pdf")))
def test_the_boxes_of_every_block_hold_its_words(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "find_languages", lambda: ())
    data = (DATA / name).read_bytes()
    password = PASSWORDS.get(name)
    try:
        document = read_bytes(data, name, password=password)
    except InputError:
        return  # empty, or a scan
    with pdfium.PdfDocument(data, password) as pdf:
        held = list(check_words(document, pdf))
    assert all(held)


def check_words(document: Document, pdf: pdfium.PdfDocument) -> Iterator[bool]:
    """For each word of each block: is it on the page within the block's boxes?"""
    for block in document.blocks:
        if not block.boxes or block.place:
            continue
        seen = ""
        for box in block.boxes:
            page = pdf[box.page - 1]
            around = (box.left - 1, box.top - 1, box.right + 1, box.bottom + 1)
            seen += page.get_textpage().get_text_bounded(*place_on_page(page, around))
        letters = re.sub(r"\W", "", seen.replace("↵", "ff"))
        for word in re.findall(r"\w{3,}", document.text[block.span]):
            if not MENDED.search(word):
                yield word in letters


def place_on_page(page: pdfium.PdfPage, box: Rectangle) -> Rectangle:
    """A box of the page as shown in PDF's coordinates: left, bottom, right, top."""
    left, top, right, bottom = box
    crop_left, crop_bottom, _, crop_top = page.get_cropbox()
    if page.get_rotation() == 90:
        return crop_left + top, crop_bottom + left, crop_left + bottom, crop_bottom + right
    assert page.get_rotation() == 0
    return crop_left + left, crop_top - bottom, crop_left + right, crop_top - top
