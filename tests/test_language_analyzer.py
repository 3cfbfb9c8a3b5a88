"""The analyzer: what becomes a term, and what people may type."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.language.analyzer import MAX_TERM, analyze, analyze_query, content_terms
from ibid.language.presets import PRESETS
from ibid.language.scripts import IGNORABLE

LANGUAGES = st.sampled_from([None, "en", "de", "fr", "ar", "zh", "th", "tr", "xx"])


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("E-4012", ["e-4012", "e", "4012"]),
        ("foo_bar.baz", ["foo_bar.baz", "foo", "bar", "baz"]),
        ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
        ("/etc/ssh/sshd_config", ["etc/ssh/sshd_config", "etc", "ssh", "sshd", "config"]),
        ("ann@mail.org", ["ann@mail.org", "ann", "mail", "org"]),
        ("1,000 or 3.14", ["1,000", "1", "000", "or", "3.14", "3", "14"]),
        ("TracerProvider", ["tracerprovider", "tracer", "provider"]),
        ("iPhone", ["iphone"]),
        ("multi-agent", ["multi", "agent"]),
        ("--error-on-warnings", ["error", "on", "warnings"]),
        ("don't, l'homme", ["don't", "l", "homme"]),
        ("Ann’s", ["ann"]),
    ],
)
def test_a_token_gives_itself_and_its_parts(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café naïve", "CAFE NAIVE"),
        ("Straße in Łódź", "STRASSE IN LODZ"),
        ("ﾊﾝｶｸｶﾅ", "ハンカクカナ"),
        ("\uf9dc", "\u9686"),  # a compatibility ideograph and its unified form
        ("co\u00adoperate", "cooperate"),
        ("don’t", "don't"),
        ("ex‑wife", "ex-wife"),  # the first hyphen doesn't break a line
        ("fullwidth", "ｆｕｌｌｗｉｄｔｈ"),
        ("كِتاب", "كتاب"),
        ("é", "e\u0301"),
    ],
)
def test_spellings_of_one_word_give_one_term(one: str, other: str) -> None:
    assert analyze(one) == analyze(other) != []


def test_words_of_a_language_meet_in_their_stem() -> None:
    assert analyze("refunds refunded", "en") == ["refund", "refund"]
    assert analyze("Häuser Haus", "de") == ["haus", "haus"]
    assert analyze("книги книга", "ru") == ["книг", "книг"]
    assert analyze("refunds") == ["refunds"]


def test_scripts_without_spaces_give_overlapping_pairs() -> None:
    assert analyze("かなカナ") == ["かな", "なカ", "カナ"]
    assert analyze("東京都") == ["東京", "京都", "東", "京", "都"]
    assert analyze("\u3400\u3401") == ["\u3400\u3401", "\u3400", "\u3401"]  # extension A
    assert analyze("한국어 검색") == ["한국", "국어", "검색"]
    assert analyze("猫") == ["猫"]
    assert analyze("ที่นี่") == ["ที่นี่"]  # two syllables, each with its vowel and tone
    assert analyze("エラーE-4012です")[2:5] == ["e-4012", "e", "4012"]


def test_vowel_signs_stay_in_their_word() -> None:
    assert analyze("हिंदी में") == ["हिंदी", "में"]


def test_function_words_carry_no_content() -> None:
    assert content_terms("How do I reset the passwords?", "en") == ["reset", "password"]
    assert content_terms("Qu'est-ce que l'homme ?", "fr") == ["est", "ce", "homm"]
    assert content_terms("这是什么") == []
    assert content_terms("梅雨はどこですか") == ["梅雨", "雨は"]


def test_a_query_of_function_words_is_searched_as_it_is() -> None:
    assert analyze_query("The Who", "en") == ["the", "who"]
    assert analyze_query("the refund", "en") == ["refund"]
    assert analyze_query("?!", "en") == []


@given(st.text(), LANGUAGES)
def test_terms_can_be_joined_by_spaces(text: str, language: str | None) -> None:
    terms = analyze(text, language)
    assert " ".join(terms).split() == terms
    assert all(0 < len(term) <= MAX_TERM for term in terms)


@given(st.text(), LANGUAGES)
def test_content_terms_are_terms(text: str, language: str | None) -> None:
    assert set(content_terms(text, language)) <= set(analyze(text, language))


@given(st.lists(st.text(), max_size=4), LANGUAGES)
def test_lines_are_analysed_each_alone(lines: list[str], language: str | None) -> None:
    alone = [term for line in lines for term in analyze(line, language)]
    assert analyze("\n".join(lines), language) == alone


@given(st.text(alphabet=st.characters(max_codepoint=127)) | st.text(), LANGUAGES)
def test_what_else_a_text_holds_changes_nothing(text: str, language: str | None) -> None:
    assert [*analyze(text, language), "猫"] == analyze(text + " 猫", language)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_letters_and_digits_always_give_a_term(text: str) -> None:
    visible = IGNORABLE.sub("", unicodedata.normalize("NFKC", text))
    assert analyze(text) or not any(map(str.isalnum, visible))


def test_endless_words_are_cut() -> None:
    assert sum(map(len, analyze("x" * 1_000))) == 1_000
    assert len(analyze("-".join("a" * 1_000))) == 1_000


def test_presets_cut_as_their_expression_says() -> None:
    assert PRESETS["[a-z0-9]+"]("Error E-4012, café") == ["error", "e", "4012", "caf"]
    assert PRESETS["[a-z0-9-]+"]("Error E-4012") == ["error", "e-4012"]
