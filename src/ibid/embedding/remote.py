"""Embedding over HTTP: any endpoint that speaks the shape of OpenAI's `/embeddings`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from ibid.embedding.vectors import check_vectors
from ibid.embedding.words import WordTokenizer
from ibid.errors import MalformedOutput
from ibid.records import JSON
from ibid.wire import PayloadTooLarge, Wire

if TYPE_CHECKING:
    from ibid.protocols import Tokenizer, Vectors

TEXTS_PER_REQUEST: Final = 64


class RemoteEmbedder:
    """Asks an endpoint for the vectors; a text without any letter or mark is never sent.

    `prefixes` are put before a text of a kind ("query", "passage"). `max_tokens` and `tokenizer`
    say what the model reads of one text, where the caller knows.
    """

    weights: Final = ""

    def __init__(
        self,
        wire: Wire,
        model: str,
        *,
        prefixes: Mapping[str, str] | None = None,
        max_tokens: int | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self.name = model
        self.remote: str | None = wire.remote
        self.dimension: int | None = None
        self.max_tokens = max_tokens
        self.tokenizer: Tokenizer = tokenizer or WordTokenizer()
        self._wire = wire
        self._prefixes = dict(prefixes or {})

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        """The endpoint's vectors at length 1, in the order of the texts; blank ones stay zero.

        A batch that is too large for the endpoint is halved, down to one text. Raises
        ModelUnavailable, ModelTimeout or MalformedOutput.
        """
        prefix = self._prefixes.get(kind, "")
        sent = [index for index, text in enumerate(texts) if text.strip()]
        parts = [
            self._request([prefix + texts[index] for index in sent[at : at + TEXTS_PER_REQUEST]])
            for at in range(0, len(sent), TEXTS_PER_REQUEST)
        ]
        vectors = np.zeros((len(texts), self.dimension or 0), dtype=np.float32)
        if parts:
            vectors[sent] = np.concatenate(parts)
        return vectors

    def _request(self, texts: list[str]) -> Vectors:
        body: dict[str, JSON] = {"model": self.name, "input": [*texts], "encoding_format": "base64"}
        try:
            reply = self._wire.post("/embeddings", body)
        except PayloadTooLarge:
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            return np.concatenate([self._request(texts[:half]), self._request(texts[half:])])
        rows = _read_rows(reply, len(texts), self._wire.origin)
        vectors = check_vectors(rows, rows=len(texts), dimension=self.dimension, name=self.name)
        self.dimension = vectors.shape[1]
        return vectors


def _read_rows(reply: JSON, count: int, origin: str) -> list[ArrayLike]:
    """The vectors of a reply in the order of the texts, whatever the order in which they came."""
    rows: dict[int, ArrayLike] = {}
    data = reply.get("data") if isinstance(reply, dict) else None
    for place, item in enumerate(data if isinstance(data, list) else ()):
        if isinstance(item, dict):
            index = item.get("index", place)
            rows[index if isinstance(index, int) else place] = _read_row(item.get("embedding"))
    if sorted(rows) != list(range(count)):
        raise MalformedOutput(
            f"{origin} returned {len(rows)} embeddings where {count} were expected",
            hint="look whether the address is that of an embedding model",
        )
    return [rows[index] for index in range(count)]


def _read_row(embedding: JSON) -> ArrayLike:
    """The numbers of one embedding: a list, or little-endian float32 in base64."""
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        except (binascii.Error, ValueError) as error:
            raise MalformedOutput(
                f"an embedding is no float32 in base64: {error}",
                hint="look whether the address is that of an embedding model",
            ) from error
    return np.asarray(embedding, dtype=object)
