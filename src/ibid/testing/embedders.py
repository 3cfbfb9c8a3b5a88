"""An embedder without a model: hashed character n-grams, the same on every machine."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from ibid.protocols import Vectors


class LetterTokenizer:
    """Cuts text into runs of at most four letters or digits, and single marks."""

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text the character ranges of its pieces, in order."""
        return [[piece.span() for piece in re.finditer(r"\w{1,4}|[^\w\s]", text)] for text in texts]


class HashingEmbedder:
    """Counts a lower-cased text's character n-grams by the CRC-32 of their UTF-8 bytes.

    Likeness is shared spelling, not meaning: enough to try everything around a model. With 512
    columns and trigrams, the defaults, it is the preset "hash3". A text shorter than one n-gram
    has a vector of zeros.
    """

    weights: Final = ""
    max_tokens: Final = None
    remote: Final = None

    def __init__(self, dimension: int = 512, ngram: int = 3) -> None:
        self.name = f"hash{ngram}" if dimension == 512 else f"hash{ngram}-{dimension}"
        self.dimension = dimension
        self.tokenizer = LetterTokenizer()
        self._ngram = ngram

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        """One unit vector for each text; passages and queries are counted alike."""
        counts = np.zeros((len(texts), self.dimension))
        for row, text in enumerate(texts):
            for column in self._hash_ngrams(text.lower()):
                counts[row, column] += 1
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        return (counts / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _hash_ngrams(self, text: str) -> list[int]:
        starts = range(len(text) - self._ngram + 1)
        pieces = (text[at : at + self._ngram].encode(errors="surrogatepass") for at in starts)
        return [zlib.crc32(piece) % self.dimension for piece in pieces]
