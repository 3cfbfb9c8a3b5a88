"""A negation holds for what "or" adds to it, and is met by other words that deny the same."""

from __future__ import annotations

import pytest

from ibid.answering.citations import parse_claims
from ibid.answering.verify import verify_claims
from ibid.records import DocumentInfo, Hit, Passage, Verdict


def judge(source: str, claim: str, language: str = "en") -> Verdict:
    info = DocumentInfo("d", None, None, "text/plain", 1, None, False, None, {}, {}, 1, len(source))
    hit = Hit(1, 1.0, Passage("p", "d", 0, 0, len(source), source), info, {})
    _, claims = parse_claims(f"{claim} [1].", 1, language=language)
    return verify_claims(claims, [hit], language=language)[0].verdict


@pytest.mark.parametrize(
    ("source", "claim", "language"),
    [
        ("Dogs may not enter the hall or the café.", "Dogs may enter the café", "en"),
        ("Hunde dürfen nicht in den Saal oder ins Café.", "Hunde dürfen ins Café", "de"),
        ("The cake is made without sugar.", "The cake is made with sugar", "en"),
        ("It is rare to see frost in May.", "It is not uncommon to see frost in May", "en"),
        ("Anna lends Ben 500 euros.", "Ben lends Anna 500 euros", "en"),
        ("The fair runs from 18 to 20 July.", "The fair runs from 17 to 20 July", "en"),
        ("Sales rose to 8 million euros from 5 million euros.",
         "Sales rose from 8 million euros to 5 million euros", "en"),
    ],
)  # fmt: skip
def test_what_is_denied_or_turned_round_is_refused(source: str, claim: str, language: str) -> None:
    assert judge(source, claim, language) is Verdict.UNSUPPORTED


@pytest.mark.parametrize(
    ("source", "claim", "language"),
    [
        ("Dogs may not enter the hall or the café.", "Dogs may not enter the café", "en"),
        ("The fair runs from 18 to 20 July.", "The fair runs from July 18 to July 20", "en"),
        ("Sales rose to 8 million euros from 5 million euros.",
         "Sales rose from 5 million euros to 8 million euros", "en"),
        ("The lease runs for 18 months.", "The lease runs for a year and a half", "en"),
        ("Vinieron 500 personas.", "Vinieron quinientas personas", "es"),
    ],
)  # fmt: skip
def test_the_same_told_otherwise_is_supported(source: str, claim: str, language: str) -> None:
    assert judge(source, claim, language) is Verdict.SUPPORTED
