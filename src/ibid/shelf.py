"""The Python face of what a library holds: its documents, their passages, its sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ibid.flows.manifest import describe_library
from ibid.flows.options import hold_principals
from ibid.parts import Parts, Status
from ibid.protocols import Index, Scope, SourceInfo
from ibid.records import OWNER, Document, DocumentInfo, Owner, Passage


class Shelf:
    """What a caller sees of a library's documents; nothing here changes it."""

    location: str
    _parts: Parts
    _index: Index

    def documents(
        self,
        principals: Iterable[str] | Owner = (),
        *,
        filter: str | None = None,
        include_archived: bool = True,
    ) -> list[DocumentInfo]:
        """The documents that the caller may see, in the order they came in."""
        scope = Scope(hold_principals(principals), filter, include_archived)
        return self._index.snapshot().documents(scope)

    def document(self, id: str, principals: Iterable[str] | Owner = ()) -> Document:
        """One document, whole. Raises UnknownDocument, also for one the caller may not see."""
        scope = Scope(hold_principals(principals), include_archived=True)
        return self._index.snapshot().document(id, scope).document

    def describe(self, id: str, principals: Iterable[str] | Owner = ()) -> DocumentInfo:
        """One document as it is listed. Raises UnknownDocument as `document` does."""
        scope = Scope(hold_principals(principals), include_archived=True)
        return self._index.snapshot().document(id, scope).info

    def passages(self, id: str, principals: Iterable[str] | Owner = ()) -> list[Passage]:
        """The passages of a document in its order. Raises UnknownDocument as `document` does."""
        scope = Scope(hold_principals(principals), include_archived=True)
        return self._index.snapshot().document_passages(id, scope)

    def status(self, principals: Iterable[str] | Owner = ()) -> Status:
        """What the library holds, counting what the caller sees."""
        held = hold_principals(principals)
        snapshot = self._index.snapshot()
        seen = snapshot.documents(Scope(held, include_archived=True))
        restricted = sum(info.allow is not None for info in seen) if held is OWNER else None
        parts = self._parts
        return Status(
            location=self.location,
            engine=self._index.engine,
            version=snapshot.version,
            documents=len(seen),
            passages=sum(info.passages for info in seen),
            manifest=self._index.manifest
            or describe_library(parts.embedder, parts.ingest.chunking),
            bytes=self._index.count_bytes(),
            restricted_documents=restricted,
        )

    def sources(self, principals: Iterable[str] | Owner = ()) -> list[SourceInfo]:
        """The folders that were synced, in the order of their first sync.

        Counted are the documents that the caller may see; a source of which that is none does not
        show, save to the owner.
        """
        snapshot = self._index.snapshot()
        scope = Scope(hold_principals(principals), include_archived=True)
        seen = {info.id for info in snapshot.documents(scope)}
        counted = [
            replace(source, documents=len(seen & snapshot.content_hashes(source.name).keys()))
            for source in self._index.sources()
        ]
        everything = scope.principals is OWNER
        return [source for source in counted if everything or source.documents]
