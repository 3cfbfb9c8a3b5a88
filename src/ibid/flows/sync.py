"""The way of a folder: what changed in it is read, cut, embedded and committed as it goes.

A sync makes the documents of its source equal to the source's files, and touches no others. It
commits every few seconds, so a killed one goes on where it was; each commit also tells what the
source knows of the files in it, and so what need not be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from ibid.chunking.options import choose_chunking
from ibid.errors import DuplicateDocument, IbidError
from ibid.flows.batch import Batch, Tally
from ibid.flows.files import SKIPS, read_files, take_document, time_each
from ibid.flows.ingest import EVERYTHING, find_stored
from ibid.flows.options import IngestOptions
from ibid.flows.plan import Known, Plan, find_movable, guard_removals, make_plan, name_document
from ibid.flows.prepare import clean_document, hash_content
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Embedder, FileState, FileStatus, Index, Snapshot, SourceInfo
from ibid.reading.pool import FileRead, FileToRead
from ibid.records import Failed, IngestReport, Skipped
from ibid.sources.folder import FolderSource
from ibid.sources.layers import layer_metadata
from ibid.sources.rules import Rules, read_rules


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a folder is synced: `checksum` reads every file, `allow_emptying` lets more than half of
    the documents go."""

    ingest: IngestOptions = IngestOptions()
    checksum: bool = False
    dry_run: bool = False
    allow_emptying: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: files done of those to be read, and the version that holds them."""

    done: int
    total: int
    version: int


OnProgress: TypeAlias = Callable[[Progress], None]
"""Called after each commit: what it counts as done is in the library for good."""


def sync_folder(
    folder: FolderSource,
    source: SourceInfo,
    options: SyncOptions,
    *,
    index: Index,
    embedder: Embedder,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Make the documents of a source equal to its folder; every commit is a version.

    Raises BadSetting or InputError, with nothing changed, when the folder's rules can't be read
    or when more than half of its documents would go.
    """
    watch, tally = Stopwatch(), Tally()
    with watch.timing("total"), index.writing():
        rules = read_rules(folder.root)
        snapshot = index.snapshot()
        known = Known(index.files(source.name), snapshot.content_hashes(source.name))
        listing = list(folder.scan())
        plan = make_plan(
            listing,
            known,
            source=source,
            rules=rules,
            unreadable=folder.unreadable,
            checksum=options.checksum,
        )
        if not options.allow_emptying:
            guard_removals(plan, known, source=source)
        tally.take_plan(plan)
        if options.dry_run:
            _foretell(plan, known, source, tally)
        else:
            index.put_source(source)
            batch = Batch(
                index=index,
                embedder=embedder,
                options=options.ingest,
                tally=tally,
                watch=watch,
                source=source.name,
            )
            run = _Run(folder, source, options, rules, plan, known, snapshot, batch, tally)
            run.carry_out(watch, on_progress or (lambda _: None))
            index.put_source(replace(source, synced_at=datetime.now(UTC), rules_hash=rules.hash))
    return tally.report(index.snapshot().version, watch.seconds)


def _foretell(plan: Plan, known: Known, source: SourceInfo, tally: Tally) -> None:
    """Count what a run would do, as far as that can be told without reading."""
    for file in plan.read:
        id = name_document(source, file.path)
        (tally.updated if id in known.hashes else tally.added).append(id)
    tally.removed.extend(plan.gone)


@dataclass(frozen=True, slots=True)
class _Run:
    """One sync while it is carried out."""

    folder: FolderSource
    source: SourceInfo
    options: SyncOptions
    rules: Rules
    plan: Plan
    known: Known
    snapshot: Snapshot
    batch: Batch
    tally: Tally

    def carry_out(self, watch: Stopwatch, on_progress: OnProgress) -> None:
        """Remove what is gone, read and write what is new, and see last which files had moved."""
        movable = find_movable(self.plan, self.known)
        for path in self.plan.forgotten:
            self.batch.forget_file(path)
        self._remove(set(self.plan.gone) - set(movable.values()))
        for done, read in enumerate(time_each(self._read_files(), watch), start=1):
            self._take(read, movable)
            if self.batch.is_due:
                self._commit(done, on_progress)
        self._remove(set(movable.values()))
        self._commit(len(self.plan.read), on_progress)

    def _commit(self, done: int, on_progress: OnProgress) -> None:
        if (version := self.batch.commit()) is not None:
            on_progress(Progress(done, len(self.plan.read), version))

    def _read_files(self) -> Iterator[FileRead]:
        options = self.options.ingest
        files = (
            FileToRead(self.folder.find(file.path), file.path, options.max_file_bytes)
            for file in self.plan.read
        )
        return read_files(files, options)

    def _take(self, read: FileRead, movable: dict[str, str]) -> None:
        """Turn what was read of a file into changes, or into a line of the report."""
        path = read.file.name
        id = name_document(self.source, path)
        status: FileStatus = "read"
        content_hash, kind, message = "", "", ""
        try:
            content_hash = self._write(read, id, movable)
        except SKIPS as error:
            status, message = "skipped", error.message
            self.tally.skipped.append(Skipped(id, message))
            if id in self.known.hashes:
                self._remove({id})
        except IbidError as error:
            status, kind, message = "failed", type(error).__name__, str(error)
            self.tally.failed.append(Failed(id, kind, message))
        if read.stat is not None:  # one that has vanished is looked for again
            self.batch.remember_file(
                FileState(path, read.stat, status, read.bytes_hash, content_hash, kind, message)
            )

    def _write(self, read: FileRead, id: str, movable: dict[str, str]) -> str:
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
        return self.batch.write(layered, stored, overrides=kept, chunking=chunking)

    def _remove(self, ids: set[str]) -> None:
        for id in sorted(ids):
            self.batch.remove(id, self.snapshot.document(id, EVERYTHING).info.passages)
