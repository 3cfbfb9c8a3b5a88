"""Vector files and their clusters are known by the hash of what was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from blake3 import blake3

import ibid
from ibid.index.embedded import vectors
from ibid.index.embedded.reads import Segment


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    """A segment of 300 rows with clusters, on disk, with the hashes of both files."""
    rows = np.random.default_rng(1).normal(size=(300, 8)).astype(np.float32)
    codes = vectors.encode_rows(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    hash = vectors.write_segment(tmp_path / "a.faiss", [codes[:100], codes[100:]])
    plain = Segment("a.faiss", 0, 300, hash=hash)
    clusters_hash = vectors.write_clusters(
        tmp_path / "a.clusters", vectors.MappedSegment(plain, tmp_path), 50
    )
    return replace(plain, clusters="a.clusters", clusters_hash=clusters_hash)


def test_the_hash_is_that_of_the_bytes_on_disk(tmp_path: Path, segment: Segment) -> None:
    assert segment.hash == blake3((tmp_path / "a.faiss").read_bytes()).hexdigest()
    assert segment.clusters_hash == blake3((tmp_path / "a.clusters").read_bytes()).hexdigest()
    vectors.MappedSegment(segment, tmp_path).check_bytes()
    assert vectors.has_whole_clusters(segment, tmp_path)


@pytest.mark.parametrize("place", [0, 40, -1])
def test_any_byte_counts(tmp_path: Path, segment: Segment, place: int) -> None:
    mapped = vectors.MappedSegment(segment, tmp_path)
    data = bytearray((tmp_path / "a.faiss").read_bytes())
    data[place] ^= 1
    (tmp_path / "a.faiss").write_bytes(data)
    with pytest.raises(ibid.Corrupt, match=r"a\.faiss.*--repair"):
        mapped.check_bytes()


def test_sound_clusters_of_something_else_are_told(tmp_path: Path, segment: Segment) -> None:
    mapped = vectors.MappedSegment(segment, tmp_path)
    vectors.write_clusters(tmp_path / "a.clusters", mapped, 20)
    assert not vectors.has_whole_clusters(segment, tmp_path)


def test_what_was_written_before_hashes_were_is_taken_as_it_is(
    tmp_path: Path, segment: Segment
) -> None:
    older = replace(segment, hash=None, clusters_hash=None)
    vectors.MappedSegment(older, tmp_path).check_bytes()
    assert vectors.has_whole_clusters(older, tmp_path)
