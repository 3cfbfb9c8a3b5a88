"""How large an index gets, and which kind of it fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ibid.errors import BadSetting

LINK_BYTES: Final = 4
"""Bytes of one HNSW link, a 32-bit number."""

EXACT_PASSAGES: Final = 300_000
"""Passages up to which an exact scan is fast enough: some ten milliseconds for 768 numbers each."""

MACHINE_BYTES: Final = 16_000_000_000
"""Bytes of an index that one machine is taken to hold in memory."""


@dataclass(frozen=True, slots=True)
class IndexSize:
    """The size of an index; `link_bytes` is 0 where no graph is wanted."""

    passages: int
    vector_bytes: int
    link_bytes: int

    @property
    def total_bytes(self) -> int:
        """Vectors and links together."""
        return self.vector_bytes + self.link_bytes

    @property
    def advice(self) -> str:
        """Which index to use at this size."""
        if self.passages <= EXACT_PASSAGES:
            return "Exact search is fast enough; no approximate index is needed."
        size = f"{self.total_bytes / 1e9:.1f} GB"
        if self.total_bytes <= MACHINE_BYTES:
            return f"Use an approximate index; {size} fit into the memory of one machine."
        return (
            f"Use an approximate index: {size} are too much for exact search on one machine. "
            "Store them in PostgreSQL, or as int8 in a quarter of the room."
        )


def estimate_passages(documents: int, tokens: int, size: int, overlap: int) -> int:
    """About how many passages documents of so many tokens each make, rounded up.

    A passage adds size - overlap new tokens. The last passage of a document is mostly a short one,
    so that there really are up to one more for each document.

    Raises BadSetting unless 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise BadSetting(
            f"size {size} and overlap {overlap} make no passages",
            hint="the overlap must be at least 0 and smaller than the size",
        )
    return -(-documents * tokens // (size - overlap))


def size_index(
    passages: int, dimension: int, *, bytes_per_number: int = 4, hnsw_m: int = 0
) -> IndexSize:
    """The bytes of so many vectors and, where hnsw_m is given, of their graph.

    HNSW keeps 2 * M links of 4 bytes for a vector on its ground layer, by far the largest one.
    """
    return IndexSize(
        passages=passages,
        vector_bytes=passages * dimension * bytes_per_number,
        link_bytes=passages * 2 * hnsw_m * LINK_BYTES,
    )
