"""Upkeep: what an index tells of its past, and how it is kept small, whole and up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ibid.protocols.changes import PutDocument
from ibid.record import record
from ibid.records import Document, DocumentInfo

if TYPE_CHECKING:
    from ibid.protocols.models import Vectors

EmbedTexts: TypeAlias = "Callable[[Sequence[str]], Vectors]"
"""Embeds passages' texts: one row for each."""


@record
class Revision:
    """What a document was from `info.version` until `removed_in` (None: it still is).

    `identity` stays the same when a document is edited or moved. `written_at` is the time of its
    version, None where that version was dropped since.
    """

    identity: int
    info: DocumentInfo
    content_hash: str
    written_at: datetime | None
    removed_in: int | None


@record
class Vacuumed:
    """What a vacuum dropped; `version` is the oldest one that can still be searched.

    `cited` counts the revisions that only stay because a kept answer cites them.
    """

    version: int
    versions: int = 0
    revisions: int = 0
    passages: int = 0
    cited: int = 0


@record
class Problem:
    """An invariant of a library that does not hold: which part, where, and what is wrong.

    `repairable` ones concern what can be made anew from the documents.
    """

    part: str
    where: str
    message: str
    repairable: bool


@record
class StoredContent:
    """A text that the library holds, under its key, as a document with its title and blocks."""

    key: int
    document: Document
    content_hash: str


class Staging(Protocol):
    """The next generation of a library, built beside the one that serves, and resumable.

    What is staged is on disk when `stage` returns. Until `publish`, nobody sees any of it.
    """

    @property
    def staged(self) -> int:
        """How many contents are staged."""
        ...

    def count_contents(self) -> int:
        """How many contents there are to stage in all."""
        ...

    def pending(self) -> Iterator[StoredContent]:
        """The contents of all versions that are not staged yet, oldest first."""
        ...

    def find_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are staged for these texts already."""
        ...

    def stage(self, contents: Mapping[int, PutDocument], vectors: Mapping[bytes, Vectors]) -> None:
        """Keep the passages and terms of these contents, by key, and vectors for new texts."""
        ...

    def publish(self) -> int:
        """Switch the library to what is staged, as one version, and return its number.

        The caller holds the right to write, and nothing is pending. Raises LibraryError when
        something is.
        """
        ...

    def discard(self) -> None:
        """Drop what is staged; the library stays as it is."""
        ...
