"""Vectors on disk: immutable float16 segments of consecutive rows, mapped and searched exactly.

A segment is never changed once it is written: faiss aborts the process when a mapped index is
added to. Small neighbours are merged as new ones come, up to a limit, so that their number grows
with the logarithm of the library and a merge never holds more than one full segment.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import faiss
import numpy as np
from numpy.typing import NDArray

from ibid.errors import Corrupt
from ibid.protocols import Scored

if TYPE_CHECKING:
    from ibid.protocols import Vectors

SEGMENT_ROWS: Final = 65_536
"""Rows beyond which a segment is merged no more: 50 MB at 384 dimensions."""

MERGE_FACTOR: Final = 2
"""A neighbour is taken into a new segment unless it is more than so many times as long."""

TIES: Final = 32
"""Hits read beyond the ones asked for, to see whether the last of them has equals."""

faiss.omp_set_num_threads(
    1
)  # a scan is bound by memory: a second thread was measured to bring nothing


@dataclass(frozen=True, slots=True)
class Segment:
    """A vector file and the rows that it holds."""

    file: str
    first_row: int
    rows: int

    @property
    def end_row(self) -> int:
        """The row after its last one."""
        return self.first_row + self.rows


def choose_merge(segments: Sequence[Segment], new_rows: int) -> list[Segment]:
    """The last segments that a new one of `new_rows` rows takes in, in the order of rows."""
    merged: list[Segment] = []
    rows = new_rows
    for segment in reversed(segments):
        if segment.rows > rows * MERGE_FACTOR or segment.rows + rows > SEGMENT_ROWS:
            break
        merged.append(segment)
        rows += segment.rows
    return merged[::-1]


def write_segment(path: Path, parts: Sequence[Vectors]) -> None:
    """Write the rows of all parts, each of shape (n, d), as one segment, down to the disk."""
    dimension = parts[0].shape[1]
    index = faiss.IndexScalarQuantizer(
        dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    for part in parts:
        index.add(np.ascontiguousarray(part, dtype=np.float32))
    unfinished = path.with_suffix(".part")
    faiss.write_index(index, str(unfinished))
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def map_segment(path: Path) -> faiss.Index:
    """The segment, mapped: its pages are read when they are searched, and shared by processes.

    Raises FileNotFoundError for one that a merge has replaced, Corrupt for a damaged one.
    """
    if not path.exists():
        raise FileNotFoundError(path)
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise Corrupt(
            f"the vector file {path} is damaged", hint="run `ibid verify --repair`"
        ) from error


def read_rows(index: faiss.Index, first: int, count: int) -> Vectors:
    """The vectors from position `first` of a segment on, of shape (count, d)."""
    rows: Vectors = index.reconstruct_n(first, count)
    return rows


def search_segments(
    segments: Sequence[tuple[Segment, faiss.Index]],
    vector: Vectors,
    k: int,
    allowed: NDArray[np.bool_],
) -> list[Scored]:
    """The k allowed rows with the largest dot product, best first, equal ones in row order."""
    found: list[tuple[float, int]] = []
    query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
    for segment, index in segments:
        flags = allowed[segment.first_row : segment.end_row]
        passing = int(np.count_nonzero(flags))
        if passing:
            scores, positions = _search_one(index, query, min(k, passing), flags, passing)
            found.extend(
                zip((-scores).tolist(), (positions + segment.first_row).tolist(), strict=True)
            )
    found.sort()
    return [Scored(row, -negative) for negative, row in found[:k]]


def _search_one(
    index: faiss.Index, query: Vectors, k: int, flags: NDArray[np.bool_], passing: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The k best of one segment and everything that equals the last of them."""
    parameters = None
    if passing < index.ntotal:
        bitmap = np.packbits(flags, bitorder="little")
        parameters = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bitmap))
    depth = min(k + TIES, passing)
    while True:
        scores, positions = index.search(query, depth, params=parameters)
        if depth == passing or scores[0, -1] < scores[0, k - 1]:
            kept = positions[0] >= 0
            return scores[0][kept], positions[0][kept]
        depth = min(depth * 4, passing)
