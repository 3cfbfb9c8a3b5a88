"""What ibid's readers are held against: the bare libraries, in the plainest loop of each.

A loop gives the text of a file element by element, with the structure that the library itself
offers: the paragraphs of a text, the elements of a page, the cells of a table under their names.
It does what anybody would do who has the library alone and wants that, and no more: no headings
by their level, no lists with their markers, no places, no limits, no care for what is broken.
"""

from __future__ import annotations

import csv
import email
import email.policy
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import chardet
import docx
import pptx
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from docutils.core import publish_doctree
from lxml import etree
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser
from striprtf.striprtf import rtf_to_text

SHEET: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
CUE: Final = re.compile(r"\d+\n(\d+):(\d+):(\d+),(\d+) --> \S+\n(.+?)\n(?:\n|\Z)", re.S)
SAMPLE: Final = 8192  # characters in which the csv module looks for the delimiter


@dataclass(frozen=True, slots=True)
class Bare:
    """A loop over a file's bytes, and why that one."""

    read: Callable[[bytes], object]
    why: str


# -- text and markup ----------------------------------------------------------------------------


def read_text(data: bytes) -> list[str]:
    """The paragraphs, in the encoding that chardet finds."""
    text = data.decode(chardet.detect(data)["encoding"] or "utf-8")
    return re.split(r"\n\s*\n", text)


def read_html(data: bytes) -> list[object]:
    """Headings, paragraphs, items and tables by selectolax, the tables by rows and cells."""
    found: list[object] = []
    for node in LexborHTMLParser(data.decode()).css("h1,h2,h3,h4,h5,h6,p,li,pre,table"):
        if node.tag == "table":
            rows = node.css("tr")
            found.append([[cell.text(strip=True) for cell in row.css("td,th")] for row in rows])
        else:
            found.append((node.tag, node.text(strip=True)))
    return found


def read_rst(data: bytes) -> object:
    """The tree of the document by docutils."""
    return publish_doctree(data.decode(), settings_overrides={"report_level": 5})


def read_markdown(text: str) -> object:
    """The tokens by markdown-it-py."""
    return MarkdownIt("commonmark").enable("table").parse(text)


def read_csv(data: bytes) -> list[dict[str, str]]:
    """The records under the names of their columns, the delimiter sniffed, by the csv module."""
    text = data.decode("utf-8-sig")
    dialect = csv.Sniffer().sniff(text[:SAMPLE])
    return list(csv.DictReader(io.StringIO(text, newline=""), dialect=dialect))


def walk_json(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, str]]:
    """Every value as text, with the keys that lead to it."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from walk_json(inner, (*path, key))
    else:
        yield path, str(value)


def read_notebook(data: bytes) -> list[object]:
    """The cells, those in Markdown parsed."""
    cells = json.loads(data)["cells"]
    parse = MarkdownIt("commonmark").enable("table").parse
    return [
        parse(cell["source"]) if cell["cell_type"] == "markdown" else cell["source"]
        for cell in cells
    ]


def read_xml(data: bytes) -> list[object]:
    """Name, attributes and text of every element by lxml."""
    return [(e.tag, e.items(), e.text, e.tail) for e in etree.fromstring(data).iter()]


def read_subtitles(data: bytes) -> list[tuple[float, str]]:
    """The cues: the second at which each begins, and its text in one line."""
    found = []
    for hours, minutes, seconds, fraction, text in CUE.findall(data.decode()):
        start = int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction) / 1000
        found.append((start, " ".join(text.split())))
    return found


def read_mail(data: bytes) -> object:
    """The fields of the head and the contents of all parts, decoded, by the email package."""
    letter = email.message_from_bytes(data, policy=email.policy.default)
    parts = [
        (part.get_content_type(), part.get_content())
        for part in letter.walk()
        if not part.is_multipart()
    ]
    return dict(letter.items()), parts


def read_mailbox(data: bytes) -> list[object]:
    """The same of every letter; the mailbox module of the standard library takes ten times that."""
    letters = data.split(b"\n\nFrom ")
    return [read_mail(letter.partition(b"\n")[2]) for letter in letters]


# -- Office and the like ------------------------------------------------------------------------


def read_docx(data: bytes) -> list[object]:
    """Paragraphs and cells by python-docx, in their order."""
    return [
        [[cell.text for cell in row.cells] for row in block.rows]
        if isinstance(block, docx.table.Table)
        else block.text
        for block in docx.Document(io.BytesIO(data)).iter_inner_content()
    ]


def read_pptx(data: bytes) -> list[object]:
    """The texts of all shapes by python-pptx."""
    found: list[object] = []
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                found.append(shape.text_frame.text)
            elif shape.has_table:
                found.append([[cell.text for cell in row.cells] for row in shape.table.rows])
    return found


def read_xlsx(data: bytes) -> list[object]:
    """The cells of the sheet, each with its name and its value, by zipfile and lxml."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        shared = (
            [join(node) for node in parse(archive, "xl/sharedStrings.xml").iter(f"{SHEET}si")]
            if "xl/sharedStrings.xml" in archive.namelist()
            else []
        )
        sheet = parse(archive, "xl/worksheets/sheet1.xml")
    found: list[object] = []
    for cell in sheet.iter(f"{SHEET}c"):
        value = join(cell)
        found.append((cell.get("r"), shared[int(value)] if cell.get("t") == "s" else value))
    return found


