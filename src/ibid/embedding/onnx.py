"""Embedding on this machine: a model in ONNX form, of which nothing is loaded before its use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ibid.embedding.model_files import OnnxModel, hash_weights, open_model, open_tokenizer

if TYPE_CHECKING:
    import onnxruntime

    from ibid.embedding.pieces import PieceTokenizer
    from ibid.protocols import Vectors

QUERIES_KEPT: Final = 64


class OnnxEmbedder:
    """Runs a model of the BERT family; nothing is read before the first use.

    `cache` is a folder in which the optimised graph is kept for the next start. `threads` None
    takes every processor that this process may use.
    """

    remote: Final = None

    def __init__(
        self, model: OnnxModel, *, cache: Path | None = None, threads: int | None = None
    ) -> None:
        self.name = model.name
        self.languages = model.languages
        self._model = model
        self._cache = cache
        self._threads = threads
        self._loading = threading.RLock()
        # A question is embedded to search, and again to choose the sentences that answer it.
        self._embed_query = lru_cache(QUERIES_KEPT)(lambda text: self._embed([text], "query"))

    @cached_property
    def weights(self) -> str:
        """The first 16 hexadecimal digits of the weights' SHA-256."""
        return (self._model.sha256 or hash_weights(self._model.weights))[:16]

    @cached_property
    def dimension(self) -> int | None:
        """The length of a vector, as the model's makers or else its graph says."""
        if self._model.dimension is not None:
            return self._model.dimension
        width = self._session.get_outputs()[0].shape[-1]
        return width if isinstance(width, int) else None

    @cached_property
    def max_tokens(self) -> int:
        """The pieces of a text that count, beside special tokens and the longest prefix."""
        prefixes = self.tokenizer.spans(list(self._model.prefixes.values()))
        taken = self.tokenizer.special_tokens + max(map(len, prefixes), default=0)
        return self._model.max_length - taken

    @property
    def tokenizer(self) -> PieceTokenizer:
        """The model's own tokenizer."""
        with self._loading:
            return self._pieces

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        """One unit vector for each text, in their order; a text beyond `max_tokens` is cut.

        Raises ModelUnavailable when the model's files are missing, damaged or of another kind.
        """
        if kind == "query" and len(texts) == 1:
            return self._embed_query(texts[0]).copy()
        return self._embed(texts, kind)

    def embed_tokens(
        self, texts: Sequence[str], *, kind: Literal["passage", "query"]
    ) -> list[Vectors]:
        """For each text the unit vectors of its word pieces, of shape (pieces, dimension).

        A text beyond `max_tokens` is cut. Raises ModelUnavailable as `embed` does, and for a model
        that has no vectors of pieces.
        """
        from ibid.embedding.inference import embed_pieces  # noqa: PLC0415 - loads numpy

        with self._loading:
            tokenizer, session = self.tokenizer, self._session
        return embed_pieces(
            [self._model.prefixes.get(kind, "") + text for text in texts],
            session=session,
            tokenizer=tokenizer,
            max_tokens=self._model.max_length - tokenizer.special_tokens,
        )

    def _embed(self, texts: Sequence[str], kind: str) -> Vectors:
        from ibid.embedding.inference import embed_texts  # noqa: PLC0415 - loads numpy

        with self._loading:
            tokenizer, session = self.tokenizer, self._session
        return embed_texts(
            [self._model.prefixes.get(kind, "") + text for text in texts],
            session=session,
            tokenizer=tokenizer,
            max_tokens=self._model.max_length - tokenizer.special_tokens,
            pooling=self._model.pooling,
        )

    @cached_property
    def _pieces(self) -> PieceTokenizer:
        return open_tokenizer(self._model)

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        return open_model(
            self._model, weights=self.weights, cache=self._cache, threads=self._threads
        )
