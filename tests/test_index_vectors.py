"""Segments of vectors: what is written is what is read and searched, however it is merged."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibid.errors import Corrupt, EmbedderMismatch
from ibid.index.embedded.reads import Segment
from ibid.index.embedded.vectors import (
    GATHERED_ROWS,
    SEGMENT_ROWS,
    MappedSegment,
    choose_merge,
    encode_rows,
    search_segments,
    write_segment,
)
from ibid.protocols import Scored

DIMENSION = 24


def make_rows(count: int, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def map_rows(folder: Path, sizes: list[int], rows: NDArray[np.float32]) -> list[MappedSegment]:
    """The rows in segments of these sizes."""
    mapped, first = [], 0
    for size in sizes:
        segment = Segment(f"{first}.faiss", first, size)
        write_segment(folder / segment.file, [encode_rows(rows[first : first + size])])
        mapped.append(MappedSegment(segment, folder))
        first += size
    return mapped


def search_by_hand(
    rows: NDArray[np.float32], query: NDArray[np.float32], k: int, allowed: NDArray[np.bool_]
) -> list[int]:
    scores = rows.astype(np.float16).astype(np.float64) @ query.astype(np.float64)
    order = sorted(np.flatnonzero(allowed).tolist(), key=lambda row: (-scores[row], row))
    return order[:k]


@pytest.mark.parametrize("passing", [1, 40, GATHERED_ROWS, GATHERED_ROWS + 1, 2_000])
def test_a_search_finds_what_a_look_at_every_row_finds(tmp_path: Path, passing: int) -> None:
    rows = make_rows(2_000)
    mapped = map_rows(tmp_path, [1_000, 700, 300], rows)
    allowed = np.zeros(len(rows), np.bool_)
    allowed[np.random.default_rng(passing).choice(len(rows), passing, replace=False)] = True
    for query in make_rows(5, seed=7):
        found = search_segments(mapped, query, 30, allowed)
        assert [one.row for one in found] == search_by_hand(rows, query, 30, allowed)
        assert [one.score for one in found] == sorted((o.score for o in found), reverse=True)


@pytest.mark.parametrize("count", [100, 2_000])
def test_equal_rows_come_in_their_order_also_across_the_cut(tmp_path: Path, count: int) -> None:
    rows = np.tile(make_rows(1), (count, 1))
    mapped = map_rows(tmp_path, [count // 2, count // 2], rows)
    found = search_segments(mapped, rows[0], 10, np.ones(count, np.bool_))
    assert [one.row for one in found] == list(range(10))


def test_a_merge_copies_the_rows_as_they_are(tmp_path: Path) -> None:
    rows = make_rows(9_000)
    parts = map_rows(tmp_path, [5_000, 3_000], rows)
    new = encode_rows(rows[8_000:])
    whole = Segment("whole.faiss", 0, 9_000)
    write_segment(tmp_path / whole.file, [*(part.codes for part in parts), new])
    merged = MappedSegment(whole, tmp_path)
    assert np.array_equal(merged.codes, encode_rows(rows))
    assert merged.index.ntotal == 9_000
    assert np.allclose(merged.read([0, 8_999]), rows[[0, 8_999]], atol=1e-3)
    query = make_rows(1, seed=3)[0]
    allowed = np.ones(9_000, np.bool_)
    assert [one.row for one in search_segments([merged], query, 20, allowed)] == search_by_hand(
        rows, query, 20, allowed
    )


def test_a_zero_row_scores_zero(tmp_path: Path) -> None:
    rows = np.zeros((1, DIMENSION), np.float32)
    mapped = map_rows(tmp_path, [1], rows)
    found = search_segments(mapped, make_rows(1)[0], 3, np.ones(1, np.bool_))
    assert found == [Scored(0, 0.0)]


def test_a_query_of_another_dimension_is_refused(tmp_path: Path) -> None:
    mapped = map_rows(tmp_path, [3], make_rows(3))
    with pytest.raises(EmbedderMismatch, match="24 numbers"):
        search_segments(mapped, np.ones(7, np.float32), 3, np.ones(3, np.bool_))


def test_a_truncated_file_is_corrupt(tmp_path: Path) -> None:
    (mapped,) = map_rows(tmp_path, [50], make_rows(50))
    path = tmp_path / mapped.segment.file
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(Corrupt, match="damaged"):
        MappedSegment(mapped.segment, tmp_path)


@settings(max_examples=50)
@given(st.lists(st.integers(1, SEGMENT_ROWS), min_size=1, max_size=60))
def test_segments_stay_few_and_within_their_limit(commits: list[int]) -> None:
    segments: list[Segment] = []
    for new in commits:
        merged = choose_merge(segments, segments[-1].end_row if segments else 0, new)
        rows = new + sum(segment.rows for segment in merged)
        assert rows <= max(SEGMENT_ROWS, new)
        first = merged[0].first_row if merged else (segments[-1].end_row if segments else 0)
        segments = [*segments[: len(segments) - len(merged)], Segment("", first, rows)]
    assert all(a.end_row == b.first_row for a, b in itertools.pairwise(segments))
    small = [segment for segment in segments if segment.rows <= SEGMENT_ROWS // 4]
    assert len(small) <= 17 + len([s for s in segments if s.rows > SEGMENT_ROWS // 4])
