"""A plain function `list[str] -> array (n, d)` as an embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from ibid.embedding.vectors import check_vectors
from ibid.embedding.words import WordTokenizer

if TYPE_CHECKING:
    from ibid.protocols import Vectors


class FunctionEmbedder:
    """Calls a function for the vectors, and holds it to what an embedder promises.

    `name` is the function's own qualified name unless one is given, so that a library made with
    it is known again in another process. The dimension is known after the first call.
    """

    weights: Final = ""
    max_tokens: Final = None
    remote: Final = None

    def __init__(
        self, function: Callable[[list[str]], ArrayLike], *, name: str | None = None
    ) -> None:
        self.name = name or _name_function(function)
        self.dimension: int | None = None
        self.tokenizer = WordTokenizer()
        self._function = function

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        """The function's vectors at length 1; it is not called for an empty list.

        Raises MalformedOutput when they are not one finite row of the same dimension for each.
        """
        if not texts:
            return np.zeros((0, self.dimension or 0), dtype=np.float32)
        vectors = check_vectors(
            self._function(list(texts)), rows=len(texts), dimension=self.dimension, name=self.name
        )
        self.dimension = vectors.shape[1]
        return vectors


def _name_function(function: Callable[[list[str]], ArrayLike]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"
