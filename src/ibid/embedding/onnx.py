"""Embedding on this machine: a model in ONNX form, of which nothing is loaded before its use."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ibid.errors import ModelUnavailable

if TYPE_CHECKING:
    import onnxruntime

    from ibid.embedding.inference import Pooling
    from ibid.embedding.pieces import PieceTokenizer
    from ibid.protocols import Vectors

QUERIES_KEPT: Final = 64

_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """The files of a model and what its makers say of them.

    `sha256` pins the weights and `tokenizer_sha256` the tokenizer where they are known; "" takes
    the files as they are. `max_length` counts the pieces of one text with its special tokens and
    `prefixes` are put before a text of a kind.
    """

    name: str
    weights: Path
    tokenizer: Path
    max_length: int
    dimension: int | None = None
    pooling: Pooling = "mean"
    prefixes: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
    tokenizer_sha256: str = ""


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
        self._model = model
        self._cache = cache
        self._threads = threads or _count_processors()
        self._loading = threading.RLock()
        # A question is embedded to search, and again to choose the sentences that answer it.
        self._embed_query = lru_cache(QUERIES_KEPT)(lambda text: self._embed([text], "query"))

    @cached_property
    def weights(self) -> str:
        """The first 16 hexadecimal digits of the weights' SHA-256."""
        return (self._model.sha256 or _hash_weights(self._model.weights))[:16]

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
        from ibid.embedding.pieces import PieceTokenizer  # noqa: PLC0415 - built lazily

        if self._model.tokenizer_sha256:
            _check_file(self._model.tokenizer, self._model.tokenizer_sha256)
        return PieceTokenizer(self._model.tokenizer)

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        from ibid.embedding.session import (  # noqa: PLC0415 - 60 ms that a search may not need
            is_kept,
            kept_folder,
            open_session,
        )

        kept = kept_folder(self._cache, self.weights) if self._cache else None
        # A kept graph was made from weights that were checked then.
        if self._model.sha256 and not (kept and is_kept(kept)):
            _check_file(self._model.weights, self._model.sha256)
        session = open_session(self._model.weights, kept=kept, threads=self._threads)
        unknown = {given.name for given in session.get_inputs()} - _INPUTS
        if unknown:
            raise ModelUnavailable(
                f"{self._model.weights} wants the inputs {sorted(unknown)}, which no text gives",
                hint=f"an embedding model takes {', '.join(sorted(_INPUTS))}",
            )
        return session


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _hash_weights(weights: Path) -> str:
    """The SHA-256 of the graph, together with the file of weights that a large one has beside."""
    beside = sorted(weights.parent.glob(f"{weights.name}?data"))
    digests = [_hash_file(file) for file in (weights, *beside)]
    return digests[0] if not beside else hashlib.sha256("".join(digests).encode()).hexdigest()


def _check_file(file: Path, sha256: str) -> None:
    found = _hash_file(file)
    if found != sha256:
        raise ModelUnavailable(
            f"{file} is damaged or of another version: its SHA-256 is {found[:16]}…, "
            f"not {sha256[:16]}…",
            hint="install its package again, or name a folder with the model",
        )


def _hash_file(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(
            f"the model file {file} can't be read: {error.strerror}",
            hint="install its package again, or name a folder with the model",
        ) from error
