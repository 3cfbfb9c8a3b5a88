"""The section around a passage: the widest that fits what there is to spend."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.chunking.chunk import chunk
from ibid.chunking.options import choose_chunking
from ibid.chunking.pieces import Span
from ibid.chunking.sections import find_section
from ibid.reading.markup.markdown import read_markdown
from ibid.records import Document, Passage
from test_chunking import WordTokenizer

HANDBOOK = """# Leave

All plan ahead.

## Annual

You have 27 days.

Six move to the next year.

### Carry over

By March.

## Sick

Tell us early.
"""


def read(text: str) -> tuple[Document, list[Passage]]:
    document = read_markdown(text.encode(), "leave.md")
    passages = chunk(
        document, choose_chunking(size=8), tokenizer=WordTokenizer(), content_hash="0" * 8
    )
    return document, passages


def at_most(length: int) -> Callable[[Span], bool]:
    return lambda span: span[1] - span[0] <= length


@pytest.mark.parametrize(
    ("length", "first", "last"),
    [
        (10, "Six", "year."),
        (50, "You", "year."),
        (60, "Annual", "year."),
        (90, "Annual", "March."),
        (500, "Leave", "early."),
    ],
)
def test_the_widest_section_that_fits(length: int, first: str, last: str) -> None:
    document, passages = read(HANDBOOK)
    [passage] = [passage for passage in passages if passage.text.startswith("Six")]
    start, end = find_section(document, passage, at_most(length))
    found = document.text[start:end]
    assert found.startswith(first)
    assert found.endswith(last)


def test_a_heading_alone_is_found_in_its_section() -> None:
    document, passages = read("# One\n\n# Two\n\nText.")
    assert document.text[slice(*find_section(document, passages[0], at_most(8)))] == "One"


def test_a_passage_below_two_headings_keeps_both() -> None:
    document, [first, *_] = read("# One\n\n## Two\n\nText.\n\n## Three\n\nMore.")
    assert first.text == "One\n\nTwo\n\nText."
    assert document.text[slice(*find_section(document, first, at_most(20)))] == first.text


@given(st.integers(0, 200), st.sampled_from([HANDBOOK, "a b c\n\n" * 9, "    code\n\nText"]))
def test_it_holds_the_passage_and_fits_unless_it_is_the_passage(length: int, text: str) -> None:
    document, passages = read(text)
    for passage in passages:
        start, end = find_section(document, passage, at_most(length))
        assert start <= passage.start
        assert passage.end <= end
        assert end - start <= max(length, passage.end - passage.start)
