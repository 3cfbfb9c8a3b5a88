"""The log of answers: what was answered to whom, from which documents, and how it was rated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ibid.protocols.documents import FileStat
from ibid.record import record
from ibid.records import Document, Feedback, KeptAnswer, Principals


@record
class FileOrigin:
    """The file that a document was last read from: its source's URI, its path there, its stat."""

    location: str
    path: str
    stat: FileStat


class AnswerLog(Protocol):
    """Keeps answers apart from the versions: no call waits for a writer of documents.

    A caller sees the answers whose principals equal their own, the owner all. What an answer was
    drawn from is its sources, and what the answers in its history were drawn from. Where one of
    these documents is hidden from the caller today, the answer comes back `withheld`: without
    text, citations, sources, warnings and history. Purging a document erases these for good, and
    the question and the filter with them.
    """

    def put(self, kept: KeptAnswer, *, oldest: datetime | None = None) -> None:
        """Keep an answer, and drop those that were asked before `oldest`.

        Of the history, an answer that the log does not hold for the same principals is kept as an
        empty text: nobody could tell what it was drawn from. One that was drawn from a document
        purged meanwhile is kept as `withheld`.
        """
        ...

    def newest(
        self, principals: Principals, *, most: int, good: bool | None = None
    ) -> list[KeptAnswer]:
        """The newest answers, newest first; with `good`, those whose last rating is that one."""
        ...

    def find(self, id: str, principals: Principals) -> KeptAnswer:
        """One answer. Raises UnknownAnswer, also for one that the caller does not see."""
        ...

    def find_same(self, key: str, principals: Principals) -> KeptAnswer | None:
        """The newest answer under this key to a caller who held exactly these principals.

        None where there is none, or where it is withheld.
        """
        ...

    def find_told(self, text: str, principals: Principals) -> KeptAnswer | None:
        """The newest answer with this text to exactly this caller, such as one that comes back as
        history; None where there is none."""
        ...

    def rate(self, id: str, feedback: Feedback, principals: Principals) -> None:
        """Add what a caller said of an answer that they see. Raises UnknownAnswer."""
        ...

    def read_document(self, id: str, version: int, principals: Principals) -> Document:
        """A document as it was at a version; who may see it is today's.

        Raises UnknownDocument, also where it was purged or vacuumed.
        """
        ...

    def find_origins(self, ids: Sequence[str]) -> dict[str, FileOrigin]:
        """The files of these documents of the last version, by id, where a source knows them."""
        ...

    def list_drawn(self) -> list[tuple[str, int]]:
        """The documents, by id and version, that any kept answer was drawn from."""
        ...
