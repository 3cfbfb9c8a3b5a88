"""Models: what cuts into word pieces, embeds, reranks and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from ibid.record import record
from ibid.records import Delta, Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


class Tokenizer(Protocol):
    """Cuts text into the word pieces that an embedder counts."""

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text the character ranges of its pieces, in order, without special tokens."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product is their likeness in meaning.

    `weights` is a hash of the model's weights ("" when unknown), `dimension` is None until it is
    known, `max_tokens` the pieces of a text that count, without special tokens (None: no limit),
    `remote` the address that text is sent to (None: it stays on this machine). One may also have
    `languages`, a set of ISO 639-1 codes: in others its vectors count less in hybrid search.
    """

    @property
    def name(self) -> str: ...
    @property
    def weights(self) -> str: ...
    @property
    def dimension(self) -> int | None: ...
    @property
    def max_tokens(self) -> int | None: ...
    @property
    def remote(self) -> str | None: ...
    @property
    def tokenizer(self) -> Tokenizer: ...

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        """Vectors of shape (len(texts), dimension), float32, row by row of length 1 (or 0).

        The same text gives the same vector whatever else is in the batch, to within rounding.
        An empty list gives an array of no rows.
        """
        ...


class TokenEmbedder(Protocol):
    """What an embedder may do besides: a vector for each word piece of a text, in context."""

    @property
    def remote(self) -> str | None: ...

    def embed_tokens(
        self, texts: Sequence[str], *, kind: Literal["passage", "query"]
    ) -> Sequence[Vectors]:
        """For each text an array of shape (pieces, dimension), float32, its rows of length 1.

        A text without any piece has no rows.
        """
        ...


@record
class Calibration:
    """How a reranker's own score becomes the one shown, from 0 to 1: sigmoid(slope * s + offset).

    1 and 0 suit a model that gives logits; 1 / slope is its temperature. Platt, Probabilistic
    Outputs for Support Vector Machines, 1999.
    """

    slope: float = 1.0
    offset: float = 0.0


class Reranker(Protocol):
    """Reads query and passages together and scores each pair; higher is better.

    `calibration` is None for one whose scores are from 0 to 1 as they come, `remote` the address
    that text is sent to (None: it stays on this machine). One that reads only the beginning of a
    long passage may count, in an attribute `cut`, how many of the last call it read so.
    """

    @property
    def name(self) -> str: ...
    @property
    def remote(self) -> str | None: ...
    @property
    def calibration(self) -> Calibration | None: ...

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score for each text, in their order; no texts, no scores.

        Raises MalformedOutput where the model gave no scores that can be used: the order before
        then stands. Raises ModelUnavailable or ModelTimeout where it can't be asked.
        """
        ...


class Generator(Protocol):
    """Writes an answer from a prompt, piece by piece.

    `remote` is the address that text is sent to, None when it stays on this machine.
    """

    @property
    def name(self) -> str: ...
    @property
    def remote(self) -> str | None: ...

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The pieces of the answer in order; closing the iterator early stops the model.

        Raises ModelUnavailable, ModelTimeout or MalformedOutput.
        """
        ...


@record
class Window:
    """How many tokens a model holds: `context` for prompt and answer, `output` of it the answer."""

    context: int
    output: int

    @property
    def room(self) -> int:
        """The tokens that a prompt may have."""
        return self.context - self.output


@runtime_checkable
class Windowed(Protocol):
    """A generator with a language model, which holds only so much."""

    def find_window(self) -> Window | None:
        """What the model holds, None where nobody says; it may ask the endpoint."""
        ...