def read_odf(data: bytes) -> list[object]:
    """Headings, paragraphs, and the tables by rows and cells, by zipfile and lxml."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (body,) = parse(archive, "content.xml").iter("{*}body")
    found: list[object] = []
    for node in body[0]:
        if node.tag == f"{TABLE}table":
            rows = node.iter(f"{TABLE}table-row")
            found += [[join(cell) for cell in row.iter(f"{TABLE}table-cell")] for row in rows]
        else:
            found.append((node.tag, node.items(), join(node)))
    return found


def read_epub(data: bytes) -> list[object]:
    """The pages along the spine, each as a page of HTML, by zipfile, lxml and selectolax."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = next(parse(archive, "META-INF/container.xml").iter("{*}rootfile"))
        package = parse(archive, root.get("full-path", ""))
        paths = {item.get("id"): item.get("href", "") for item in package.iter("{*}item")}
        spine = [paths[item.get("idref")] for item in package.iter("{*}itemref")]
        return [read_html(archive.read(path)) for path in spine]


def parse(archive: zipfile.ZipFile, name: str) -> etree._Element:
    """The root of a part in XML."""
    return etree.fromstring(archive.read(name))


def join(node: etree._Element) -> str:
    """All the text in an element."""
    return "".join(map(str, node.itertext()))


def read_rtf(data: bytes) -> object:
    """The text by striprtf."""
    return rtf_to_text(data.decode())  # type: ignore[no-untyped-call]  # it has no types


# -- PDF ----------------------------------------------------------------------------------------


def read_pdf(data: bytes) -> None:
    """The text of all pages by pypdfium2, each piece of it with its box and the size of its font.

    A piece is what PDFium draws at once; its size is that of its first character.
    """
    with pdfium.PdfDocument(data) as pdf:
        for page in pdf:
            text = page.get_textpage()
            for i in range(text.count_rects()):
                left, bottom, right, top = text.get_rect(i)
                text.get_text_bounded(left, bottom, right, top)
                char = text.get_index(left, (bottom + top) / 2, 5, 5) or 0
                pdfium_c.FPDFText_GetFontSize(text.raw, char)
            text.close()
            page.close()


def read_pdf_text(data: bytes) -> None:
    """The text of all pages by pypdfium2, with no word of where it stands."""
    with pdfium.PdfDocument(data) as pdf:
        for page in pdf:
            text = page.get_textpage()
            text.get_text_range()
            text.close()
            page.close()


BARE: Final[Mapping[str, Bare]] = {
    "txt": Bare(read_text, "a text says nothing of its encoding, so chardet is asked"),
    "md": Bare(lambda data: read_markdown(data.decode()), "its tokens are the structure"),
    "html": Bare(read_html, "by selectors, as the library is used to get the text out of a page"),
    "rst": Bare(read_rst, "its tree is the structure"),
    "csv": Bare(read_csv, "a record is its cells under the names of the columns"),
    "json": Bare(
        lambda data: list(walk_json(json.loads(data))), "a value means little without its keys"
    ),
    "ipynb": Bare(read_notebook, "a cell in Markdown is Markdown"),
    "xml": Bare(read_xml, "an element is its name, its attributes and its text"),
    "srt": Bare(
        read_subtitles, "no library is used here: the shortest pattern that gives the cues"
    ),
    "eml": Bare(
        read_mail, "with today's policy, which decodes; the older one leaves that to others"
    ),
    "mbox": Bare(read_mailbox, "cut at the lines that begin a letter"),
    "docx": Bare(read_docx, "lxml alone would be a reader of one's own"),
    "pptx": Bare(read_pptx, "lxml alone would be a reader of one's own"),
    "xlsx": Bare(read_xlsx, "a cell is its name and its value"),
    "odt": Bare(read_odf, "a table is its rows and cells"),
    "ods": Bare(read_odf, "a table is its rows and cells"),
    "epub": Bare(read_epub, "a book is its pages in the order of the spine"),
    "rtf": Bare(read_rtf, "text is all that it gives"),
    "pdf": Bare(read_pdf, "where a text stands is asked of the library, and ibid tells it"),
}
"""The loop for each format."""
