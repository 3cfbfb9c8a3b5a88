"""HTML becomes what a reader of the page sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EmptyDocument
from ibid.reading.registry import read_bytes
from ibid.records import Document


def read(source: str | bytes, name: str = "page.html") -> Document:
    return read_bytes(source if isinstance(source, bytes) else source.encode(), name)


def texts(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.span].rstrip()) for b in document.blocks]


def test_a_page_with_all_that_pages_have() -> None:
    document = read(
        "<html lang=de><head><title>The  title</title><meta name=author content='Ann'>"
        "<meta name=description content=About><script>no()</script></head><body><nav>menu</nav>"
        "<h1>Head <i>line</i></h1><p>a&shy;b&nbsp;c <a href=x>link</a><br>next<img alt=pic>"
        "<div style='display: none'>no</div><p hidden>no</p><noscript>no</noscript>"
        "<ol start=3><li>x<li><p>y<ul><li>z</ul></ol><pre>\n a  b\n   c</pre>tail</body></html>"
    )
    assert texts(document) == [
        ("heading", "Head line"),
        ("paragraph", "ab c link\nnextpic"),
        ("list", "3. x\n4. y\n   - z"),
        ("code", " a  b\n   c"),
        ("paragraph", "tail"),
    ]
    assert document.title == "The title"
    assert document.metadata == {"language": "de", "author": "Ann", "description": "About"}


def test_tables_of_data_and_of_layout() -> None:
    document = read(
        "<h1>h</h1><table><caption>Cap</caption><thead><tr><th>A<th>B<th></thead>"
        "<tr><td rowspan=2>1<td><p>2</p><p>3</p><td><tr><td>4|5<td></table>"
        "<table><tr><td><h2>left</h2>words<td>right</table>"
        "<table><tr><td>a<td>b</table>"
    )
    assert texts(document) == [
        ("heading", "h"),
        ("paragraph", "Cap"),
        ("table", "| A | B |\n| --- | --- |\n| 1 | 2 3 |\n|  | 4\\|5 |"),
        ("heading", "left"),
        ("paragraph", "words"),
        ("paragraph", "right"),
        ("table", "| a | b |"),
    ]


def test_a_page_without_h1_begins_with_its_title() -> None:
    assert read("<title>T</title><p>x").text == "T\n\nx"


def test_main_stands_for_the_page_only_when_it_holds_most_of_it() -> None:
    words = "word " * 50
    assert "side" not in read(f"<aside>side</aside><main>{words}</main>").text
    assert "other" in read(f"<main>short</main><div>other {words}</div>").text


def test_self_closed_elements_of_xhtml() -> None:
    source = '<?xml version="1.0"?><html><body><script src="x"/><p>seen<br/>too</p></body></html>'
    assert read(source, "page.xhtml").text == "seen\ntoo"


@pytest.mark.parametrize(
    "source",
    [
        "<meta charset=utf-8><p>Größe".encode("cp1252"),
        "<meta charset=iso-8859-1><p>Größe".encode(),
        "<meta charset=iso-8859-1><p>Größe".encode("latin-1"),
        "<p>Größe".encode("utf-16"),
        '<?xml version="1.0" encoding="iso-8859-15"?><p>Größe'.encode("iso8859-15"),
    ],
)
def test_the_declared_encoding_is_checked(source: bytes) -> None:
    assert read(source).text == "Größe"


def test_a_page_with_nothing_to_see() -> None:
    with pytest.raises(EmptyDocument):
        read("<html><head><style>x</style></head><body><script>y</script></body></html>")


@pytest.mark.parametrize("unit", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<blockquote>"])
def test_deep_nesting_keeps_the_text(unit: str) -> None:
    assert "word" in read(unit * 3000 + "word").text


TAGS = st.sampled_from(["p", "div", "li", "ul", "td", "table", "tr", "h2", "b", "pre", "section"])


@given(st.lists(st.tuples(TAGS, st.booleans(), st.from_regex(r"[a-z]{3,8}", fullmatch=True))))
def test_no_word_is_lost_and_blocks_tile(parts: list[tuple[str, bool, str]]) -> None:
    source = "".join(f"<{'/' if close else ''}{tag}> {word} " for tag, close, word in parts)
    document = read("<p>start</p>" + source)
    assert sorted(set(document.text.replace("|", " ").split()) - {"-", "---"}) == sorted(
        {"start", *(word for _, _, word in parts)}
    )
    assert "".join(document.text[b.span] for b in document.blocks) == document.text
