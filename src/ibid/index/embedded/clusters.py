"""Clusters of the rows of a segment: a wide search looks at those near its query only.

A file beside the segment holds the centres of its clusters and its rows in their order; the vectors
stay where they are. So clusters only choose rows: what is looked at is scored exactly, a filter
holds as ever, and where the file is missing or damaged every row is looked at.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ibid.record import record

if TYPE_CHECKING:
    from ibid.protocols import Vectors

SAMPLED_ROWS: Final = 64
"""Rows for each cluster that the centres are found from."""

ROUNDS: Final = 8
"""Rounds of k-means; more moved recall by less than a thousandth."""

ROWS_AT_ONCE: Final = 4_096
"""Rows that are compared with the centres at a time."""

_MARK: Final = b"ibid-c1\n"
_SUM_BYTES: Final = 4
_HEAD: Final = np.dtype([("clusters", "<u4"), ("dimension", "<u4"), ("rows", "<u4")])


@record
class Clusters:
    """The centres, of shape (c, d), and the positions of the rows, those of a cluster together.

    Those of cluster n begin at `starts[n]`; there is no empty one.
    """

    centres: Vectors
    starts: NDArray[np.int64]
    order: NDArray[np.uint32]

    def count(self, flags: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The number of flagged rows of each cluster."""
        if flags.all():
            return np.diff(self.starts, append=len(self.order))
        return np.add.reduceat(flags[self.order], self.starts, dtype=np.int64)

    def keep(self, flags: NDArray[np.bool_], chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The flags of the rows in the chosen clusters, and none of the others."""
        kept = np.zeros_like(flags)
        if len(chosen):
            starts = self.starts[chosen].tolist()
            ends = np.append(self.starts, len(self.order))[chosen + 1].tolist()
            near = np.concatenate([self.order[a:b] for a, b in zip(starts, ends, strict=True)])
            kept[near] = flags[near]
        return kept


# -- searching ----------------------------------------------------------------------------------


def keep_near_rows(
    clusters: Sequence[Clusters],
    flags: Sequence[NDArray[np.bool_]],
    query: Vectors,
    wanted: int,
) -> list[NDArray[np.bool_]]:
    """The flags of the rows in the clusters nearest to the query, for each of the segments.

    They are taken from all segments together, until they hold `wanted` flagged rows.
    """
    if not clusters:
        return []
    nearness = np.concatenate([some.centres @ query for some in clusters])
    held = np.concatenate([some.count(own) for some, own in zip(clusters, flags, strict=True)])
    nearest = np.argsort(-nearness, kind="stable")
    enough = int(np.searchsorted(np.cumsum(held[nearest]), wanted)) + 1
    chosen = np.zeros(len(nearness), np.bool_)
    chosen[nearest[:enough]] = True
    ends = np.cumsum([len(some.starts) for some in clusters])
    parts = np.split(chosen & (held > 0), ends[:-1])
    return [
        some.keep(own, np.flatnonzero(part))
        for some, own, part in zip(clusters, flags, parts, strict=True)
    ]


# -- making -------------------------------------------------------------------------------------


def make_clusters(numbers: NDArray[np.float16], cluster_rows: int) -> Clusters:
    """The clusters of these rows, so many rows in each on average; the same ones every time.

    Spherical k-means over a part of the rows, spread evenly; then every row goes to the centre
    with the largest dot product.
    """
    import faiss  # noqa: PLC0415 - loaded by whoever writes much

    count = max(len(numbers) // cluster_rows, 1)
    places = np.linspace(0, len(numbers) - 1, min(count * SAMPLED_ROWS, len(numbers)))
    means = faiss.Kmeans(
        numbers.shape[1],
        count,
        niter=ROUNDS,
        spherical=True,
        seed=1,
        max_points_per_centroid=SAMPLED_ROWS,
        min_points_per_centroid=1,
    )
    means.train(numbers[places.astype(np.int64)].astype(np.float32))
    centres = means.centroids.astype(np.float16)
    nearest = _find_nearest(numbers, centres.astype(np.float32))
    used, starts = np.unique(np.sort(nearest), return_index=True)
    order = np.argsort(nearest, kind="stable").astype(np.uint32)
    return Clusters(centres[used].astype(np.float32), starts.astype(np.int64), order)


def _find_nearest(numbers: NDArray[np.float16], centres: Vectors) -> NDArray[np.int64]:
    parts: list[Any] = [
        np.argmax(numbers[start : start + ROWS_AT_ONCE].astype(np.float32) @ centres.T, axis=1)
        for start in range(0, len(numbers), ROWS_AT_ONCE)
    ]
    return np.concatenate(parts)


# -- the file -----------------------------------------------------------------------------------


def dump_clusters(clusters: Clusters) -> bytes:
    """The bytes of a file: a mark, a sum over the rest, sizes, centres as float16, rows."""
    count, dimension = clusters.centres.shape
    head = np.array((count, dimension, len(clusters.order)), _HEAD)
    body = b"".join(
        (
            head.tobytes(),
            clusters.centres.astype("<f2").tobytes(),
            clusters.starts.astype("<u4").tobytes(),
            clusters.order.astype("<u4").tobytes(),
        )
    )
    return _MARK + zlib.crc32(body).to_bytes(_SUM_BYTES, "little") + body


def load_clusters(path: Path, rows: int) -> Clusters | None:
    """The clusters in the file of so many rows; None, with a warning, where it can't be used."""
    try:
        return _parse(path.read_bytes(), rows)
    except (OSError, ValueError) as error:
        import logging  # noqa: PLC0415 - seldom needed

        logging.getLogger("ibid").warning(
            "%s can't be used (%s): its vectors are all looked at, which takes longer", path, error
        )
        return None


def _parse(content: bytes, rows: int) -> Clusters:
    """What `dump_clusters` wrote. Raises ValueError for anything else."""
    body = content[len(_MARK) + _SUM_BYTES :]
    checksum = int.from_bytes(content[len(_MARK) : len(_MARK) + _SUM_BYTES], "little")
    if not content.startswith(_MARK) or zlib.crc32(body) != checksum:
        raise ValueError("damaged")
    head = np.frombuffer(body, _HEAD, 1)[0]
    if head["rows"] != rows:
        raise ValueError("of another segment")
    count, dimension = int(head["clusters"]), int(head["dimension"])
    numbers = np.frombuffer(body, "<f2", count * dimension, offset=_HEAD.itemsize)
    places = np.frombuffer(body, "<u4", offset=_HEAD.itemsize + numbers.nbytes)
    centres = numbers.reshape(count, dimension).astype(np.float32)
    return Clusters(centres, places[:count].astype(np.int64), places[count:])
