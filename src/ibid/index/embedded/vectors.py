"""Vectors on disk: immutable float16 segments of consecutive rows, mapped and searched.

A segment is never changed once it is written: faiss aborts the process when a mapped index is
added to. Small neighbours are merged as new ones come, up to a limit, so that their number grows
with the logarithm of the library and a merge never holds more than one full segment. Long ones
have clusters beside them, by which a search of a wide scope skips most of their rows.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from ibid.errors import Corrupt, EmbedderMismatch, LibraryError
from ibid.index.embedded.clusters import dump_clusters, keep_near_rows, load_clusters, make_clusters
from ibid.index.embedded.reads import REBUILD, Segment
from ibid.index.options import Approximation
from ibid.protocols import Scored

if TYPE_CHECKING:
    from ibid.protocols import Vectors

Codes: TypeAlias = NDArray[np.uint8]
"""Rows of float16 numbers as bytes, of shape (n, 2 d)."""

SEGMENT_ROWS: Final = 65_536
"""Rows beyond which a segment is merged no more: 50 MB at 384 dimensions."""

MERGE_FACTOR: Final = 2
"""A neighbour is taken into a new segment unless it is more than so many times as long."""

GATHERED_ROWS: Final = 512
"""So many allowed rows are gathered and multiplied; a scan of the segment costs less above that
(measured at 100,000 rows), and faiss need not be loaded below it."""

TIES: Final = 32
"""Hits read beyond the ones asked for, to see whether the last of them has equals."""

LOOKED_AT: Final = 20
"""Rows that an approximate search looks at, at the least, for each of the k it is to find."""

ROWS_AT_ONCE: Final = 4_096
"""Rows that are copied at a time."""

LENGTH_ERROR: Final = 0.02
"""By so much the length of a vector may differ from 1: float16 keeps three digits."""

_DIMENSION_AT: Final = 4
_ROWS_AT: Final = 8
"""Bytes of faiss's file at which the dimension and the number of rows stand, in four bytes and in
eight, the lowest first; the length of the codes stands in the eight bytes before them."""


class MappedSegment:
    """A segment's file, mapped: its pages are read when they are searched, and shared by processes.

    Raises FileNotFoundError for one that a merge has replaced, Corrupt for a damaged one.
    """

    def __init__(self, segment: Segment, folder: Path) -> None:
        self.segment = segment
        self._path = folder / segment.file
        # Before the vectors: a writer that replaces both removes the vectors first.
        self.clusters = (
            load_clusters(folder / segment.clusters, segment.rows) if segment.clusters else None
        )
        found = self._path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
            raise self._damaged()
        self._bytes = np.memmap(self._path, np.uint8, mode="r")
        self.dimension = dimension = int.from_bytes(
            self._bytes[_DIMENSION_AT : _DIMENSION_AT + 4].tobytes(), "little"
        )
        start = len(self._bytes) - segment.rows * dimension * 2
        if dimension == 0 or start < _DIMENSION_AT + 4:
            raise self._damaged()
        shape = (segment.rows, dimension)
        self.numbers = np.ndarray(shape, np.float16, buffer=self._bytes, offset=start)
        self.codes: Codes = self._bytes[start:].reshape(segment.rows, dimension * 2)

    def read(self, positions: NDArray[np.int64] | list[int]) -> Vectors:
        """The vectors at these positions of the segment, as float32."""
        return self.numbers[positions].astype(np.float32)

    @cached_property
    def index(self) -> Any:
        """The file as faiss maps it."""
        faiss = _load_faiss()
        try:
            return faiss.read_index(str(self._path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise self._damaged() from error

    def check_bytes(self) -> None:
        """Raise Corrupt unless the file holds what was written, as far as that was noted."""
        noted = self.segment.hash
        if noted is not None and blake3(self._bytes.data).hexdigest() != noted:
            raise self._damaged()

    def _damaged(self) -> Corrupt:
        return Corrupt(f"the vector file {self._path} is damaged", hint=REBUILD)


def _load_faiss() -> Any:
    import faiss  # noqa: PLC0415 - 30 ms that a small search doesn't need

    # A scan is bound by memory: a second thread brought nothing. It counts for the thread that
    # says it alone, and in all others the threads that help would spin while they wait.
    faiss.omp_set_num_threads(1)
    return faiss


# -- writing ------------------------------------------------------------------------------------


def choose_merge(segments: Sequence[Segment], first_row: int, new_rows: int) -> list[Segment]:
    """The last segments that a new one, of `new_rows` rows from `first_row` on, takes in."""
    merged: list[Segment] = []
    rows = new_rows
    for segment in reversed(segments):
        if segment.rows > rows * MERGE_FACTOR or segment.rows + rows > SEGMENT_ROWS:
            break
        if segment.end_row != first_row:  # a vacuum left a gap behind it
            break
        first_row = segment.first_row
        merged.append(segment)
        rows += segment.rows
    return merged[::-1]


def encode_rows(rows: Vectors) -> Codes:
    """The rows as faiss writes them: two bytes a number."""
    quantizer = _make_quantizer(rows.shape[1])
    codes: Codes = quantizer.sa_encode(np.ascontiguousarray(rows, dtype=np.float32))
    return codes


def write_segment(path: Path, parts: Sequence[Codes]) -> str:
    """The hash of the file: the codes of all parts, each of shape (n, 2 d), as one segment.

    The file is that of faiss for an index of these rows: what it writes of an empty index, with
    the number of rows and the length of the codes put in, and then the codes. So a merge copies
    mapped bytes and holds none of them. It is on the disk when this returns; LibraryError where
    that can't be.
    """
    rows, width = sum(len(part) for part in parts), parts[0].shape[1]
    empty = _load_faiss().serialize_index(_make_quantizer(width // 2)).tobytes()
    head = empty[:_ROWS_AT] + _pack(rows) + empty[_ROWS_AT + 8 : -8] + _pack(rows * width)
    copies = (
        np.ascontiguousarray(part[start : start + ROWS_AT_ONCE]).data
        for part in parts
        for start in range(0, len(part), ROWS_AT_ONCE)
    )
    return _write_whole(path, chain([head], copies))


def write_clusters(path: Path, mapped: MappedSegment, cluster_rows: int) -> str:
    """The hash of a file beside a segment, with the clusters of its rows. Raises LibraryError."""
    return _write_whole(path, [dump_clusters(make_clusters(mapped.numbers, cluster_rows))])


def _write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> str:
    """The hash of a file that is there whole or not at all, also after the power fails."""
    unfinished = path.with_suffix(".part")
    try:
        with unfinished.open("wb") as file:
            hasher = blake3()
            for part in parts:
                file.write(part)
                hasher.update(part)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise LibraryError(
            f"{path} can't be written ({error.strerror})",
            hint="look at the room on the disk and at the rights of the folder, then try again;"
            " nothing was changed",
        ) from error
    return hasher.hexdigest()


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _make_quantizer(dimension: int) -> Any:
    faiss = _load_faiss()
    return faiss.IndexScalarQuantizer(
        dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )


def _pack(number: int) -> bytes:
    return number.to_bytes(8, "little")


def check_dimension(held: int | None, given: int) -> None:
    """Raise EmbedderMismatch unless a vector has as many numbers as those that are held."""
    if held not in (None, given):
        raise EmbedderMismatch(
            f"the library holds vectors of {held} numbers, and this embedder gives {given}",
            hint="open it with the embedder it was made with, or sync into a new library",
        )


# -- checking -----------------------------------------------------------------------------------


def find_faults(mapped: MappedSegment, rows: Sequence[int]) -> list[str]:
    """What is wrong with the vectors of these rows, which are of length 1 or zero, in words."""
    positions = np.asarray(rows, np.int64) - mapped.segment.first_row
    wrong = 0
    for start in range(0, len(positions), ROWS_AT_ONCE):
        lengths = np.linalg.norm(mapped.read(positions[start : start + ROWS_AT_ONCE]), axis=1)
        whole = np.isfinite(lengths) & ((np.abs(lengths - 1) <= LENGTH_ERROR) | (lengths == 0))
        wrong += int(np.count_nonzero(~whole))
    return [f"holds {wrong} vectors that are no unit vectors"] if wrong else []


def has_whole_clusters(segment: Segment, folder: Path) -> bool:
    """Whether the file of a segment's clusters holds what was written, as far as that was noted."""
    path = folder / (segment.clusters or "")
    if load_clusters(path, segment.rows) is None:
        return False
    return segment.clusters_hash in (None, blake3(path.read_bytes()).hexdigest())


