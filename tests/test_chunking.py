"""Windows, sentence packing, and the methods of chunking as a user chooses them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.chunking.chunk import chunk
from ibid.chunking.options import choose_chunking
from ibid.chunking.packing import sentence_spans
from ibid.chunking.windows import character_spans, count_windows, window_spans, word_spans
from ibid.errors import BadSetting
from ibid.records import Block, BlockKind, Document


class WordTokenizer:
    """Counts words and punctuation marks."""

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] for text in texts]


sizes = st.integers(1, 40).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def test_the_last_window_reaches_the_end_and_none_follows() -> None:
    assert window_spans(11, 5, 2) == [(0, 5), (3, 8), (6, 11)]
    assert window_spans(5, 5, 2) == [(0, 5)]
    assert window_spans(3, 5, 2) == [(0, 3)]
    assert window_spans(0, 5, 2) == []


@pytest.mark.parametrize(("size", "overlap"), [(7, 7), (3, 9), (5, -1), (0, 0)])
def test_an_overlap_that_makes_no_windows_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(BadSetting) as refused:
        window_spans(100, size, overlap)
    assert str(size) in str(refused.value)
    assert str(overlap) in str(refused.value)


@given(st.integers(0, 300), sizes)
def test_windows_cover_all_and_none_lies_inside_the_one_before(
    length: int, size_overlap: tuple[int, int]
) -> None:
    size, overlap = size_overlap
    spans = window_spans(length, size, overlap)
    assert len(spans) == count_windows(length, size, overlap)
    assert {i for start, end in spans for i in range(start, end)} == set(range(length))
    for (_, before), (start, end) in pairwise(spans):
        assert before - start == overlap
        assert end > before


def test_windows_of_characters_and_of_words_are_ranges_of_the_text() -> None:
    text = "one  two\nthree four"
    assert ["uvwxyz"[slice(*span)] for span in character_spans("uvwxyz", 3, 1)] == [
        "uvw",
        "wxy",
        "yz",
    ]
    assert [text[slice(*span)] for span in word_spans(text, 2, 1)] == [
        "one  two",
        "two\nthree",
        "three four",
    ]


def test_sentences_are_packed_whole() -> None:
    text = "A b. C d e. F. G h i j k l."
    sentences = [match.span() for match in re.finditer(r"[^ .][^.]*\.", text)]
    packed = [text[slice(*span)] for span in sentence_spans(text, sentences, 5)]
    assert packed == ["A b. C d e.", "F.", "G h i j k l."]
    packed = [text[slice(*span)] for span in sentence_spans(text, sentences, 5, 4)]
    assert packed == ["A b. C d e.", "C d e. F.", "G h i j k l."]


@given(st.lists(st.integers(1, 12), max_size=15), sizes)
def test_packing_keeps_every_sentence_and_the_budget(
    lengths: list[int], size_overlap: tuple[int, int]
) -> None:
    size, overlap = size_overlap
    text = " ".join(("w " * words).strip() + "." for words in lengths)
    sentences = [match.span() for match in re.finditer(r"[^ .][^.]*\.", text)]
    packed = sentence_spans(text, sentences, size, overlap)
    starts, ends = {start for start, _ in sentences}, {end for _, end in sentences}
    for start, end in packed:
        assert start in starts
        assert end in ends
        assert len(text[start:end].split()) <= size or (start, end) in sentences
    covered = {i for start, end in packed for i in range(start, end)}
    assert all(set(range(*span)) <= covered for span in sentences)
    assert all(b[0] > a[0] and b[1] > a[1] for a, b in pairwise(packed))


def make_document() -> Document:
    text = (
        "Travel\n\nBook trains early. Keep the receipt.\n\nMeals\n\nLunch is paid up to 20 euros."
    )
    starts = [0, 8, 46, 53, len(text)]
    kinds = [BlockKind.HEADING, BlockKind.PARAGRAPH] * 2
    blocks = tuple(
        Block(kind, start, end, level=kind is BlockKind.HEADING, page=1 + start // 40)
        for kind, start, end in zip(kinds, starts, starts[1:], strict=False)
    )
    return Document(id="t.md", text=text, blocks=blocks)


@pytest.mark.parametrize("by", ["structure", "sentences", "words", "characters"])
def test_every_method_gives_exact_ranges_with_their_headings_and_page(by: str) -> None:
    document = make_document()
    passages = chunk(
        document,
        choose_chunking(by, 6, 1),
        tokenizer=WordTokenizer(),
        content_hash="0123456789abcdef",
        max_tokens=16,
    )
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    assert len({passage.id for passage in passages}) == len(passages)
    for passage in passages:
        assert passage.text == document.text[passage.span]
        assert passage.id == f"t.md@01234567#{passage.start}-{passage.end}"
    assert passages[-1].headings == ("Meals",)
    assert (passages[0].page, passages[-1].page) == (1, 2)


def test_windows_that_hold_nothing_new_are_left_out() -> None:
    passages = chunk(
        Document(id="d", text="ab      cd"),
        choose_chunking("characters", 4, 2),
        tokenizer=WordTokenizer(),
        content_hash="0" * 8,
    )
    assert [passage.text for passage in passages] == ["ab", "cd"]


def test_a_chunking_has_defaults_and_a_stable_name() -> None:
    assert str(choose_chunking()) == "structure/200/0"
    assert str(choose_chunking("words")) == "words/200/40"
    assert str(choose_chunking("words", 100)) == "words/100/20"
    assert str(choose_chunking("characters", 80, 0)) == "characters/80/0"
    with pytest.raises(BadSetting, match="paragraphs"):
        choose_chunking("paragraphs")
    with pytest.raises(BadSetting, match=r"4.*4"):
        choose_chunking("characters", 4, 4)
