"""Files that stand in an Office file as objects become documents of their own."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import openpyxl
import pytest

from documents_inside import make_compound, make_native
from ibid.reading import attachments
from ibid.reading.registry import read_bytes
from ibid.records import Document

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
ODT = "application/vnd.oasis.opendocument.text"
ODF = "urn:oasis:names:tc:opendocument:xmlns:"
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font"
    b"<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
    b"4 0 obj<</Length 54>>stream\nBT /F 12 Tf 20 200 Td (The lease ends in the autumn.) Tj ET\n"
    b"endstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)


def make_workbook(*cells: str) -> bytes:
    book = openpyxl.Workbook()
    book.worksheets[0].append(list(cells))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def make_zip(parts: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return stream.getvalue()


def link(*targets: tuple[str, str]) -> str:
    links = "".join(
        f'<Relationship Id="r{i}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets)
    )
    return f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>'


def make_text(objects: Mapping[str, bytes], words: str = "See the sheet.") -> bytes:
    """A Word file with these objects, those called .bin as OLE objects."""
    body = f"<w:body><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:body>"
    kinds = (("oleObject" if name.endswith(".bin") else "package", name) for name in objects)
    links = link(*((kind, f"embeddings/{name}") for kind, name in kinds))
    return make_zip(
        {
            "_rels/.rels": link(("officeDocument", "word/document.xml")),
            "word/document.xml": f'<w:document xmlns:w="{WORD}">{body}</w:document>',
            "word/_rels/document.xml.rels": links,
            **{f"word/embeddings/{name}": data for name, data in objects.items()},
        }
    )


def list_inside(document: Document) -> list[tuple[str, str]]:
    return [(one.id, one.text) for one in document.attachments]


def test_a_workbook_in_a_text_is_a_document_of_its_own() -> None:
    document = read_bytes(make_text({"Sheet1.xlsx": make_workbook("Rent", "May")}), "a.docx")
    assert document.text == "See the sheet.\n\nAttachment: Sheet1.xlsx"
    assert list_inside(document) == [("Sheet1.xlsx", "Sheet\n\n| Rent | May |")]


def test_objects_of_ole_are_unwrapped() -> None:
    inner = make_text({}, "A letter to the landlord. " * 200)
    objects = {
        "o1.bin": make_compound("Package", inner),
        "o2.bin": make_compound("CONTENTS", PDF + b" " * 4096),
        "o3.bin": make_compound(
            "\x01Ole10Native", make_native("C:\\Desk\\notes.txt", b"Call Ann.")
        ),
    }
    document = read_bytes(make_text(objects), "a.docx")
    assert [(name, text[:29]) for name, text in list_inside(document)] == [
        ("o1.docx", "A letter to the landlord. A l"),
        ("o2.pdf", "The lease ends in the autumn."),
        ("notes.txt", "Call Ann."),
    ]


def test_an_object_that_holds_no_file_is_passed_over() -> None:
    objects = {
        "o1.bin": make_compound("Equation Native", bytes(5000)),
        "o2.bin": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
        "o3.bin": make_compound("\x01Ole10Native", b"\xff" * 5000),
    }
    document = read_bytes(make_text(objects), "a.docx")
    assert not document.attachments
    assert document.text == "See the sheet.\n\nAttachment: o2.bin\nAttachment: o3.bin"


def test_a_text_on_a_slide_is_a_document_of_its_own_and_a_chart_has_none() -> None:
    deck = make_zip(
        {
            "_rels/.rels": link(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{SLIDES}" xmlns:r="{RELATIONS}">'
            '<p:sldIdLst><p:sldId r:id="r0"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": link(("slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": f'<p:sld xmlns:p="{SLIDES}"/>',
            "ppt/slides/_rels/slide1.xml.rels": link(
                ("package", "../embeddings/Letter.docx"), ("chart", "../charts/chart1.xml")
            ),
            "ppt/charts/chart1.xml": "<chart/>",
            "ppt/charts/_rels/chart1.xml.rels": link(("package", "../embeddings/Data.xlsx")),
            "ppt/embeddings/Letter.docx": make_text({}, "Dear Bob"),
            "ppt/embeddings/Data.xlsx": make_workbook("1"),
        }
    )
    document = read_bytes(deck, "a.pptx")
    assert list_inside(document) == [("Letter.docx", "Dear Bob")]
    assert document.blocks[-1].page == 1


def test_an_object_in_an_opendocument_text_is_a_document_of_its_own() -> None:
    content = (
        f'<office:document-content xmlns:office="{ODF}office:1.0" xmlns:text="{ODF}text:1.0"'
        f' xmlns:draw="{ODF}drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"><office:body>'
        "<office:text><text:p>Words<draw:frame><draw:object-ole xlink:href='./Object 1'/>"
        "</draw:frame></text:p></office:text></office:body></office:document-content>"
    )
    inside = make_compound("Package", make_text({}, "Dear Bob, " * 600))
    parts: dict[str, str | bytes] = {"mimetype": ODT, "content.xml": content, "Object 1": inside}
    document = read_bytes(make_zip(parts), "a.odt")
    assert document.text == "Words\n\nAttachment: Object 1.docx"
    assert [one.id for one in document.attachments] == ["Object 1.docx"]


def test_texts_within_texts_end_at_a_depth() -> None:
    data = make_text({}, "the innermost")
    for _ in range(12):
        data = make_text({"inner.docx": data})
    document, depth = read_bytes(data, "a.docx"), 0
    while document.attachments:
        (document,) = document.attachments
        depth += 1
    assert depth == 8
    assert document.text.endswith("(not read: more than 8 files one within the other)")


@pytest.mark.parametrize(("limit", "said"), [("_MAX_FILES", 2), ("_MAX_BYTES", 2_000)])
def test_files_within_a_file_are_counted_and_summed(
    limit: str, said: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, limit, said)
    inner = make_text({}, "word")
    files = {f"{i}.docx": inner for i in range(2_000 // len(inner) + 3)}
    document = read_bytes(make_text(files), "a.docx")
    assert 0 < len(document.attachments) < len(files)
    assert "inside one file)" in document.text
    again = read_bytes(make_text({"0.docx": inner}), "a.docx")  # each file is counted by itself
    assert len(again.attachments) == 1
