"""Late interaction: each piece of the question looks for its best match in the passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ibid.protocols import Calibration, TokenEmbedder

if TYPE_CHECKING:
    from ibid.protocols import Vectors

LATE_CALIBRATION: Final = Calibration(slope=16.0, offset=-10.5)
"""The mean of the fits on three sets of questions (bench/rerank.py)."""


class LateInteractionReranker:
    """A Reranker that needs no model but the embedder's, of which it takes the pieces' vectors."""

    name: Final = "late-interaction"
    calibration: Final = LATE_CALIBRATION

    def __init__(self, embedder: TokenEmbedder) -> None:
        self.remote = embedder.remote
        self._embedder = embedder

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """score_late_interaction of each text, from -1 to 1."""
        (asked,) = self._embedder.embed_tokens([query], kind="query")
        return [
            score_late_interaction(asked, found)
            for found in self._embedder.embed_tokens(texts, kind="passage")
        ]


def score_late_interaction(query: Vectors, passage: Vectors) -> float:
    """The mean, over the rows of `query`, of the greatest dot product with a row of `passage`.

    -1 where either has no row. Khattab and Zaharia, ColBERT, 2020, whose sum this is but for the
    division by the number of rows, without which long questions would score higher.
    """
    if not len(query) or not len(passage):
        return -1.0
    return float((query @ passage.T).max(axis=1).mean())