def read_rows(segments: Sequence[MappedSegment], rows: Sequence[int]) -> Vectors:
    """The vectors of these rows in their order, of shape (len(rows), d)."""
    wanted = np.asarray(rows, np.int64)
    found = np.zeros((len(rows), segments[0].dimension if segments else 0), np.float32)
    for mapped in segments:
        first_row, end_row = mapped.segment.first_row, mapped.segment.end_row
        inside = np.flatnonzero((wanted >= first_row) & (wanted < end_row))
        if len(inside):
            found[inside] = mapped.read(wanted[inside] - first_row)
    return found


# -- searching ----------------------------------------------------------------------------------


def search_segments(
    segments: Sequence[MappedSegment],
    vector: Vectors,
    k: int,
    allowed: NDArray[np.bool_],
    approximation: Approximation | None = None,
) -> list[Scored]:
    """The k allowed rows with the largest dot product, best first, equal ones in row order.

    With an approximation and a scope that is wide enough for it, the best of the rows near the
    query; k of them also then.

    Raises EmbedderMismatch for a vector of another dimension than the rows have.
    """
    query = np.ascontiguousarray(vector, dtype=np.float32)
    for mapped in segments:
        check_dimension(mapped.dimension, len(query))
    passing_all = int(np.count_nonzero(allowed))
    parts = [allowed[mapped.segment.first_row : mapped.segment.end_row] for mapped in segments]
    if approximation is not None and passing_all >= approximation.min_rows:
        wanted = max(int(passing_all * approximation.share), k * LOOKED_AT)
        parts = _narrow(segments, parts, query, wanted)
    search = _multiply_rows if passing_all <= GATHERED_ROWS else _scan
    all_scores, all_rows = [np.empty(0, np.float32)], [np.empty(0, np.int64)]
    for mapped, flags in zip(segments, parts, strict=True):
        passing = int(np.count_nonzero(flags))
        if passing:
            scores, positions = search(mapped, query, min(k, passing), flags, passing)
            all_scores.append(scores)
            all_rows.append(positions + mapped.segment.first_row)
    scores, rows = np.concatenate(all_scores), np.concatenate(all_rows)
    best = np.lexsort((rows, -scores))[:k]
    return [Scored(*pair) for pair in zip(rows[best].tolist(), scores[best].tolist(), strict=True)]


