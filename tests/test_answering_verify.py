"""What the checks find between a claim and its passage, in cases made for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.answering.citations import parse_claims
from ibid.answering.verify import verify_claims
from ibid.records import Citation, DocumentInfo, Hit, Passage, Verdict

MUSEUM = (
    "The museum opens on 5 March 2024 and admits 40 visitors an hour. "
    "Groups are not admitted on Sundays. "
    "Tickets cost 9 euros, reserved through Lena Brandt with form M-17.\n\n"
    "| Hall | Closes |\n| --- | --- |\n| North | 17:00 |\n| South | 18:30 |\n"
)
GARDEN = "The garden lost 15% of its roses. A visit takes two weeks to arrange."


def make_hit(text: str, *, number: int = 1, lead: str = "", title: str = "Guide") -> Hit:
    passage = Passage(
        f"p{number}", f"d{number}.md", 0, len(lead), len(lead) + len(text), text, page=4
    )
    info = DocumentInfo(
        f"d{number}.md", title, f"file:///d{number}.md", "text/plain",
        1, None, False, None, {}, {}, 1, len(lead) + len(text),
    )  # fmt: skip
    return Hit(number, 1.0, passage, info, {})


SOURCES = (make_hit(MUSEUM), make_hit(GARDEN, number=2, lead="Roses\n\n"))


def verify(answer: str) -> Citation:
    (citation,) = verify_claims(parse_claims(answer, 2)[1], SOURCES, language="en")
    return citation


@pytest.mark.parametrize(
    "answer",
    [
        "The museum admits 40 visitors an hour [1].",
        "The museum admits forty visitors in 60 minutes [1].",
        "The museum opens on March 5, 2024 [1].",
        "The museum opens in March 2024 [1].",
        "On Sundays, groups aren't admitted [1].",
        "Lena Brandt reserves tickets with form M-17 [1].",
        "Tickets cost €9 [1].",
        "The hall South closes at 18:30 [1].",
        "A visit takes 14 days to arrange [2].",
        "It says the garden “lost 15% of its roses” [2].",
    ],
)
def test_supported(answer: str) -> None:
    citation = verify(answer)
    assert (citation.verdict, citation.reason) == (Verdict.SUPPORTED, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("The museum admits 50 visitors an hour [1].", "the claim says 50, the passage 40"),
        ("The garden lost 15 roses [2].", "the claim says 15, the passage 15%"),
        ("The museum admits 40 visitors a day [1].", "the claim says a day, the passage an hour"),
        ("A visit takes two months to arrange [2].", "two months, the passage two weeks"),
        ("The museum opens on 6 March 2024 [1].", "6 March 2024, the passage 5 March 2024"),
        ("Groups are admitted on Sundays [1].", "the passage denies what the claim states"),
        ("The museum does not open on 5 March 2024 [1].", "the claim denies"),
        ("Reserve tickets through Lena Winter [1].", "the claim says Winter"),
        ("Reserve tickets with form M-18 [1].", "the claim says M-18, the passage"),
        ("The garden “lost all of its roses” [2].", "does not hold the words"),
        ("Penguins eat herring [1].", "does not speak of Penguins, eat, herring"),
    ],
)
def test_unsupported_says_what_differs(answer: str, reason: str) -> None:
    citation = verify(answer)
    assert citation.verdict is Verdict.UNSUPPORTED
    assert reason in (citation.reason or "")
    assert citation.quote


def test_another_source_says_it() -> None:
    citation = verify("The garden lost 15% of its roses [1].")
    assert citation.verdict is Verdict.SUPPORTED_ELSEWHERE
    assert citation.reason == "source 2 says it, not source 1"
    assert (citation.marker, citation.document_id) == (1, "d2.md")
    assert (citation.start, citation.end) == (7, 40)
    assert citation.quote == "The garden lost 15% of its roses."


def test_no_such_source_and_uncited_point_nowhere() -> None:
    missing, uncited = verify("Tickets cost 9 euros [6]."), verify("Tickets cost 9 euros.")
    assert (missing.verdict, missing.marker) == (Verdict.NO_SUCH_SOURCE, 6)
    assert (uncited.verdict, uncited.marker) == (Verdict.UNCITED, None)
    assert uncited.reason == "source 1 says it"
    for citation in (missing, uncited):
        assert (citation.document_id, citation.start, citation.quote) == (None, None, None)


def test_a_neighbour_does_not_lend_its_number() -> None:
    source = make_hit("Annual plans are refunded in 14 days. Monthly plans are refunded in 3 days.")
    _, claims = parse_claims("Annual plans are refunded in 3 days [1].", 1)
    (citation,) = verify_claims(claims, [source], language="en")
    assert citation.verdict is Verdict.UNSUPPORTED
    assert citation.quote == "Annual plans are refunded in 14 days."


def test_a_title_speaks_for_its_passage_but_denies_nothing() -> None:
    source = make_hit("The song sold a million copies.", title="Never Alone")
    _, claims = parse_claims("The song Never Alone sold a million copies [1].", 1)
    (citation,) = verify_claims(claims, [source], language="en")
    assert citation.reason != "the passage denies what the claim states"


@given(
    st.text(alphabet="ab 9.\n|-é“”", max_size=80),
    st.text(alphabet="ab 9.é", max_size=30),
    st.integers(0, 9),
)
def test_a_quote_is_the_characters_of_the_document(text: str, claim: str, lead: int) -> None:
    document = "x" * lead + text
    hit = make_hit(text, lead="x" * lead)
    for citation in verify_claims(parse_claims(f"{claim} [1]", 1)[1], [hit], language="en"):
        if citation.marker is None:
            continue
        assert citation.quote == document[citation.start : citation.end]
        assert citation.url == "file:///d1.md#page=4"
