"""The way of files that are named one by one, and of folders that are added but not synced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ibid.chunking.options import choose_chunking
from ibid.errors import BadQuery, DuplicateDocument, IbidError, InputError
from ibid.flows.batch import Batch
from ibid.flows.ingest import enumerate_ids, find_stored, layer_over, refuse_repeated
from ibid.flows.options import IngestOptions
from ibid.flows.prepare import clean_document
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.taking import (
    SKIPS,
    Take,
    inherit_access,
    list_attachments,
    read_files,
    take_document,
    time_each,
)
from ibid.flows.tally import Tally
from ibid.protocols import Embedder, Index, Snapshot
from ibid.reading.pool import FileRead
from ibid.records import JSON, Failed, Incomplete, IngestReport, Skipped
from ibid.sources.above import Above
from ibid.sources.folder import FolderSource
from ibid.sources.rules import RULES_FILE, RuleSet
from ibid.sources.walk import IGNORE_FILE

_NO_RULES: Final = RuleSet()


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file, the id that its document gets, and what rules say of it; `skip` says why it isn't
    read.

    `explicit` is one that was named itself, not met inside a folder: not to read it is a failure.
    """

    id: str
    path: Path
    explicit: bool
    skip: str | None = None
    rules: RuleSet = _NO_RULES


def find_files(
    paths: Sequence[Path], *, id: str | None, folder: Path, above: Above | None = None
) -> list[NamedFile]:
    """The files of these paths, folders walked; their ids are paths relative to `folder`.

    They obey the rules and ignore files that `above` finds. Raises BadQuery for a path that isn't
    there, for one outside `folder` without an `id`, and for an `id` with more than one file.
    """
    found: list[NamedFile] = []
    for path in paths:
        if not path.exists():
            raise BadQuery(f"{path} doesn't exist", hint="give the path of a file or folder")
        found.extend(_walk(path.resolve(), folder.resolve(), id, above))
    if id is not None and len(found) != 1:
        raise BadQuery(f"--id {id!r} for {len(found)} files", hint="name exactly one file")
    return found


def _walk(path: Path, folder: Path, id: str | None, above: Above | None) -> Iterator[NamedFile]:
    if id is None and not path.is_relative_to(folder):
        raise BadQuery(
            f"{path} is outside {folder}, from where ids are told", hint="give its id with --id"
        )
    if above is not None and above.ignores_path(path, folder=path.is_dir()):
        name = id or path.relative_to(folder).as_posix()
        yield NamedFile(name, path, explicit=True, skip=f"ignored by {IGNORE_FILE}")
    elif path.is_dir():
        for file in FolderSource(path, above=above).scan():
            place = path / file.path
            name = id or place.relative_to(folder).as_posix()
            yield _name_file(name, place, file.skip, above, explicit=False)
    else:
        guides = above is not None and path.name in (RULES_FILE, IGNORE_FILE)
        skip = "says how files are taken in, and is no document" if guides else None
        name = id or path.relative_to(folder).as_posix()
        yield _name_file(name, path, skip, above, explicit=True)


def _name_file(
    name: str, path: Path, skip: str | None, above: Above | None, *, explicit: bool
) -> NamedFile:
    rules = _NO_RULES if above is None or skip is not None else above.find_rules(path)
    if rules.ignore:
        skip = f"ignored by {RULES_FILE}"
    return NamedFile(name, path, explicit, skip, rules)


def write_files(
    files: Sequence[NamedFile],
    *,
    index: Index,
    embedder: Embedder,
    options: IngestOptions,
    create: bool,
    flags: Mapping[str, JSON],
) -> IngestReport:
    """Read and write files, a version a commit; with `create`, only ones that don't exist.

    All ids are checked before anything is read. A file that can't be read is one line of the
    report and stops no other. Raises DuplicateDocument, with nothing changed.
    """
    watch, tally = Stopwatch(), Tally()
    with watch.timing("total"), index.writing():
        snapshot = index.snapshot()
        _check_ids([file.id for file in files], snapshot, create=create)
        batch = Batch(index=index, embedder=embedder, options=options, tally=tally, watch=watch)
        adding = _Adding(snapshot, batch, tally, flags, create)
        for file in files:
            if file.skip is not None:
                adding.leave_out(file)
        wanted = [file for file in files if file.skip is None]
        reads = read_files(((file.path, file.path.name) for file in wanted), options)
        for file, read in zip(wanted, time_each(reads, watch), strict=True):
            adding.take(file, read)
            if batch.is_due:
                batch.commit()
        batch.commit()
    return tally.report(index.snapshot().version, watch.seconds)


def _check_ids(ids: Sequence[str], snapshot: Snapshot, *, create: bool) -> None:
    """Raise DuplicateDocument for an id that is given twice, or that is not free for a `create`."""
    refuse_repeated(ids)
    if create and (stored := find_stored(snapshot, ids)):
        raise DuplicateDocument(
            f"{enumerate_ids(stored)} in the library already",
            hint="nothing was changed; to overwrite on purpose, use update",
        )


@dataclass(frozen=True, slots=True)
class _Adding:
    """Turns files that were read into changes, or into lines of the report."""

    snapshot: Snapshot
    batch: Batch
    tally: Tally
    flags: Mapping[str, JSON]
    create: bool

    def take(self, file: NamedFile, read: FileRead) -> None:
        """Take a file's document, and those that came inside it."""
        self._take_one(file.id, partial(take_document, read), file)
        if read.incomplete:
            self.tally.incomplete.append(Incomplete(file.id, read.incomplete))
        for name, take in list_attachments(read).items():
            self._take_one(f"{file.id}/{name}", take, file)

    def leave_out(self, file: NamedFile) -> None:
        """Tell why a file isn't read."""
        assert file.skip is not None
        if file.explicit:
            self.tally.failed.append(Failed(file.id, InputError.__name__, file.skip))
        else:
            self.tally.skipped.append(Skipped(file.id, file.skip))

    def _take_one(self, id: str, take: Take, file: NamedFile) -> None:
        try:
            self._write(id, take, file)
        except IbidError as error:
            if isinstance(error, SKIPS) and not file.explicit:
                self.tally.skipped.append(Skipped(id, error.message))
            else:
                self.tally.failed.append(Failed(id, type(error).__name__, str(error)))

    def _write(self, id: str, take: Take, file: NamedFile) -> None:
        document = clean_document(take(id=id))
        stored = find_stored(self.snapshot, [id, file.id])
        inherited = inherit_access(stored.get(file.id), file.rules) if id != file.id else None
        layered, overrides = layer_over(
            document, stored.get(id), self.flags, rules=file.rules, inherited=inherited
        )
        self.batch.write(
            layered,
            stored.get(id),
            overrides=overrides,
            chunking=choose_chunking(**file.rules.chunking) if file.rules.chunking else None,
            create=self.create,
            opens="allow" in self.flags,
        )
