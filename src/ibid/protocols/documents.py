"""Documents come in: where they are found, and how one format is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from ibid.errors import IbidError
from ibid.record import record
from ibid.records import Document


class FileStat(NamedTuple):
    """What tells, without reading it, whether a file is the one that was read before.

    A tuple, as one is made and compared for every file of every sync.

    `changed_ns` is the time that the system keeps of any change, which nobody can set; 0 in what is
    remembered of a file that must be read again, as it may have changed in the moment it was read.
    `tag` is what a server calls this state of the file, such as an ETag.
    """

    size: int
    modified_ns: int
    inode: int
    changed_ns: int = 0
    tag: str = ""


class SourceFile(NamedTuple):
    """A file that a source offers: `path` is relative to the source, with `/`.

    `skip` is the reason why it is not to be read, None when it is.
    """

    path: str
    stat: FileStat
    skip: str | None = None


@record
class Fetched:
    """A file of a source where it can be read: `path` lies on this machine, `uri` is its own place.

    `stat` tells which state of it was fetched, None where that shows only when it is opened;
    `media_type` is what its server says that it is. Of a file that could not be brought here,
    `error` says why and the path is empty. A `copy` is removed by who has read it.
    """

    file: SourceFile
    uri: str
    path: Path = Path()
    stat: FileStat | None = None
    media_type: str | None = None
    error: IbidError | None = None
    copy: bool = False


class Source(Protocol):
    """Where documents come from: what lies there, the stamp of each file, and its bytes."""

    @property
    def location(self) -> str:
        """The URI that the library records, such as `file:///home/ann/handbook`."""
        ...

    @property
    def unreadable(self) -> Mapping[str, str]:
        """After a scan, what could not be looked at, with the reason; a folder ends with `/`."""
        ...

    def scan(
        self, recall: Callable[[str], FileStat | None] = lambda path: None
    ) -> Iterator[SourceFile]:
        """Every file below the source, in the order of its path; nothing is read yet.

        `recall` gives what is remembered of a path, for a source that has to ask whether it is
        still so. Raises InputError when the listing can't be had whole.
        """
        ...

    def fetch(
        self, files: Iterable[SourceFile], *, max_bytes: int
    ) -> AbstractContextManager[Iterator[Fetched]]:
        """Each of these files in their order, brought here for a `with`; a few ahead, no more.

        One that is larger than `max_bytes` is not. What goes wrong is the error of its file.
        """
        ...

    def read_text(self, path: str) -> str | None:
        """The text of a small file that stands beside the documents, None when there is none.

        Raises ValueError for one that can't be read.
        """
        ...


class Reader(Protocol):
    """Turns the bytes of one format into a document; runs in a child process.

    The document's blocks tile its text. `name` is the file's name, for formats that need it; id,
    source and modification time are set by the caller.

    Raises UnreadableDocument for bytes that aren't of the format, EmptyDocument for no text.
    """

    def __call__(self, data: bytes, name: str) -> Document: ...
