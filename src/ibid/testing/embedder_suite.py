"""What every embedder must do: subclass EmbedderSuite and give a fixture `embedder`."""

from __future__ import annotations

from typing import Final

import numpy as np

from ibid.protocols import Embedder

TEXTS: Final = (
    "The refund is paid within 14 days of a renewal.",
    "Short.",
    "Elternzeit: Beschäftigte erhalten 26 Wochen. 育児休暇は二十六週間です。 إجازة الوالدين 👩‍👧",
    "E-4012 " * 40,
    "line one\nline two\ttabbed\u2028separated",
)
TOLERANCE: Final = 1e-3
"""A remote or low-precision model rounds differently in another batch; this is far below the
distance between two texts."""


class EmbedderSuite:
    """Tests of the Embedder protocol; a test module's subclass gives the fixture `embedder`."""

    def test_one_float32_unit_row_for_each_text(self, embedder: Embedder) -> None:
        """The shape, type and length of the rows are as promised."""
        vectors = embedder.embed(TEXTS, kind="passage")
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(TEXTS), embedder.dimension)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)

    def test_an_empty_list_gives_no_rows(self, embedder: Embedder) -> None:
        """No text is no error, before the first call and after it."""
        for _ in range(2):
            vectors = embedder.embed([], kind="passage")
            assert vectors.dtype == np.float32
            assert vectors.ndim == 2
            assert len(vectors) == 0
            embedder.embed(["one"], kind="query")
        assert embedder.embed([], kind="query").shape == (0, embedder.dimension)

    def test_the_batch_does_not_matter(self, embedder: Embedder) -> None:
        """A text has the same vector alone, among others, in any order and when it repeats."""
        together = embedder.embed(TEXTS, kind="passage")
        backward = embedder.embed([*reversed(TEXTS), *TEXTS], kind="passage")
        alone = np.concatenate([embedder.embed([text], kind="passage") for text in TEXTS])
        np.testing.assert_allclose(alone, together, atol=TOLERANCE)
        np.testing.assert_allclose(backward[: len(TEXTS)][::-1], together, atol=TOLERANCE)
        np.testing.assert_allclose(backward[len(TEXTS) :], together, atol=TOLERANCE)

    def test_a_text_is_nearest_to_itself(self, embedder: Embedder) -> None:
        """The dot product is the likeness, and nothing is liker than the same text."""
        vectors = embedder.embed(TEXTS, kind="passage")
        assert (np.argmax(vectors @ vectors.T, axis=1) == np.arange(len(TEXTS))).all()

    def test_odd_texts_have_finite_vectors(self, embedder: Embedder) -> None:
        """No text, white space, control characters and a very long text break nothing."""
        odd = ["", " \n\t", "\x00\x07", "word " * 20_000, "x" * 50_000]
        vectors = embedder.embed(odd, kind="passage")
        assert np.isfinite(vectors).all()
        lengths = np.linalg.norm(vectors, axis=1)
        assert (np.isclose(lengths, 1.0, atol=1e-4) | (lengths == 0)).all()

    def test_queries_have_the_dimension_of_passages(self, embedder: Embedder) -> None:
        """Both kinds can be compared."""
        query = embedder.embed(TEXTS[:1], kind="query")
        assert query.shape == embedder.embed(TEXTS[:1], kind="passage").shape

    def test_pieces_lie_in_the_text_in_order(self, embedder: Embedder) -> None:
        """The tokenizer's ranges ascend, stay within the text and hold every letter of a word."""
        for text, pieces in zip(TEXTS, embedder.tokenizer.spans(TEXTS), strict=True):
            starts = [start for start, _ in pieces]
            assert starts == sorted(starts)
            assert all(0 <= start <= end <= len(text) for start, end in pieces)
        (pieces,) = embedder.tokenizer.spans(["refund within 14 days"])
        assert {at for start, end in pieces for at in range(start, end)} == set(range(21)) - {
            6,
            13,
            16,
        }
        assert embedder.tokenizer.spans([""]) == [[]]
        assert embedder.tokenizer.spans([]) == []

    def test_it_says_what_it_is(self, embedder: Embedder) -> None:
        """Name, limit and dimension are known, and stay."""
        embedder.embed(["one"], kind="passage")
        assert embedder.name
        assert embedder.dimension is not None
        assert embedder.dimension > 0
        assert embedder.max_tokens is None or embedder.max_tokens > 0
