"""Small files of every format that tests can write: a heading, paragraphs and a table in each.

The Office and OpenDocument ones are packed by hand, so that a test can put anything in a part.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from html import escape
from typing import Final

_OFFICE: Final = "http://schemas.openxmlformats.org"
_RELATIONS: Final = f"{_OFFICE}/officeDocument/2006/relationships"
_W: Final = f"{_OFFICE}/wordprocessingml/2006/main"
_S: Final = f"{_OFFICE}/spreadsheetml/2006/main"
_P: Final = f"{_OFFICE}/presentationml/2006/main"
_A: Final = f"{_OFFICE}/drawingml/2006/main"
_XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ODF_NAMES: Final = {name: name for name in ("office", "text", "table")} | {"draw": "drawing"}
_ODF_SPACES: Final = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in _ODF_NAMES.items()
)


@dataclass(frozen=True, slots=True)
class Content:
    """What stands in a small file; the first row of the table is its header."""

    heading: str
    paragraphs: Sequence[str]
    rows: Sequence[Sequence[str]]

    def list_texts(self) -> list[str]:
        """All that was put in, in its order."""
        return [self.heading, *self.paragraphs, *(cell for row in self.rows for cell in row)]


SAMPLE: Final = Content(
    "Opening hours",
    ["The office opens at nine.", "It closes at five, on Fridays at three."],
    [["Day", "Hours"], ["Monday", "8"], ["Friday", "6"]],
)


def make_file(extension: str, content: Content = SAMPLE) -> bytes:
    """A small file of a format, by its extension."""
    made = MAKERS[extension](content)
    return made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass")


def zip_parts(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of parts, a `mimetype` among them stored as it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), part, kind)
    return out.getvalue()


def relate(*targets: tuple[str, str]) -> str:
    """A part of relations: `rId1` is the first of the kinds and targets, and so on."""
    rows = "".join(
        f'<Relationship Id="rId{i}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets, 1)
    )
    space = f"{_OFFICE}/package/2006/relationships"
    return f'{_XML}<Relationships xmlns="{space}">{rows}</Relationships>'


def docx_parts(body: str, *, before: str = "") -> dict[str, str | bytes]:
    """The parts of a Word file with this XML as its body; `before` stands above the root."""
    return {
        "_rels/.rels": relate(("officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": relate(("styles", "styles.xml")),
        "word/styles.xml": f'{_XML}<w:styles xmlns:w="{_W}"><w:style w:type="paragraph"'
        ' w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>',
        "word/document.xml": f'{_XML}{before}<w:document xmlns:w="{_W}"><w:body>{body}</w:body>'
        "</w:document>",
    }


def xlsx_parts(sheet: str, *, strings: Iterable[str] = ()) -> dict[str, str | bytes]:
    """The parts of an Excel file with one sheet of this XML, and the strings it refers to."""
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in strings)
    return {
        "_rels/.rels": relate(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{_S}" xmlns:r="{_RELATIONS}"><sheets>'
        '<sheet name="Prices" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relate(
            ("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")
        ),
        "xl/worksheets/sheet1.xml": f'{_XML}<worksheet xmlns="{_S}">{sheet}</worksheet>',
        "xl/sharedStrings.xml": f'{_XML}<sst xmlns="{_S}">{shared}</sst>',
    }


def pptx_parts(shapes: str) -> dict[str, str | bytes]:
    """The parts of a PowerPoint file with one slide of these shapes."""
    spaces = f'xmlns:p="{_P}" xmlns:a="{_A}" xmlns:r="{_RELATIONS}"'
    return {
        "_rels/.rels": relate(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"{_XML}<p:presentation {spaces}><p:sldIdLst>"
        '<p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>',
        "ppt/_rels/presentation.xml.rels": relate(("slide", "slides/slide1.xml")),
        "ppt/slides/slide1.xml": f"{_XML}<p:sld {spaces}><p:cSld><p:spTree>{shapes}"
        "</p:spTree></p:cSld></p:sld>",
    }


def odf_parts(kind: str, body: str, *, before: str = "") -> dict[str, str | bytes]:
    """The parts of an OpenDocument file: its kind is text, spreadsheet or presentation."""
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    return {
        "mimetype": media_type,
        "META-INF/manifest.xml": f"{_XML}<manifest/>",
        "content.xml": f"{_XML}{before}<office:document-content {_ODF_SPACES}><office:body>"
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
    }


def epub_parts(page: str, *, before: str = "") -> dict[str, str | bytes]:
    """The parts of a book of one page, given as what is in its body."""
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f'{_XML}<container><rootfiles><rootfile full-path="book.opf"/>'
        "</rootfiles></container>",
        "book.opf": f"{_XML}{before}<package><metadata><title>Book</title></metadata><manifest>"
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>',
        "a.xhtml": f"{_XML}<html><body>{page}</body></html>",
    }


def make_pdf(objects: Sequence[bytes], *, trailer: bytes = b"") -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        start,
    )
    return bytes(out)


def pdf_stream(content: bytes, entries: bytes = b"") -> bytes:
    """An object that is a stream."""
    return b"<</Length %d%b>>stream\n%b\nendstream" % (len(content), entries, content)


def pdf_of_lines(lines: Sequence[str]) -> bytes:
    """A PDF of one page with these lines, any character being shown by an unembedded font."""
    codes = {c: i for i, c in enumerate(dict.fromkeys("".join(lines)), 1)}
    shown = ("".join(f"{codes[c]:04x}" for c in line) + f"> Tj 0 -{20} Td" for line in lines)
    page = ("BT /F 12 Tf 60 780 Td " + " ".join(f"<{line}" for line in shown) + " ET").encode()
    rows = "\n".join(f"<{code:04x}> <{c.encode('utf-16-be').hex()}>" for c, code in codes.items())
    unicode_map = (
        "/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{rows}\nendbfchar endcmap end"
    )
    return make_pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 2000 842]/Contents 4 0 R"
            b"/Resources<</Font<</F 5 0 R>>>>>>",
            pdf_stream(page),
            b"<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/Identity-H"
            b"/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>",
            b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Any/DW 600"
            b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
            b"/FontDescriptor<</Type/FontDescriptor/FontName/Any/Flags 4/ItalicAngle 0"
            b"/Ascent 800/Descent -200/CapHeight 700/StemV 80/FontBBox[0 -200 600 800]>>>>",
            pdf_stream(unicode_map.encode()),
        ]
    )


# -- one line a format --------------------------------------------------------------------------


def _markdown(c: Content) -> str:
    rows = [f"| {' | '.join(row)} |" for row in c.rows]
    table = "\n".join([rows[0], "|" + " --- |" * len(c.rows[0]), *rows[1:]])
    return "\n\n".join([f"# {c.heading}", *c.paragraphs, table, ""])


def _html(c: Content) -> str:
    rows = "".join(f"<tr>{_wrap('td', row)}</tr>" for row in c.rows)
    return (
        f"<!doctype html><meta charset=utf-8><h1>{escape(c.heading)}</h1>"
        f"{_wrap('p', c.paragraphs)}<table>{rows}</table>"
    )


def _wrap(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def _rst(c: Content) -> str:
    rows = "".join(
        f"   * - {row[0]}\n" + "".join(f"     - {x}\n" for x in row[1:]) for row in c.rows
    )
    bar = "=" * (2 * len(c.heading) + 1)
    head = f"{bar}\n{c.heading}\n{bar}"
    return "\n\n".join([head, *c.paragraphs, f".. list-table::\n\n{rows}"])


def _asciidoc(c: Content) -> str:
    rows = "\n".join("".join(f"|{cell} " for cell in row) for row in c.rows)
    return "\n\n".join([f"= {c.heading}", *c.paragraphs, f"|===\n{rows}\n|===\n"])


def _latex(c: Content) -> str:
    rows = " \\\\\n".join(" & ".join(row) for row in c.rows)
    table = f"\\begin{{tabular}}{{{'l' * len(c.rows[0])}}}\n{rows}\n\\end{{tabular}}"
    body = "\n\n".join([f"\\section{{{c.heading}}}", *c.paragraphs, table])
    return f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"


def _separated(mark: str) -> Callable[[Content], str]:
    def make(c: Content) -> str:
        rows = [["key", "value"], ["heading", c.heading], *(["p", p] for p in c.paragraphs)]
        return "".join(mark.join(map(_quote, row)) + "\n" for row in [*rows, *c.rows])

    return make


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def _as_object(c: Content) -> dict[str, object]:
    return {"heading": c.heading, "paragraphs": [*c.paragraphs], "rows": [[*r] for r in c.rows]}


def _json_lines(c: Content) -> str:
    return "".join(json.dumps({"text": text}) + "\n" for text in c.list_texts())


def _notebook(c: Content) -> str:
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "source": [f"# {c.heading}"]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"text": "2"}]},
    ]
    cells += [{"cell_type": "raw", "source": text} for text in c.list_texts()[1:]]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})


def _xml(c: Content) -> str:
    return f"{_XML}<page><title>{escape(c.heading)}</title>{_wrap('p', c.list_texts()[1:])}</page>"


def _source(c: Content) -> str:
    notes = "".join(f"    # {text}\n" for text in c.list_texts())
    return f"def open_office():\n{notes}    return 1\n\n\nclass Office:\n    pass\n"


def _subtitles(c: Content, *, mark: str = ",", head: str = "") -> str:
    cues = []
    for i, text in enumerate(c.list_texts()):
        time = f"00:{i // 60:02}:{i % 60:02}{mark}"
        cues.append(f"{i}\n{time}000 --> {time}900\n{text}\n")
    return head + "\n".join(cues)


def _mail(c: Content) -> bytes:
    message = EmailMessage()
    message["From"] = "Ann <ann@example.org>"
    message["To"] = "Bob <bob@example.org>"
    message["Date"] = "Mon, 02 Nov 2026 09:00:00 +0000"
    message["Message-ID"] = "<1@example.org>"
    message["Subject"] = " ".join(c.heading.split())
    message.set_content("\n\n".join(c.list_texts()[1:]), cte="base64")
    message.add_attachment(_html(c).encode(), maintype="text", subtype="html", filename="a.html")
    return message.as_bytes()


def _mailbox(c: Content) -> bytes:
    return b"".join(b"From ann Mon Nov  2 09:00:00 2026\n%b\n\n" % _mail(c) for _ in range(2))


def _docx(c: Content) -> bytes:
    rows = "".join(
        f"<w:tr>{''.join(f'<w:tc>{_word(cell)}</w:tc>' for cell in row)}</w:tr>" for row in c.rows
    )
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    texts = _word(c.heading, style) + "".join(map(_word, c.paragraphs))
    return zip_parts(docx_parts(f"{texts}<w:tbl>{rows}</w:tbl>"))


def _word(text: str, style: str = "") -> str:
    return f'<w:p>{style}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def _xlsx(c: Content) -> bytes:
    texts = [[c.heading], *([p] for p in c.paragraphs), *c.rows]
    strings = [cell for row in texts for cell in row]
    numbers = iter(range(len(strings)))
    rows = "".join(
        f'<row r="{i}">'
        + "".join(
            f'<c r="{"ABCDEFGH"[j]}{i}" t="s"><v>{next(numbers)}</v></c>' for j in range(len(row))
        )
        + "</row>"
        for i, row in enumerate(texts, 1)
    )
    return zip_parts(xlsx_parts(f"<sheetData>{rows}</sheetData>", strings=strings))


def _pptx(c: Content) -> bytes:
    rows = "".join(
        "<a:tr>" + "".join(f"<a:tc>{_slide_text(cell)}</a:tc>" for cell in row) + "</a:tr>"
        for row in c.rows
    )
    shapes = _shape(c.heading, '<p:ph type="title"/>') + "".join(map(_shape, c.paragraphs))
    table = (
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='9' name='t'/><p:nvPr/>"
        "</p:nvGraphicFramePr><a:graphic><a:graphicData"
        f" uri='{_OFFICE}/drawingml/2006/table'><a:tbl>{rows}</a:tbl></a:graphicData>"
        "</a:graphic></p:graphicFrame>"
    )
    return zip_parts(pptx_parts(shapes + table))


def _shape(text: str, kind: str = "") -> str:
    body = _slide_text(text).replace("a:txBody", "p:txBody")
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='2' name='s'/><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:spPr/>"
        f"{body}</p:sp>"
    )


def _slide_text(text: str) -> str:
    return f"<a:txBody><a:bodyPr/><a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p></a:txBody>"


def _odt(c: Content) -> bytes:
    texts = _wrap("text:h", [c.heading]) + _wrap("text:p", c.paragraphs)
    return zip_parts(odf_parts("text", texts + _odf_table(c.rows)))


def _odp(c: Content) -> bytes:
    boxes = "".join(
        f"<draw:frame><draw:text-box><text:p>{escape(t)}</text:p></draw:text-box></draw:frame>"
        for t in c.list_texts()
    )
    return zip_parts(odf_parts("presentation", f"<draw:page draw:name='p'>{boxes}</draw:page>"))


def _ods(c: Content) -> bytes:
    rows = [[c.heading], *([p] for p in c.paragraphs), *c.rows]
    return zip_parts(odf_parts("spreadsheet", _odf_table(rows)))


def _odf_table(rows: Iterable[Sequence[str]]) -> str:
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell office:value-type='string'><text:p>{escape(cell)}</text:p>"
            "</table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    return f"<table:table table:name='Prices'>{cells}</table:table>"


def _epub(c: Content) -> bytes:
    return zip_parts(epub_parts(_html(c).partition("utf-8>")[2]))


def _rtf(c: Content) -> str:
    rows = "".join(
        "\\trowd"
        + "".join(f"\\cellx{1000 * (i + 1)}" for i in range(len(row)))
        + "".join(f"\\intbl {_rtf_text(cell)}\\cell" for cell in row)
        + "\\row\n"
        for row in c.rows
    )
    texts = "".join(f"\\pard {_rtf_text(text)}\\par\n" for text in (c.heading, *c.paragraphs))
    return f"{{\\rtf1\\ansi\\uc1 {texts}{rows}\\pard\\par}}"


def _rtf_text(text: str) -> str:
    units = text.encode("utf-16-le", "surrogatepass")
    codes = (
        int.from_bytes(units[i : i + 2], "little", signed=True) for i in range(0, len(units), 2)
    )
    return "".join(
        chr(c) if 0x30 <= c < 0x5B or 0x61 <= c < 0x7B or c == 0x20 else f"\\u{c}?" for c in codes
    )


MAKERS: Final[Mapping[str, Callable[[Content], str | bytes]]] = {
    "txt": lambda c: "\n\n".join(c.list_texts()),
    "md": _markdown,
    "html": _html,
    "xhtml": lambda c: f"{_XML}<html><body>{_html(c).partition('utf-8>')[2]}</body></html>",
    "rst": _rst,
    "adoc": _asciidoc,
    "tex": _latex,
    "csv": _separated(","),
    "tsv": _separated("\t"),
    "json": lambda c: json.dumps(_as_object(c)),
    "jsonl": _json_lines,
    "ipynb": _notebook,
    "xml": _xml,
    "yaml": lambda c: "".join(
        f"- {json.dumps(text, ensure_ascii=False)}\n" for text in c.list_texts()
    ),
    "toml": lambda c: "".join(f"k{i} = '{text}'\n" for i, text in enumerate(c.list_texts())),
    "py": _source,
    "srt": _subtitles,
    "vtt": lambda c: _subtitles(c, mark=".", head="WEBVTT\n\n"),
    "eml": _mail,
    "mbox": _mailbox,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "odt": _odt,
    "odp": _odp,
    "ods": _ods,
    "epub": _epub,
    "rtf": _rtf,
    "pdf": lambda c: pdf_of_lines(c.list_texts()),
}
"""Extension to what writes a small file of it; `make_file` gives its bytes."""
