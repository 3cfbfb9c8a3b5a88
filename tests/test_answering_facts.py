"""What is read in a sentence: numbers, quantities, dates, times, weekdays, bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.answering.checking.facts import read_facts
from ibid.answering.checking.measures import read_quantities
from ibid.answering.checking.moments import read_dates, read_times, read_weekdays
from ibid.answering.checking.numerals import read_numerals


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("one hundred and twenty-five maps and 1,250 more", "en", [125, 1250]),
        ("zweihundertfünfundzwanzig und 1.200,5", "de", [225, 1200.5]),
        ("quatre-vingt-dix-sept et 1 200", "fr", [97, 1200]),
        ("ciento veinte y treinta y dos", "es", [120, 32]),
        ("二百三十 二〇二四", "zh", [230, 2024]),
        ("1.2 million", "en", [1_200_000]),
    ],
)
def test_numerals(text: str, language: str, values: list[float]) -> None:
    assert [numeral.value for numeral in read_numerals(text, language)] == values


@pytest.mark.parametrize(
    ("text", "language", "quantities"),
    [
        ("two weeks", "en", [("s", (1_209_600,))]),
        ("from 30% to 18%", "en", [("%", (30, 18))]),
        ("12 percentage points", "en", [("point", (12,))]),
        ("an hour and a half", "en", [("s", (5_400,))]),
        ("einem halben Jahr", "de", [("month", (6,))]),
        ("dos horas y media", "es", [("s", (9_000,))]),
        ("百分之十二", "zh", [("%", (12,))]),
        ("二週間", "ja", [("s", (1_209_600,))]),
    ],
)
def test_quantities(
    text: str, language: str, quantities: list[tuple[str, tuple[float, ...]]]
) -> None:
    assert [(f.family, f.value) for f in read_quantities(text, language)] == quantities


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on March 5, 2024", (2024, 3, 5)),
        ("am 5. März 2024", (2024, 3, 5)),
        ("le 5 mars 2024", (2024, 3, 5)),
        ("el 5 de marzo de 2024", (2024, 3, 5)),
        ("2024年3月5日", (2024, 3, 5)),
        ("二〇二四年十二月三十一日", (2024, 12, 31)),
        ("十月", (0, 10, 0)),
        ("in 1987", (1987, 0, 0)),
    ],
)
def test_dates(text: str, value: tuple[int, int, int]) -> None:
    assert [fact.value for fact in read_dates(text)] == [value]


def test_a_year_counts_nothing_and_a_word_is_no_month() -> None:
    assert list(read_dates("It may hold 1500 litres.")) == []


@pytest.mark.parametrize(
    ("text", "language", "minutes"),
    [
        ("at 9:30 p.m.", "en", 1290),
        ("um 18.30 Uhr", "de", 1110),
        ("à 17 h 30", "fr", 1050),
        ("a las 10 de la noche", "es", 1320),
        ("下午五点半", "zh", 1050),
        ("午後7時", "ja", 1140),
        ("half past five", "en", 330),
    ],
)
def test_times(text: str, language: str, minutes: int) -> None:
    assert read_times(text, language)[0].value[0] == minutes


def test_weekdays_are_days_or_spans_of_them() -> None:
    assert [f.value for f in read_weekdays("Monday to Thursday and on Sundays")] == [
        (0, 1, 2, 3),
        (6,),
    ]


@pytest.mark.parametrize(
    ("text", "language", "bound"),
    [
        ("at least 5 boats", "en", ">="),
        ("5 boats at most", "en", "<="),
        ("no more than 5", "en", "<="),
        ("bis zu 5", "de", "<="),
        ("plus de 5", "fr", ">"),
        ("menos de 5", "es", "<"),
        ("至少5本", "zh", ">="),
        ("10冊まで", "ja", "<="),
    ],
)
def test_bounds(text: str, language: str, bound: str) -> None:
    (fact,) = read_facts(text, language=language).facts
    assert fact.bound == bound


@given(st.text(max_size=60), st.sampled_from(["en", "de", "fr", "es", "zh", "ja", "xx", None]))
def test_any_text_is_read_and_its_facts_stand_where_they_say(
    text: str, language: str | None
) -> None:
    for fact in read_facts(text, language=language).facts:
        assert fact.text in text
        assert 0 <= fact.start < fact.end <= len(text)
