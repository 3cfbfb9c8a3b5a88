"""The index: holds documents, postings and vectors, version by version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from ibid.protocols.answers import AnswerLog
from ibid.protocols.changes import Change, Role
from ibid.protocols.documents import FileStat
from ibid.protocols.upkeep import EmbedTexts, Problem, Revision, Staging, Vacuumed
from ibid.record import record
from ibid.records import JSON, Document, DocumentInfo, Passage, Principals

if TYPE_CHECKING:
    from ibid.protocols.models import Vectors


@record
class Scope:
    """What one search may touch; an index applies it inside its searches, never after them.

    A passage must hold each of the `phrases`, and neither it nor the title of its document any of
    `excluded`, as `ibid.language.phrases` tells them.
    """

    principals: Principals = frozenset()
    filter: str | None = None
    include_archived: bool = False
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@record
class Scored:
    """A passage that a retriever found: `row` numbers passages in the order of insertion."""

    row: int
    score: float


@record
class Mention:
    """An entity, by the number that stands for its name, and a row that names it."""

    entity: int
    row: int
    role: Role


FileStatus: TypeAlias = Literal["read", "failed", "skipped"]


class FileState(NamedTuple):
    """What a source knows of one of its files since it was last looked at.

    `error` is the kind of error and `message` the reason of one that isn't read. `bytes_hash` is
    the hash of the file, `content_hash` the one of the document that it became; both empty where
    there is none. `container` is the path of the file that an attachment came in.
    """

    path: str
    stat: FileStat
    status: FileStatus
    bytes_hash: str = ""
    content_hash: str = ""
    error: str = ""
    message: str = ""
    container: str = ""


@record
class SourceInfo:
    """A source that the library records: its name, where it lies, the prefix of its ids.

    `recipe` stands for the rules and the ibid that it was last synced with.
    """

    name: str
    location: str
    prefix: str
    documents: int = 0
    synced_at: datetime | None = None
    recipe: str = ""


@record
class StoredDocument:
    """A document as the index holds it, with what an update needs to know of it."""

    info: DocumentInfo
    document: Document
    content_hash: str
    source: str | None
    overrides: Mapping[str, JSON]
    language: str | None = None


@record
class Manifest:
    """What a library was made with; opening it with anything else is an error."""

    embedder: str
    weights: str
    dimension: int | None
    analyzer: str
    chunking: str


class Snapshot(Protocol):
    """One version of the library, held still: no call ever sees another one.

    Only liveness is the version's; who may see a document is always today's.
    """

    @property
    def version(self) -> int: ...

    def search_lexical(self, terms: str, k: int, scope: Scope) -> list[Scored]:
        """The k best passages by BM25 over the analysed terms; only those that share a term.

        Best first, equal scores in the order of insertion. Fewer than k only where fewer match.
        """
        ...

    def search_documents(self, terms: str, k: int, scope: Scope) -> list[Scored]:
        """The k best documents by BM25 over the terms of each as a whole, in the same order.

        A document stands as the row of its first passage, which `first_rows` finds for any of
        them. Its terms are the first lines of those of its passages.
        """
        ...

    def search_dense(self, vector: Vectors, k: int, scope: Scope) -> list[Scored]:
        """The k passages nearest by cosine to a unit vector of shape (d,), in the same order."""
        ...

    def find_mentions(self, entities: Sequence[int], most: int, scope: Scope) -> list[Mention]:
        """The passages in the scope that name one of these entities, in the order of insertion.

        An entity that more than `most` of them name joins nothing, and gives none.
        """
        ...

    def first_rows(self, rows: Sequence[int]) -> list[int]:
        """For each row of a live passage the row of the first passage of its document."""
        ...

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The vectors of these rows in their order, of shape (len(rows), dimension)."""
        ...

    def measure_rarity(self, terms: Sequence[str]) -> dict[str, float]:
        """How rare each of these analysed terms is, as BM25 weighs it: its idf, above 0.

        Like the scores of BM25 it counts all passages of the library, whoever may see them.
        """
        ...

    def passages(self, rows: Sequence[int]) -> dict[int, tuple[Passage, DocumentInfo]]:
        """The passages of these rows with their documents; a row purged meanwhile is absent."""
        ...

    def documents(self, scope: Scope) -> list[DocumentInfo]:
        """Every document in the scope, in the order of insertion."""
        ...

    def document(self, id: str, scope: Scope) -> StoredDocument:
        """One document. Raises UnknownDocument when it isn't there, or not in the scope."""
        ...

    def document_passages(self, id: str, scope: Scope) -> list[Passage]:
        """The passages of a document in its order. Raises UnknownDocument as `document` does."""
        ...

    def content_hashes(self, source: str) -> dict[str, str]:
        """The content hash of every document that this source created, by id."""
        ...

    def revisions(self, scope: Scope) -> list[Revision]:
        """What every document in the scope is at this version, in the order of insertion."""
        ...


