"""How documents are taken in: what they are cut by, how files are read, when work is committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ibid.chunking.options import Chunking

MAX_FILE_BYTES: Final = 100_000_000
READ_SECONDS: Final = 120.0
READ_BYTES: Final = 1024**3


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """`chunking` is the library's own, for a document that no rule gives another.

    Files over `max_file_bytes` are refused; the others are read by `readers` processes, each
    within `read_seconds` for a file and `read_bytes` of memory. A commit is due when
    `commit_seconds` have passed since the last one, or `commit_passages` passages wait.
    """

    chunking: Chunking = Chunking()
    max_file_bytes: int = MAX_FILE_BYTES
    readers: int = 1
    read_seconds: float = READ_SECONDS
    read_bytes: int = READ_BYTES
    commit_seconds: float = 5.0
    commit_passages: int = 512
