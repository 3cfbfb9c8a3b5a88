"""Pace of every reader beside the bare library it uses, over the same files, in one run.

    python bench/reading.py

The files are made here, of varied sentences with headings and tables. The bare library is used in
the plainest loop that gives the text of every paragraph and cell, without headings, places, lists
or any care for what is broken. Prints, a format a line, how many MB a second that loop takes and
how many ibid takes to give the document (and pages, where there are any), and what ibid keeps of
the bare pace: in this process, and through the child in which files from strangers are read.

Where a place is asked of the library itself (PDF: the box and the size of every piece of text),
"placed" is what ibid keeps of the pace of a loop that gives the text with its places, which is what
the document is made of. The exit code is 1 when a format keeps less than 0.70 of the pace of the
loop that gives the same as the document needs.
"""

from __future__ import annotations

import csv
import email
import io
import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docx
import pptx
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from documents import (
    ODF,
    Section,
    make_csv,
    make_docx,
    make_epub,
    make_html,
    make_json,
    make_mail,
    make_mailbox,
    make_markdown,
    make_notebook,
    make_ods,
    make_odt,
    make_pdf,
    make_pptx,
    make_rst,
    make_rtf,
    make_sections,
    make_subtitles,
    make_text,
    make_xlsx,
    make_xml,
)
from docutils.core import publish_doctree
from lxml import etree
from markdown_it import MarkdownIt
from results import make_parser, save_results
from selectolax.lexbor import LexborHTMLParser
from striprtf.striprtf import rtf_to_text

from ibid.reading.pool import FileToRead, ReaderPool
from ibid.reading.registry import read_bytes

LEAST_KEPT: Final = 0.70
ROUNDS: Final = 3
SECTIONS: Final = 150
SHEET: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@dataclass(frozen=True, slots=True)
class Format:
    """How a file of a format is made, and how the bare library reads it; pages where it has any.

    `read_placed` gives the text with its places, where the library has to be asked for these.
    """

    make: Callable[[Sequence[Section]], bytes]
    read_bare: Callable[[bytes], object]
    pages: Callable[[bytes], int] = lambda data: 0
    read_placed: Callable[[bytes], object] | None = None


def main() -> int:
    """Print the table; 1 when a format keeps too little."""
    parser = make_parser(__doc__)
    parser.add_argument("--sections", type=int, default=SECTIONS, help="of each file")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the best of so many counts")
    parser.add_argument("formats", nargs="*", help=f"of {', '.join(FORMATS)}; all without any")
    options = parser.parse_args()
    sections = make_sections(options.sections)
    print(
        f"{'':6}{'MB':>6}{'bare MB/s':>11}{'ibid MB/s':>11}{'pages/s':>9}{'kept':>7}{'pooled':>8}"
        f"{'placed':>8}"
    )
    figures = {
        name: measure(name, FORMATS[name], sections, options.rounds)
        for name in options.formats or FORMATS
    }
    missed = [
        f"{name} keeps {kept:.2f} < {LEAST_KEPT}"
        for name, found in figures.items()
        if (kept := found.get("kept_placed", found["kept"])) < LEAST_KEPT
    ]
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


def measure(
    name: str, format: Format, sections: Sequence[Section], rounds: int
) -> dict[str, float]:
    """The paces of one format in MB and pages a second, and what ibid keeps of the bare one."""
    data = format.make(sections)
    file = f"file.{name}"
    bare, own = time_alternately(
        lambda: format.read_bare(data), lambda: read_bytes(data, file), rounds=rounds
    )
    with tempfile.TemporaryDirectory() as scratch, ReaderPool() as pool:
        path = Path(scratch, file)
        path.write_bytes(data)

        def read_pooled() -> None:
            (result,) = pool.read([FileToRead(path, file)])
            if result.document is None:
                raise SystemExit(f"{file}: {result.error}")

        _, pooled = time_alternately(lambda: None, read_pooled, rounds=rounds)
    size, pages = len(data) / 1e6, format.pages(data)
    figures = {
        "mb": size,
        "bare_mb_per_s": size / bare,
        "ibid_mb_per_s": size / own,
        "pages_per_s": pages / own,
        "kept": bare / own,
        "kept_pooled": bare / pooled,
    }
    if format.read_placed is not None:
        read_placed = format.read_placed
        placed, own = time_alternately(
            lambda: read_placed(data), lambda: read_bytes(data, file), rounds=rounds
        )
        figures["kept_placed"] = placed / own
    shown = f"{pages / own:9.0f}" if pages else " " * 9
    print(
        f"{name:6}{size:6.2f}{size / bare:11.2f}{size / own:11.2f}{shown}"
        f"{figures['kept']:7.2f}{bare / pooled:8.2f}"
        + (f"{figures['kept_placed']:8.2f}" if "kept_placed" in figures else ""),
        flush=True,
    )
    return figures


def time_alternately(
    first: Callable[[], object], second: Callable[[], object], *, rounds: int
) -> tuple[float, float]:
    """The least seconds of each call in so many rounds, after one that warms both up."""
    calls = (first, second)
    least = [float("inf"), float("inf")]
    for number in range(rounds + 1):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            if number:
                least[i] = min(least[i], time.perf_counter() - start)
    return least[0], least[1]


