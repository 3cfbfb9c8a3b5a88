"""OpenDocument texts and presentations become what is printed or shown of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import pytest

from ibid.errors import UnreadableDocument
from ibid.reading.registry import read_bytes
from ibid.records import Document

ODF = "urn:oasis:names:tc:opendocument:xmlns:"
NAMES = {
    **{name: f"{ODF}{name}:1.0" for name in ("office", "text", "table", "style", "presentation")},
    "draw": f"{ODF}drawing:1.0",
    "meta": f"{ODF}meta:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xlink": "http://www.w3.org/1999/xlink",
}
NAMESPACES = " ".join(f'xmlns:{prefix}="{address}"' for prefix, address in NAMES.items())


def make_file(
    kind: str, body: str, styles: str = "", parts: Mapping[str, str] | None = None
) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr(
            "content.xml",
            f"<office:document-content {NAMESPACES}><office:automatic-styles>{styles}"
            f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>"
            "</office:body></office:document-content>",
        )
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return stream.getvalue()


def read(body: str, styles: str = "", parts: Mapping[str, str] | None = None) -> Document:
    return read_bytes(make_file("text", body, styles, parts), "file.odt")


def texts(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.span].rstrip()) for b in document.blocks]


LIST = (
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1"'
    ' style:num-format="1" style:num-suffix="." text:start-value="4"/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"'
    ' text:display-levels="2"/></text:list-style>'
    '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/>'
    "</text:list-style>"
)


def test_headings_paragraphs_and_lists() -> None:
    document = read(
        '<text:p text:style-name="T"><text:span>The</text:span> title</text:p>'
        '<text:h text:outline-level="2">Part\n  one</text:h>'
        '<text:p>a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d'
        '<text:span text:style-name="X">hidden</text:span></text:p>'
        '<text:list text:style-name="L1"><text:list-item><text:p>x</text:p><text:list>'
        "<text:list-item><text:p>y</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>z</text:p></text:list-item></text:list>"
        '<text:list text:style-name="L2"><text:list-item><text:p>dot</text:p></text:list-item>'
        "</text:list>"
        '<text:p text:style-name="C">if a:</text:p><text:p text:style-name="C"><text:s'
        ' text:c="4"/>b()</text:p>',
        '<style:style style:name="T" style:parent-style-name="Title"/>'
        '<style:style style:name="X"><style:text-properties text:display="none"/></style:style>'
        '<style:style style:name="C"><style:text-properties style:font-name="Courier New"/>'
        f"</style:style>{LIST}",
    )
    assert texts(document) == [
        ("heading", "The title"),
        ("heading", "Part one"),
        ("paragraph", "a  b\tc\nd"),
        ("list", "4. x\n   4.a) y\n5. z"),
        ("list", "- dot"),
        ("code", "if a:\n    b()"),
    ]
    assert document.title == "The title"


def test_tables_repeat_merged_cells() -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    document = read(
        "<table:table><table:table-header-rows><table:table-row>"
        + cell.format("A")
        + cell.format("B")
        + "</table:table-row></table:table-header-rows><table:table-row>"
        + '<table:table-cell table:number-rows-spanned="2"><text:p>tall</text:p></table:table-cell>'
        + cell.format("1")
        + "</table:table-row><table:table-row><table:covered-table-cell/>"
        + cell.format("2")
        + "</table:table-row></table:table>"
    )
    assert texts(document) == [("table", "| A | B |\n| --- | --- |\n| tall | 1 |\n| tall | 2 |")]


def test_notes_comments_changes_frames_and_formulas() -> None:
    note = '<text:note text:note-class="{}"><text:note-citation>1</text:note-citation>'
    note += "<text:note-body><text:p>{}</text:p></text:note-body></text:note>"
    math = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><msup><mi>x</mi><mn>2</mn>'
        "</msup><annotation>x^2 in StarMath</annotation></semantics></math>"
    )
    document = read(
        "<text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion>"
        "</text:tracked-changes><text:p>Text"
        + note.format("footnote", "below")
        + note.format("endnote", "at the end")
        + "<office:annotation><dc:creator>Ann</dc:creator><text:p>why</text:p></office:annotation>"
        + " goes on<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>"
        + '.</text:p><text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
        + "</text:p>",
        parts={"Object 1/content.xml": math},
    )
    assert document.text.split("\n\n") == [
        "Text goes on.",
        "Footnote: below",
        "Endnote: at the end",
        "Comment by Ann: why",
        "boxed",
        "So x^2",
    ]


def test_properties_are_metadata() -> None:
    meta = (
        f"<office:document-meta {NAMESPACES}><office:meta><dc:title>T</dc:title>"
        "<meta:initial-creator>Ann</meta:initial-creator><dc:date>2024-03-01T10:00:00</dc:date>"
        "<meta:creation-date>1601-01-01T00:00:00</meta:creation-date></office:meta>"
        "</office:document-meta>"
    )
    document = read("<text:p>x</text:p>", parts={"meta.xml": meta})
    assert document.title == "T"
    assert document.metadata == {"author": "Ann", "modified": "2024-03-01T10:00:00"}


def test_presentations_know_their_slides() -> None:
    box = '<draw:frame presentation:class="{}"><draw:text-box>{}</draw:text-box></draw:frame>'
    item = "<text:list><text:list-item><text:p>point</text:p></text:list-item></text:list>"
    body = (
        "<draw:page>"
        + box.format("title", "<text:p>Start</text:p>")
        + box.format("outline", item)
        + box.format("footer", "<text:p>every page</text:p>")
        + "<presentation:notes>"
        + box.format("notes", "<text:p>smile</text:p>")
        + "</presentation:notes></draw:page><draw:page/><draw:page><draw:g><draw:custom-shape>"
        + "<text:p>shape</text:p></draw:custom-shape></draw:g></draw:page>"
    )
    document = read_bytes(make_file("presentation", body), "file.odp")
    told = [(b.kind.value, b.page, document.text[b.span].rstrip()) for b in document.blocks]
    assert told == [
        ("heading", 1, "Start"),
        ("list", 1, "- point"),
        ("paragraph", 1, "Notes: smile"),
        ("heading", 3, "Slide 3"),
        ("paragraph", 3, "shape"),
    ]


def test_files_that_cannot_be_read_say_why() -> None:
    manifest = "<manifest><encryption-data/></manifest>"
    with pytest.raises(UnreadableDocument, match="protected by a password"):
        read("<text:p>x</text:p>", parts={"META-INF/manifest.xml": manifest})
    with pytest.raises(UnreadableDocument, match="without its body"):
        read_bytes(make_file("drawing", "x"), "file.odt", "application/vnd.oasis.opendocument.text")
