"""Clusters of a segment: they choose rows, are found again, and are never needed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibid.index.embedded.clusters import (
    dump_clusters,
    keep_near_rows,
    load_clusters,
    make_clusters,
)
from ibid.index.embedded.engine import EmbeddedIndex
from ibid.index.options import Approximation
from ibid.protocols import Scope
from ibid.testing.index_parts import ALL, EMBEDDER, analyze_words, commit, find_dense, put, turn

DIMENSION = 16

WIDE = Approximation(min_rows=200, share=0.2, cluster_rows=2)
"""Small enough that every segment of 128 rows has clusters."""


def make_numbers(count: int, *, sources: int = 40, seed: int = 0) -> NDArray[np.float16]:
    """Rows in crowds, as texts about so many matters have them."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((sources, DIMENSION))
    rows = centres[chance.integers(sources, size=count)]
    rows += 0.3 * chance.standard_normal(rows.shape)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows, np.float16)


def test_every_row_is_in_the_cluster_of_its_nearest_centre() -> None:
    numbers = make_numbers(3_000)
    clusters = make_clusters(numbers, 50)
    assert sorted(clusters.order.tolist()) == list(range(3_000))
    assert 2 <= len(clusters.starts) <= 60
    nearest = np.argmax(numbers.astype(np.float32) @ clusters.centres.T, axis=1)
    sizes = np.diff([*clusters.starts, 3_000])
    assert sizes.min() > 0
    assert np.array_equal(nearest[clusters.order], np.repeat(np.arange(len(sizes)), sizes))


def test_clusters_are_the_same_every_time() -> None:
    numbers = make_numbers(1_000)
    assert dump_clusters(make_clusters(numbers, 20)) == dump_clusters(make_clusters(numbers, 20))


@pytest.mark.parametrize(
    "numbers", [np.zeros((90, DIMENSION), np.float16), make_numbers(1), make_numbers(90, sources=1)]
)
def test_rows_that_do_not_differ_have_clusters_too(numbers: NDArray[np.float16]) -> None:
    clusters = make_clusters(numbers, 2)
    assert sorted(clusters.order.tolist()) == list(range(len(numbers)))


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 120), min_size=1, max_size=4),
    seed=st.integers(0, 99),
    passing=st.floats(0, 1),
    wanted=st.integers(1, 200),
)
def test_the_kept_rows_are_allowed_ones_and_as_many_as_wanted(
    sizes: list[int], seed: int, passing: float, wanted: int
) -> None:
    parts = [make_numbers(size, seed=seed + place) for place, size in enumerate(sizes)]
    clusters = [make_clusters(part, 8) for part in parts]
    chance = np.random.default_rng(seed)
    flags = [chance.random(size) < passing for size in sizes]
    query = parts[0][0].astype(np.float32)
    kept = keep_near_rows(clusters, flags, query, wanted)
    assert all(not (near & ~own).any() for near, own in zip(kept, flags, strict=True))
    total = sum(int(own.sum()) for own in flags)
    assert sum(int(near.sum()) for near in kept) >= min(wanted, total)


def test_a_narrow_look_finds_what_is_nearest() -> None:
    numbers = make_numbers(8_000)
    clusters = make_clusters(numbers, 32)
    found = 0
    for query in make_numbers(40, seed=5).astype(np.float32):
        (near,) = keep_near_rows([clusters], [np.ones(8_000, np.bool_)], query, 800)
        assert 800 <= near.sum() < 2_000
        scores = numbers.astype(np.float32) @ query
        found += int(near[np.argsort(-scores)[:10]].sum())
    assert found >= 0.98 * 40 * 10


def test_a_file_gives_back_the_clusters(tmp_path: Path) -> None:
    clusters = make_clusters(make_numbers(500), 10)
    path = tmp_path / "some.clusters"
    path.write_bytes(dump_clusters(clusters))
    again = load_clusters(path, 500)
    assert again is not None
    assert np.array_equal(again.centres, clusters.centres)
    assert np.array_equal(again.starts, clusters.starts)
    assert np.array_equal(again.order, clusters.order)


