"""RTF files become what is printed of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EmptyDocument, UnreadableDocument
from ibid.reading.registry import read_bytes
from ibid.records import Document

FONTS = (
    r"{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fmodern\fcharset0 Courier New;}"
    r"{\f2\fcharset204 Arial Cyr;}{\f3\fcharset128 MS Mincho;}}"
)


def read(body: str) -> Document:
    return read_bytes(rf"{{\rtf1\ansi\ansicpg1252\deff0{FONTS}{body}}}".encode("latin-1"), "x.rtf")


def texts(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.span].rstrip()) for b in document.blocks]


def test_headings_lists_and_code() -> None:
    document = read(
        r"{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2\outlinelevel1 Clause;}}"
        r"\pard\s1 Title\par\pard\s2 Scope\par\pard\outlinelevel2 Own\par\pard Words\line more\par"
        r"\pard{\listtext 1.\tab}\li100 one\par{\listtext\f1\'b7\tab}\pard\li200 deep\par"
        r"{\listtext 2.\tab}\pard\li100 two\par\pard\f1 if a:\par     b()\par\pard\f0 end\par"
    )
    assert texts(document) == [
        ("heading", "Title"),
        ("heading", "Scope"),
        ("heading", "Own"),
        ("paragraph", "Words\nmore"),
        ("list", "1. one\n   - deep\n2. two"),
        ("code", "if a:\n    b()"),
        ("paragraph", "end"),
    ]
    assert [b.level for b in document.blocks[:3]] == [1, 2, 3]
    assert document.title == "Title"


def test_characters_of_every_kind() -> None:
    document = read(
        r"Gr\'f6\'dfe \f2\'cf\'f0\'e8\f0  \f3\'82\'b1\'83e\f0  \u8364?5 {\uc0\u-10187\u-9216}"
        r" \emdash \~\{x\}\\"
    )
    assert document.text == "Größe При こテ €5 \U0001d400 —\xa0{x}\\"


def test_tables_keep_cells_apart_and_repeat_merged_ones() -> None:
    row = r"\trowd{}\cellx1{}\cellx2\pard\intbl {}\cell {}\cell\row"
    document = read(
        row.format(r"\trhdr", "", "A", "B")
        + row.format("", "", r"x\par y", "1")
        + row.format(r"\clvmrg", "", "", "2")
        + r"\pard after\par"
    )
    assert texts(document) == [
        ("table", "| A | B |\n| --- | --- |\n| x y | 1 |\n| x y | 2 |"),
        ("paragraph", "after"),
    ]


def test_what_is_no_text_of_the_page_is_dropped_and_notes_follow() -> None:
    document = read(
        r"{\info{\title T}{\author Ann}{\creatim\yr2024\mo3\dy1\hr10\min5}}{\header top}"
        r"a{\*\unknown no}{\v hidden}{\deleted gone}{\pict\bin3 }}}ffff}"
        r'{\field{\*\fldinst HYPERLINK "u"}{\fldrslt link}}{\footnote below}'
        r"{\*\atnauthor Bob}{\*\annotation why}\par{\shp{\*\shpinst{\sp{\sn n}{\sv v}}"
        r"{\shptxt boxed\par}}}"
    )
    assert document.text.split("\n\n") == [
        "alink",
        "Footnote: below",
        "Comment by Bob: why",
        "boxed",
    ]
    assert document.title == "T"
    assert document.metadata == {"author": "Ann", "created": "2024-03-01T10:05:00"}


def test_rtf_is_known_by_its_content() -> None:
    assert read_bytes(rb"{\rtf1 hello}", "old.doc").text == "hello"
    with pytest.raises(UnreadableDocument, match="not an RTF file"):
        read_bytes(b"plain", "x.bin", "application/rtf")
    with pytest.raises(EmptyDocument):
        read_bytes(rb"{\rtf1{\pict ffff}}", "x.rtf")
    with pytest.raises(UnreadableDocument, match="groups in each other"):
        read_bytes(rb"{\rtf1" + b"{" * 20_000, "x.rtf")


WORDS = (
    r"{ } \ \par \pard \cell \row \intbl \trowd \cellx9 \clvmrg \clmrg \'e4 \u-10240? \f1 \*"
    r" \listtext \footnote \info \fonttbl \stylesheet \s1 \outlinelevel0 \li99 \bin2 word"
)


@given(st.lists(st.sampled_from([*WORDS.split(), " "]), max_size=40))
def test_anything_that_begins_as_rtf_ends_as_a_document_or_an_error(tokens: list[str]) -> None:
    try:
        document = read_bytes((r"{\rtf1 start\par " + "".join(tokens)).encode(), "x.rtf")
    except (EmptyDocument, UnreadableDocument):
        return
    assert document.text.startswith("start")
    assert "".join(document.text[b.span] for b in document.blocks) == document.text