# -- text and markup ----------------------------------------------------------------------------


def read_rst(data: bytes) -> None:
    """The tree of the document by docutils."""
    publish_doctree(data.decode(), settings_overrides={"report_level": 5})


def read_csv(data: bytes) -> None:
    """The rows by the csv module, their cells joined."""
    for row in csv.reader(data.decode().splitlines()):
        " | ".join(row)


def read_notebook(data: bytes) -> None:
    """The cells, those in Markdown parsed."""
    parser = MarkdownIt("commonmark").enable("table")
    for cell in json.loads(data)["cells"]:
        if cell["cell_type"] == "markdown":
            parser.parse(cell["source"])


def read_xml(data: bytes) -> None:
    """The text of every element by lxml."""
    for element in etree.fromstring(data).iter():
        _ = element.text


def read_mail(data: bytes) -> None:
    """The parts of a letter, decoded."""
    for part in email.message_from_bytes(data).walk():
        part.get_payload(decode=True)


def read_mailbox(data: bytes) -> None:
    """The letters of a mailbox, their parts decoded."""
    for letter in data.split(b"\n\nFrom "):
        read_mail(letter.partition(b"\n")[2])


# -- Office and the like ------------------------------------------------------------------------


def read_docx(data: bytes) -> None:
    """Paragraphs and cells by python-docx, in their order."""
    for block in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(block, docx.table.Table):
            _ = [cell.text for row in block.rows for cell in row.cells]
        else:
            _ = block.text


def read_pptx(data: bytes) -> None:
    """The texts of all shapes by python-pptx."""
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                _ = shape.text_frame.text
            elif shape.has_table:
                _ = [cell.text for row in shape.table.rows for cell in row.cells]


def read_xlsx(data: bytes) -> None:
    """The rows of the sheet, its strings standing in it, by zipfile and lxml."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheet = etree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    for row in sheet.iter(f"{SHEET}row"):
        " | ".join("".join(map(str, cell.itertext())) for cell in row)


TEXT: Final = f"{{{ODF}text:1.0}}"


def read_odf(data: bytes) -> None:
    """The text of every paragraph by zipfile and lxml."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = etree.fromstring(archive.read("content.xml"))
    for paragraph in root.iter(f"{TEXT}p", f"{TEXT}h"):
        "".join(map(str, paragraph.itertext()))


def read_epub(data: bytes) -> None:
    """The text of the pages by zipfile and selectolax."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.endswith(".xhtml"):
                read_html(archive.read(name))


def read_rtf(data: bytes) -> None:
    """The text by striprtf."""
    rtf_to_text(data.decode())  # type: ignore[no-untyped-call]  # it has no types


# -- PDF ----------------------------------------------------------------------------------------


def read_pdf(data: bytes) -> None:
    """The text of all pages by pypdfium2."""
    with pdfium.PdfDocument(data) as pdf:
        for page in pdf:
            text = page.get_textpage()
            text.get_text_range()
            text.close()
            page.close()


def read_placed_pdf(data: bytes) -> None:
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


def count_pages(data: bytes) -> int:
    """The pages of a PDF."""
    with pdfium.PdfDocument(data) as pdf:
        return len(pdf)


def read_html(data: bytes) -> None:
    """The text of every element that has any, by selectolax."""
    body = LexborHTMLParser(data.decode()).body
    if body is not None:
        for node in body.traverse(include_text=True):
            if node.is_text_node:
                _ = node.text_content


def walk_json(value: object) -> None:
    """Every string and number as text."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            walk_json(inner)
    else:
        str(value)


FORMATS: Final[Mapping[str, Format]] = {
    "txt": Format(make_text, lambda data: data.decode().split("\n\n")),
    "md": Format(
        make_markdown, lambda d: MarkdownIt("commonmark").enable("table").parse(d.decode())
    ),
    "html": Format(make_html, read_html),
    "rst": Format(make_rst, read_rst),
    "csv": Format(make_csv, read_csv),
    "json": Format(make_json, lambda data: walk_json(json.loads(data))),
    "ipynb": Format(make_notebook, read_notebook),
    "xml": Format(make_xml, read_xml),
    "srt": Format(make_subtitles, lambda data: data.decode().split("\n\n")),
    "eml": Format(make_mail, read_mail),
    "mbox": Format(make_mailbox, read_mailbox),
    "docx": Format(make_docx, read_docx),
    "pptx": Format(
        make_pptx, read_pptx, lambda data: len(pptx.Presentation(io.BytesIO(data)).slides)
    ),
    "xlsx": Format(make_xlsx, read_xlsx),
    "odt": Format(make_odt, read_odf),
    "ods": Format(make_ods, read_odf),
    "epub": Format(make_epub, read_epub),
    "rtf": Format(make_rtf, read_rtf),
    "pdf": Format(make_pdf, read_pdf, count_pages, read_placed_pdf),
}

if __name__ == "__main__":
    sys.exit(main())
