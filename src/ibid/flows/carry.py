"""A sync carried out: its plan's files read, cut, embedded and committed as they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from ibid.chunking.options import choose_chunking
from ibid.errors import DuplicateDocument, IbidError
from ibid.flows.batch import Batch
from ibid.flows.fetch import read_source
from ibid.flows.ingest import find_stored, layer_over
from ibid.flows.options import EVERYTHING, OnProgress, Progress, SyncOptions
from ibid.flows.plan import Known, Plan, find_movable, name_document
from ibid.flows.prepare import clean_document, hash_content, put_document
from ibid.flows.spread import Ready, Work, find_held
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.taking import (
    SKIPS,
    Take,
    inherit_access,
    list_attachments,
    take_document,
    time_each,
)
from ibid.flows.tally import Tally
from ibid.protocols import (
    Embedder,
    FileState,
    FileStatus,
    Index,
    Snapshot,
    Source,
    SourceInfo,
    StoredDocument,
)
from ibid.reading.pool import FileRead
from ibid.records import Document, Failed, Incomplete, Skipped
from ibid.sources.rules import Rules


@dataclass(frozen=True, slots=True)
class Sync:
    """One sync: what it works on, and the plan that it carries out."""

    folder: Source
    source: SourceInfo
    options: SyncOptions
    rules: Rules
    plan: Plan
    known: Known
    snapshot: Snapshot
    tally: Tally

    def carry_out(
        self, index: Index, embedder: Embedder, watch: Stopwatch, on_progress: OnProgress
    ) -> None:
        """Remove what is gone, read and write what is new, and see last which files had moved."""
        ready = Ready(embedder) if self.options.spread and self.plan.read else None
        batch = Batch(
            index=index,
            embedder=embedder if ready is None else cast(Embedder, ready),
            options=self.options.ingest,
            tally=self.tally,
            watch=watch,
            source=self.source.name,
            cut=put_document if ready is None else ready.put_document,
        )
        movable = find_movable(self.plan, self.known)
        # Its path is all that tells the next sync that a document's file is gone.
        late = {self.plan.gone[id] for id in movable.values()}
        for path in set(self.plan.forgotten) - late:
            batch.forget_file(path)
        self._remove(set(self.plan.gone) - set(movable.values()), batch)
        reads = self._read_files() if ready is None else self._gather(ready, index)
        for done, read in enumerate(time_each(reads, watch), start=1):
            self._take(read, movable, batch)
            if batch.is_due:
                self._commit(batch, done, on_progress)
                if ready is not None:
                    ready.forget()
        self._remove(set(movable.values()), batch)
        for path in late:
            batch.forget_file(path)
        self._commit(batch, len(self.plan.read), on_progress)

    def _commit(self, batch: Batch, done: int, on_progress: OnProgress) -> None:
        if (version := batch.commit()) is not None:
            on_progress(Progress(done, len(self.plan.read), version))

    def _read_files(self) -> Iterator[FileRead]:
        options = self.options
        return read_source(self.folder, self.plan.read, options.ingest, options.lend_readers)

    def _gather(self, ready: Ready, index: Index) -> Iterator[FileRead]:
        """What came of each file, which was read elsewhere; all that was made of it is ready."""
        assert self.options.spread is not None
        held = find_held(self.snapshot, self.source, self.plan, self.known)
        languages = dict(index.languages)
        work = Work(self.folder, self.source, self.options.ingest, self.rules, languages, held)
        with self.options.spread(work, self.plan.read) as arriving:
            for prepared in arriving:
                yield ready.take(prepared)

    def _take(self, read: FileRead, movable: dict[str, str], batch: Batch) -> None:
        """Turn what was read of a file, and what came inside it, into changes."""
        path = read.file.name
        self._take_one(path, partial(take_document, read), read, movable, batch)
        if read.document is None:
            return  # what once came inside it stays as it was
        if read.incomplete:
            id = name_document(self.source, path)
            self.tally.incomplete.append(Incomplete(id, read.incomplete))
        inside = {f"{path}/{name}": take for name, take in list_attachments(read).items()}
        for place, take in inside.items():
            self._take_one(place, take, read, movable, batch, container=path)
        for place in self.known.inside.get(path, ()):
            if place not in inside:
                batch.forget_file(place)
                self._remove({name_document(self.source, place)}, batch)

    def _take_one(
        self,
        path: str,
        take: Take,
        read: FileRead,
        movable: dict[str, str],
        batch: Batch,
        *,
        container: str = "",
    ) -> None:
        """Turn a document that `take` gives, or the error it raises, into a change or a line."""
        id = name_document(self.source, path)
        status: FileStatus = "read"
        content_hash, kind, message = "", "", ""
        try:
            document = clean_document(take(id=id))
            content_hash = self._write(path, document, movable, batch, container)
        except SKIPS as error:
            status, message = "skipped", error.message
            self.tally.skipped.append(Skipped(id, message))
            self._remove({id}, batch)
        except IbidError as error:
            status, kind, message = "failed", type(error).__name__, str(error)
            self.tally.failed.append(Failed(id, kind, message))
        # A file that has vanished, or whose id is taken, is looked at again by the next sync.
        if read.stat is not None and kind != DuplicateDocument.__name__:
            found = (read.bytes_hash, content_hash, kind, message, container)
            batch.remember_file(FileState(path, read.stat, status, *found))

    def _write(
        self,
        path: str,
        document: Document,
        movable: dict[str, str],
        batch: Batch,
        container: str,
    ) -> str:
        """Hand a document to the batch with all its metadata; its content hash.

        A new attachment is for those who may see what it came in, unless something else is said.
        """
        inherited = self._find_access(container) if container else None
        rules = self.rules.for_path(path)
        chunking = self.options.ingest.chunking
        if rules.chunking:
            chunking = choose_chunking(**rules.chunking)
        stored = self._find_own(document.id)
        if stored is None:
            recipe = self.options.ingest.tell_recipe(chunking)
            moved = movable.pop(hash_content(document, recipe), None)
            stored = self.snapshot.document(moved, EVERYTHING) if moved is not None else None
        layered, kept = layer_over(document, stored, {}, rules=rules, inherited=inherited)
        return batch.write(layered, stored, overrides=kept, chunking=chunking)

    def _find_own(self, id: str) -> StoredDocument | None:
        """What the library holds of this source under an id; DuplicateDocument for another's."""
        stored = find_stored(self.snapshot, [id]).get(id)
        if stored is not None and stored.source != self.source.name:
            raise DuplicateDocument(
                f"a document {id!r} exists that did not come from this folder",
                hint="remove it, or sync the folder with another --prefix",
            )
        return stored

    def _find_access(self, container: str) -> frozenset[str] | None:
        id = name_document(self.source, container)
        stored = find_stored(self.snapshot, [id]).get(id)
        return inherit_access(stored, self.rules.for_path(container))

    def _remove(self, ids: set[str], batch: Batch) -> None:
        """Remove those of these documents that this source holds."""
        for id in sorted(ids & self.known.hashes.keys()):
            batch.remove(id, self.snapshot.document(id, EVERYTHING).info.passages)
