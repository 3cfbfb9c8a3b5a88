"""The arithmetic of an embedding: batches of like length, the model run, pooling, length 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibid.embedding.vectors import normalize_rows

if TYPE_CHECKING:
    import onnxruntime

    from ibid.embedding.pieces import PieceTokenizer
    from ibid.protocols import Vectors

Pooling: TypeAlias = Literal["mean", "cls"]
"""How the vectors of a text's pieces become one: their mean, or that of its first piece."""

TOKENS_PER_BATCH: Final = 1024
"""Longest text times texts of one run; more gains nothing on a processor and costs memory."""

TEXTS_PER_WINDOW: Final = 1024
"""Texts that are tokenized and sorted by length at a time, so that memory is bounded."""


def embed_texts(
    texts: Sequence[str],
    *,
    session: onnxruntime.InferenceSession,
    tokenizer: PieceTokenizer,
    max_tokens: int,
    pooling: Pooling,
) -> Vectors:
    """One unit vector for each text, in their order; no text, no rows."""
    parts = [np.zeros((0, _find_width(session)), dtype=np.float32)]
    for at in range(0, len(texts), TEXTS_PER_WINDOW):
        window = texts[at : at + TEXTS_PER_WINDOW]
        encoded = tokenizer.encode(window, max_tokens=max_tokens)
        rows: dict[int, NDArray[np.floating]] = {}
        for batch in plan_batches([len(ids) for ids in encoded]):
            pooled = _run(session, [encoded[i] for i in batch], pooling)
            rows.update(zip(batch, pooled, strict=True))
        parts.append(normalize_rows(np.stack([rows[i] for i in range(len(window))])))
    return np.concatenate(parts)


def _find_width(session: onnxruntime.InferenceSession) -> int:
    width = session.get_outputs()[0].shape[-1]
    return width if isinstance(width, int) else 0


def _run(
    session: onnxruntime.InferenceSession, encoded: Sequence[Sequence[int]], pooling: Pooling
) -> NDArray[np.floating]:
    ids = np.zeros((len(encoded), max(map(len, encoded))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, pieces in enumerate(encoded):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    offered = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    wanted = {given.name: offered[given.name] for given in session.get_inputs()}
    (output,) = session.run([session.get_outputs()[0].name], wanted)
    return _pool(output, mask, pooling)


def plan_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The indices of the texts in batches of like length, short ones first.

    A batch costs its longest text times its count, since all are padded to the longest; that
    stays within TOKENS_PER_BATCH save for a batch of one.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > TOKENS_PER_BATCH:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _pool(
    output: NDArray[np.floating], mask: NDArray[np.int64], pooling: Pooling
) -> NDArray[np.floating]:
    if output.ndim == 2:  # the graph has pooled already
        return output
    if pooling == "cls":
        return output[:, 0]
    total = np.einsum("btd,bt->bd", output, mask.astype(output.dtype))
    return np.asarray(total / mask.sum(axis=1, keepdims=True))
