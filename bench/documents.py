"""Documents that the benches make themselves, the same sections in every format."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from html import escape
from itertools import islice
from typing import Final

import docx
import openpyxl
import pptx
from texts import vary_sentences

LINES_A_PAGE: Final = 45
ROWS: Final = 8
ODF: Final = "urn:oasis:names:tc:opendocument:xmlns:"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, paragraphs, and the rows of a table."""

    heading: str
    paragraphs: Sequence[str]
    rows: Sequence[Sequence[str]]


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


def list_texts(section: Section) -> list[str]:
    """All texts of a section, a row of its table being one."""
    return [section.heading, *section.paragraphs, *(" ".join(row) for row in section.rows)]


def make_text(sections: Sequence[Section]) -> bytes:
    """Plain paragraphs, the rows of a table being the lines of one."""
    parts = []
    for section in sections:
        rows = "\n".join("  ".join(row) for row in section.rows)
        parts += [section.heading, *section.paragraphs, rows]
    return "\n\n".join(parts).encode()


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


def make_csv(sections: Sequence[Section]) -> bytes:
    """One table of all rows and texts."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Section", "Item", "Day", "Amount", "Remark"])
    for section in sections:
        writer.writerows([section.heading, *row, section.paragraphs[0]] for row in section.rows[1:])
    return out.getvalue().encode()


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


def make_xml(sections: Sequence[Section]) -> bytes:
    """An element for each section."""
    parts = [f"<section>{wrap('p', list_texts(section))}</section>\n" for section in sections]
    return f"<page>{''.join(parts)}</page>".encode()


def make_subtitles(sections: Sequence[Section]) -> bytes:
    """A cue of four seconds for each text."""
    cues = []
    for i, text in enumerate(text for section in sections for text in list_texts(section)):
        start, end = (
            f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
            for second in (i * 4, i * 4 + 3)
        )
        cues.append(f"{i + 1}\n{start},000 --> {end},900\n{text}\n")
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


def make_xlsx(sections: Sequence[Section]) -> bytes:
    """One sheet of all rows by openpyxl."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in csv.reader(make_csv(sections).decode().splitlines()):
        sheet.append([int(cell) if cell.isdecimal() else cell for cell in row])
    return save(book.save)


def save(write: Callable[[io.BytesIO], object]) -> bytes:
    """The bytes of what can write itself into a file."""
    out = io.BytesIO()
    write(out)
    return out.getvalue()


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
