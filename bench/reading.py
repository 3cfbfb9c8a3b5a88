"""Pace of every reader beside the bare library it uses, over the same files, in one run.

    python bench/reading.py

The files are made here, of varied sentences with headings and tables. The bare library is used in
the plainest loop that gives the text of every paragraph and cell, without headings, places, lists
or any care for what is broken. Prints, a format a line, how many MB a second that loop takes and
how many ibid takes to give the document (and pages, where there are any), and what ibid keeps of
the bare pace: in this process, and through the child in which files from strangers are read. The
exit code is 1 when it keeps less than 0.70 in this process.
"""

from __future__ import annotations

import csv
import email
import io
import json
import random
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from html import escape
from itertools import islice
from pathlib import Path
from typing import Final

import docx
import openpyxl
import pptx
import pypdfium2 as pdfium
from docutils.core import publish_doctree
from lxml import etree
from markdown_it import MarkdownIt
from results import make_parser, save_results
from selectolax.lexbor import LexborHTMLParser
from striprtf.striprtf import rtf_to_text
from texts import vary_sentences

from ibid.reading.pool import FileToRead, ReaderPool
from ibid.reading.registry import read_bytes

LEAST_KEPT: Final = 0.70
ROUNDS: Final = 3
SECTIONS: Final = 150
LINES_A_PAGE: Final = 45
ROWS: Final = 8
SHEET: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, paragraphs, and the rows of a table."""

    heading: str
    paragraphs: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Format:
    """How a file of a format is made, and how the bare library reads it; pages where it has any."""

    make: Callable[[Sequence[Section]], bytes]
    read_bare: Callable[[bytes], object]
    pages: Callable[[bytes], int] = lambda data: 0


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
    )
    figures = {
        name: measure(name, FORMATS[name], sections, options.rounds)
        for name in options.formats or FORMATS
    }
    missed = [
        f"{name} keeps {found['kept']:.2f} < {LEAST_KEPT}"
        for name, found in figures.items()
        if found["kept"] < LEAST_KEPT
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
    shown = f"{pages / own:9.0f}" if pages else " " * 9
    print(
        f"{name:6}{size:6.2f}{size / bare:11.2f}{size / own:11.2f}{shown}"
        f"{bare / own:7.2f}{bare / pooled:8.2f}",
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


def make_sections(count: int, *, seed: int = 1) -> list[Section]:
    """So many sections, every one different."""
    chance = random.Random(seed)
    sentences = vary_sentences(chance)
    made = []
    for _ in range(count):
        heading = " ".join(next(sentences).split()[:6])
        paragraphs = [" ".join(islice(sentences, chance.randint(2, 5))) for _ in range(4)]
        rows = [["Item", "Day", "Amount"]]
        for _ in range(ROWS):
            words = next(sentences).split()
            rows.append([words[0], " ".join(words[1:3]), f"{chance.randrange(10**6)}"])
        made.append(Section(heading, paragraphs, rows))
    return made


# -- text and markup ----------------------------------------------------------------------------


def list_texts(section: Section) -> list[str]:
    """All texts of a section, a row of its table being one."""
    return [section.heading, *section.paragraphs, *(" ".join(row) for row in section.rows)]


def make_text(sections: Sequence[Section]) -> bytes:
    """Plain paragraphs."""
    return "\n\n".join(text for s in sections for text in list_texts(s)).encode()


def make_markdown(sections: Sequence[Section]) -> bytes:
    """Headings, paragraphs and tables."""
    parts = []
    for section in sections:
        rows = [f"| {' | '.join(row)} |" for row in section.rows]
        table = "\n".join([rows[0], "| --- | --- | --- |", *rows[1:]])
        parts += [f"## {section.heading}", *section.paragraphs, table]
    return "\n\n".join(parts).encode()


def make_html(sections: Sequence[Section]) -> bytes:
    """A page with headings, paragraphs and tables."""
    parts = []
    for section in sections:
        rows = "".join(f"<tr>{wrap('td', row)}</tr>\n" for row in section.rows)
        heading, paragraphs = wrap("h2", [section.heading]), wrap("p", section.paragraphs)
        parts.append(f"<section>{heading}{paragraphs}<table>{rows}</table></section>\n")
    return f"<!doctype html><meta charset=utf-8><title>T</title>{''.join(parts)}".encode()


def wrap(tag: str, texts: Sequence[str]) -> str:
    """Each text as an element of its own."""
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def make_rst(sections: Sequence[Section]) -> bytes:
    """Headings, paragraphs and list tables."""
    parts = []
    for section in sections:
        rows = "".join("   * - " + "\n     - ".join(row) + "\n" for row in section.rows)
        parts += [f"{section.heading}\n{'=' * len(section.heading)}", *section.paragraphs]
        parts.append(f".. list-table::\n\n{rows}")
    return "\n\n".join(parts).encode()


def read_rst(data: bytes) -> None:
    """The tree of the document by docutils."""
    publish_doctree(data.decode(), settings_overrides={"report_level": 5})


def make_csv(sections: Sequence[Section]) -> bytes:
    """One table of all rows and texts."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Section", "Item", "Day", "Amount", "Remark"])
    for section in sections:
        writer.writerows([section.heading, *row, section.paragraphs[0]] for row in section.rows[1:])
    return out.getvalue().encode()


