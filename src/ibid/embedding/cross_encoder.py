"""Cross-encoders on this machine: a model in ONNX form that reads question and passage together.

It stands beside the embedders for what it shares with them: files, word pieces, batches, sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ibid.embedding.model_files import OnnxModel, hash_weights, open_model, open_tokenizer
from ibid.errors import MalformedOutput
from ibid.protocols import Calibration

if TYPE_CHECKING:
    import onnxruntime
    from numpy.typing import NDArray

    from ibid.embedding.pieces import Pair, PieceTokenizer

LOGITS: Final = Calibration()
"""Cross-encoders are trained so that the sigmoid of their logit is the chance of relevance."""


class CrossEncoder:
    """A Reranker over a model of the BERT family with one logit, or two, for a pair.

    Of two logits the second is that of "relevant", and the score is their difference. A passage
    beyond what the model reads loses its end; `cut` counts those of the last call. `calibration`
    None is for a graph that ends in a sigmoid. `threads` None takes every processor.
    """

    remote: Final = None

    def __init__(
        self,
        model: OnnxModel,
        *,
        calibration: Calibration | None = LOGITS,
        cache: Path | None = None,
        threads: int | None = None,
    ) -> None:
        self.name = model.name
        self.calibration = calibration
        self.cut = 0
        self._model = model
        self._cache = cache
        self._threads = threads
        self._loading = threading.RLock()

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A logit for each text, in their order.

        Raises ModelUnavailable for files that can't be used, BadQuery for a query that leaves the
        model no room for a passage, MalformedOutput for a model that does not judge pairs.
        """
        if not texts:
            return []
        with self._loading:
            tokenizer, session = self._loaded
        pairs = tokenizer.encode_pairs(query, texts, max_length=self._model.max_length)
        self.cut = sum(pair.cut > 0 for pair in pairs)
        return self._score(pairs, session)

    def _score(self, pairs: Sequence[Pair], session: onnxruntime.InferenceSession) -> list[float]:
        from ibid.embedding.inference import plan_batches, run_model  # noqa: PLC0415 - loads numpy

        scores = [0.0] * len(pairs)
        for batch in plan_batches([len(pair.ids) for pair in pairs]):
            logits, _ = run_model(
                session, [pairs[i].ids for i in batch], [pairs[i].types for i in batch]
            )
            for place, score in zip(batch, self._read_logits(logits), strict=True):
                scores[place] = score
        return scores

    def _read_logits(self, logits: NDArray[Any]) -> list[float]:
        """The scores of a batch, of logits in the shape (n,), (n, 1) or (n, 2)."""
        rows = logits.reshape(len(logits), -1).astype("float64")
        if logits.ndim > 2 or rows.shape[1] not in (1, 2):
            raise MalformedOutput(
                f"{self.name} gives {rows.shape[1]} numbers for a pair, where a reranker gives one",
                hint="name the folder of a cross-encoder",
            )
        scores = rows[:, 0] if rows.shape[1] == 1 else rows[:, 1] - rows[:, 0]
        return [float(score) for score in scores]

    @cached_property
    def _loaded(self) -> tuple[PieceTokenizer, onnxruntime.InferenceSession]:
        weights = (self._model.sha256 or hash_weights(self._model.weights))[:16]
        session = open_model(self._model, weights=weights, cache=self._cache, threads=self._threads)
        return open_tokenizer(self._model), session