class Index(Protocol):
    """Holds documents, postings and vectors; every commit makes one new version, or nothing."""

    @property
    def engine(self) -> str:
        """The engine's name, such as "embedded"."""
        ...

    @property
    def manifest(self) -> Manifest | None:
        """What the library was made with; None before the first document."""
        ...

    @property
    def languages(self) -> Mapping[str, int]:
        """How many documents of the last version are in each language that was detected.

        Counted are those that everyone may see; all, where there are none.
        """
        ...

    @property
    def answers(self) -> AnswerLog:
        """The answers that were given from this library."""
        ...

    def snapshot(self, version: int | None = None) -> Snapshot:
        """The last version, or a past one. Raises BadQuery for one that isn't held."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Holds the right to write for the length of a `with`; nests within one thread.

        Raises LibraryLocked when another writer does not finish within the time to wait.
        """
        ...

    def find_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are held for these texts already, so that none is computed twice."""
        ...

    def find_contexts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """The contexts that are held under these keys already, so that none is written twice."""
        ...

    def commit(
        self,
        changes: Sequence[Change],
        vectors: Mapping[bytes, Vectors],
        *,
        manifest: Manifest | None = None,
        source: str | None = None,
        files: Iterable[FileState] = (),
        forgotten: Iterable[str] = (),
    ) -> int:
        """Apply all changes as one version and return its number; all of them or none.

        `vectors` holds one vector for each text hash of the passages put. `files` and `forgotten`
        update what the source knows of its files in the same transaction. A call without changes
        makes no version. Changes apply in order, so a removal may make room for a create.

        Raises DuplicateDocument for a create of an id that exists, UnknownDocument for a change
        of one that does not.
        """
        ...

    def purge(self, ids: Sequence[str]) -> int:
        """Erase documents from every version, with all that was derived from them.

        Raises UnknownDocument, with nothing changed, for an id that no version holds.
        """
        ...

    def sources(self) -> list[SourceInfo]:
        """The recorded sources, in the order they were first put."""
        ...

    def put_source(self, source: SourceInfo) -> None:
        """Record a source, or what changed of it; `documents` is counted, not stored."""
        ...

    def drop_source(self, name: str) -> None:
        """Forget a source and what it knew of its files; its documents stay."""
        ...

    def files(self, source: str) -> dict[str, FileState]:
        """What a source knows of its files, by path."""
        ...

    def history(self, id: str, scope: Scope) -> list[Revision]:
        """All that the documents which ever bore this id were, oldest first.

        Of the scope, only the principals count. Raises UnknownDocument where that leaves nothing.
        """
        ...

    def vacuum(self, before: datetime, *, cited: bool = False) -> Vacuumed:
        """Drop versions older than a time, and what only they held, from every file.

        The last version stays, and so does the one that was the last at that time. What a kept
        answer cites stays readable, unless `cited`.
        """
        ...

    def check(self) -> list[Problem]:
        """Every invariant that does not hold; an empty list for a whole library."""
        ...

    def repair(self, embed: EmbedTexts) -> None:
        """Make anew from the documents what can be: postings, vectors that are lost or damaged."""
        ...

    def stage(self, manifest: Manifest) -> AbstractContextManager[Staging]:
        """The next generation under this manifest, for a `with`; one begun under it goes on.

        Raises LibraryLocked when another one is being staged.
        """
        ...

    def count_bytes(self) -> int:
        """What the library takes on disk."""
        ...

    def close(self) -> None:
        """Let go of files and locks; calling it again does nothing."""
        ...
