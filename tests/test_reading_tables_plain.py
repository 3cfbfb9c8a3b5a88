"""Tables read at once and walked give the same; attachments have plain names."""

from __future__ import annotations

from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ibid.reading.attachments import drop_folders
from ibid.reading.markup.html_nodes import read_plain_rows, read_rows
from ibid.reading.registry import read_bytes

TEXTS = st.sampled_from(
    [
        "a",
        " b  c ",
        "&lt;td&gt;",
        "&amp;",
        "x&nbsp;y",
        "1\n2",
        "th>",
        "é\u00ad",
        "",
        "  ",
        "<b>z</b>",
        "=",
    ]
)
CELLS = st.tuples(
    st.sampled_from(["td", "th"]),
    st.sampled_from(["", "", "", ' class="a b"', " colspan=2", " hidden", ' title="<td>"']),
    TEXTS,
)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=3), min_size=1, max_size=4)


def make_table(rows: list[list[tuple[str, str, str]]], frame: str, between: str) -> str:
    """The source of a table, its rows in an element of its own where there is a frame."""
    lines = [
        between.join(f"<{tag}{attributes}>{text}</{tag}>" for tag, attributes, text in row)
        for row in rows
    ]
    body = between.join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{f'<{frame}>{body}</{frame}>' if frame else body}</table>"


@given(ROWS, st.sampled_from(["", "thead", "tbody"]), st.sampled_from(["", "\n  "]))
def test_a_plain_table_reads_as_one_that_is_walked(
    rows: list[list[tuple[str, str, str]]], frame: str, between: str
) -> None:
    node = LexborHTMLParser(make_table(rows, frame, between)).css_first("table")
    assert node is not None
    plain = read_plain_rows(node.html or "")
    assert plain is None or plain == read_rows(node)


def test_a_table_of_words_is_plain() -> None:
    head = '<table class="t"><tr><th>A</th><th>B</th></tr>\n'
    source = f"{head}<tr><td>1 &lt; 2</td><td>x</td></tr></table>"
    node = LexborHTMLParser(source).css_first("table")
    assert node is not None
    assert read_plain_rows(node.html or "") == ([["A", "B"], ["1 < 2", "x"]], True)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("../x/y.csv", "y.csv"),
        ("C:\\data\\y.csv", "y.csv"),
        ("y.csv", "y.csv"),
        ("a/..", "a"),
        ("../..", "file"),
    ],
)
def test_a_name_is_told_without_its_folders(name: str, plain: str) -> None:
    assert drop_folders(name) == plain


def test_an_attachment_that_names_folders_is_called_by_its_last_part() -> None:
    message = EmailMessage()
    message["From"], message["Message-ID"] = "ann@example.org", "<1@example.org>"
    message.set_content("See the list.")
    message.add_attachment(b"a,b\n1,2\n", "text", "csv", filename="../x/y.csv")
    document = read_bytes(message.as_bytes(), "a.eml")
    assert [one.id for one in document.attachments] == ["y.csv"]
    assert document.text.endswith("Attachment: y.csv")
