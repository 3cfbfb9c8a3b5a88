"""The arithmetic of an embedding: batches of like length, the model run, pooling, length 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibid.embedding.vectors import normalize_rows
from ibid.errors import ModelUnavailable

if TYPE_CHECKING:
    import onnxruntime

    from ibid.embedding.pieces import PieceTokenizer
    from ibid.protocols import Vectors

Pooling: TypeAlias = Literal["mean", "cls"]
"""How the vectors of a text's pieces become one: their mean, or that of its first piece."""

TOKENS_PER_BATCH: Final = 1024
"""Longest text times texts of one run; more gains nothing on a processor and costs memory."""

MOST_PADDING: Final = 1.3
"""Longest text of a run by its shortest: padding takes as long as text."""

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
            output, mask = run_model(session, [encoded[i] for i in batch])
            rows.update(zip(batch, _pool(output, mask, pooling), strict=True))
        parts.append(normalize_rows(np.stack([rows[i] for i in range(len(window))])))
    return np.concatenate(parts)


def _find_width(session: onnxruntime.InferenceSession) -> int:
    width = session.get_outputs()[0].shape[-1]
    return width if isinstance(width, int) else 0


def embed_pieces(
    texts: Sequence[str],
    *,
    session: onnxruntime.InferenceSession,
    tokenizer: PieceTokenizer,
    max_tokens: int,
) -> list[Vectors]:
    """For each text the unit vectors of its pieces, without special tokens, in their order.

    Raises ModelUnavailable for a graph that gives one vector for a whole text.
    """
    encoded = tokenizer.encode(texts, max_tokens=max_tokens)
    rows: dict[int, Vectors] = {}
    for batch in plan_batches([len(ids) for ids in encoded]):
        output, _ = run_model(session, [encoded[i] for i in batch])
        if output.ndim != 3:
            raise ModelUnavailable(
                "this model gives one vector for a text and none for its pieces",
                hint="use another reranker than late-interaction",
            )
        for index, vectors in zip(batch, output, strict=True):
            rows[index] = normalize_rows(vectors[: len(encoded[index])][tokenizer.inner])
    return [rows[index] for index in range(len(texts))]


def run_model(
    session: onnxruntime.InferenceSession,
    encoded: Sequence[Sequence[int]],
    types: Sequence[Sequence[int]] | None = None,
) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """What the model gives for one batch of ids, padded to the longest, and the mask of the ids.

    `types` tells the two texts of a pair apart, id by id; all are of one text without it.
    """
    ids = np.zeros((len(encoded), max(map(len, encoded))), dtype=np.int64)
    mask, kinds = np.zeros_like(ids), np.zeros_like(ids)
    for row, pieces in enumerate(encoded):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
        if types is not None:
            kinds[row, : len(pieces)] = types[row]
    offered = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    wanted = {given.name: offered[given.name] for given in session.get_inputs()}
    (output,) = session.run([session.get_outputs()[0].name], wanted)
    return np.asarray(output), mask


def plan_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The indices of the texts in batches of like length, short ones first.

    A batch costs its longest text times its count, since all are padded to the longest; that
    stays within TOKENS_PER_BATCH save for a batch of one, and the padding within MOST_PADDING.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        full = lengths[index] * (len(batch) + 1) > TOKENS_PER_BATCH
        if batch and (full or lengths[index] > MOST_PADDING * lengths[batch[0]]):
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
