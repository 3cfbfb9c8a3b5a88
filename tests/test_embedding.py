"""Vectors, functions as embedders, batches, and the words of an unknown tokenizer."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ibid.embedding.functions import FunctionEmbedder
from ibid.embedding.inference import TOKENS_PER_BATCH, plan_batches
from ibid.embedding.remote import RemoteEmbedder
from ibid.embedding.vectors import count_truncated, normalize_rows
from ibid.embedding.words import WordTokenizer
from ibid.errors import MalformedOutput
from ibid.wire import Wire


def embed_toy(texts: list[str]) -> list[list[float]]:
    table = {"ab": [2.0, 0, 0], "b": [1.0, 1, 0], "c": [0, 0, 1.0], "none": [0.0, 0, 0]}
    return [table[text] for text in texts]


def test_rows_have_length_one_and_zero_stays_zero() -> None:
    embedder = FunctionEmbedder(embed_toy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors = embedder.embed(["ab", "b", "c", "none"], kind="passage")
    np.testing.assert_allclose(vectors @ vectors[0], [1.0, 0.7071, 0.0, 0.0], atol=1e-4)
    assert vectors.dtype == np.float32
    assert not vectors[3].any()


def test_a_function_is_named_and_measured() -> None:
    embedder = FunctionEmbedder(embed_toy)
    assert embedder.name == f"{__name__}.embed_toy"
    assert embedder.dimension is None
    assert embedder.embed([], kind="query").shape == (0, 0)
    embedder.embed(["c"], kind="query")
    assert embedder.dimension == 3
    assert embedder.embed([], kind="query").shape == (0, 3)
    assert FunctionEmbedder(functools.partial(embed_toy)).name == "functools.partial"
    assert FunctionEmbedder(embed_toy, name="toy").name == "toy"


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ([[1.0, 0, 0]], "shape (1, 3) where (2, 3)"),
        ([1.0, 0], "shape (2,) where (2, 3)"),
        ([[1.0], [2.0]], "shape (2, 1) where (2, 3)"),
        ([[1.0, 0, 0], [np.nan, 0, 0]], "not finite for text 2 of 2"),
        ([["a", 0, 0], [1, 0, 0]], "no array of numbers"),
        ([[1.0, 0, 0], [1.0]], "no array of numbers"),
        (None, "shape () where (2, 3)"),
    ],
)
def test_what_is_no_embedding_is_malformed(returned: Any, words: str) -> None:
    answers = iter([[[1.0, 0, 0]], returned])
    embedder = FunctionEmbedder(lambda texts: next(answers), name="broken")
    embedder.embed(["first"], kind="passage")
    with pytest.raises(MalformedOutput, match="broken returned") as caught:
        embedder.embed(["a", "b"], kind="passage")
    assert words in str(caught.value)


@given(
    arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2),
        elements=st.floats(-1e300, 1e300, allow_subnormal=True),
    )
)
def test_every_row_becomes_a_unit_or_stays_zero(rows: Any) -> None:
    lengths = np.linalg.norm(normalize_rows(rows).astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, np.where(rows.any(axis=1), 1.0, 0.0), atol=1e-5)


@given(st.lists(st.integers(1, 600), max_size=200))
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int]) -> None:
    batches = list(plan_batches(lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        cost = max(lengths[index] for index in batch) * len(batch)
        assert cost <= TOKENS_PER_BATCH or len(batch) == 1


def test_words_marks_and_cjk_are_pieces() -> None:
    text = "E-4012: naïve 育児休暇 internationalisation"
    (spans,) = WordTokenizer().spans([text])
    pieces = [text[start:end] for start, end in spans]
    expected = ["E", "-", "4012", ":", "naïve", *"育児休暇", "internat", "ionalisa", "tion"]
    assert pieces == expected


@given(st.text())
def test_pieces_cover_all_but_white_space(text: str) -> None:
    (spans,) = WordTokenizer().spans([text])
    covered = {at for start, end in spans for at in range(start, end)}
    assert covered == {at for at, character in enumerate(text) if not character.isspace()}


def test_texts_beyond_the_limit_are_counted() -> None:
    narrow = RemoteEmbedder(Wire("http://localhost"), "m", max_tokens=3)
    texts = ["one two three", "one two three four", ""]
    assert count_truncated(narrow, texts) == 1
    assert count_truncated(FunctionEmbedder(embed_toy), texts) == 0
