"""Word files become what is printed of them, with all changes accepted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import docx
import pytest
from docx.document import Document as WordFile
from docx.enum.style import WD_STYLE_TYPE

from ibid.errors import EmptyDocument, UnreadableDocument
from ibid.reading.registry import read_bytes
from ibid.records import Document

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def texts(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.span].rstrip()) for b in document.blocks]


def read_file(file: WordFile) -> Document:
    stream = io.BytesIO()
    file.save(stream)
    return read_bytes(stream.getvalue(), "file.docx")


def make_file(body: str, parts: Mapping[str, str] | None = None) -> bytes:
    """A Word file with this body, and with parts such as "styles" beside it."""
    parts = parts or {}
    namespaces = (
        f'xmlns:w="{WORD}" xmlns:m="{MATH}" xmlns:mc="{COMPATIBILITY}" xmlns:r="{RELATIONS}"'
    )
    links = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{name.rstrip("0123456789")}"'
        f' Target="{name}.xml"/>'
        for name in parts
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}"><Relationship Id="a" Type="{RELATIONS}/'
            'officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            f"<w:document {namespaces}><w:body>{body}</w:body></w:document>",
        )
        archive.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>',
        )
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", f"<w:part {namespaces}>{content}</w:part>")
    return stream.getvalue()


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def read(body: str, parts: Mapping[str, str] | None = None) -> Document:
    return read_bytes(make_file(body, parts), "file.docx")


def test_headings_lists_tables_and_properties() -> None:
    file = docx.Document()
    file.core_properties.title = "The plan"
    file.core_properties.author = "Ann"
    file.add_heading("Plan", 0)
    file.add_heading("First part", 2)
    file.add_paragraph("Some words.")
    file.add_paragraph("one", style="List Bullet")
    file.add_paragraph("deeper", style="List Bullet 2")
    file.add_paragraph("first", style="List Number")
    file.add_paragraph("second", style="List Number")
    table = file.add_table(3, 3)
    for index, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"c{index}"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "tall"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "wide"
    document = read_file(file)
    assert texts(document) == [
        ("heading", "Plan"),
        ("heading", "First part"),
        ("paragraph", "Some words."),
        ("list", "- one\n- deeper\n1. first\n2. second"),
        (
            "table",
            "| c0 | wide | wide |\n| --- | --- | --- |\n| tall | c4 | c5 |\n| tall | c7 | c8 |",
        ),
    ]
    assert [b.level for b in document.blocks] == [1, 2, 0, 0, 0]
    assert document.title == "The plan"
    assert document.metadata["author"] == "Ann"
    assert str(document.metadata["created"]).startswith("2013-12-23T")


def test_code_is_known_by_its_font_or_style() -> None:
    file = docx.Document()
    file.add_paragraph("if a:").runs[0].font.name = "Consolas"
    file.add_paragraph("    b()").runs[0].font.name = "Consolas"
    mixed = file.add_paragraph("call ")
    mixed.add_run("printf").font.name = "Courier New"
    file.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
    file.add_paragraph("x = 1", style="Source Code")
    assert texts(read_file(file)) == [
        ("code", "if a:\n    b()"),
        ("paragraph", "call printf"),
        ("code", "x = 1"),
    ]


def test_headers_and_footers_stand_in_for_an_empty_body_only() -> None:
    file = docx.Document()
    file.sections[0].header.paragraphs[0].text = "the header"
    assert read_file(file).text == "the header"
    file.add_paragraph("body")
    assert read_file(file).text == "body"


NUMBERING = (
    '<w:abstractNum w:abstractNumId="7">'
    '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1)"/>'
    '</w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2"/></w:lvl>'
    '<w:lvl w:ilvl="2"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="1"/></w:lvlOverride></w:num>'
)


def numbered(text: str, level: int, id: int = 1) -> str:
    return paragraph(
        run(text), f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{id}"/></w:numPr>'
    )


def test_labels_of_lists_are_counted_as_word_does() -> None:
    document = read(
        numbered("a", 0)
        + numbered("b", 1)
        + numbered("c", 1)
        + numbered("d", 2)
        + numbered("e", 0)
        + paragraph(run("between"))
        + numbered("f", 0)
        + numbered("g", 0, id=2),
        {"numbering": NUMBERING},
    )
    assert texts(document) == [
        ("list", "III) a\n     III.a b\n     III.b c\n           - d\nIV) e"),
        ("paragraph", "between"),
        ("list", "V) f\nI) g"),
    ]


def test_headings_by_outline_level_keep_their_numbers() -> None:
    numbers = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    styles = (
        '<w:style w:type="paragraph" w:styleId="a"><w:name w:val="clause"/>'
        '<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
        '<w:style w:styleId="b"><w:name w:val="child"/><w:basedOn w:val="a"/></w:style>'
        '<w:style w:styleId="c"><w:name w:val="loop"/><w:basedOn w:val="c"/></w:style>'
    )
    document = read(
        paragraph(run("Scope"), f'<w:pStyle w:val="b"/>{numbers}')
        + paragraph(run("Own"), '<w:outlineLvl w:val="3"/>')
        + paragraph(run("Body"), '<w:pStyle w:val="b"/><w:outlineLvl w:val="9"/>')
        + paragraph(run("Loop"), '<w:pStyle w:val="c"/>'),
        {"numbering": NUMBERING, "styles": styles},
    )
    assert [(b.level, document.text[b.span].strip()) for b in document.blocks] == [
        (2, "III) Scope"),
        (4, "Own"),
        (0, "Body"),
        (0, "Loop"),
    ]


def test_changes_are_accepted_and_hidden_text_is_dropped() -> None:
    deleted = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
    document = read(
        paragraph(run("a ") + deleted + f"<w:ins>{run('new')}</w:ins>")
        + paragraph(run("joined "), "<w:rPr><w:del/></w:rPr>")
        + paragraph(run("line"))
        + paragraph(f"<w:moveFrom>{run('was')}</w:moveFrom><w:moveTo>{run('is')}</w:moveTo>")
        + paragraph(f"<w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r>{run('seen')}")
        + "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr>"
        + "".join(f"<w:tr><w:tc>{p}</w:tc><w:tc>{p}</w:tc></w:tr>" for p in [paragraph(run("x"))])
        + "</w:tbl>"
    )
    assert document.text == "a new\n\njoined line\n\nis\n\nseen\n\n| x | x |"


def test_notes_comments_text_boxes_and_equations_keep_their_place() -> None:
    note = f'<w:footnote w:id="2">{paragraph(run("the note"))}</w:footnote>'
    comment = f'<w:comment w:id="0" w:author="Ann">{paragraph(run("why?"))}</w:comment>'
    box = f"<w:txbxContent>{paragraph(run('boxed'))}</w:txbxContent>"
    choice = f"<mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
    equation = (
        "<m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den>"
        "<m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
        "</m:den></m:f></m:oMath>"
    )
    document = read(
        paragraph(
            run("text")
            + '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:commentReference w:id="0"/></w:r>'
            + f"<w:r><mc:AlternateContent>{choice}<mc:Fallback>{box}</mc:Fallback>"
            + "</mc:AlternateContent></w:r>"
        )
        + paragraph(f"<w:hyperlink>{run('a link')}</w:hyperlink>")
        + paragraph(equation),
        {"footnotes": note, "comments": comment},
    )
    assert document.text.split("\n\n") == [
        "text",
        "Footnote: the note",
        "Comment by Ann: why?",
        "boxed",
        "a link",
        "x=(a+b)/(c^2)",
    ]


def test_tables_in_tables_and_tables_that_frame_text() -> None:
    def table(*cells: str) -> str:
        row = "".join(f"<w:tc>{cell}</w:tc>" for cell in cells)
        return f"<w:tbl><w:tr>{row}</w:tr></w:tbl>"

    inner = table(paragraph(run("1")), paragraph(run("2")))
    outer = table(paragraph(run("a")) + inner, paragraph(run("b")))
    frame = table(paragraph(run("framed")) + outer)
    late = (
        '<w:tbl><w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>'
        f"<w:tc>{paragraph(run('late'))}</w:tc></w:tr>"
        f"<w:tr><w:tc>{paragraph(run('x'))}</w:tc><w:tc>{paragraph(run('y'))}</w:tc></w:tr></w:tbl>"
    )
    assert texts(read(frame + late)) == [
        ("paragraph", "framed"),
        ("table", "| a | b |"),
        ("table", "| 1 | 2 |"),
        ("table", "|  | late |\n| x | y |"),
    ]


def test_strict_files_are_read_as_the_others() -> None:
    data = make_file(paragraph(run("strict")))
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            for word in (b"wordprocessingml", b"officeDocument"):
                address = b"http://schemas.openxmlformats.org/" + word + b"/2006"
                content = content.replace(address, b"http://purl.oclc.org/ooxml/" + word)
            new.writestr(name, content)
    assert b"purl.oclc.org" in stream.getvalue()
    assert read_bytes(stream.getvalue(), "strict.docx").text == "strict"


def test_files_that_cannot_be_read_say_why() -> None:
    with pytest.raises(EmptyDocument):
        read("")
    data = make_file(paragraph(run("words")))
    for cut in (len(data) // 2, len(data) - 10):
        with pytest.raises(UnreadableDocument, match="cut short"):
            read_bytes(data[:cut], "cut.docx")
    with pytest.raises(UnreadableDocument, match="broken XML"):
        read("<w:p>")