def read_csv(data: bytes) -> None:
    """The rows by the csv module, their cells joined."""
    for row in csv.reader(data.decode().splitlines()):
        " | ".join(row)


def make_json(sections: Sequence[Section]) -> bytes:
    """A list of sections with all that they hold."""
    keys = ("heading", "paragraphs", "rows")
    return json.dumps([{key: getattr(s, key) for key in keys} for s in sections]).encode()


def make_notebook(sections: Sequence[Section]) -> bytes:
    """A cell of Markdown and one of code for each section."""
    cells: list[dict[str, object]] = []
    for section in sections:
        source = make_markdown([section]).decode()
        cells.append({"cell_type": "markdown", "source": source})
        code = f"print({section.heading!r})"
        cells.append({"cell_type": "code", "source": code, "outputs": []})
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()


def read_notebook(data: bytes) -> None:
    """The cells, those in Markdown parsed."""
    parser = MarkdownIt("commonmark").enable("table")
    for cell in json.loads(data)["cells"]:
        if cell["cell_type"] == "markdown":
            parser.parse(cell["source"])


def make_xml(sections: Sequence[Section]) -> bytes:
    """An element for each section."""
    parts = [f"<section>{wrap('p', list_texts(section))}</section>\n" for section in sections]
    return f"<page>{''.join(parts)}</page>".encode()


def read_xml(data: bytes) -> None:
    """The text of every element by lxml."""
    for element in etree.fromstring(data).iter():
        _ = element.text


def make_subtitles(sections: Sequence[Section]) -> bytes:
    """A cue of four seconds for each text."""
    cues = []
    for i, text in enumerate(text for section in sections for text in list_texts(section)):
        hours, minutes, seconds = i * 4 // 3600, i * 4 // 60 % 60, i * 4 % 60
        start = f"{hours:02}:{minutes:02}:{seconds:02}"
        cues.append(f"{i + 1}\n{start},000 --> {start},900\n{text}\n")
    return "\n".join(cues).encode()


def make_mailbox(sections: Sequence[Section]) -> bytes:
    """A letter for each section, plain and as HTML."""
    return b"".join(
        b"From a@example.org Mon Nov  2 09:00:00 2026\n" + make_mail([section]) + b"\n\n"
        for section in sections
    )


def make_mail(sections: Sequence[Section]) -> bytes:
    """One letter of all sections, plain and as HTML."""
    message = EmailMessage()
    message["From"], message["To"] = "Ann <ann@example.org>", "Bob <bob@example.org>"
    message["Message-ID"], message["Subject"] = "<1@example.org>", sections[0].heading
    message.set_content(make_text(sections).decode())
    message.add_alternative(make_html(sections).decode(), subtype="html")
    return message.as_bytes()


