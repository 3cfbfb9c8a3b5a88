"""Documents come in: where they are found, and how one format is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from ibid.records import Document


@dataclass(frozen=True, slots=True)
class FileStat:
    """What tells, without reading it, whether a file is the one that was read before.

    `changed_ns` is the time that the system keeps of any change, which nobody can set; 0 in what is
    remembered of a file that must be read again, as it may have changed in the moment it was read.
    `tag` is what a server calls this state of the file, such as an ETag.
    """

    size: int
    modified_ns: int
    inode: int
    changed_ns: int = 0
    tag: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a source offers: `path` is relative to the source, with `/`.

    `skip` is the reason why it is not to be read, None when it is.
    """

    path: str
    stat: FileStat
    skip: str | None = None


class Source(Protocol):
    """Where documents come from: something that can be listed, and read file by file."""

    @property
    def location(self) -> str:
        """The URI that the library records, such as `file:///home/ann/handbook`."""
        ...

    @property
    def unreadable(self) -> Mapping[str, str]:
        """After a scan, what could not be looked at, with the reason; a folder ends with `/`."""
        ...

    def scan(self) -> Iterator[SourceFile]:
        """Every file below the source, in the order of its path; nothing is read yet."""
        ...


class Reader(Protocol):
    """Turns the bytes of one format into a document; runs in a child process.

    The document's blocks tile its text. `name` is the file's name, for formats that need it; id,
    source and modification time are set by the caller.

    Raises UnreadableDocument for bytes that aren't of the format, EmptyDocument for no text.
    """

    def __call__(self, data: bytes, name: str) -> Document: ...
