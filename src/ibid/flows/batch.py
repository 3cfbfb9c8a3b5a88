"""Changes on their way into the library: gathered, embedded together, committed as one version."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from ibid.chunking.options import Chunking
from ibid.errors import DuplicateDocument
from ibid.flows.manifest import describe_library
from ibid.flows.options import IngestOptions
from ibid.flows.prepare import Contextualize, embed_passages, hash_content, put_document
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.tally import Tally
from ibid.protocols import (
    Change,
    Embedder,
    FileState,
    Index,
    Manifest,
    PutDocument,
    RemoveDocument,
    SetMetadata,
    StoredDocument,
)
from ibid.records import JSON, Document, Moved


class Batch:
    """Gathers changes and commits them; what it does is counted in its tally.

    `source` is the source whose documents and files these are, None for those of no source. `cut`
    makes the passages of a document.
    """

    def __init__(
        self,
        *,
        index: Index,
        embedder: Embedder,
        options: IngestOptions,
        tally: Tally,
        watch: Stopwatch,
        source: str | None = None,
        cut: Callable[..., PutDocument] = put_document,
    ) -> None:
        self._cut = cut
        self._index = index
        self._embedder = embedder
        self._options = options
        self._tally = tally
        self._watch = watch
        self._source = source
        self._languages = Counter(index.languages)
        self._contextualize: Contextualize | None = None
        if (contextualizer := options.contextualizer) is not None:
            self._contextualize = partial(contextualizer.add_contexts, index=index)
        self._changes: list[Change] = []
        self._files: list[FileState] = []
        self._forgotten: list[str] = []
        self._passages = 0
        self._committed = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether enough waits for a commit, or what there is has waited long enough."""
        waited = time.monotonic() - self._committed
        options = self._options
        return self._passages >= options.commit_passages or waited >= options.commit_seconds

    def write(
        self,
        document: Document,
        stored: StoredDocument | None,
        *,
        overrides: Mapping[str, JSON],
        chunking: Chunking | None = None,
        create: bool = False,
        opens: bool = False,
    ) -> str:
        """Gather what makes the library hold this document; nothing when it already does.

        `stored` is what the library holds under this id, or, of a file that moved, under its old
        one. With `opens`, a new document is public although one of its name was not. Returns the
        content hash. Raises DuplicateDocument for a create of what is stored.
        """
        if create and stored is not None:
            raise DuplicateDocument(
                f"a document {document.id!r} exists", hint="to overwrite it on purpose, use update"
            )
        chunking = chunking or self._options.chunking
        content_hash = hash_content(document, self._options.tell_recipe(chunking))
        if stored is not None and stored.content_hash == content_hash:
            self._write_metadata(document, stored, overrides)
        else:
            put = self._write_content(document, stored, content_hash, chunking)
            self._changes.append(replace(put, overrides=overrides, create=create, opens=opens))
        return content_hash

    def remove(self, stored_id: str, passages: int = 0) -> None:
        """Gather the removal of a document that has so many passages."""
        self._changes.append(RemoveDocument(stored_id))
        self._tally.removed.append(stored_id)
        self._tally.count(removed=passages)

    def remember_file(self, file: FileState) -> None:
        """Gather what the source knows of a file."""
        self._files.append(file)

    def forget_file(self, path: str) -> None:
        """Gather that the source knows this file no more."""
        self._forgotten.append(path)

    def commit(self) -> int | None:
        """Embed and write what was gathered; the last version then, None if there was nothing."""
        if not (self._changes or self._files or self._forgotten):
            return None
        puts = [change for change in self._changes if isinstance(change, PutDocument)]
        with self._watch.timing("embedding"):
            embedded = embed_passages(
                puts, find_vectors=self._index.find_vectors, embedder=self._embedder
            )
        with self._watch.timing("writing"):
            version = self._index.commit(
                self._changes,
                embedded.vectors,
                manifest=self._describe_library(puts),
                source=self._source,
                files=self._files,
                forgotten=self._forgotten,
            )
        self._tally.count(embedded=embedded.embedded, truncated=embedded.truncated)
        self._changes, self._files, self._forgotten, self._passages = [], [], [], 0
        self._committed = time.monotonic()
        return version

    def _write_metadata(
        self, document: Document, stored: StoredDocument, overrides: Mapping[str, JSON]
    ) -> None:
        # A file that was only touched, or moved, was not modified: its text is what counts.
        document = replace(document, modified_at=stored.document.modified_at)
        if document.id != stored.info.id:
            self._tally.moved.append(Moved(stored.info.id, document.id))
        elif document == stored.document and overrides == stored.overrides:
            self._tally.unchanged += 1
            return
        else:
            self._tally.metadata_changed.append(document.id)
        self._changes.append(SetMetadata(stored.info.id, document, overrides))

    def _write_content(
        self,
        document: Document,
        stored: StoredDocument | None,
        content_hash: str,
        chunking: Chunking,
    ) -> PutDocument:
        with self._watch.timing("chunking"):
            put = self._cut(
                document,
                content_hash=content_hash,
                chunking=chunking,
                embedder=self._embedder,
                languages=self._languages,
                contextualize=self._contextualize,
            )
        self._languages[put.language or ""] += 1
        self._passages += len(put.passages)
        (self._tally.added if stored is None else self._tally.updated).append(document.id)
        self._tally.count(
            added=len(put.passages), removed=stored.info.passages if stored is not None else 0
        )
        return replace(put, source=stored.source if stored is not None else self._source)

    def _describe_library(self, puts: list[PutDocument]) -> Manifest | None:
        """What a library of no documents yet is being made with."""
        if not puts or self._index.manifest is not None:
            return None
        return describe_library(self._embedder, self._options.chunking)
