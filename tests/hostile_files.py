"""Files that are made to hurt: much out of little, deep nests, endless loops, reaching out.

A case is a name, what makes the file, and what is said of it: a piece of the error's message, None
where it must be read, `ANY` where both will do as long as it ends within the limits.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Final

from hostile_pdfs import ANY, DEEP, MANY, Case, deflate_repeated, make_pdfs
from small_files import (
    docx_parts,
    epub_parts,
    odf_parts,
    pptx_parts,
    xlsx_parts,
    zip_parts,
)

_LAUGHS: Final = (
    "<!DOCTYPE x [<!ENTITY a0 'ha'>"
    + "".join(f"<!ENTITY a{i + 1} '{f'&a{i};' * 10}'>" for i in range(12))
    + "]>"
)
_W_PARAGRAPH: Final = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
_OFFICE_FILES: Final[Mapping[str, tuple[str, dict[str, str | bytes]]]] = {
    "docx": ("word/document.xml", docx_parts("")),
    "xlsx": ("xl/worksheets/sheet1.xml", xlsx_parts("")),
    "pptx": ("ppt/slides/slide1.xml", pptx_parts("")),
    "odt": ("content.xml", odf_parts("text", "")),
    "odp": ("content.xml", odf_parts("presentation", "")),
    "ods": ("content.xml", odf_parts("spreadsheet", "")),
    "epub": ("a.xhtml", epub_parts("")),
}


# -- much out of little -------------------------------------------------------------------------


def zip_bomb(parts: Mapping[str, str | bytes], name: str, *, said: int = 1 << 30) -> bytes:
    """A zip file of parts of which one unpacks to 1 GB, whatever size is said of it."""
    out, directory = bytearray(), bytearray()
    for entry, part in parts.items():
        data = part.encode() if isinstance(part, str) else part
        method, size, check = 0, len(data), zlib.crc32(data)
        if entry == name:
            data = deflate_repeated(b" " * MANY, 1024)
            method, size, check = zlib.DEFLATED, said, 0
        title = entry.encode()
        head = struct.pack("<5H3I2H", 20, 0, method, 0, 33, check, len(data), size, len(title), 0)
        directory += b"PK\1\2\x14\0" + head + struct.pack("<3H2I", 0, 0, 0, 0, len(out)) + title
        out += b"PK\3\4" + head + title + data
    sizes = struct.pack("<4H2IH", 0, 0, len(parts), len(parts), len(directory), len(out), 0)
    return bytes(out + directory + b"PK\5\6" + sizes)


def _make_zip_bombs() -> Iterator[Case]:
    for extension, (name, parts) in _OFFICE_FILES.items():
        yield f"bomb.{extension}", partial(zip_bomb, parts, name), "unpacks to more than"
        lie = partial(zip_bomb, parts, name, said=10_000)
        yield f"lying.{extension}", lie, ""
    many = {f"{i}.xml": "" for i in range(50_001)}
    yield "entries.docx", lambda: zip_parts(docx_parts("") | many), "files in it, over the limit"
    yield "nested.docx", _nest_docx, ANY
    yield "nested.eml", _nest_mails, ANY


def _nest_docx() -> bytes:
    """A Word file in a Word file, thirty times over."""
    data = zip_parts(docx_parts(_W_PARAGRAPH.format("innermost")))
    for _ in range(30):
        parts = docx_parts(_W_PARAGRAPH.format("around"))
        parts["word/embeddings/a.docx"] = data
        parts["word/_rels/document.xml.rels"] = (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006'
            '/relationships/package" Target="embeddings/a.docx"/></Relationships>'
        )
        data = zip_parts(parts)
    return data


def _nest_mails(count: int = 10_000) -> str:
    """A mail in a mail, so many times over."""
    head = "Message-ID: <a>\nFrom: a\nSubject: s\nContent-Type: message/rfc822\n\n"
    return head * count + "Subject: innermost\n\nwords\n"


def _make_floods() -> Iterator[Case]:
    """Little files that say they are large: repeated cells, spans, spaces, strings."""
    yield "fields.csv", lambda: f'a,b\n"{"word " * 10_000_000}",c\n', ANY
    yield "ragged.csv", lambda: "a," * 100_000 + "\n" + "b,c\n" * 20_000, ANY
    yield "columns.csv", lambda: "a," * 300_000, ANY
    yield (
        "cells.md",
        lambda: "|" + "a|" * 9_000 + "\n|" + "-|" * 9_000 + "\n" + "|\n" * 9_000,
        ANY,
    )
    yield "spans.html", lambda: "<table>" + "<tr><td colspan=1000 rowspan=65534>a" * 300, None
    yield "ragged.html", lambda: f"<table><tr>{'<td>a' * 20_000}{'<tr><td>b<td>c' * 20_000}", None
    yield "colspan.docx", _flood_docx, ANY
    yield "repeated.ods", partial(_flood_ods, 16_384, 1_048_576), ANY
    yield "spaces.odt", _flood_odt, ANY
    yield "sparse.xlsx", _sparse_xlsx, ANY
    yield "merged.xlsx", _merged_xlsx, ANY
    yield "strings.xlsx", _flood_xlsx, ANY
    yield "rows.adoc", lambda: '[cols="1000000*"]\n|===\n' + "|a\n" * 1000 + "|===\n", ANY
    yield "repeat.tex", lambda: "\\begin{tabular}{*{1000000000}{c}}a&b\\end{tabular}" * 100, ANY
    yield "macros.tex", _laughing_tex, ANY
    yield "spans.rst", lambda: "+-+\n|a|\n" * 2_000 + "+-+\n", ANY
    yield "laughs.rst", _laughing_rst, ANY
    yield "unicode.rtf", lambda: "{\\rtf1\\uc1000000000 " + "\\u65 " * 1000 + "end}", ANY
    yield "binary.rtf", lambda: "{\\rtf1 a\\bin99999999999 b}", ANY
    yield "outputs.ipynb", _flood_notebook, None
    yield "matter.md", _laughing_yaml, ANY
    yield "columns.json", _flood_json, ANY
    yield (
        "ragged.jsonl",
        lambda: "".join(json.dumps({f"k{i}": i}) + "\n" for i in range(50_000)),
        ANY,
    )
    yield "numbers.json", lambda: "[" + "9" * 1_000_000 + "]", ANY
    yield "parts.eml", _flood_mail, ANY
    yield "headers.eml", lambda: "From: a\nMessage-ID: b\n" + "X: y\n" * 100_000 + "\nwords", ANY
    yield "words.eml", lambda: f"From: a\nSubject: {'=?utf-8?q?=20?= ' * 100_000}\n\nwords", None
    yield "letters.mbox", lambda: "From a Mon Nov  2 09:00:00 2026\nFrom: a\n\nb\n\n" * 5_000, ANY


def _flood_docx() -> bytes:
    cell = '<w:tc><w:tcPr><w:gridSpan w:val="100000000"/></w:tcPr>'
    return zip_parts(
        docx_parts(f"<w:tbl><w:tr>{cell}{_W_PARAGRAPH.format('a')}</w:tc></w:tr></w:tbl>")
    )


def _flood_ods(columns: int, rows: int) -> bytes:
    cell = f'<table:table-cell table:number-columns-repeated="{columns}"><text:p>a</text:p>'
    row = f'<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-cell>'
    return zip_parts(
        odf_parts("spreadsheet", f"<table:table>{row}</table:table-row></table:table>")
    )


def _flood_odt() -> bytes:
    cell = '<table:table-cell table:number-columns-repeated="999999999"/>'
    row = f'<table:table-row table:number-rows-repeated="999999999">{cell}</table:table-row>'
    spaces = '<text:p>a<text:s text:c="999999999"/>b</text:p>'
    return zip_parts(odf_parts("text", f"{spaces}<table:table>{row}</table:table>"))


def _sparse_xlsx() -> bytes:
    cells = (
        '<row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    )
    return zip_parts(xlsx_parts(f'<dimension ref="A1:XFD1048576"/><sheetData>{cells}</sheetData>'))


def _merged_xlsx() -> bytes:
    cells = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'
    merged = '<mergeCell ref="A1:XFD1048576"/>'
    return zip_parts(xlsx_parts(f"{cells}<mergeCells>{merged}</mergeCells>"))


def _flood_xlsx() -> bytes:
    """A string of 1 MB that stands in 100,000 cells."""
    cell = '<row><c t="s"><v>0</v></c></row>'
    return zip_parts(xlsx_parts(f"<sheetData>{cell * 1_000}</sheetData>", strings=["a" * MANY]))


def _flood_notebook() -> str:
    outputs = [{"output_type": "stream", "text": ["line\n"] * 200_000}] * 5
    return json.dumps({"cells": [{"cell_type": "code", "source": "print()", "outputs": outputs}]})


def _flood_json() -> str:
    return json.dumps([{f"k{i}": 1 for i in range(200)}, {"a": 1}] * 500)


def _flood_mail() -> str:
    head = 'Message-ID: <a>\nFrom: a\nContent-Type: multipart/mixed; boundary="b"\n\n'
    return head + "--b\n\npart\n" * 10_000 + "--b--\n"


def _laughing_yaml() -> str:
    rows = "".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]\n" for i in range(9))
    return f"---\na0: &a0 [ha]\n{rows}title: *a9\n---\ntext\n"


def _laughing_tex() -> str:
    names = [f"\\a{letter}" for letter in "abcdefghijklm"]
    rows = "".join(f"\\newcommand{{{name}}}{{{before * 10}}}\n" for before, name in pairwise(names))
    return f"\\newcommand{{\\aa}}{{ha}}\n{rows}\\begin{{document}}\\am\\end{{document}}"


def _laughing_rst() -> str:
    rows = "".join(f".. |a{i + 1}| replace:: {f'|a{i}| ' * 10}\n" for i in range(6))
    return f".. |a0| replace:: ha\n{rows}\n|a6|\n"


# -- deep and endless ---------------------------------------------------------------------------


def _make_nests() -> Iterator[Case]:
    yield "div.html", lambda: "<div>" * DEEP + "words", ANY
    yield "lists.html", lambda: "<ul><li>a" * 5_000, ANY
    yield "tables.html", lambda: "<table><tr><td>a" * 2_000, ANY
    yield "inline.html", lambda: "<p>" + "<b><i>a" * 20_000, ANY
    yield "arrays.json", lambda: "[" * DEEP + "]" * DEEP, ANY
    yield "objects.json", lambda: '{"a":' * DEEP + "1" + "}" * DEEP, ANY
    yield "objects.jsonl", lambda: '{"a":' * DEEP + "1" + "}" * DEEP, ANY
    yield "arrays.ipynb", lambda: '{"cells":' + "[" * DEEP, "not a whole notebook"
    yield "elements.xml", lambda: "<a>" * DEEP + "words" + "</a>" * DEEP, ANY
    yield "outline.xml", lambda: "<a>" * 250 + "words" + "</a>" * 250, None
    yield "paragraphs.docx", lambda: zip_parts(docx_parts("<w:p>" * DEEP)), "broken XML"
    yield "tables.docx", _nest_tables, ANY
    yield "sections.odt", _nest_sections, ANY
    yield (
        "groups.pptx",
        lambda: zip_parts(pptx_parts(f"{'<p:grpSp>' * 240}{'</p:grpSp>' * 240}")),
        ANY,
    )
    yield "page.epub", lambda: zip_parts(epub_parts("<div>" * DEEP + "words")), None
    yield "groups.rtf", lambda: "{\\rtf1 " + "{" * 1_000_000 + "words", ANY
    yield "braces.tex", lambda: "{" * DEEP + "words", ANY
    yield "lists.tex", lambda: "\\begin{itemize}\\item a" * 5_000, ANY
    yield "bold.tex", lambda: "\\textbf{" * DEEP + "words", ANY
    yield "maths.tex", lambda: "$" + "\\frac{" * DEEP + "$", ANY
    yield "quotes.rst", lambda: "".join(" " * i + f"a{i}\n\n" for i in range(1_500)), ANY
    yield "lists.rst", lambda: "".join("  " * i + "- a\n\n" for i in range(1_000)), ANY
    yield "lists.adoc", lambda: "".join(f"{'*' * i} a\n" for i in range(1, 2_000)), ANY
    yield "blocks.adoc", lambda: "".join(f"{'=' * i}\na\n" for i in range(4, 2_000)), ANY
    yield "quotes.md", lambda: ">" * DEEP + "words", ANY
    yield "lists.md", lambda: "- " * 10_000 + "words", ANY
    yield "brackets.md", lambda: "[" * DEEP, ANY
    yield "pictures.md", lambda: "![a](" * 20_000, ANY
    yield "links.md", lambda: "[a](<b" * DEEP, ANY
    yield "stars.md", lambda: "*a **a " * 20_000, ANY
    yield "runs.md", lambda: "a**b" + "c* " * DEEP, ANY
    yield "ticks.md", lambda: "".join("a" + "`" * i for i in range(1, 1_500)), ANY
    yield "tags.md", lambda: "<a " * DEEP, ANY
    yield "comments.md", lambda: "a <!--" * DEEP, ANY
    yield "entities.md", lambda: "&" * DEEP, ANY
    yield "matter.md", lambda: f"---\na: {'[' * DEEP}\n---\nwords", ANY
    yield "blocks.py", lambda: "(" * DEEP + ")" * DEEP, None
    yield "names.py", lambda: "-" * DEEP + "1\n", None
    yield "classes.py", lambda: "".join(" " * i + "class A:\n" for i in range(3_000)), None
    yield "braces.js", lambda: "function a() {\n" * DEEP, None
    yield "multipart.eml", _nest_parts, ANY


def _nest_tables() -> bytes:
    opened = "<w:tbl><w:tr><w:tc>" * 80
    return zip_parts(docx_parts(opened + _W_PARAGRAPH.format("a") + "</w:tc></w:tr></w:tbl>" * 80))


def _nest_sections() -> bytes:
    body = "<text:section>" * 240 + "<text:p>a</text:p>" + "</text:section>" * 240
    return zip_parts(odf_parts("text", body))


def _nest_parts() -> str:
    parts = (f"Content-Type: multipart/mixed; boundary=b{i}\n\n--b{i}\n" for i in range(10_000))
    return "From: a\nMessage-ID: <b>\n" + "".join(parts) + "Content-Type: text/plain\n\nwords\n"


def _make_regex_traps() -> Iterator[Case]:
    """Texts on which a careless pattern takes for ever."""
    yield "comments", lambda: "<!---->" * 1000 + "x", None
    yield "comments.html", lambda: "<!---->" * 200_000 + "x", None
    yield "spaces.txt", lambda: "a" + " " * 2_000_000 + "b", None
    yield "lines.txt", lambda: "a" + "\n \t" * 700_000 + "b", None
    yield "headers.txt", lambda: "a:\n \n" * 50_000, None
    yield "letters.txt", lambda: "From a 00:00\n" + "a:b\n\tc\n" * 200_000, ANY
    yield "spaces.md", lambda: ("a" + " " * 100_000 + "b\n") * 10, None
    yield "codes.md", lambda: "{{<" * DEEP, None
    yield "scripts.md", lambda: "<script>" * 50_000, ANY
    yield "attributes.md", lambda: "# a " + "{ #" * DEEP, ANY
    yield "quotes.md", lambda: "<a b='" * 50_000, ANY
    yield "spaces.html", lambda: "<p>a" + "&nbsp; " * 500_000 + "b", None
    yield "styles.html", lambda: f"<p style='{'display: ' * 100_000}'>a", None
    yield "spaces.rst", lambda: ("a" + " " * 50_000 + "b\n") * 20, ANY
    yield "roles.rst", lambda: ":a:`" * 50_000, ANY
    yield "stars.rst", lambda: "*a `b " * 50_000, ANY
    yield "tables.rst", lambda: "=== " * 2_000 + "\n" + "a " * 2_000 + "\n", ANY
    yield "spaces.adoc", lambda: ("a" + " " * 100_000 + "b\n") * 10, None
    yield "signs.adoc", lambda: "*a _b `c #d " * 30_000, None
    yield "macros.adoc", lambda: "image:a[" * 50_000, None
    yield "links.adoc", lambda: "<<" * DEEP, ANY
    yield "tables.adoc", lambda: "|===\n" + "2+|a " * 20_000, ANY
    yield "macros.tex", lambda: "\\a" * 20_000, ANY
    yield "options.tex", lambda: "\\begin{tabular}[" * 20_000, ANY
    yield "comments.tex", lambda: "%\n" * DEEP + "words", ANY
    yield "maths.tex", lambda: "$$a$ " * 15_000, ANY
    yield "words.rtf", lambda: "{\\rtf1 " + "\\a-1" * 500_000 + "}", ANY
    yield "times.srt", lambda: "1\n00:00:00,000 -->" * 100_000, ANY
    yield "voices.vtt", lambda: f"WEBVTT\n\n00:00.000 --> 00:01.000\n{'<v a' * 100_000}\n", None
    yield "tags.vtt", lambda: f"WEBVTT\n\n00:00.000 --> 00:01.000\n{'<a {' * 100_000}\n", None
    yield "spaces.py", lambda: "def" + " " * 1_000_000 + "a", None
    yield "spaces.java", lambda: ("public " * 140 + "\n") * 2_000, None
    yield "words.ts", lambda: ("export async a " * 60 + "\n") * 2_000, None
    yield "quotes.csv", lambda: '"a""' * 500_000, ANY
    yield "marks.csv", lambda: ";,|\t" * 500_000, ANY
    yield "quotes.tsv", lambda: 'a\t"\n' * 200_000, ANY
    yield (
        "types.eml",
        lambda: f"From: a\nMessage-ID: b\nContent-Type: a/b{'; a=b' * 50_000}\n\nc",
        ANY,
    )
    yield "froms.mbox", lambda: "From a 1\n" * 200_000, ANY
    yield "declared.xml", lambda: "<?xml " * 300_000, None


def _make_laughs() -> Iterator[Case]:
    yield "laughs.xml", lambda: f"{_LAUGHS}<x>&a12;</x>", ANY
    yield "quadratic.xml", _quadratic, ANY
    yield "laughs.xhtml", lambda: f"{_LAUGHS}<html><body>&a12; words</body></html>", ANY
    yield (
        "laughs.docx",
        lambda: zip_parts(docx_parts(_W_PARAGRAPH.format("&a12; words"), before=_LAUGHS)),
        ANY,
    )
    yield (
        "laughs.odt",
        lambda: zip_parts(odf_parts("text", "<text:p>&a12; words</text:p>", before=_LAUGHS)),
        ANY,
    )
    yield "laughs.epub", lambda: zip_parts(epub_parts("<p>&a12; words</p>", before=_LAUGHS)), ANY
    yield "laughs.xlsx", _laughing_xlsx, ANY


def _quadratic() -> str:
    return f"<!DOCTYPE x [<!ENTITY a '{'a' * 100_000}'>]><x>{'&a;' * 100_000}</x>"


def _laughing_xlsx() -> bytes:
    parts = xlsx_parts("<sheetData><row><c t='s'><v>0</v></c></row></sheetData>")
    strings = f"{_LAUGHS}<sst><si><t>&a12; words</t></si></sst>"
    return zip_parts({**parts, "xl/sharedStrings.xml": strings})


CASES: Final = tuple(
    (f"{group}-{name}", make, expected)
    for group, cases in (
        ("zip", _make_zip_bombs()),
        ("flood", _make_floods()),
        ("nest", _make_nests()),
        ("regex", _make_regex_traps()),
        ("pdf", make_pdfs()),
        ("laughs", _make_laughs()),
    )
    for name, make, expected in cases
)
"""Every case, its name made unique by the group it belongs to."""