def read_mail(data: bytes) -> None:
    """The parts of a letter, decoded."""
    for part in email.message_from_bytes(data).walk():
        part.get_payload(decode=True)


def read_mailbox(data: bytes) -> None:
    """The letters of a mailbox, their parts decoded."""
    for letter in data.split(b"\n\nFrom "):
        read_mail(letter.partition(b"\n")[2])


# -- Office and the like ------------------------------------------------------------------------


def make_docx(sections: Sequence[Section]) -> bytes:
    """Headings, paragraphs and tables by python-docx."""
    document = docx.Document()
    for section in sections:
        document.add_heading(section.heading, 2)
        for paragraph in section.paragraphs:
            document.add_paragraph(paragraph)
        table = document.add_table(0, 3)
        for row in section.rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    return save(document.save)


def read_docx(data: bytes) -> None:
    """Paragraphs and cells by python-docx, in their order."""
    for block in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(block, docx.table.Table):
            _ = [cell.text for row in block.rows for cell in row.cells]
        else:
            _ = block.text


def make_pptx(sections: Sequence[Section]) -> bytes:
    """A slide for each section by python-pptx."""
    deck = pptx.Presentation()
    for section in sections:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes[0].text_frame.text = section.heading
        slide.shapes[1].text_frame.text = "\n".join(section.paragraphs)
        size = (0, 0, 9_000_000, 3_000_000)
        table = slide.shapes.add_table(len(section.rows), 3, *size).table
        for i, row in enumerate(section.rows):
            for j, text in enumerate(row):
                table.cell(i, j).text = text
    return save(deck.save)


def read_pptx(data: bytes) -> None:
    """The texts of all shapes by python-pptx."""
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                _ = shape.text_frame.text
            elif shape.has_table:
                _ = [cell.text for row in shape.table.rows for cell in row.cells]


def make_xlsx(sections: Sequence[Section]) -> bytes:
    """One sheet of all rows by openpyxl."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in csv.reader(make_csv(sections).decode().splitlines()):
        sheet.append([int(cell) if cell.isdecimal() else cell for cell in row])
    return save(book.save)


def read_xlsx(data: bytes) -> None:
    """The rows of the sheet, its strings standing in it, by zipfile and lxml."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheet = etree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    for row in sheet.iter(f"{SHEET}row"):
        " | ".join("".join(map(str, cell.itertext())) for cell in row)


def save(write: Callable[[io.BytesIO], object]) -> bytes:
    """The bytes of what can write itself into a file."""
    out = io.BytesIO()
    write(out)
    return out.getvalue()


ODF: Final = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT: Final = f"{{{ODF}text:1.0}}"


def make_odf(kind: str, body: str) -> bytes:
    """An OpenDocument file of this kind and body."""
    spaces = " ".join(f'xmlns:{name}="{ODF}{name}:1.0"' for name in ("office", "text", "table"))
    content = (
        f"<office:document-content {spaces}><office:body><office:{kind}>{body}</office:{kind}>"
        "</office:body></office:document-content>"
    )
    return zip_parts(
        {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}
    )


def zip_parts(parts: Mapping[str, str]) -> bytes:
    """A zip file of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, part, kind)
    return out.getvalue()


def make_odt(sections: Sequence[Section]) -> bytes:
    """Headings, paragraphs and tables."""
    parts = []
    for section in sections:
        heading = f'<text:h text:outline-level="2">{escape(section.heading)}</text:h>'
        parts.append(heading + wrap("text:p", section.paragraphs) + make_odf_table(section.rows))
    return make_odf("text", "".join(parts))


def make_ods(sections: Sequence[Section]) -> bytes:
    """One sheet of all rows."""
    rows = list(csv.reader(make_csv(sections).decode().splitlines()))
    return make_odf("spreadsheet", make_odf_table(rows))


def make_odf_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that hold text."""
    cell = '<table:table-cell office:value-type="string"><text:p>'
    parts = [
        "".join(f"{cell}{escape(text)}</text:p></table:table-cell>" for text in row) for row in rows
    ]
    lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in parts)
    return f'<table:table table:name="All">{lines}</table:table>'


