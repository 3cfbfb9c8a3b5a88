"""The disposable process in which files are read: `python -m ibid.reading.child`.

It takes one request after the other on standard input, opens and reads each file itself, and
answers on standard output. It can be killed at any moment: it holds nothing and writes nothing.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final

from blake3 import blake3

from ibid.errors import InputError, UnreadableDocument
from ibid.protocols import FileStat
from ibid.reading.frames import (
    OUT_OF_MEMORY,
    pack_document,
    pack_error,
    pack_frame,
    read_frame,
)
from ibid.reading.media_types import HEAD_BYTES, guess_media_type
from ibid.reading.pages import listen_for_pages
from ibid.reading.registry import load_reader, read_bytes

_CLONE_NEWNET: Final = 0x40000000
_MAX_DESCRIPTORS: Final = 64
_PR_SET_PDEATHSIG: Final = 1
_PIECE: Final = 1 << 20

_GRAIN_NS: Final = 50_000_000
"""Longer than any kernel's clock stands still that stamps files (10 ms at most)."""

_COARSE_NS: Final = 2_000_000_000
"""The same where times are whole seconds: the least of any file system, that of FAT, is two."""

_SKEW_NS: Final = 60_000_000_000
"""How far the clock of another machine's drive may be ahead of this one's."""


def main() -> None:
    """Read files until standard input ends."""
    memory_bytes, parent = map(int, sys.argv[1:])
    answer = _take_stdout()
    set_limits(memory_bytes)
    _die_with(parent)
    listen_for_pages(lambda kind, count: answer(pack_frame({kind: count})))
    sys.excepthook = _make_excepthook(answer)
    while (frame := read_frame(sys.stdin.buffer.read)) is not None:
        _answer_request(frame[0], answer)


def set_limits(memory_bytes: int) -> None:
    """Bound what this process may take: memory, files, what it may write, which is nothing, and
    the network, of which it gets an empty one.

    Where the system knows no such limit (macOS has none on memory), or grants it to root alone, it
    is left out; the time that the parent gives still holds.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).unshare(_CLONE_NEWNET)
    for limit, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_NOFILE, _MAX_DESCRIPTORS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):
            continue
    sys.dont_write_bytecode = True


def load_file(path: str, max_bytes: int, look: Callable[[FileStat, bytes], None]) -> bytes:
    """The bytes of a regular file, all from one moment; one that changes is read once more.

    `look` is given which file it is and its first bytes, and may refuse it before it is read.

    Raises UnreadableDocument for anything else, and for one that is too large or vanishes.
    """
    for _ in range(2):
        with _open_file(path) as descriptor:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise UnreadableDocument("not a regular file")
            try:
                look(_as_stat(before), os.pread(descriptor, HEAD_BYTES, 0))
                data = _read_within(descriptor, max_bytes, before.st_size)
            except OSError as error:
                raise UnreadableDocument(f"can't be read: {error.strerror}") from error
            after = os.fstat(descriptor)
        try:
            now = os.stat(path)
        except OSError as error:
            raise UnreadableDocument("vanished while it was being read") from error
        if _as_stat(before) == _as_stat(after) == _as_stat(now):
            return data
    raise UnreadableDocument("kept changing while it was being read", hint="try again later")


def load_whole(path: str, max_bytes: int) -> tuple[bytes, FileStat]:
    """The bytes of a file, and which file that is, as it is remembered. Raises as `load_file`."""
    found: list[FileStat] = []
    data = load_file(path, max_bytes, lambda file, _: found.append(file))
    return data, _doubt_fresh(found[-1], time.time_ns())


def _answer_request(request: Mapping[str, Any], answer: Callable[[bytes], None]) -> None:
    """Read one file and send its document, or why there is none."""
    _allow_cpu(request["cpu_s"])
    media_type = request["media_type"]

    def look(file: FileStat, head: bytes) -> None:
        nonlocal media_type
        answer(pack_frame({"stat": _doubt_fresh(file, time.time_ns())}))
        media_type = media_type or guess_media_type(request["name"], head)
        load_reader(media_type)

    try:
        data = load_file(request["path"], request["max_bytes"], look)
        answer(pack_frame({"bytes_hash": blake3(data).hexdigest()}))
        document = read_bytes(data, request["name"], media_type, **request["options"])
        answer(pack_document(document))
    except InputError as error:
        answer(pack_error(error))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


@contextmanager
def _open_file(path: str) -> Iterator[int]:
    try:
        # Not blocking: a pipe without a writer would hold the open forever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UnreadableDocument("vanished before it could be read") from error
    except PermissionError as error:
        raise UnreadableDocument("no permission to read it") from error
    except OSError as error:
        raise UnreadableDocument(f"can't be opened: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read_within(descriptor: int, max_bytes: int, size: int) -> bytes:
    """All the bytes of a file. Raises UnreadableDocument when there are more than allowed."""
    data = bytearray()
    while size <= max_bytes and (piece := os.read(descriptor, _PIECE)):
        data += piece
        size = max(size, len(data))
    if size > max_bytes:
        limit = _format_size(max_bytes)
        raise UnreadableDocument(
            f"{_format_size(size)} is over max_file_bytes ({limit})",
            hint="raise that setting to have it read",
        )
    return bytes(data)


def _format_size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"


def _as_stat(found: os.stat_result) -> FileStat:
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)


def _doubt_fresh(file: FileStat, now: int) -> FileStat:
    """The same, without the time of its last change where another one could bear that time too."""
    whole_seconds = file.changed_ns % 10**9 == 0
    grain = _COARSE_NS if whole_seconds else _GRAIN_NS
    if now - grain <= file.changed_ns <= now + _SKEW_NS:
        return file._replace(changed_ns=0)
    return file


def _take_stdout() -> Callable[[bytes], None]:
    """A function that sends a frame; whatever a library prints from now on goes nowhere."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)

    def send(frame: bytes) -> None:
        out.write(frame)
        out.flush()

    return send


def _die_with(parent: int) -> None:
    """See to it that this process ends when its parent does, also in the middle of a file."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before
        os._exit(1)


def _allow_cpu(seconds: int) -> None:
    """Move the limit on processor time so that so much is left from now on."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or limit <= hard:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def _make_excepthook(
    answer: Callable[[bytes], None],
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """A last word for the parent when a reader fails in a way that nobody foresaw."""

    def report(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        answer(pack_error(UnreadableDocument(f"the reader failed: {kind.__name__}: {error}")))

    return report


if __name__ == "__main__":
    main()
