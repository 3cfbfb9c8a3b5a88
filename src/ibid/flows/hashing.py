"""The key under which the vector of a text is kept."""

from __future__ import annotations

from typing import Final

from blake3 import blake3

HASH_BYTES: Final = 16
"""Length of a text's hash: 128 bits, at which no two texts of any library are taken for one."""


def hash_text(text: str) -> bytes:
    """The key of an indexed text: HASH_BYTES bytes."""
    return blake3(text.encode()).digest(HASH_BYTES)
