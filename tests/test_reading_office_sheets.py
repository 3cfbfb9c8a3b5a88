"""Spreadsheets become headings and tables that know their cells."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import UnreadableDocument
from ibid.reading.office.sheets import name_column
from ibid.reading.office.sheets_format import format_date, format_plain, format_value
from ibid.reading.office.sheets_xlsx import read_column
from ibid.reading.registry import read_bytes
from ibid.records import Document

openpyxl = pytest.importorskip("openpyxl")


def read(book: Any) -> Document:
    stream = io.BytesIO()
    book.save(stream)
    return read_bytes(stream.getvalue(), "book.xlsx")


def told(document: Document) -> list[tuple[str, str | None, str]]:
    return [(b.kind.value, b.place, document.text[b.span].rstrip()) for b in document.blocks]


def make_book(*rows: list[Any]) -> Any:
    book = openpyxl.Workbook()
    book.active.title = "Prices"
    for row in rows:
        book.active.append(row)
    return book


def test_tables_captions_formats_and_places() -> None:
    book = make_book(
        ["Price list"],
        [],
        ["Item", "Price", "Since", "Share"],
        ["Apple", 1234.5, date(2024, 3, 1), 0.125],
        ["Pear", 2, datetime(2024, 3, 2, 14, 30), 1],
        [],
        ["Plum", 3.25, None, None],
    )
    sheet = book.active
    sheet["B4"].number_format = '"$"#,##0.00'
    sheet["D4"].number_format = "0.0%"
    sheet["A8"] = "=SUM(B4:B5)"
    document = read(book)
    assert told(document) == [
        ("heading", "Prices", "Prices"),
        ("paragraph", "Prices!A1", "Price list"),
        (
            "table",
            "Prices!A3:D5",
            "| Item | Price | Since | Share |\n| --- | --- | --- | --- |\n"
            "| Apple | $1,234.50 | 2024-03-01 | 12.5% |\n| Pear | 2 | 2024-03-02 14:30:00 | 1 |",
        ),
        (
            "table",
            "Prices!A7:B7",
            "| Item | Price | Since | Share |\n| --- | --- | --- | --- |\n| Plum | 3.25 |  |  |",
        ),
    ]


def test_long_tables_come_in_blocks_that_repeat_the_header() -> None:
    book = make_book(["Name", "Town"], *([f"n{i}", "x"] for i in range(120)))
    tables = told(read(book))[1:]
    assert [place for _, place, _ in tables] == [
        "Prices!A1:B51",
        "Prices!A52:B101",
        "Prices!A102:B121",
    ]
    assert all(text.startswith("| Name | Town |\n| --- | --- |\n") for _, _, text in tables)
    assert [text.count("\n") for _, _, text in tables] == [51, 51, 21]


def test_a_sheet_of_numbers_is_summed_up_and_its_words_are_kept() -> None:
    rows = [[i, i / 2, date(2024, 1, 1) + timedelta(days=i)] for i in range(1000)]
    rows[700] = [700, "broken pump", date(2025, 12, 1)]
    document = read(make_book(["Id", "Half", "Day"], *rows))
    assert len(document.text) < 10_000
    assert "| 700 | broken pump | 2025-12-01 |" in document.text
    kind, place, text = told(document)[-1]
    assert (kind, place) == ("table", "Prices!A102:C1001")
    assert text.splitlines()[2:] == [
        "| Id | number | 899 | 100 | 999 |",
        "| Half | number | 899 | 50 | 499.5 |",
        "| Day | date | 899 | 2024-04-10 | 2026-09-26 |",
    ]
    assert "899 rows of numbers between rows 102 and 1001 of Prices are left out" in document.text


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([["Metric", 2023, 2024], ["Sales", 10, 12]], True),
        ([[None, 2023, 2024], ["Sales", 10, 12]], True),
        ([["Ann", 1985], ["Bob", 1990]], False),
        ([["tea", 3], ["milk", 4]], False),
        ([["Name", "Town"]], False),
    ],
)
def test_a_header_names_the_columns(rows: list[list[Any]], named: bool) -> None:
    assert ("| --- |" in read(make_book(*rows)).text) is named


def test_merged_cells_hidden_sheets_and_comments() -> None:
    book = make_book(["Area", "Town"], ["North", "a"], [None, "b"])
    book.active.merge_cells("A2:A3")
    book.active["B2"].comment = openpyxl.comments.Comment("check", "Ann")
    hidden = book.create_sheet("Old")
    hidden.sheet_state = "hidden"
    hidden["C5"] = "kept"
    book.create_sheet("Empty")
    assert told(read(book)) == [
        ("heading", "Prices", "Prices"),
        (
            "table",
            "Prices!A1:B3",
            "| Area | Town |\n| --- | --- |\n| North | a |\n| North | b |",
        ),
        ("paragraph", "Prices!B2", "Comment by Ann: check"),
        ("heading", "Old", "Old (hidden)"),
        ("paragraph", "Old!C5", "kept"),
    ]


def test_a_sparse_sheet_costs_no_more_than_its_cells() -> None:
    book = make_book(["first"])
    book.active["XFD1048576"] = "last"
    assert told(read(book))[1:] == [
        ("paragraph", "Prices!A1", "first"),
        ("paragraph", "Prices!XFD1048576", "last"),
    ]


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.025, "0%", "3%"),
        (1234.5, "General", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (7.0, "00000", "00007"),
        (-1599.99, '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "($1,599.99)"),
        (5.0, "[$€-407] #,##0.00", "€ 5.00"),
        (2_500_000.0, '0.0,,"M"', "2.5M"),
        (0.0, '0;-0;"none"', "none"),
        (3.5, "# ?/?", "3.5"),
        (12.0, 'General" kg"', "12 kg"),
        (45352.0, "d/m/yy", "2024-03-01"),
        (45352.75, "dd mmm yyyy hh:mm", "2024-03-01 18:00"),
        (45352.0, "mmm-yy", "2024-03"),
        (0.5, "h:mm AM/PM", "12:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (1.0, "yyyy-mm-dd", "1900-01-01"),
        (-1.0, "yyyy-mm-dd", "-1"),
        (float("nan"), "0.00", "nan"),
    ],
)
def test_numbers_as_they_are_shown(value: float, code: str, shown: str) -> None:
    assert format_value(value, code) == shown


def test_the_calendar_that_begins_in_1904() -> None:
    assert format_value(43890.0, "d/m/yy", from_1904=True) == "2024-03-01"


def test_dates_in_iso_form() -> None:
    assert format_date(datetime(2024, 1, 2, 3, 4)) == "2024-01-02 03:04"
    assert format_date(datetime(2024, 1, 2)) == "2024-01-02"
    assert format_date(time(3, 4, 5)) == "03:04:05"
    assert format_date(timedelta(hours=30)) == "30:00:00"


@given(st.floats(), st.text(alphabet='0#?.,%;"\\[]hmsdyE+-_*$@ aG', max_size=12))
def test_any_number_in_any_format_is_written(value: float, code: str) -> None:
    assert isinstance(format_value(value, code), str)


@given(st.floats(-1e300, 1e300))
def test_plain_numbers_keep_their_value(value: float) -> None:
    assert float(format_plain(value)) == pytest.approx(value, rel=1e-14)


@given(st.integers(0, 16383))
def test_columns_have_their_letters(column: int) -> None:
    assert read_column(name_column(column)) == column


def test_shared_strings_come_without_their_pronunciation() -> None:
    stream = io.BytesIO()
    make_book(["x"]).save(stream)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    strings = (
        f'<sst xmlns="{main}"><si><t>plain</t></si><si><r><t>豊</t></r><r><t>田</t></r>'
        "<rPh><t>トヨタ</t></rPh></si></sst>"
    )
    changed = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode()
            if name == "xl/worksheets/sheet1.xml":
                start, end = content.index("<sheetData>"), content.index("</sheetData>")
                cells = '<row><c t="s"><v>1</v></c><c t="s"><v>0</v></c><c t="s"><v>9</v></c></row>'
                content = f"{content[:start]}<sheetData>{cells}{content[end:]}"
            elif name == "xl/_rels/workbook.xml.rels":
                link = f'<Relationship Id="s" Type="{kind}" Target="strings.xml"/></Relationships>'
                content = content.replace("</Relationships>", link)
            new.writestr(name, content)
        new.writestr("xl/strings.xml", strings)
    document = read_bytes(changed.getvalue(), "book.xlsx")
    assert told(document)[1:] == [("table", "Prices!A1:B1", "| 豊田 | plain |")]


def make_ods(table: str, styles: str = "") -> bytes:
    names = {
        "office": "office:1.0",
        "table": "table:1.0",
        "text": "text:1.0",
        "style": "style:1.0",
    }
    namespaces = " ".join(
        f'xmlns:{k}="urn:oasis:names:tc:opendocument:xmlns:{v}"' for k, v in names.items()
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content {namespaces}><office:automatic-styles>{styles}"
            f"</office:automatic-styles><office:body><office:spreadsheet>{table}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return stream.getvalue()


def test_opendocument_spreadsheets() -> None:
    style = (
        '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    )
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    table = (
        '<table:table table:name="One" table:style-name="h"><table:table-row>'
        + cell.format("Item")
        + cell.format("Day")
        + cell.format("Cost")
        + '</table:table-row><table:table-row table:number-rows-repeated="2">'
        + cell.format("tea")
        + '<table:table-cell office:value-type="date" office:date-value="2024-03-01">'
        + "<text:p>1/3/24</text:p></table:table-cell>"
        + '<table:table-cell office:value-type="currency" office:value="2.5">'
        + "<text:p>2,50 €</text:p></table:table-cell></table:table-row>"
        + '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/>'
        + "</table:table-row><table:table-row>"
        + '<table:table-cell table:number-columns-repeated="2"/>'
        + cell.format("far")
        + "</table:table-row></table:table>"
    )
    document = read_bytes(make_ods(table, style), "no-extension")
    assert document.media_type == "application/vnd.oasis.opendocument.spreadsheet"
    assert told(document) == [
        ("heading", "One", "One (hidden)"),
        (
            "table",
            "One!A1:C3",
            "| Item | Day | Cost |\n| --- | --- | --- |\n"
            "| tea | 2024-03-01 | 2,50 € |\n| tea | 2024-03-01 | 2,50 € |",
        ),
        ("paragraph", "One!C1000004", "far"),
    ]


def test_broken_workbooks_say_so() -> None:
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old.xls")
    stream = io.BytesIO()
    make_book(["x"]).save(stream)
    with pytest.raises(UnreadableDocument, match="cut short"):
        read_bytes(stream.getvalue()[:-100], "cut.xlsx")


def test_the_reader_of_binary_workbooks() -> None:
    book = make_book(
        ["Item", "Price", "Since", "Fresh"],
        ["Apple", 1234.5, datetime(2024, 3, 1), True],
        [],
        ["Pear", 2, time(14, 30), None],
    )
    book.create_sheet("Old")["C5"] = "x"
    book["Old"].sheet_state = "hidden"
    stream = io.BytesIO()
    book.save(stream)
    document = read_bytes(stream.getvalue(), "book.xls", "application/vnd.ms-excel")
    head = "| Item | Price | Since | Fresh |\n| --- | --- | --- | --- |\n"
    assert told(document) == [
        ("heading", "Prices", "Prices"),
        ("table", "Prices!A1:D2", f"{head}| Apple | 1234.5 | 2024-03-01 | TRUE |"),
        ("table", "Prices!A4:C4", f"{head}| Pear | 2 | 14:30 |  |"),
        ("heading", "Old", "Old (hidden)"),
        ("paragraph", "Old!C5", "x"),
    ]
