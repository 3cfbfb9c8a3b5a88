"""What the checks understand by class, and that no text is too odd for them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibid.answering.checking.vocabulary import LANGUAGES, load_words, split_words
from ibid.answering.citations import parse_claims
from ibid.answering.verify import verify_claims
from ibid.records import Citation, DocumentInfo, Hit, Passage, Verdict


def make_hit(text: str) -> Hit:
    info = DocumentInfo("d", None, None, "text/plain", 1, None, False, None, {}, {}, 1, len(text))
    return Hit(1, 1.0, Passage("p", "d", 0, 0, len(text), text), info, {})


def verify_all(claim: str, source: str, language: str) -> tuple[Citation, ...]:
    _, claims = parse_claims(f"{claim} [1].", 1, language=language)
    return verify_claims(claims, [make_hit(source)], language=language)


def verify(claim: str, source: str, language: str) -> Citation:
    return verify_all(claim, source, language)[0]


@pytest.mark.parametrize(
    ("language", "source", "true", "false"),
    [
        ("en", "At dawn it was -7 °C.", "It was 7 °C below zero", "At dawn it was 7 °C"),
        ("en", "Version 3.10 needs a key.", "Version 3.10 requires a key",
         "Version 3.1 needs a key"),
        ("en", "Output tripled in May.", "In May output rose threefold", "Output doubled in May"),
        ("en", "Two of the six pipes burst.", "A third of the pipes burst",
         "Six of the pipes burst"),
        ("en", "Bikes are banned, except in June.", "Except in June bikes are banned",
         "Bikes are banned, including in June"),
        ("en", "It is a myth that bees sleep.", "It is false that bees sleep", "Bees sleep"),
        ("en", "The mill used to grind oats.", "Formerly it ground oats", "The mill grinds oats"),
        ("en", "Ora agreed to buy Nim.", "Ora has agreed to buy Nim", "Nim agreed to buy Ora"),
        ("de", "Der Rat lehnte den Plan ab.", "Der Plan wurde vom Rat abgelehnt",
         "Der Rat stimmte dem Plan zu"),
        ("fr", "Le bus ne passe plus le soir.", "Le soir, le bus ne passe plus",
         "Le bus passe le soir"),
        ("es", "El vendedor paga el transporte al comprador.", "El vendedor paga el transporte",
         "El comprador paga el transporte al vendedor"),
        ("ja", "東高校が西高校を破った。", "東高校が西高校を破った", "西高校が東高校を破った"),
    ],
)  # fmt: skip
def test_a_class_of_changes_is_told_from_a_paraphrase(
    language: str, source: str, true: str, false: str
) -> None:
    assert verify(true, source, language).verdict is Verdict.SUPPORTED
    changed = verify(false, source, language)
    assert changed.verdict is Verdict.UNSUPPORTED
    assert changed.reason


def list_vocabulary(language: str) -> list[str]:
    """Words of a language that the checks know, with figures and marks between them."""
    tables = load_words(language)
    words = [word for table in tables["signs"].values() for word in split_words(table)]
    words += [word.strip("=$") for word in split_words(tables["concepts"]["lines"])]
    return [*words, "3", "-4 kg", "2.10", "5:1", "1999", ",", ";", "(", "“", "Rom", "|", "\n", ". "]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LANGUAGES), st.data())
def test_no_order_of_known_words_is_too_odd(language: str, data: st.DataObject) -> None:
    words = st.lists(st.sampled_from(list_vocabulary(language)), min_size=1, max_size=14)
    joint = "" if language in ("zh", "ja") else " "
    source, claim = joint.join(data.draw(words)), joint.join(data.draw(words))
    first, again = verify_all(claim, source, language), verify_all(claim, source, language)
    assert [(one.verdict, one.reason) for one in first] == [(o.verdict, o.reason) for o in again]
    for citation in first:
        if citation.quote is not None:
            assert source[citation.start : citation.end] == citation.quote
