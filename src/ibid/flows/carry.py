"""A sync carried out: its plan's files read, cut, embedded and committed as they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ibid.chunking.options import choose_chunking
from ibid.errors import DuplicateDocument, IbidError
from ibid.flows.batch import Batch
from ibid.flows.files import SKIPS, read_files, take_document, time_each
from ibid.flows.ingest import find_stored
from ibid.flows.options import EVERYTHING, OnProgress, Progress, SyncOptions
from ibid.flows.plan import Known, Plan, find_movable, name_document
from ibid.flows.prepare import clean_document, hash_content
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.tally import Tally
from ibid.protocols import Embedder, FileState, FileStatus, Index, Snapshot, SourceInfo
from ibid.reading.pool import FileRead, FileToRead
from ibid.records import Failed, Skipped
from ibid.sources.folder import FolderSource
from ibid.sources.layers import layer_metadata
from ibid.sources.rules import Rules


@dataclass(frozen=True, slots=True)
class Sync:
    """One sync: what it works on, and the plan that it carries out."""

    folder: FolderSource
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
        batch = Batch(
            index=index,
            embedder=embedder,
            options=self.options.ingest,
            tally=self.tally,
            watch=watch,
            source=self.source.name,
        )
        movable = find_movable(self.plan, self.known)
        for path in self.plan.forgotten:
            batch.forget_file(path)
        self._remove(set(self.plan.gone) - set(movable.values()), batch)
        for done, read in enumerate(time_each(self._read_files(), watch), start=1):
            self._take(read, movable, batch)
            if batch.is_due:
                self._commit(batch, done, on_progress)
        self._remove(set(movable.values()), batch)
        self._commit(batch, len(self.plan.read), on_progress)

    def _commit(self, batch: Batch, done: int, on_progress: OnProgress) -> None:
        if (version := batch.commit()) is not None:
            on_progress(Progress(done, len(self.plan.read), version))

    def _read_files(self) -> Iterator[FileRead]:
        options = self.options.ingest
        files = (
            FileToRead(self.folder.find(file.path), file.path, options.max_file_bytes)
            for file in self.plan.read
        )
        return read_files(files, options)

    def _take(self, read: FileRead, movable: dict[str, str], batch: Batch) -> None:
        """Turn what was read of a file into changes, or into a line of the report."""
        path = read.file.name
        id = name_document(self.source, path)
        status: FileStatus = "read"
        content_hash, kind, message = "", "", ""
        try:
            content_hash = self._write(read, id, movable, batch)
        except SKIPS as error:
            status, message = "skipped", error.message
            self.tally.skipped.append(Skipped(id, message))
            if id in self.known.hashes:
                self._remove({id}, batch)
        except IbidError as error:
            status, kind, message = "failed", type(error).__name__, str(error)
            self.tally.failed.append(Failed(id, kind, message))
        if read.stat is not None:  # one that has vanished is looked for again
            batch.remember_file(
                FileState(path, read.stat, status, read.bytes_hash, content_hash, kind, message)
            )

    def _write(self, read: FileRead, id: str, movable: dict[str, str], batch: Batch) -> str:
        """Hand the document to the batch with all its metadata; its content hash."""
        rules = self.rules.for_path(read.file.name)
        chunking = (
            choose_chunking(**rules.chunking) if rules.chunking else self.options.ingest.chunking
        )
        document = clean_document(take_document(read, id=id))
        stored = find_stored(self.snapshot, [id]).get(id)
        if stored is not None and stored.source != self.source.name:
            raise DuplicateDocument(
                f"a document {id!r} exists that did not come from this folder",
                hint="remove it, or sync the folder with another --prefix",
            )
        if stored is None:
            moved = movable.pop(hash_content(document, chunking), None)
            stored = self.snapshot.document(moved, EVERYTHING) if moved is not None else None
        kept = stored.overrides if stored is not None else {}
        allow = stored.info.allow if stored is not None else None
        layered = layer_metadata(document, rules, kept=kept, flags={}, previous_allow=allow)
        return batch.write(layered, stored, overrides=kept, chunking=chunking)

    def _remove(self, ids: set[str], batch: Batch) -> None:
        for id in sorted(ids):
            batch.remove(id, self.snapshot.document(id, EVERYTHING).info.passages)
