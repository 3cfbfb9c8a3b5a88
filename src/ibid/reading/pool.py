"""Files read in disposable children, so that none can hang, fill or crash this process."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Final, NamedTuple, Self

from ibid.errors import IbidError, UnreadableDocument
from ibid.protocols import FileStat
from ibid.reading.frames import (
    OUT_OF_MEMORY,
    BadFrame,
    pack_frame,
    read_frame,
    unpack_document,
    unpack_error,
)
from ibid.records import Document

MAX_FILE_BYTES: Final = 100_000_000
MAX_WALL_S: Final = 120.0
MEMORY_BYTES: Final = 1024**3
UNREAD_PART: Final = "unread_part"
"""In a document's metadata: which part of its file could not be read, and why."""

_BASE_WALL_S: Final = 20.0
_PAGE_WALL_S: Final = 0.1
_SCAN_WALL_S: Final = 60.0  # for recognizing the text of one image; it takes 3 to 18 s
_SCANS_WALL_S: Final = 3600.0  # for all images of a file, however many its child says there are
_GRACE_S: Final = 5.0
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file to be read: where it lies, and the name that tells its kind.

    `media_type` is guessed from name and content unless it is given; `password` opens the file
    where it is encrypted; `languages` are those of its scans, by tesseract's names. `uri` is where
    it lies, for a copy of what lies elsewhere.
    """

    path: Path
    name: str
    max_bytes: int = MAX_FILE_BYTES
    media_type: str | None = None
    password: str | None = field(default=None, repr=False)
    languages: tuple[str, ...] = ()
    uri: str = ""


@dataclass(frozen=True, slots=True)
class FileRead:
    """What came of a file: its document, or the error that it failed with.

    The document's id is empty. `bytes_hash` is the BLAKE3 of the file's bytes in hexadecimal,
    empty where they weren't read whole; `stat` is of the moment they were, None for no file.
    `incomplete` says which part of the file the document lacks, and why.
    """

    file: FileToRead
    document: Document | None = None
    error: IbidError | None = None
    bytes_hash: str = ""
    stat: FileStat | None = None
    incomplete: str = ""


class ReaderPool:
    """Reads files in `workers` children, each of `memory_bytes` at most; used as a context.

    A file has 20 s and 0.1 s for each of its pages, but never more than `wall_s`; the text of an
    image takes long to recognize and has a minute of its own. A child that takes longer, or dies,
    fails the one file it was reading; the next gets a new child. Where it was on one of many pages
    then, those before are read once more and kept, and the metadata say so (`UNREAD_PART`).
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        wall_s: float = MAX_WALL_S,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._children = [_Child(wall_s, memory_bytes) for _ in range(workers)]
        self._idle: SimpleQueue[_Child] = SimpleQueue()
        for child in self._children:
            self._idle.put(child)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="ibid-reading")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, files: Iterable[FileToRead]) -> Iterator[FileRead]:
        """What comes of each file, in the order given; a few are read ahead, no more."""
        pending: deque[Future[FileRead]] = deque()
        try:
            for file in files:
                pending.append(self._threads.submit(self._read_one, file))
                if len(pending) > len(self._children) + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()

    def close(self) -> None:
        """End the children, also in the middle of a file."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.kill()
        self._threads.shutdown()
        for child in self._children:
            child.close()

    def _read_one(self, file: FileToRead) -> FileRead:
        child = self._idle.get()
        try:
            return child.read(file)
        finally:
            self._idle.put(child)


def read_file(
    path: Path,
    *,
    name: str | None = None,
    max_bytes: int = MAX_FILE_BYTES,
    media_type: str | None = None,
    password: str | None = None,
) -> Document:
    """The document of one file, read in a child of its own; its id is empty.

    Raises EmptyDocument, UnsupportedFormat or UnreadableDocument.
    """
    file = FileToRead(path, path.name if name is None else name, max_bytes, media_type, password)
    return read_one(file)


def read_one(
    file: FileToRead, *, wall_s: float = MAX_WALL_S, memory_bytes: int = MEMORY_BYTES
) -> Document:
    """The same within other limits than those by default."""
    with ReaderPool(wall_s=wall_s, memory_bytes=memory_bytes) as pool:
        (result,) = pool.read([file])
    if result.document is None:
        raise result.error or UnreadableDocument("not read")
    return result.document


class _Died(Exception):
    """The child ended in the middle of a file."""


class _Attempt(NamedTuple):
    """What came of a file, and True when the child died of it.

    Of a child that died or took too long, `good_pages` counts the pages before the one it was on.
    """

    result: FileRead
    died: bool = False
    good_pages: int = 0
    pages: int = 0


class _Child:
    """One child process, started when it is first needed and anew after each that ended."""

    def __init__(self, wall_s: float, memory_bytes: int) -> None:
        self._wall_s = wall_s
        self._memory_bytes = memory_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def read(self, file: FileToRead) -> FileRead:
        """What comes of one file.

        A child that dies may have been worn out by the files before: the file is then tried once
        more in a new one, and fails where that dies as well. Pages that were good are kept.
        """
        fresh = self._process is None
        attempt = self._try(file)
        if attempt.died and not fresh and not self._closed:
            attempt = self._try(file)
        if attempt.good_pages and not self._closed:
            return self._keep_pages(attempt)
        return attempt.result

    def kill(self) -> None:
        """End the process in the middle of what it does, and start no other."""
        self._closed = True
        process = self._process
        if process is not None:
            _kill_group(process)

    def close(self) -> None:
        """Let go of the process once nothing reads from it any more."""
        self._stop()

    def _keep_pages(self, attempt: _Attempt) -> FileRead:
        """The pages before the one that was too much; the error where even they can't be read."""
        result = attempt.result
        pages = self._try(result.file, attempt.good_pages).result
        if pages.document is None or pages.bytes_hash != result.bytes_hash:
            return result
        bad = attempt.good_pages + 1
        why = f"nothing is read from page {bad} of {attempt.pages} on: {result.error}"
        metadata = {**pages.document.metadata, UNREAD_PART: why}
        document = replace(pages.document, metadata=metadata)
        return replace(pages, document=document, incomplete=why)

    def _try(self, file: FileToRead, last_page: int | None = None) -> _Attempt:
        """What comes of the file, or of its pages up to one that is known to be good."""
        notes: dict[str, Any] = {} if last_page is None else {"last_page": last_page}
        document: Document | None = None
        error: IbidError | None = None
        died = late = False
        try:
            document = self._request(file, notes)
        except IbidError as failure:
            error = failure
        except TimeoutError:
            late = True
            self._stop()
            error = UnreadableDocument(f"took longer than {self._wall(notes):g} s to read")
        except (_Died, BrokenPipeError):
            died = True
            error = self._explain_death(self._stop(_GRACE_S))
        except BadFrame as failure:
            self._stop()
            error = UnreadableDocument(f"the reader gave no document: {failure}")
        stat = FileStat(*notes["stat"]) if "stat" in notes else None
        result = FileRead(file, document, error, notes.get("bytes_hash", ""), stat)
        good = max(notes.get("page", 0) - 1, 0) if died or late else 0
        return _Attempt(result, died, good, notes.get("pages", 0))

    def _request(self, file: FileToRead, notes: dict[str, Any]) -> Document:
        """The document; what the child says on the way is kept in `notes`."""
        process = self._start()
        start = time.monotonic()
        request = {
            "path": os.fspath(file.path),
            "name": file.name,
            "max_bytes": file.max_bytes,
            "media_type": file.media_type,
            "options": {
                "password": file.password,
                "last_page": notes.get("last_page"),
                "languages": file.languages or None,
            },
            "cpu_s": math.ceil(self._wall_s) * _count_turns(notes),
        }
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pack_frame(request))
        process.stdin.flush()
        while True:
            pipe = _TimedPipe(process.stdout, start + self._wall(notes))
            frame = read_frame(pipe.read)
            if frame is None:
                raise _Died
            header, body = frame
            if "documents" in header:
                return unpack_document(header["documents"], body)
            if "error" in header:
                raise unpack_error(header["error"])
            scans = notes.get("scans", 0) + header.get("scans", 0)
            notes.update(header, scans=scans)

    def _wall(self, notes: dict[str, Any]) -> float:
        pages: int = notes.get("pages", 0)
        scans: int = notes.get("scans", 0)
        reading = min(_BASE_WALL_S + _PAGE_WALL_S * pages, self._wall_s)
        return (reading + min(_SCAN_WALL_S * scans, _SCANS_WALL_S)) * _count_turns(notes)

    def _start(self) -> subprocess.Popen[bytes]:
        """The running process; a new one where there is none."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        # -P: the current folder is the user's, and no module of ours is looked for in it.
        command = [sys.executable, "-P", "-m", "ibid.reading.child"]
        self._process = subprocess.Popen(
            [*command, str(self._memory_bytes), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if self._closed:
            self._stop()
            raise _Died
        return self._process

    def _stop(self, grace_s: float = 0.0) -> int:
        """End the process with all that it started; its return code, 0 where there was none.

        One that is ending by itself is given a moment to, so that its own code is known.
        """
        process, self._process = self._process, None
        if process is None:
            return 0
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
        _kill_group(process)
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        return code

    def _explain_death(self, code: int) -> UnreadableDocument:
        limit = f"{self._memory_bytes / 1024**3:g} GiB"
        if code == OUT_OF_MEMORY:
            return UnreadableDocument(f"the reader ran out of memory (limit {limit})")
        if code == -signal.SIGXCPU:
            return UnreadableDocument(f"took longer than {self._wall_s:g} s to read")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return UnreadableDocument(
            f"the reader crashed ({how})",
            hint=f"the file may be broken, or take more memory than {limit}",
        )


def _count_turns(notes: Mapping[str, Any]) -> int:
    """How often the time of a file is given: twice for pages that were read within it before."""
    return 2 if "last_page" in notes else 1


class _TimedPipe:
    """A pipe that is read until a deadline, in the seconds of the monotonic clock."""

    def __init__(self, pipe: IO[bytes], deadline: float) -> None:
        self._descriptor = pipe.fileno()
        self._deadline = deadline
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def read(self, count: int) -> bytes:
        """So many bytes, fewer at the end only. Raises TimeoutError at the deadline."""
        data = bytearray()
        while len(data) < count:
            left = self._deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise TimeoutError
            piece = os.read(self._descriptor, min(count - len(data), _PIECE))
            if not piece:
                break
            data += piece
        return bytes(data)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it is gone already
        os.killpg(process.pid, signal.SIGKILL)
