"""The form that every embedder's vectors take: float32, rows of length 1, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibid.errors import MalformedOutput

if TYPE_CHECKING:
    from ibid.protocols import Embedder, Vectors


def normalize_rows(rows: NDArray[np.floating]) -> Vectors:
    """The rows at length 1 as float32; a row of zeros stays one.

    The length is taken in float64, so that neither large nor tiny numbers lose their direction.
    """
    wide = rows.astype(np.float64)
    largest = np.max(np.abs(wide), axis=1, keepdims=True, initial=0.0)
    scaled = wide / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return (scaled / np.where(length > 0, length, 1.0)).astype(np.float32)


def check_vectors(
    values: ArrayLike | Sequence[ArrayLike], *, rows: int, dimension: int | None, name: str
) -> Vectors:
    """What a model returned, as unit rows: one for each text, all of the known dimension.

    Raises MalformedOutput that names what was expected and what came.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MalformedOutput(
            f"{name} returned what is no array of numbers: {error}",
            hint="an embedder returns one row of numbers, all of one length, for each text",
        ) from error
    width = "d" if dimension is None else str(dimension)
    fits = array.ndim == 2 and array.shape[0] == rows and array.shape[1] > 0
    if not fits or dimension not in (None, array.shape[1]):
        raise MalformedOutput(
            f"{name} returned an array of shape {array.shape} where ({rows}, {width}) was expected",
            hint="an embedder returns one row for each text, and always the same number of columns",
        )
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise MalformedOutput(
            f"{name} returned a number that is not finite for text {row + 1} of {rows}",
            hint="look at what the model makes of that text",
        )
    return normalize_rows(array)


def count_truncated(embedder: Embedder, texts: Sequence[str]) -> int:
    """How many of the texts are longer than what the embedder reads of one; it cuts the rest."""
    limit = embedder.max_tokens
    if limit is None:
        return 0
    return sum(len(pieces) > limit for pieces in embedder.tokenizer.spans(texts))
