"""A page that is too much for its reader costs itself and those behind it, not those before."""

from __future__ import annotations

import re
import zlib
from email.message import EmailMessage
from pathlib import Path
from typing import Final

import pytest

from command_line import call
from hostile_pdfs import zlib_repeated
from ibid.reading.pool import UNREAD_PART, FileRead, FileToRead, ReaderPool
from small_files import make_pdf, pdf_stream

ENDLESS: Final = zlib.compress(b"/X Do")
TOO_MUCH: Final = r"took longer than 3 s to read|the reader (crashed|ran out of memory)"
HUGE: Final = zlib_repeated(b" " * 1_000_000, 1_500)  # more than a reader may take
FORMS: Final = 12


def make_pages(*contents: bytes) -> bytes:
    """A PDF of pages with this content.

    One that draws the form X never ends: each form draws ten times the next.
    """
    first = 3 + 2 * len(contents)
    kids = b" ".join(b"%d 0 R" % (3 + 2 * i) for i in range(len(contents)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(contents)),
    ]
    for i, content in enumerate(contents):
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 600]/Contents %d 0 R/Resources<<"
            b"/Font<</F %d 0 R>>/XObject<</X %d 0 R>>>>>>" % (4 + 2 * i, first, first + 1),
            pdf_stream(content, b"/Filter/FlateDecode"),
        ]
    objects.append(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for i in range(FORMS):
        below = first + 1 + (i + 1) % FORMS
        objects.append(
            pdf_stream(
                b"BT /F 9 Tf 9 9 Td (a) Tj ET " + b"/X Do " * 10,
                b"/Type/XObject/Subtype/Form/BBox[0 0 600 600]/Resources<</XObject<</X %d 0 R>>"
                b"/Font<</F %d 0 R>>>>" % (below, first),
            )
        )
    return make_pdf(objects)


def write(words: bytes) -> bytes:
    return zlib.compress(b"BT /F 12 Tf 60 500 Td (%b) Tj ET" % words)


def read(folder: Path, data: bytes, *, wall_s: float = 3) -> FileRead:
    path = folder / "file.pdf"
    path.write_bytes(data)
    with ReaderPool(wall_s=wall_s) as pool:
        (result,) = pool.read([FileToRead(path, path.name)])
    return result


@pytest.mark.parametrize(("bad", "wall_s"), [(ENDLESS, 3), (HUGE, 60)], ids=["endless", "huge"])
def test_the_pages_before_a_bad_one_are_kept(tmp_path: Path, bad: bytes, wall_s: float) -> None:
    good = [write(b"This is page %d." % number) for number in range(1, 4)]
    result = read(tmp_path, make_pages(*good, bad, write(b"This is never seen.")), wall_s=wall_s)
    assert result.error is None
    assert result.document is not None
    assert result.document.text == "This is page 1.\n\nThis is page 2.\n\nThis is page 3."
    assert re.match(f"nothing is read from page 4 of 5 on: ({TOO_MUCH})", result.incomplete)
    assert result.document.metadata[UNREAD_PART] == result.incomplete


@pytest.mark.parametrize("before", [(), (zlib.compress(b""),)], ids=["first", "after-blank"])
def test_a_bad_page_without_text_before_it_leaves_nothing(
    tmp_path: Path, before: tuple[bytes, ...]
) -> None:
    result = read(tmp_path, make_pages(*before, ENDLESS, write(b"This is never seen.")))
    assert result.document is None
    assert re.match(TOO_MUCH, str(result.error))


def test_a_bad_page_of_an_attachment_is_none_of_the_letter(tmp_path: Path) -> None:
    letter = EmailMessage()
    letter["Subject"] = "The plan"
    letter.set_content("The plan is attached.")
    pages = make_pages(write(b"This is page 1."), ENDLESS)
    letter.add_attachment(pages, maintype="application", subtype="pdf", filename="plan.pdf")
    path = tmp_path / "letter.eml"
    path.write_bytes(letter.as_bytes())
    with ReaderPool(wall_s=3) as pool:
        (result,) = pool.read([FileToRead(path, path.name)])
    assert result.document is None
    assert re.match(TOO_MUCH, str(result.error))


def test_the_report_and_the_document_say_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IBID_READING_MAX_SECONDS", "3")
    folder = tmp_path / "plans"
    folder.mkdir()
    (folder / "plan.pdf").write_bytes(make_pages(write(b"This is page 1."), ENDLESS))
    library = ("--library", tmp_path / "plans.ibid")

    synced = call("sync", folder, *library, "--json")
    assert synced.code == 0
    (said,) = synced.json["incomplete"]
    assert said["id"] == "plan.pdf"
    assert re.match(f"nothing is read from page 2 of 2 on: ({TOO_MUCH})", said["reason"])
    shown = call("show", "plan.pdf", *library, "--json").json
    assert shown["metadata"][UNREAD_PART] == said["reason"]

    converted = call("convert", folder / "plan.pdf")
    assert converted.out == "This is page 1.\n"
    assert converted.err.startswith("note: nothing is read from page 2 of 2 on: ")
