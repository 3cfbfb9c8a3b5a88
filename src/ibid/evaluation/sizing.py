"""How large an index gets, and which kind of it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ibid.errors import BadSetting

LINK_BYTES: Final = 4
"""Bytes of one HNSW link, a 32-bit number."""

NUMBER_BYTES: Final[Mapping[str, int]] = MappingProxyType({"float32": 4, "float16": 2, "int8": 1})
"""Bytes of one number of a vector, by the form it is kept in."""

EXACT_PASSAGES: Final = 300_000
"""Passages up to which an exact scan is fast enough: some ten milliseconds for 768 numbers each."""

MACHINE_BYTES: Final = 16_000_000_000
"""Bytes of an index that one machine is taken to hold in memory."""

CLUSTER_BYTES: Final = 10
"""Bytes that ibid's own approximate index takes for a passage beside its vector."""


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
    def is_exact(self) -> bool:
        """Whether exact search is enough."""
        return self.passages <= EXACT_PASSAGES

    @property
    def advice(self) -> str:
        """Which index to use at this size."""
        if self.is_exact:
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


def read_overlap(written: str, size: int) -> int:
    """The tokens that an overlap stands for: `60`, or `15%` of the size, to the nearest whole.

    Raises BadSetting for anything else.
    """
    number, percent, rest = written.strip().partition("%")
    try:
        if rest:
            raise ValueError(rest)
        return round(float(number) * size / 100) if percent else int(number)
    except (ValueError, OverflowError) as error:
        raise BadSetting(
            f"the overlap {written!r} is no number", hint="write 60, or 15% of the size"
        ) from error


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


def size_vectors(passages: int, dimension: int) -> dict[str, int]:
    """The bytes of so many vectors in each form they may be kept in."""
    return {name: passages * dimension * width for name, width in NUMBER_BYTES.items()}


def size_embedded(passages: int, dimension: int) -> int:
    """The bytes that the vectors take in ibid's own folder: float16, with clusters where many."""
    beside = CLUSTER_BYTES if passages > EXACT_PASSAGES else 0
    return passages * (dimension * NUMBER_BYTES["float16"] + beside)


def choose_engine(passages: int, dimension: int) -> tuple[str, str]:
    """The engine for so many passages, "embedded" or "postgres", and why."""
    size = size_embedded(passages, dimension)
    needed = f"{tell_bytes(size)} of vectors as float16"
    if size <= MACHINE_BYTES:
        return "embedded", f"{needed} fit into the memory of one machine"
    return "postgres", f"{needed} are more than one machine is taken to hold in memory"


def tell_bytes(size: int) -> str:
    """A number of bytes in words, such as `2.7 GB`."""
    for unit, width in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= width:
            return f"{size / width:,.1f} {unit}"
    return f"{size} bytes"