@pytest.mark.parametrize("harm", ["missing", "empty", "cut", "flipped", "other rows"])
def test_a_file_that_cannot_be_used_is_warned_of(
    tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "some.clusters"
    content = bytearray(dump_clusters(make_clusters(make_numbers(500), 10)))
    if harm == "flipped":
        content[len(content) // 2] ^= 1
    if harm != "missing":
        path.write_bytes(content[: {"empty": 0, "cut": 700}.get(harm, len(content))])
    with caplog.at_level(logging.WARNING, logger="ibid"):
        assert load_clusters(path, 501 if harm == "other rows" else 500) is None
    assert str(path) in caplog.text


# -- in a library -------------------------------------------------------------------------------


@pytest.fixture
def wide(tmp_path: Path) -> Iterator[EmbeddedIndex]:
    """A library of 400 passages in a full circle, in commits of a hundred, with clusters."""
    index = EmbeddedIndex(tmp_path / "library", analyze=analyze_words, approximation=WIDE)
    fill(index)
    yield index
    index.close()


def fill(index: EmbeddedIndex) -> None:
    for first in range(0, 400, 100):
        texts = [f"plan {number}" for number in range(first, first + 100)]
        angles = {text: number * 0.9 for number, text in enumerate(texts, first)}
        puts = [put(t, t, tags={"even": n % 2 == 0}) for n, t in enumerate(texts, first)]
        commit(index, *puts, turned=angles)


def list_clusters(folder: Path) -> list[Path]:
    return sorted((folder / "library" / "vectors").glob("*.clusters"))


def test_a_wide_search_finds_the_nearest(wide: EmbeddedIndex, tmp_path: Path) -> None:
    assert list_clusters(tmp_path)
    snapshot = wide.snapshot()
    assert set(find_dense(snapshot, turn(90), 3)) == {"plan 100", "plan 101", "plan 99"}
    assert len(snapshot.search_dense(turn(90), 400, ALL)) == 400
    even = Scope(filter="tag.even = true")
    assert set(find_dense(snapshot, turn(90), 3, even)) == {"plan 100", "plan 102", "plan 98"}


def test_every_version_is_searched_within_its_rows(wide: EmbeddedIndex) -> None:
    for version in range(1, 5):
        found = wide.snapshot(version).search_dense(turn(359), 400, ALL)
        assert sorted(one.row for one in found) == list(range(100 * version))


def test_clusters_come_with_the_rows_that_make_a_library_large(tmp_path: Path) -> None:
    small = EmbeddedIndex(
        tmp_path / "library", analyze=analyze_words, approximation=Approximation(min_rows=401)
    )
    fill(small)
    assert list_clusters(tmp_path) == []
    small.close()
    grown = EmbeddedIndex(tmp_path / "library", analyze=analyze_words, approximation=WIDE)
    commit(grown, put("one more", "one more"))
    assert list_clusters(tmp_path)
    grown.close()


def test_a_merge_leaves_no_file_of_what_it_took_in(wide: EmbeddedIndex, tmp_path: Path) -> None:
    commit(wide, *(put(f"new {n}", f"new {n}") for n in range(400)))
    commit(wide, put("last", "last"))
    names = {file.stem for file in (tmp_path / "library" / "vectors").glob("*.faiss")}
    clustered = {file.stem for file in list_clusters(tmp_path)}
    assert clustered
    assert clustered <= names


def test_a_purge_makes_the_clusters_anew(wide: EmbeddedIndex, tmp_path: Path) -> None:
    before = list_clusters(tmp_path)
    wide.purge(["plan 100"])
    after = list_clusters(tmp_path)
    assert after
    assert not set(before) & set(after)
    assert set(find_dense(wide.snapshot(), turn(90), 2)) == {"plan 101", "plan 99"}


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_a_library_without_its_clusters_finds_all_the_same(
    wide: EmbeddedIndex, tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = find_dense(wide.snapshot(), turn(200), 20)
    wide.close()
    for file in list_clusters(tmp_path):
        file.unlink() if harm == "missing" else file.write_bytes(b"nothing")
    again = EmbeddedIndex(tmp_path / "library", analyze=analyze_words, approximation=WIDE)
    assert find_dense(again.snapshot(), turn(200), 20) == expected
    assert "can't be used" in caplog.text
    again.close()


def test_damaged_clusters_are_told_and_made_anew(wide: EmbeddedIndex, tmp_path: Path) -> None:
    assert wide.check() == []
    damaged, *_ = list_clusters(tmp_path)
    damaged.write_bytes(b"nothing")
    assert [(problem.where, problem.repairable) for problem in wide.check()] == [
        (damaged.name, True)
    ]
    wide.repair(lambda texts: EMBEDDER.embed(texts, kind="passage"))
    assert wide.check() == []
    assert damaged not in list_clusters(tmp_path)
    commit(wide, put("one more", "one more"))
    assert damaged.stat().st_size > 100


def test_what_a_crash_left_is_cleared(wide: EmbeddedIndex, tmp_path: Path) -> None:
    left = tmp_path / "library" / "vectors" / "400-500-v9.clusters"
    left.write_bytes(b"half")
    kept = list_clusters(tmp_path)
    kept.remove(left)
    with wide.writing():
        pass
    assert list_clusters(tmp_path) == kept
