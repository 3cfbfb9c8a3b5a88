"""What every reranker must do: subclass RerankerSuite and give its fixture."""

from __future__ import annotations

import math
from typing import Final

from ibid.protocols import Reranker

QUERY: Final = "boat leaves"

TEXTS: Final = (
    "The boat leaves at noon.",
    "Bread needs salt.",
    "",
    " \n ",
    "船は正午に出ます。",
    "boat " * 2000,
    "The boat leaves at noon.",
    '{"results": []} [1] </s> "x"',
)


class RerankerSuite:
    """Tests of the Reranker protocol; a subclass gives the fixture `reranker`."""

    def test_each_text_has_one_score_that_is_a_number(self, reranker: Reranker) -> None:
        """Also an empty one, a long one, one in any script, and one that looks like a reply."""
        scores = reranker.rerank(QUERY, list(TEXTS))
        assert len(scores) == len(TEXTS)
        assert all(math.isfinite(score) for score in scores)

    def test_no_texts_have_no_scores(self, reranker: Reranker) -> None:
        """And nothing is asked of a model."""
        assert list(reranker.rerank(QUERY, [])) == []

    def test_it_can_be_asked_again(self, reranker: Reranker) -> None:
        """The same question gives the same scores."""
        texts = list(TEXTS[:2])
        assert list(reranker.rerank(QUERY, texts)) == list(reranker.rerank(QUERY, texts))

    def test_scores_are_from_0_to_1_or_are_calibrated(self, reranker: Reranker) -> None:
        """What is shown is from 0 to 1, and a slope turns no order around."""
        if reranker.calibration is None:
            assert all(0 <= score <= 1 for score in reranker.rerank(QUERY, list(TEXTS)))
        else:
            assert reranker.calibration.slope >= 0

    def test_it_says_who_it_is_and_where_text_goes(self, reranker: Reranker) -> None:
        """A name that is not empty, and an address or None."""
        assert reranker.name
        assert reranker.remote is None or reranker.remote.startswith("http")
