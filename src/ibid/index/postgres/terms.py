"""Terms as numbers: what postings are kept by, and how often a passage has each."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def hash_term(term: str) -> int:
    """A number of 64 bits, signed, that stands for a term."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def count_terms(terms: list[str]) -> dict[int, int]:
    """How often each term is there, by its number, in the order of the first ones."""
    return {hash_term(term): count for term, count in Counter(terms).items()}
