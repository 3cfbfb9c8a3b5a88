"""A commit, inside its transaction: rows, then vectors, then postings; the caller publishes.

Vectors and postings are on disk before the transaction commits, and only that makes them seen.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ibid.errors import Corrupt
from ibid.index.embedded import reads, vectors, writes
from ibid.index.embedded.reads import REBUILD, Segment
from ibid.index.embedded.transaction import Applied, apply_changes
from ibid.index.options import Approximation
from ibid.protocols import Change, FileState, Manifest

if TYPE_CHECKING:
    from ibid.protocols import Vectors


def remember_files(
    connection: sqlite3.Connection,
    source: str,
    files: Iterable[FileState],
    forgotten: Iterable[str],
) -> None:
    """Write what a source knows of its files, and forget those that it has no more."""
    writes.write_files(connection, source, files)
    writes.forget_files(connection, source, forgotten)


def commit_changes(
    connection: sqlite3.Connection,
    changes: Sequence[Change],
    new: Mapping[bytes, Vectors],
    *,
    manifest: Manifest | None,
    folder: Path,
    add_postings: Callable[[list[tuple[int, int, str]]], None],
    approximation: Approximation,
) -> tuple[int, list[Path]]:
    """The new version, and the files in `folder` that it has no more use for, vectors first."""
    applied = apply_changes(connection, changes)
    if manifest is not None and reads.read_manifest(connection) is None:
        writes.write_manifest(connection, manifest)
    replaced = _write_vectors(connection, applied, new, folder) if applied.text_hashes else []
    cluster_segments(connection, folder, approximation)
    if applied.postings:
        add_postings(applied.postings)
    writes.publish(connection, applied.version, applied.next_row)
    files = [segment.file for segment in replaced]
    files += [segment.clusters for segment in replaced if segment.clusters is not None]
    return applied.version, [folder / file for file in files]


def _write_vectors(
    connection: sqlite3.Connection,
    applied: Applied,
    new: Mapping[bytes, Vectors],
    folder: Path,
) -> list[Segment]:
    """Write the new rows, with the small segments before them, as one; those it replaces."""
    rows = np.stack([new[text_hash] for text_hash in applied.text_hashes])
    made = reads.read_manifest(connection)
    vectors.check_dimension(made.dimension if made is not None else None, rows.shape[1])
    merged = vectors.choose_merge(reads.read_segments(connection), applied.first_row, len(rows))
    parts = [read_codes(segment, folder) for segment in merged]
    first_row = merged[0].first_row if merged else applied.first_row
    name = f"{first_row}-{applied.next_row}-v{applied.version}.faiss"
    hash = vectors.write_segment(folder / name, [*parts, vectors.encode_rows(rows)])
    segment = Segment(name, first_row, applied.next_row - first_row, hash=hash)
    writes.replace_segments(connection, merged, [segment])
    return merged


def read_codes(segment: Segment, folder: Path) -> vectors.Codes:
    """The codes of a segment that is to be copied; damage is Corrupt, and not copied on."""
    try:
        mapped = vectors.MappedSegment(segment, folder)
    except FileNotFoundError as error:
        raise Corrupt(f"{error.filename} is missing", hint=REBUILD) from error
    mapped.check_bytes()
    return mapped.codes


def cluster_segments(
    connection: sqlite3.Connection, folder: Path, approximation: Approximation
) -> None:
    """Write the clusters of every long segment without any, where the library is large enough."""
    segments = reads.read_segments(connection)
    if sum(segment.rows for segment in segments) < approximation.min_rows:
        return
    for segment in segments:
        if segment.clusters is None and segment.rows >= approximation.least_rows:
            path = (folder / segment.file).with_suffix(".clusters")
            mapped = vectors.MappedSegment(segment, folder)
            hash = vectors.write_clusters(path, mapped, approximation.cluster_rows)
            writes.set_clusters(connection, segment, path.name, hash)
