"""Books, notebooks and subtitles keep their order, their titles and their places."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from ibid.errors import UnreadableDocument
from ibid.reading.registry import read_bytes
from ibid.records import Document


def blocks(document: Document) -> list[tuple[str, str | None, str]]:
    return [(b.kind.value, b.place, document.text[b.span].rstrip()) for b in document.blocks]


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><metadata
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Book</dc:title>
<dc:creator>Ann B</dc:creator><dc:date>1949</dc:date><dc:language>en</dc:language></metadata>
<manifest><item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="b" href="b%20two.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/><itemref idref="gone"/></spine>
</package>"""
CONTENTS = """<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>
<navPoint><navLabel><text>Chapter One</text></navLabel><content src="a.xhtml"/></navPoint>
<navPoint><navLabel><text>Chapter Two</text></navLabel><content src="b%20two.xhtml#x"/></navPoint>
</navMap></ncx>"""


def make_book(**more: str) -> bytes:
    files = {
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": PACKAGE,
        "OPS/toc.ncx": CONTENTS,
        "OPS/a.xhtml": "<html xmlns='http://www.w3.org/1999/xhtml'><head><script src='x'/></head>"
        "<body><p>First&#160;words.</p></body></html>",
        "OPS/b two.xhtml": "<html><body><p>still one</p><h2>Chapter  Two</h2><p>two</p>"
        "</body></html>",
        "OPS/c.xhtml": "<html><body><p>two goes on</p></body></html>",
        **more,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_a_book_is_read_along_its_spine_by_chapters() -> None:
    document = read_bytes(make_book(), "book.epub")
    assert document.title == "The Book"
    assert document.metadata == {"author": "Ann B", "date": "1949", "language": "en"}
    assert blocks(document) == [
        ("heading", "Chapter One", "Chapter One"),
        ("paragraph", "Chapter One", "First words."),
        ("paragraph", "Chapter One", "still one"),
        ("heading", "Chapter Two", "Chapter Two"),
        ("paragraph", "Chapter Two", "two"),
        ("paragraph", "Chapter Two", "two goes on"),
    ]


def test_a_book_is_known_by_its_bytes() -> None:
    assert read_bytes(make_book(), "book.bin").media_type == "application/epub+zip"


def test_a_protected_or_broken_book_says_so() -> None:
    encryption = (
        '<encryption><CipherReference URI="OPS/a.xhtml"/>'
        '<CipherReference URI="fonts/x.ttf"/></encryption>'
    )
    with pytest.raises(UnreadableDocument, match="protected"):
        read_bytes(make_book(**{"META-INF/encryption.xml": encryption}), "book.epub")
    fonts = encryption.replace("OPS/a.xhtml", "fonts/y.ttf")
    assert read_bytes(make_book(**{"META-INF/encryption.xml": fonts}), "book.epub").text
    with pytest.raises(UnreadableDocument, match="broken XML"):
        read_bytes(make_book(**{"OPS/book.opf": "<package"}), "book.epub")
    with pytest.raises(UnreadableDocument, match="not a whole zip"):
        read_bytes(make_book()[:300], "book.epub")


def make_notebook(*cells: dict[str, Any]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {"kernelspec": {"language": "R"}}}).encode()


def test_a_notebook_cell_by_cell() -> None:
    images = {"output_type": "display_data", "data": {"image/png": "aaaa", "text/plain": "<Fig>"}}
    document = read_bytes(
        make_notebook(
            {"cell_type": "markdown", "source": ["# Title\n", "- *one*\n", "- two"]},
            {
                "cell_type": "code",
                "source": "print(1)",
                "outputs": [
                    {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
                    images,
                    {"output_type": "error", "ename": "ValueError", "evalue": "bad"},
                ],
            },
            {"cell_type": "raw", "source": "raw"},
            {
                "cell_type": "code",
                "source": "long()",
                "outputs": [{"output_type": "stream", "text": "line\n" * 2000}],
            },
        ),
        "a.ipynb",
    )
    assert document.title == "Title"
    assert document.metadata == {"programming_language": "R"}
    found = blocks(document)
    assert found[:6] == [
        ("heading", "cell 1", "Title"),
        ("list", "cell 1", "- one\n- two"),
        ("code", "cell 2", "print(1)"),
        ("code", "cell 2", "1\nValueError: bad"),
        ("paragraph", "cell 3", "raw"),
        ("code", "cell 4", "long()"),
    ]
    assert len(found[6][2]) < 2100
    assert found[6][2].endswith("line\n…")


def test_an_old_notebook_and_a_broken_one() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Part"},
        {"cell_type": "code", "input": "x = 1", "outputs": []},
    ]
    old = json.dumps({"worksheets": [{"cells": cells}]}).encode()
    assert read_bytes(old, "a.ipynb").text == "Part\n\nx = 1"
    for broken in (b'{"cells": [', b'{"cells": 5}', b"[1]", b'{"cells": [{"outputs": 1}, 2]}'):
        with pytest.raises(UnreadableDocument, match="notebook"):
            read_bytes(broken, "a.ipynb")


SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Hello there,</i>

2
00:00:02,600 --> 00:00:04,000
how are you?

3
01:01:10,000 --> 01:01:12,000
Later.
"""
VTT = """WEBVTT - a title

NOTE not said

STYLE
::cue {}

intro
00:01.000 --> 00:02.500 align:start
<v Ann>Hi &amp; welcome</v>

00:02.500 --> 00:04.000
Hi &amp; welcome

00:04.000 --> 00:05.000
2024

NOTE nor this
"""


def test_subtitles_are_paragraphs_at_their_times() -> None:
    document = read_bytes(SRT.encode(), "a.srt")
    assert blocks(document) == [
        ("paragraph", "00:00:01", "Hello there, how are you?"),
        ("paragraph", "01:01:10", "Later."),
    ]
    assert [block.lines for block in document.blocks] == [(2, 7), (10, 11)]
    assert read_bytes(SRT.encode(), "a.txt").media_type == "text/x-subrip"


def test_webvtt_without_notes_styles_and_markup() -> None:
    assert read_bytes(VTT.encode(), "a.vtt").text == "Ann: Hi & welcome Hi & welcome 2024"
    assert read_bytes(b"no cues here", "a.vtt").text == "no cues here"


def test_a_long_speech_is_cut_at_the_end_of_sentences() -> None:
    cues = "".join(
        f"{i}\n00:{i // 60:02}:{i % 60:02},000 --> 00:{i // 60:02}:{i % 60:02},900\n"
        f"This is sentence number {i}.\n\n"
        for i in range(200)
    )
    document = read_bytes(cues.encode(), "a.srt")
    assert len(document.blocks) > 10
    assert all(document.text[b.span].rstrip().endswith(".") for b in document.blocks)


def test_a_notebook_whose_cells_never_ran_keeps_its_code() -> None:
    data = b'{"cells":[{"cell_type":"code","source":"x = 1","outputs":null}],"nbformat":4}'
    assert read_bytes(data, "a.ipynb").text == "x = 1"
