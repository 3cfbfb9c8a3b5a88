"""That a document was not for everyone, when nothing else is left of it.

A file that was erased, or of which the last version was dropped, may lie in its folder still, and
come back with the next sync. Where nothing is said of it then, it is for the owner alone: whom it
was for is erased with it, and of its name no more than a hash is kept.
"""

from __future__ import annotations

from blake3 import blake3


def hash_name(name: str) -> bytes:
    """The 16 bytes that stand for a document's name."""
    return blake3(name.encode("utf-8", "surrogatepass")).digest(16)