def read_odf(data: bytes) -> None:
    """The text of every paragraph by zipfile and lxml."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = etree.fromstring(archive.read("content.xml"))
    for paragraph in root.iter(f"{TEXT}p", f"{TEXT}h"):
        "".join(map(str, paragraph.itertext()))


def make_epub(sections: Sequence[Section]) -> bytes:
    """A book with a chapter for each section."""
    numbers = range(len(sections))
    media_type = "application/xhtml+xml"
    items = "".join(
        f'<item id="c{i}" href="{i}.xhtml" media-type="{media_type}"/>' for i in numbers
    )
    spine = "".join(f'<itemref idref="c{i}"/>' for i in numbers)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfile full-path="a.opf"/></container>',
        "a.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for i, section in enumerate(sections):
        page = make_html([section]).decode().partition("</title>")[2]
        parts[f"{i}.xhtml"] = f"<html><body>{page}</body></html>"
    return zip_parts(parts)


def read_epub(data: bytes) -> None:
    """The text of the pages by zipfile and selectolax."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.endswith(".xhtml"):
                read_html(archive.read(name))


def make_rtf(sections: Sequence[Section]) -> bytes:
    """Paragraphs and tables."""
    parts = []
    for section in sections:
        texts = (section.heading, *section.paragraphs)
        parts += [f"\\pard {text}\\par\n" for text in texts]
        for row in section.rows:
            cells = "".join(f"{text}\\cell " for text in row)
            parts.append(f"\\trowd\\cellx2000\\cellx4000\\cellx6000\\intbl {cells}\\row\n")
    text = "".join(c if c < "\x7f" else f"\\u{ord(c)}?" for c in "".join(parts))
    return f"{{\\rtf1\\ansi\\uc1 {text}}}".encode("ascii")


def read_rtf(data: bytes) -> None:
    """The text by striprtf."""
    rtf_to_text(data.decode())  # type: ignore[no-untyped-call]  # it has no types


# -- PDF ----------------------------------------------------------------------------------------


def make_pdf(sections: Sequence[Section]) -> bytes:
    """Pages of lines in Helvetica, headings larger."""
    lines = [line for section in sections for line in break_lines(section)]
    pages = [lines[i : i + LINES_A_PAGE] for i in range(0, len(lines), LINES_A_PAGE)]
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for i, page in enumerate(pages):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R"
            b"/Resources<</Font<</F 3 0 R>>>>>>" % (5 + 2 * i)
        )
        packed = zlib.compress(draw_lines(page))
        objects.append(
            b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(packed), packed)
        )
    return join_objects(objects)


def break_lines(section: Section) -> Iterator[tuple[int, str]]:
    """The lines of a section, each with the size of its letters."""
    yield 16, section.heading
    for paragraph in section.paragraphs:
        line = ""
        for word in paragraph.split():
            if len(line) + len(word) > 85:
                yield 10, line
                line = ""
            line += f"{word} "
        yield 10, line
        yield 10, ""


def draw_lines(lines: Sequence[tuple[int, str]]) -> bytes:
    """The content of a page with these lines, one below the other."""
    shown = []
    for size, text in lines:
        safe = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        shown.append(f"/F {size} Tf 0 -16 Td ({safe}) Tj")
    return f"BT 60 800 Td {' '.join(shown)} ET".encode("cp1252", "replace")


def join_objects(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, the first being its catalog."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    table = (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    )
    return bytes(out) + table % (count, rows, count, len(out))


def read_pdf(data: bytes) -> None:
    """The text of all pages by pypdfium2."""
    with pdfium.PdfDocument(data) as pdf:
        for page in pdf:
            text = page.get_textpage()
            text.get_text_range()
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
    "pdf": Format(make_pdf, read_pdf, count_pages),
}

if __name__ == "__main__":
    sys.exit(main())
