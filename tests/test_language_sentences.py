"""Sentences: where they end, and that their ranges are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.language import sentences
from ibid.language.sentences import split_sentences, split_sentences_by_rule

PIECES = st.sampled_from(
    [*'.!?。！？…\n\r\t \u2028\x85\u3000\xa0aA1é😀あไ"”)」「-#|\u200d\ud800', "Dr", "e.g.", "1."]
)
TEXTS = st.text() | st.lists(PIECES, max_size=40).map("".join)
LANGUAGES = st.sampled_from([None, "en", "de", "fr", "ja", "zh", "th", "hi", "am", "ru", "xx"])


def cut(text: str, language: str | None = None) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


@pytest.mark.parametrize(
    "expected",
    [
        ["It costs 3.14 in v1.2.3.", "Pay now!", "Why?"],
        ["Use a rule, e.g. this one, as Dr. Rao does.", "Then stop."],
        ["A line\nthat is wrapped.", "Another."],
        ["Read os.Path.Join first.", "See www.Example.Org/a too."],
        ["今日は晴れ。", "明日は？", "はい！"],
        ["- one", "- two\n  wrapped", "* three"],
        ["1. Install it.", "2. Run it.", "(a) Stop it."],
        ["A heading", "\nA paragraph."],
        ["| a | b |", "| c | d |"],
    ],
)
def test_a_sentence_ends_at_its_mark_or_at_its_block(expected: list[str]) -> None:
    for gap in ("\n",) if expected[0][0] in "-1A|" else (" ", "\n"):
        assert cut(gap.join(expected)) == [sentence.strip() for sentence in expected]


def test_abbreviations_are_those_of_the_language() -> None:
    assert cut("Nr. 5 kommt z.B. heute. Gut.", "de") == ["Nr. 5 kommt z.B. heute.", "Gut."]


def test_nothing_gives_nothing() -> None:
    assert split_sentences("") == split_sentences(" \n\n ") == []


@given(TEXTS, LANGUAGES)
def test_ranges_tile_all_that_is_not_white_space(text: str, language: str | None) -> None:
    position = 0
    for start, end in split_sentences(text, language):
        assert position <= start < end
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


def test_a_long_text_is_cut_as_its_parts_are() -> None:
    sentence = "Das Haus von Dr. Rao kostet 3.14 Mio. und mehr."
    assert cut(" ".join([sentence] * 500), "de") == [sentence] * 500


def test_a_sentence_longer_than_the_window_is_cut_between_words() -> None:
    text = "word " * sentences.WINDOW
    assert all(part.startswith("word") and part.endswith("word") for part in cut(text))


def test_the_rule_wants_a_mark_and_white_space() -> None:
    text = " One. Two 3.14!\nThree? Dr. Rao。はい。 "
    found = [text[start:end] for start, end in split_sentences_by_rule(text)]
    assert found == ["One.", "Two 3.14!", "Three?", "Dr.", "Rao。はい。"]
    assert split_sentences_by_rule(" ") == []
