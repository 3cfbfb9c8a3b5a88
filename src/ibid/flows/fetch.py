"""The files of a source brought to this machine and read, in one stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ibid.flows.options import IngestOptions, LendReaders
from ibid.flows.taking import open_readers
from ibid.protocols import Fetched, Source, SourceFile
from ibid.reading.pool import FileRead, FileToRead


def read_source(
    source: Source, files: Iterable[SourceFile], options: IngestOptions, lend: LendReaders | None
) -> Iterator[FileRead]:
    """What comes of each file, in order; read in children, a few ahead.

    These are lent by `lend`, or end with the last file.
    A file is named by its path in the source, and its stat is that of what was fetched.
    """
    waiting: deque[Fetched] = deque()

    def bring(arriving: Iterator[Fetched]) -> Iterator[FileToRead]:
        for fetched in arriving:
            waiting.append(fetched)
            if fetched.error is None:
                yield _want(fetched, options)

    with (
        source.fetch(files, max_bytes=options.max_file_bytes) as arriving,
        lend() if lend else open_readers(options) as pool,
    ):
        for read in pool.read(bring(arriving)):
            yield from _give_up(waiting, options)
            fetched = waiting.popleft()
            if fetched.copy:
                fetched.path.unlink(missing_ok=True)
            yield read if fetched.stat is None else replace(read, stat=fetched.stat)
        yield from _give_up(waiting, options)


def _want(fetched: Fetched, options: IngestOptions) -> FileToRead:
    return FileToRead(
        fetched.path,
        fetched.file.path,
        options.max_file_bytes,
        fetched.media_type,
        password=options.password,
        languages=options.ocr_languages,
        uri=fetched.uri,
    )


def _give_up(waiting: deque[Fetched], options: IngestOptions) -> Iterator[FileRead]:
    """The files that could not be brought here, up to the next one that was."""
    while waiting and waiting[0].error is not None:
        fetched = waiting.popleft()
        yield FileRead(_want(fetched, options), error=fetched.error, stat=fetched.stat)