def _narrow(
    segments: Sequence[MappedSegment],
    parts: Sequence[NDArray[np.bool_]],
    query: Vectors,
    wanted: int,
) -> list[NDArray[np.bool_]]:
    """The flags of the rows near the query; of a segment without clusters, of all its rows."""
    narrowed = list(parts)
    chosen = [
        (place, mapped.clusters, _lengthen(part, mapped.segment.rows))
        for place, (mapped, part) in enumerate(zip(segments, parts, strict=True))
        if mapped.clusters is not None
    ]
    near = keep_near_rows(
        [some for _, some, _ in chosen], [own for *_, own in chosen], query, wanted
    )
    for (place, *_), own in zip(chosen, near, strict=True):
        narrowed[place] = own
    return narrowed


def _lengthen(flags: NDArray[np.bool_], rows: int) -> NDArray[np.bool_]:
    """The flags of a version that ends within a segment, with none set for the rows after it."""
    if len(flags) == rows:
        return flags
    return np.concatenate((flags, np.zeros(rows - len(flags), np.bool_)))


def _multiply_rows(
    mapped: MappedSegment, query: Vectors, k: int, flags: NDArray[np.bool_], passing: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """All allowed rows of one segment; each sum is formed alike, so that equal rows score alike."""
    positions = np.flatnonzero(flags)
    return np.einsum("nd,d->n", mapped.read(positions), query), positions


def _scan(
    mapped: MappedSegment, query: Vectors, k: int, flags: NDArray[np.bool_], passing: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The k best of one segment and everything that equals the last of them."""
    faiss, parameters = _load_faiss(), None
    if passing < mapped.segment.rows:
        bitmap = np.packbits(flags, bitorder="little")
        parameters = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bitmap))
    depth = min(k + TIES, passing)
    while True:
        scores, positions = mapped.index.search(query[None], depth, params=parameters)
        if depth == passing or scores[0, -1] < scores[0, k - 1]:
            kept = positions[0] >= 0
            return scores[0][kept], positions[0][kept]
        depth = min(depth * 4, passing)
