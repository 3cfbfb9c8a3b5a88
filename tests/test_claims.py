"""What the checks find in claims that people wrote, four of five sets apart from the checks."""

import json
from pathlib import Path
from typing import Any

import pytest

from ibid.answering.citations import parse_claims
from ibid.answering.verify import verify_claims
from ibid.records import Citation, DocumentInfo, Hit, Passage, Verdict

SETS = [
    Path(__file__).parent / f"claims_{part}.jsonl"
    for part in ("own", "held", "third", "fourth", "fifth")
]
NEVER = ("number", "date", "name", "negation")
MOST_REFUSED = 0.1
"""Share of true paraphrases that may be refused."""


def make_hit(number: int, text: str) -> Hit:
    passage = Passage(f"p{number}", f"d{number}", 0, 0, len(text), text)
    info = DocumentInfo(
        f"d{number}", None, None, "text/plain", 1, None, False, None, {}, {}, 1, len(text)
    )
    return Hit(number, 1.0, passage, info, {})


def judge(case: dict[str, Any]) -> Citation:
    hits = [make_hit(number, text) for number, text in enumerate(case["sources"], 1)]
    _, claims = parse_claims(case["claim"], len(hits), language=case["language"])
    citations = verify_claims(claims, hits, language=case["language"])
    for citation in citations:
        if citation.marker is not None and citation.quote is not None:
            source = next(hit for hit in hits if hit.document_id == citation.document_id)
            assert source.passage.text[citation.start : citation.end] == citation.quote
    failing = [one for one in citations if one.verdict is not Verdict.SUPPORTED]
    return (failing or list(citations))[0]


@pytest.fixture(scope="module", params=SETS, ids=[part.stem for part in SETS])
def judged(request: pytest.FixtureRequest) -> list[tuple[dict[str, Any], Citation]]:
    lines = request.param.read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines if line.strip()]
    return [(case, judge(case)) for case in cases]


Judged = list[tuple[dict[str, Any], Citation]]


@pytest.mark.parametrize("kind", NEVER)
def test_none_of_these_passes(judged: Judged, kind: str) -> None:
    passed = [
        case["claim"]
        for case, citation in judged
        if case["kind"] == kind
        and case["verdict"] == "unsupported"
        and citation.verdict is Verdict.SUPPORTED
    ]
    assert passed == []


def test_true_paraphrases_are_seldom_refused(judged: Judged) -> None:
    paraphrases = [(case, found) for case, found in judged if case["kind"] == "paraphrase"]
    refused = [c["claim"] for c, found in paraphrases if found.verdict is not Verdict.SUPPORTED]
    assert len(paraphrases) >= 30
    assert len(refused) < MOST_REFUSED * len(paraphrases), refused


def test_what_is_unsupported_says_why(judged: Judged) -> None:
    for case, citation in judged:
        if citation.verdict is Verdict.UNSUPPORTED:
            assert citation.reason, case["claim"]


def test_each_set_speaks_six_languages(judged: Judged) -> None:
    assert {case["language"] for case, _ in judged} >= {"en", "de", "fr", "es", "zh", "ja"}
    assert len(judged) >= 140
