"""Tables, JSON and XML become text that a person can read, each record whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EmptyDocument
from ibid.reading.registry import read_bytes
from ibid.records import Document


def blocks(document: Document) -> list[tuple[str, str | None, str]]:
    return [(b.kind.value, b.place, document.text[b.span].rstrip()) for b in document.blocks]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.csv", b'Name,Note\nAnn,"one, two"\nBob,"x\ny"\n'),
        ("a.csv", 'Name;Note\r\nAnn;one, two\r\nBob;"x\r\ny"\r\n'.encode("utf-8-sig")),
        ("a.tsv", 'Name\tNote\nAnn\tone, two\nBob\t"x\ny"\n'.encode("utf-16")),
        ("a.csv", b"sep=|\nName|Note\nAnn|one, two\nBob|x y\n"),
        ("a.csv", b'Name, Note\n\nAnn, "one, two"\n,\nBob, x y\n'),
    ],
)
def test_delimiters_quotes_and_encodings(name: str, source: bytes) -> None:
    document = read_bytes(source, name)
    assert document.text == "| Name | Note |\n| --- | --- |\n| Ann | one, two |\n| Bob | x y |"


def test_every_block_of_a_long_table_has_the_header_and_its_rows() -> None:
    rows = "".join(f'k{i},"text\n{i}"\n' for i in range(120))
    document = read_bytes(f"Key,Value\n{rows}".encode(), "a.csv")
    assert [block.place for block in document.blocks] == [
        "rows 2-51",
        "rows 52-101",
        "rows 102-121",
    ]
    assert [block.lines for block in document.blocks] == [(2, 101), (102, 201), (202, 241)]
    for block in document.blocks:
        assert document.text[block.span].startswith("| Key | Value |\n| --- | --- |\n| k")


def test_titles_above_a_table_and_rows_of_uneven_length() -> None:
    document = read_bytes(
        b"Stanley Cups,,\nTeam,Location,Cups\nBlues,STL\nFlyers,PHI,2,x\n", "a.csv"
    )
    assert blocks(document) == [
        ("paragraph", "row 1", "Stanley Cups"),
        (
            "table",
            "rows 3-4",
            "| Team | Location | Cups |  |\n| --- | --- | --- | --- |\n"
            "| Blues | STL |  |  |\n| Flyers | PHI | 2 | x |",
        ),
    ]


@pytest.mark.parametrize("source", ["1,2,3\na,b,c,d\na,b,c,d", "just\nwords", "a,b\n", "x"])
def test_what_is_no_table_is_kept_as_it_stands(source: str) -> None:
    document = read_bytes(source.encode(), "a.csv")
    assert document.text in (source, "| a | b |")


def test_a_table_without_names_has_no_header() -> None:
    assert read_bytes(b"1,2\n3,4\n", "a.csv").text == "| 1 | 2 |\n| 3 | 4 |"
    assert "| --- |" in read_bytes(b"Name,2023,2024\nx,1,2\n", "a.csv").text


def test_a_sea_of_numbers_is_summed_up() -> None:
    source = "x,y\n" + "".join(f"{i},{i * 0.5}\n" for i in range(5000))
    document = read_bytes(source.encode(), "a.csv")
    assert len(document.text) < 5000
    assert blocks(document)[-2:] == [
        (
            "paragraph",
            "rows 102-5001",
            "4900 more rows of numbers are left out here. Their columns:",
        ),
        (
            "table",
            "rows 102-5001",
            "| Column | Count | Smallest | Largest |\n| --- | --- | --- | --- |\n"
            "| x | 4900 | 100 | 4999 |\n| y | 4900 | 50.0 | 2499.5 |",
        ),
    ]


def test_a_quote_that_nobody_closed_costs_no_text() -> None:
    source = "a,b\n" + "".join(f'"x{i},1\n' for i in range(3000))
    assert "x2999" in read_bytes(source.encode(), "a.csv").text


def test_json_value_by_value() -> None:
    source = """{"title": "T", "a": {"b": 1.50, "c": [1, 2]}, "none": null,
      "l": [{"x": 1, "y": "p|q"}, {"x": 2, "y": null}],
      "n": [{"x": {"k": "v"}}, {"x": [{"q": 3}]}], "tail": true, "tail": "again"}"""
    document = read_bytes(source.encode(), "a.json")
    assert document.title == "T"
    assert blocks(document) == [
        ("list", None, "title: T\na.b: 1.50\na.c: 1, 2"),
        ("table", "l[0-1]", "| x | y |\n| --- | --- |\n| 1 | p\\|q |\n| 2 |  |"),
        ("list", "n[0]", "n[0].x.k: v"),
        ("list", "n[1].x[0]", "n[1].x[0].q: 3"),
        ("list", None, "tail: true\ntail': again"),
    ]


@pytest.mark.parametrize("source", ['{"name": "John", "hob', "[" * 100_000, "plain"])
def test_what_is_no_json_is_plain_text(source: str) -> None:
    assert read_bytes(source.encode(), "a.json").text == source


def test_json_lines_with_a_broken_one() -> None:
    lines = b'{"q": "one", "m": [{"role": "user", "content": "hi\\nthere"}]}\n\n{"q": bro'
    assert blocks(read_bytes(lines, "a.jsonl")) == [
        ("list", "[0]", "[0].q: one"),
        ("list", "[0].m[0]", "[0].m[0].role: user\n[0].m[0].content: hi\nthere"),
        ("list", "[1]", '[1]: {"q": bro'),
    ]
    records = "".join(json.dumps({"id": i, "text": f"t{i}"}) + "\n" for i in range(60))
    document = read_bytes(records.encode(), "a.jsonl")
    assert [block.place for block in document.blocks] == ["[0-49]", "[50-59]"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


@given(JSON)
def test_no_string_of_a_json_file_is_lost(value: object) -> None:
    def strings(value: object) -> list[str]:
        if isinstance(value, dict):
            return [s for item in value.values() for s in strings(item)]
        if isinstance(value, list):
            return [s for item in value for s in strings(item)]
        return [value] if isinstance(value, str) else []

    def fold(text: str) -> str:
        return "".join(text.replace("\\", "").replace("\ufeff", "").replace("\0", "").split())

    try:
        document = read_bytes(json.dumps(value).encode(), "a.json")
    except EmptyDocument:
        return
    for text in strings(value):
        assert fold(text) in fold(document.text)


def test_xml_record_by_record() -> None:
    source = (
        '<?xml version="1.0" encoding="UTF-8"?><!-- c --><facts><country id="us"><name>United'
        " States</name><capital>Washington, DC</capital></country><p>Mixed <b>words</b> here.</p>"
        "<empty/><note by='Ann'>Hi &amp; bye</note></facts>"
    )
    expected = [
        ("heading", None, "United States"),
        ("list", None, "country id=us\ncapital: Washington, DC"),
        ("paragraph", None, "Mixed words here."),
        ("list", None, "note by=Ann: Hi & bye"),
    ]
    for encoding in ("utf-8", "utf-16"):
        assert blocks(read_bytes(source.encode(encoding), "a.xml")) == expected


RSS = """<rss xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>News</title>
<description>All of it</description><item><title>One</title><dc:creator>Ann</dc:creator>
<pubDate>Tue</pubDate><category>A</category><category>B</category><description>short</description>
<content:encoded><![CDATA[<h2>Part</h2><p>Long <b>text</b></p>]]></content:encoded></item>
<item><title>Two</title><description>&lt;p&gt;second&lt;/p&gt;</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One</title>
<updated>2024</updated><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Text</p>
</div></content></entry></feed>"""


def test_the_items_of_a_feed_are_sections() -> None:
    document = read_bytes(RSS.encode(), "a.xml")
    assert document.title == "News"
    assert blocks(document) == [
        ("heading", None, "News"),
        ("paragraph", None, "All of it"),
        ("heading", "item 1", "One"),
        ("paragraph", "item 1", "Author: Ann\nDate: Tue\nCategories: A, B"),
        ("heading", "item 1", "Part"),
        ("paragraph", "item 1", "Long text"),
        ("heading", "item 2", "Two"),
        ("paragraph", "item 2", "second"),
    ]
    assert [text for _, _, text in blocks(read_bytes(ATOM.encode(), "a.atom"))] == [
        "News",
        "One",
        "Date: 2024",
        "Text",
    ]


def test_xml_resolves_no_entity_and_survives_bombs() -> None:
    outside = '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/hostname">]><l>hi &x; there</l>'
    assert read_bytes(outside.encode(), "a.xml").text == "hi &x; there"
    laughs = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    bomb = f"<!DOCTYPE l [{laughs}]><l>&a11;</l>"
    assert len(read_bytes(bomb.encode(), "a.xml").text) < 2 * len(bomb)
    deep = "<a>" * 50_000
    assert read_bytes(deep.encode(), "a.xml").text == deep
