"""The way of files that are named one by one, and of folders that are added but not synced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ibid.errors import BadQuery, DuplicateDocument, EmptyDocument, IbidError, UnsupportedFormat
from ibid.flows.batch import Batch
from ibid.flows.ingest import enumerate_ids, find_stored, layer_over, refuse_repeated
from ibid.flows.options import IngestOptions
from ibid.flows.prepare import clean_document
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.tally import Tally
from ibid.protocols import Embedder, Index, Snapshot
from ibid.reading.pool import FileRead, FileToRead, ReaderPool
from ibid.records import JSON, Document, Failed, Incomplete, IngestReport, Skipped
from ibid.sources.folder import FolderSource

SKIPS: Final = (EmptyDocument, UnsupportedFormat)
"""What a file in a folder may turn out to be without that being a failure."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file and the id that its document gets; `skip` says why it isn't read.

    `explicit` is one that was named itself, not met inside a folder: not to read it is a failure.
    """

    id: str
    path: Path
    explicit: bool
    skip: str | None = None


def find_files(paths: Sequence[Path], *, id: str | None, folder: Path) -> list[NamedFile]:
    """The files of these paths, folders walked; their ids are paths relative to `folder`.

    Raises BadQuery for a path that isn't there, for one outside `folder` without an `id`, and for
    an `id` with more than one file.
    """
    found: list[NamedFile] = []
    for path in paths:
        if not path.exists():
            raise BadQuery(f"{path} doesn't exist", hint="give the path of a file or folder")
        found.extend(_walk(path.resolve(), folder.resolve(), id))
    if id is not None and len(found) != 1:
        raise BadQuery(f"--id {id!r} for {len(found)} files", hint="name exactly one file")
    return found


def _walk(path: Path, folder: Path, id: str | None) -> Iterator[NamedFile]:
    if id is None and not path.is_relative_to(folder):
        raise BadQuery(
            f"{path} is outside {folder}, from where ids are told", hint="give its id with --id"
        )
    if not path.is_dir():
        yield NamedFile(id or path.relative_to(folder).as_posix(), path, explicit=True)
        return
    source = FolderSource(path)
    for file in source.scan():
        place = path / file.path
        name = id or place.relative_to(folder).as_posix()
        yield NamedFile(name, place, explicit=False, skip=file.skip)


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
        refuse_repeated(file.id for file in files)
        snapshot = index.snapshot()
        stored = find_stored(snapshot, [file.id for file in files])
        if create and stored:
            raise DuplicateDocument(
                f"{enumerate_ids(stored)} in the library already",
                hint="nothing was changed; to overwrite on purpose, use update",
            )
        batch = Batch(index=index, embedder=embedder, options=options, tally=tally, watch=watch)
        for file in files:
            if file.skip is not None:
                tally.skipped.append(Skipped(file.id, file.skip))
        wanted = [file for file in files if file.skip is None]
        for file, read in zip(wanted, time_each(_read_all(wanted, options), watch), strict=True):
            take = partial(take_document, read)
            _take(file.id, take, file.explicit, snapshot, batch, tally, flags)
            if read.incomplete:
                tally.incomplete.append(Incomplete(file.id, read.incomplete))
            for attachment in read.document.attachments if read.document is not None else ():
                take = partial(take_attachment, read, attachment)
                name = f"{file.id}/{attachment.id}"
                _take(name, take, file.explicit, snapshot, batch, tally, flags)
            if batch.is_due:
                batch.commit()
        batch.commit()
    return tally.report(index.snapshot().version, watch.seconds)


def _read_all(files: Sequence[NamedFile], options: IngestOptions) -> Iterator[FileRead]:
    return read_files(((file.path, file.path.name) for file in files), options)


def read_files(files: Iterable[tuple[Path, str]], options: IngestOptions) -> Iterator[FileRead]:
    """What comes of each file, given by its path and its name, in order; read in children."""
    wanted = (
        FileToRead(
            path,
            name,
            options.max_file_bytes,
            password=options.password,
            languages=options.ocr_languages,
        )
        for path, name in files
    )
    with ReaderPool(
        options.readers, wall_s=options.read_seconds, memory_bytes=options.read_bytes
    ) as pool:
        yield from pool.read(wanted)


def _take(
    id: str,
    take: Callable[..., Document],
    explicit: bool,
    snapshot: Snapshot,
    batch: Batch,
    tally: Tally,
    flags: Mapping[str, JSON],
) -> None:
    """Turn a document that `take` gives, or the error it raises, into a change or a line."""
    try:
        document = clean_document(take(id=id))
        stored = find_stored(snapshot, [id]).get(id)
        layered, overrides = layer_over(document, stored, flags)
        batch.write(layered, stored, overrides=overrides, opens="allow" in flags)
    except IbidError as error:
        if isinstance(error, SKIPS) and not explicit:
            tally.skipped.append(Skipped(id, error.message))
        else:
            tally.failed.append(Failed(id, type(error).__name__, str(error)))


def take_document(read: FileRead, *, id: str) -> Document:
    """The document that was read, under this id, with its place and time; or its error raised."""
    if read.error is not None:
        raise read.error
    assert read.document is not None
    return _locate(replace(read.document, attachments=()), read, id, _tell_uri(read))


def take_attachment(read: FileRead, attachment: Document, *, id: str) -> Document:
    """A document that came inside a file, under this id, with the place and time of the file."""
    return _locate(attachment, read, id, f"{_tell_uri(read)}#{quote(attachment.id)}")


def _locate(document: Document, read: FileRead, id: str, source: str) -> Document:
    assert read.stat is not None
    if (modified_ns := read.stat.modified_ns) == 0 and read.file.uri:  # its server tells no time
        return replace(document, id=id, source=source)
    modified = datetime.fromtimestamp(modified_ns / 1e9, UTC)
    return replace(document, id=id, source=source, modified_at=modified)


def _tell_uri(read: FileRead) -> str:
    return read.file.uri or read.file.path.as_uri()


def time_each(reads: Iterable[FileRead], watch: Stopwatch) -> Iterator[FileRead]:
    """The same, with the time spent waiting for each counted as reading."""
    waiting = iter(reads)
    while True:
        with watch.timing("reading"):
            read = next(waiting, None)
        if read is None:
            return
        yield read
