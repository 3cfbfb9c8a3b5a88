"""Markdown becomes what a reader of the page sees, and its front matter what is known of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EmptyDocument, UnreadableDocument
from ibid.reading.registry import read_bytes
from ibid.records import BlockKind, Document


def read(source: str) -> Document:
    return read_bytes(source.encode(), "page.md")


def texts(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.span].rstrip()) for b in document.blocks]


def test_markup_is_dropped_and_words_are_kept() -> None:
    source = (
        "A *b* **c** `d e` [link](http://x 'title') ![alt *t*](y.png) ~~s~~ <http://auto.x>\n"
        "<b>bold</b> &amp; <!-- no --> next<br>line  \nhard"
    )
    assert read(source).text == ("A b c d e link alt t s http://auto.x bold & next\nline\nhard")


def test_headings_code_and_tables() -> None:
    document = read(
        "Title\n=====\n\n## Part {#id}\n\n~~~py\n# not a heading\n\nx  = 1\n~~~\n\n"
        "| a | b |\n|---|--:|\n| `x` | c\\|d |\n\n    indented\n"
    )
    assert texts(document) == [
        ("heading", "Title"),
        ("heading", "Part"),
        ("code", "# not a heading\n\nx  = 1"),
        ("table", "| a | b |\n| --- | --- |\n| x | c\\|d |"),
        ("code", "indented"),
    ]
    assert [b.level for b in document.blocks] == [1, 2, 0, 0, 0]
    assert [b.lines for b in document.blocks] == [(1, 2), (4, 4), (6, 10), (12, 14), (16, 16)]
    assert document.title == "Title"


def test_lists_keep_markers_and_nesting() -> None:
    document = read(
        "3. one\n   more\n4. two\n   - [x] done\n   - b\n\n     para\n\n   ```\n   code\n   ```\n"
    )
    assert texts(document) == [
        ("list", "3. one more\n4. two\n   - [x] done\n   - b\n     para"),
        ("code", "code"),
    ]


def test_quotes_footnotes_and_shortcodes() -> None:
    document = read(
        "> quoted\n\nText[^1]\n\n[^1]: Word\n\n[ref]: http://gone.x\n\n"
        '{{< tab "x" >}} inner {{% /tab %}} `{{< kept >}}`\n\n<div>\nin <i>html</i>\n</div>\n'
    )
    assert document.text.split("\n\n") == [
        "quoted",
        "Text[^1]",
        "[^1]: Word",
        "inner {{< kept >}}",
        "in html",
    ]


def test_lines_of_chinese_join_without_a_space() -> None:
    assert read("持股比\n例\nword").text == "持股比例 word"


WORDS = st.lists(st.from_regex(r"[a-zé日]{2,8}", fullmatch=True), min_size=1, max_size=4)
SHAPES = st.sampled_from(
    [
        "{}", "# {}", "{}\n===", "- {}", "1. {}", "- a\n  - {}", "> {}", "> - {}", "```\n{}\n```",
        "| {} | x |\n|---|---|\n| y | {} |", "**{}** [{}](u)", "<div>{}</div>", "    {}",
        "[^1]: {}", "- a\n\n  ```\n  {}\n  ```\n\n  {}", "* [ ] {}", "{}  \n{}", "<p>{}<br/>{}",
        "~~~\n# {}",
    ]
)  # fmt: skip


@given(st.lists(st.tuples(SHAPES, WORDS), min_size=1, max_size=6))
def test_no_word_is_lost_and_blocks_tile(parts: list[tuple[str, list[str]]]) -> None:
    source = "\n\n".join(shape.replace("{}", " ".join(words)) for shape, words in parts)
    document = read(source)
    position = 0
    for shape, words in parts:
        for word in words * shape.count("{}"):
            position = document.text.index(word, position) + len(word)
    assert "".join(document.text[b.span] for b in document.blocks) == document.text
    ends = [b.lines for b in document.blocks if b.lines]
    assert len(ends) == len(document.blocks)
    assert max(end for _, end in ends) <= source.count("\n") + 1


def test_nesting_beyond_the_parser_is_kept_as_text() -> None:
    assert "word" in read("> " * 3000 + "word").text


def test_yaml_front_matter() -> None:
    document = read(
        "---\ntitle: T\ndate: 2024-05-06\ntags: {department: hr}\nallow: [group:hr, 'user:ann']\n"
        "archived: true\nweight: 3\n---\n# H\n\nbody\n"
    )
    assert (document.title, document.text) == ("T", "H\n\nbody")
    assert document.metadata == {"date": "2024-05-06", "weight": 3}
    assert document.tags == {"department": "hr"}
    assert document.allow == frozenset({"group:hr", "user:ann"})
    assert document.archived
    assert [b.lines for b in document.blocks] == [(9, 9), (11, 11)]


def test_toml_front_matter() -> None:
    document = read('+++\nallow = []\ntags = "a"\ndate = 2024-05-06T07:08:09Z\n+++\nbody')
    assert document.allow == frozenset()
    assert document.tags == {"tags": ["a"]}
    assert document.metadata == {"date": "2024-05-06T07:08:09+00:00"}


def test_front_matter_alone_gives_its_title_and_description() -> None:
    document = read("---\ntitle: Only\ndescription: A page.\n---\n")
    assert texts(document) == [("heading", "Only"), ("paragraph", "A page.")]
    with pytest.raises(EmptyDocument):
        read("---\nweight: 1\n---\n\n<!-- nothing -->\n")


@pytest.mark.parametrize(
    "source", ["---\na: [\n---\nbody", "---\njust words\n---\n", "---\na: 1\n"]
)
def test_front_matter_that_is_none_stays_in_the_text(source: str) -> None:
    document = read(source)
    assert document.allow is None
    assert all(word in document.text for word in source.replace("---", "").split())


@pytest.mark.parametrize(
    "fields",
    [
        "allow: 7", "allow: {group: hr}", "allow:", "allow: ['']", "allow: [group: hr]",
        "allow: [x\ntitle: y", "Allow: [a]\nallow: [b]", "allow: true", "archived: 3",
        "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\nallow: x",
    ],
)  # fmt: skip
def test_a_slip_in_allow_never_makes_a_page_public(fields: str) -> None:
    with pytest.raises(UnreadableDocument):
        read(f"---\n{fields}\n---\nbody")


def test_one_principal_may_stand_alone() -> None:
    assert read("---\nALLOW: group:hr\n---\nbody").allow == frozenset({"group:hr"})


def test_kinds_of_blocks() -> None:
    assert read("x").blocks[0].kind is BlockKind.PARAGRAPH


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 | *3* | 4 |\n", "| 1 | 2 | 3 | 4 |"),
        ("a | b\n---|---\n1 | 2 | 3", "| 1 | 2 | 3 |"),
        ("> - | a | b |\n>   |---|---|\n>   | 1 | 2 | 3 |", "| 1 | 2 | 3 |"),
        ("| a | b |\n|---|---|\n| `x|y` | z |\n", "| `x | y` | z |"),
        ("| a | b |\n|---|---|\n| 1 \\| 2 | 3 |\n", "| 1 \\| 2 | 3 |"),
    ],
)
def test_cells_beyond_the_header_are_kept(source: str, last: str) -> None:
    assert read_bytes(source.encode(), "a.md").text.split("\n")[-1].strip() == last
