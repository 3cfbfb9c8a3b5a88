"""Pieces of a page are put in reading order, into rows of tables, and words are mended."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.reading.pdf.columns import find_regions
from ibid.reading.pdf.layout import find_paragraphs
from ibid.reading.pdf.page import Line, join_row, join_touching
from ibid.reading.pdf.tables import Table
from ibid.reading.pdf.words import (
    clean_line,
    gather_words,
    is_gibberish,
    mend_arabic,
    mend_word,
)
from ibid.reading.registry import read_bytes
from ibid.records import BlockKind
from pdf_making import PdfMaker, Placed, make_pdf


def line(text: str, top: float, *, left: float = 0, right: float = 100, cut: bool = False) -> Line:
    return Line(text, left, top, right, top + 10, 10, cut)


def read_texts(data: bytes) -> list[str]:
    return read_bytes(data, "a.pdf").text.split("\n\n")


def set_column(left: int, top: int, name: str, count: int) -> list[Placed]:
    return [
        (10, left, top - 12 * i, f"{name} line {i} runs over all of its width")
        for i in range(count)
    ]


# -- reading order


@pytest.mark.parametrize("shift", [0, 5])  # the columns' lines at the same height, or not
def test_a_title_over_two_columns_then_one_after_the_other(shift: int) -> None:
    left, right = set_column(50, 680, "left", 6), set_column(320, 680 - shift, "right", 6)
    interleaved = [piece for pair in zip(left, right, strict=True) for piece in pair]
    title = (18, 50, 720, "A title that runs over both of the columns below it")
    end = (10, 50, 560, "A last line that runs again over the whole width of the page, as it was.")
    texts = read_texts(make_pdf([title, *interleaved, end]))
    assert texts[0] == title[3]
    assert texts[-1] == end[3]
    body = " ".join(" ".join(texts[1:-1]).split())
    assert body == " ".join(piece[3] for piece in [*left, *right])


def test_three_columns() -> None:
    columns = [set_column(left, 680, name, 5) for left, name in ((20, "a"), (215, "b"), (410, "c"))]
    small = [[(8, x, y, t) for _, x, y, t in column] for column in columns]
    rows = [piece for row in zip(*small, strict=True) for piece in row]
    (text,) = read_texts(make_pdf(rows))
    assert " ".join(text.split()) == " ".join(piece[3] for column in small for piece in column)


def test_boxes_of_text_side_by_side_are_read_one_after_the_other() -> None:
    lines = [
        (10, x, y, f"{n} line {i}")
        for i, y in ((1, 700), (2, 675))
        for x, n in ((50, "Left"), (300, "Right"))
    ]
    assert (
        " ".join(" ".join(read_texts(make_pdf(lines))).split())
        == "Left line 1 Left line 2 Right line 1 Right line 2"
    )


def test_columns_of_a_script_that_runs_from_the_right() -> None:
    right = [line("في العمود الأول من الصفحة سطر", 12 * i, left=320, right=520) for i in range(4)]
    left = [line("في العمود الثاني من الصفحة سطر", 12 * i, left=60, right=260) for i in range(4)]
    (region,) = find_regions([*left, *right])
    assert isinstance(region, list)
    assert [one.left for one in region] == [320] * 4 + [60] * 4


def test_text_up_the_margin_comes_last() -> None:
    stamp = Line("arXiv:2004.04906", 10, 100, 20, 500, 10)
    regions = find_regions([stamp, line("The text.", 0, left=50)])
    assert [[one.text for one in region] for region in regions if isinstance(region, list)] == [
        ["The text."],
        ["arXiv:2004.04906"],
    ]


@given(
    st.lists(
        st.builds(
            lambda left, top, width, size: (left, top, width, size),
            st.integers(0, 500),
            st.integers(0, 700),
            st.integers(5, 300),
            st.integers(5, 20),
        ),
        max_size=40,
    )
)
def test_no_piece_is_lost_and_none_comes_twice(places: list[tuple[int, int, int, int]]) -> None:
    lines = [
        Line(f"w{i};", left, top, left + width, top + size, size)
        for i, (left, top, width, size) in enumerate(places)
    ]
    words: Counter[str] = Counter()
    for region in find_regions(lines):
        if isinstance(region, Table):
            texts = [cell for row in region.rows for cell in row]
        else:
            texts = [one.text for one in region]
        words.update(word for text in texts for word in re.findall(r"w\d+;", text))
    assert words == Counter(one.text for one in lines)


def test_what_touches_is_one_word_and_what_is_near_one_line() -> None:
    pieces = [line("H", 0, right=8), line("2", 3, left=8.1, right=12), line("O", 0, left=20)]
    joined = join_touching([pieces[0], pieces[1]._replace(size=6, bottom=10), pieces[2]])
    assert [one.text for one in joined] == ["H 2", "O"]
    assert join_row([line("a", 0, right=9), line(", b", 0, left=9)]).text == "a, b"


# -- tables

TABLE = [
    ("Item", "Count", "Price"),
    ("Bolts, hexagonal", "120", "4.50"),
    ("Nuts", "80", "3.20"),
    ("Washers", "", "0.75"),
    ("Total", "200", "8.45"),
]


def set_table(top: int) -> list[Placed]:
    return [
        (10, left, top - 14 * i, cell)
        for i, row in enumerate(TABLE)
        for left, cell in zip((50, 200, 300), row, strict=True)
        if cell
    ]


def test_a_table_without_rules_is_one_with_all_its_cells() -> None:
    above = (10, 50, 700, "The prices of last year, as they were agreed upon with the supplier:")
    below = (10, 50, 560, "All of them are without tax, and hold until the end of the year.")
    document = read_bytes(make_pdf([above, *set_table(680), below]), "a.pdf")
    assert [b.kind for b in document.blocks] == [
        BlockKind.PARAGRAPH,
        BlockKind.TABLE,
        BlockKind.PARAGRAPH,
    ]
    table = document.text[document.blocks[1].span].strip().splitlines()
    expected = [f"| {' | '.join(row)} |" for row in TABLE]
    assert table == [expected[0], "| --- | --- | --- |", *expected[1:]]
    (box,) = document.blocks[1].boxes
    assert 49 < box.left < 52
    assert 320 < box.right < 330


def test_rules_hold_the_lines_of_a_cell_together() -> None:
    cells = [
        (700, 50, "Warranty"),
        (700, 200, "The maker mends what breaks"),
        (688, 200, "within two years of the day of sale."),
        (670, 50, "Returns"),
        (670, 200, "Goods are taken back within a month if"),
        (658, 200, "they come in the box they had."),
        (640, 50, "Delivery"),
        (640, 200, "Free of charge."),
    ]
    rules = "".join(f"50 {y} m 400 {y} l S\n" for y in (712, 681, 651, 631))
    maker = PdfMaker()
    maker.add_page([(10, x, y, text) for y, x, text in cells], draw=rules)
    assert read_texts(maker.build())[0].splitlines() == [
        "| Warranty | The maker mends what breaks within two years of the day of sale. |",
        "| --- | --- |",
        "| Returns | Goods are taken back within a month if they come in the box they had. |",
        "| Delivery | Free of charge. |",
    ]


def test_a_long_table_comes_in_parts_with_its_header() -> None:
    rows = [(8, 50, 780 - 9 * i, f"Name {i}") for i in range(80)]
    rows += [(8, 200, 780 - 9 * i, f"{i}.00" if i else "Price") for i in range(80)]
    document = read_bytes(make_pdf(rows), "a.pdf")
    parts = [document.text[b.span] for b in document.blocks]
    assert len(parts) == 2
    assert all(part.startswith("| Name 0 | Price |\n| --- | --- |\n") for part in parts)
    assert document.text.count("| Name 79 | 79.00 |") == 1


def test_labels_and_what_they_say_are_rows() -> None:
    rows = [("Name:", "Ann Smith"), ("Street:", "High Street 5"), ("Town:", "Ulm")]
    lines = [
        (10, x, 700 - 14 * i, t)
        for i, r in enumerate(rows)
        for x, t in zip((50, 150), r, strict=True)
    ]
    (text,) = read_texts(make_pdf(lines))
    assert text.splitlines()[0] == "| Name: | Ann Smith |"
    assert text.splitlines()[-1] == "| Town: | Ulm |"


def test_a_gap_in_prose_makes_no_table() -> None:
    lines = [
        (10, 50, 700, "A line of prose that is set to the full width of its column"),
        (10, 50, 688, "egestas."),
        (10, 105, 688, "Mauris ut leo that is set as wide as all the others"),
        (10, 50, 676, "cus sem."),
        (10, 110, 676, "Nulla et lectus and what else there is to be said of it"),
        (10, 50, 664, "and the last one, which is as long as those before it were"),
    ]
    assert "|" not in read_bytes(make_pdf(lines), "a.pdf").text


# -- paragraphs and words


def test_words_divided_at_a_line_end_are_mended() -> None:
    (paragraph,) = find_paragraphs([line("a pas", 0, cut=True), line("sage of text", 12)])
    assert paragraph.text == "a passage of text"
    assert mend_word("state-of-the", "art") == "state-of-the-art"
    assert mend_word("Covid", "19") == "Covid-19"


def test_a_divided_word_is_mended_as_the_document_writes_it() -> None:
    words = gather_words(["The well-known retrieval of long-term memory."])
    assert mend_word("a well", "known fact", words) == "a well-known fact"
    assert mend_word("the re", "trieval", words) == "the retrieval"
    assert mend_word("a long", "term plan", words) == "a long-term plan"
    assert mend_word("an en", "tirely new one", words) == "an entirely new one"


def test_a_compound_in_a_pdf_keeps_its_hyphen() -> None:
    lines = [
        (10, 50, 700, "The long-term plan is what it says: a plan for the long-"),
        (10, 50, 688, "term future, and not one for the next few months or re-"),
        (10, 50, 676, "trieval."),
    ]
    assert read_texts(make_pdf(lines)) == [
        "The long-term plan is what it says: a plan for the long-term future,"
        " and not one for the next few months or retrieval."
    ]


def test_lines_of_chinese_join_without_a_space() -> None:
    assert find_paragraphs([line("持股比", 0), line("例", 12)])[0].text == "持股比例"


def test_a_paragraph_over_two_columns_has_two_boxes() -> None:
    lines = [line("it begins here and", 600), line("goes on there", 0, left=200, right=300)]
    (paragraph,) = find_paragraphs(lines)
    assert paragraph.text == "it begins here and goes on there"
    assert paragraph.boxes == ((0, 600, 100, 610), (200, 0, 300, 10))


def test_letters_as_a_reader_takes_them() -> None:
    assert clean_line("diﬀerent  oﬃce") == "different office"
    assert clean_line("o↵-the-shelf") == "off-the-shelf"
    assert clean_line("optional\xadhyphen") == "optionalhyphen"
    assert clean_line("Overview ............. 6") == "Overview … 6"
    assert clean_line("\uf0b7 an item") == "• an item"
    assert clean_line("公司持股比 例 30 %") == "公司持股比例 30 %"


def test_lam_and_alef_of_one_glyph_are_put_in_their_order() -> None:
    assert mend_arabic("اإلنتاجية", {1}) == "الإنتاجية"
    assert mend_arabic("أي ًضا", set()) == "أيًضا"
    assert mend_arabic("Pythonمن", set()) == "Python من"


@pytest.mark.parametrize(
    ("text", "unmapped", "garbled"),
    [
        ("Plain words of a page.", 0.0, False),
        ("Plain words of a page.", 0.5, True),
        ("\ue001\ue002\ue003 abc", 0.0, True),
        ("3HQČåQt SURVWĜHGN\\QD~þWHFK " * 12, 0.0, True),
        (
            "iPhone eBay JavaScript McDonald " * 3 + "and so on with many other words " * 6,
            0.0,
            False,
        ),
        ("", 0.0, False),
    ],
)
def test_gibberish(text: str, unmapped: float, garbled: bool) -> None:
    assert is_gibberish(text, unmapped) is garbled
