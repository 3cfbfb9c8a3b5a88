"""Calibration: the scores of any reranker on one scale, so that a least score means one thing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ibid.errors import MalformedOutput
from ibid.protocols import Calibration, Reranker


class Recalibrated:
    """A Reranker whose scores are made ready by another calibration than its own."""

    def __init__(self, reranker: Reranker, calibration: Calibration | None) -> None:
        self.name = reranker.name
        self.remote = reranker.remote
        self.calibration = calibration
        self._reranker = reranker

    @property
    def cut(self) -> int:
        """How many passages the reranker last read without their end."""
        return int(getattr(self._reranker, "cut", 0))

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The reranker's own scores."""
        return self._reranker.rerank(query, texts)


def calibrate_scores(
    scores: Sequence[float], calibration: Calibration | None, *, name: str
) -> list[float]:
    """The scores from 0 to 1, in their order; None leaves them as they are.

    The order among them never changes, but far ones can meet: whoever ranks compares the scores
    given, not these. Raises MalformedOutput for a score that is no number, and for one outside 0
    to 1 that nothing calibrates.
    """
    if not all(map(math.isfinite, scores)):
        raise MalformedOutput(
            f"the reranker {name} gave a score that is no number",
            hint="look whether the model is a reranker",
        )
    if calibration is not None:
        return [_sigmoid(calibration.slope * s + calibration.offset) for s in scores]
    outside = next((score for score in scores if not 0 <= score <= 1), None)
    if outside is not None:
        raise MalformedOutput(
            f"the reranker {name} gave the score {outside:.4g}, which is not from 0 to 1",
            hint="set rerank.scores to logits",
        )
    return [float(score) for score in scores]


def _sigmoid(value: float) -> float:
    """1 / (1 + e^-x), written so that no exponent overflows."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    grown = math.exp(value)
    return grown / (1 + grown)
