"""What is read of files, taken as documents: a file's own, and those that came inside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import quote

from ibid.errors import EmptyDocument, GoneDocument, UnsupportedFormat
from ibid.flows.options import IngestOptions
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import StoredDocument
from ibid.reading.pool import FileRead, FileToRead, ReaderPool
from ibid.records import Document
from ibid.sources.rules import RuleSet

SKIPS: Final = (EmptyDocument, GoneDocument, UnsupportedFormat)
"""What a file in a folder may turn out to be without that being a failure."""


Take: TypeAlias = Callable[..., Document]
"""Gives a document of what was read, under the `id` that it is called with, or raises its error."""


def open_readers(options: IngestOptions) -> ReaderPool:
    """A pool of readers, within the limits of the options."""
    return ReaderPool(options.readers, wall_s=options.read_seconds, memory_bytes=options.read_bytes)


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
    with open_readers(options) as pool:
        yield from pool.read(wanted)


def time_each(reads: Iterable[FileRead], watch: Stopwatch) -> Iterator[FileRead]:
    """The same, with the time spent waiting for each counted as reading."""
    waiting = iter(reads)
    while True:
        with watch.timing("reading"):
            read = next(waiting, None)
        if read is None:
            return
        yield read


def list_attachments(read: FileRead) -> dict[str, Take]:
    """What takes each document that came inside a file, by its path below the file's."""
    inside = read.document.attachments if read.document is not None else ()
    return {one.id: partial(_take_attachment, read, one) for one in inside}


def take_document(read: FileRead, *, id: str) -> Document:
    """The document that was read, under this id, with its place and time; or its error raised."""
    if read.error is not None:
        raise read.error
    assert read.document is not None
    return _locate(replace(read.document, attachments=()), read, id, _tell_uri(read))


def _take_attachment(read: FileRead, attachment: Document, *, id: str) -> Document:
    """A document that came inside a file, under this id, with the place and time of the file."""
    return _locate(attachment, read, id, f"{_tell_uri(read)}#{quote(attachment.id)}")


def _locate(document: Document, read: FileRead, id: str, source: str) -> Document:
    assert read.stat is not None
    if (modified_ns := read.stat.modified_ns) == 0 and read.file.uri:  # its server tells no time
        return replace(document, id=id, source=source)
    return replace(document, id=id, source=source, modified_at=_tell_time(modified_ns))


def _tell_uri(read: FileRead) -> str:
    return read.file.uri or read.file.path.as_uri()


def _tell_time(modified_ns: int) -> datetime | None:
    """The time of a file; None for one that no calendar has, as a broken clock may set it."""
    try:
        return datetime.fromtimestamp(modified_ns / 1e9, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def inherit_access(container: StoredDocument | None, rules: RuleSet) -> frozenset[str] | None:
    """Who may see what came inside a file and says nothing of it: those who may see the file.

    That is as it was set, or as the rules have it.
    """
    if container is not None and container.info.allow is not None:
        return container.info.allow
    return rules.locked.allow if rules.locked.allow is not None else rules.open.allow
