"""Answers with very many markers, and counts of tokens that no call can take."""

from __future__ import annotations

from typing import Any

import pytest

from ibid.answering.citations import parse_claims
from ibid.answering.replies import read_counts
from ibid.answering.spending import Budget, Ledger, MeteredGenerator, Rate
from ibid.records import Delta, Prompt

MANY = 20_000


@pytest.mark.parametrize(
    ("piece", "claims"),
    [("It opens at nine [1]. ", MANY), ("It opens at nine [1].\n", MANY), ("[1]", 1)],
)
def test_twenty_thousand_markers_are_read(piece: str, claims: int) -> None:
    answer = "Doors" + piece * MANY
    _, found = parse_claims(answer, 2, language="en")
    assert len(found) == claims
    assert all(answer[claim.start : claim.end] == claim.text for claim in found)
    assert {claim.markers for claim in found} == {(1,)}


def test_markers_that_open_lines_and_end_sentences_keep_their_places() -> None:
    answer = (
        "- [1] Doors open at nine.\n- [2] They close at five [1].\n  [2]\nRain [1][2] falls [1]."
    )
    _, claims = parse_claims(answer, 2, language="en")
    assert [(claim.text, claim.markers) for claim in claims] == [
        ("Doors open at nine.", (1,)),
        ("They close at five", (2, 1)),
        ("Rain", (1, 2)),
        ("falls", (1,)),
    ]


@pytest.mark.parametrize("told", [-7, True, 2.5, "9", None, 10**30])
def test_a_count_that_no_call_takes_is_not_believed(told: Any) -> None:
    usage = {"prompt_tokens": told, "completion_tokens": 3}
    assert read_counts(usage, "prompt_tokens", "completion_tokens") == Delta("", 0, 3)


def test_what_a_generator_tells_lowers_no_sum(tmp_path: Any) -> None:
    class Liar:
        name, remote = "liar", "https://models.example"

        def generate(self, prompt: Prompt) -> Any:
            yield Delta("Nine o'clock [1].", prompt_tokens=-1000, completion_tokens=-1000)

    ledger = Ledger(tmp_path / "spending.db")
    metered = MeteredGenerator(Liar(), ledger, Budget(tokens=500), Rate(), output_tokens=100)
    prompt = Prompt((), "When?", (), "t")
    assert [delta.text for delta in metered.generate(prompt)] == ["Nine o'clock [1]."]
    assert ledger.sum_today().completion_tokens > 0
    assert ledger.sum_today().prompt_tokens >= 0
