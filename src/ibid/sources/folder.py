"""A folder as a source: its files in the order of their paths, and why some aren't read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ibid.errors import InputError
from ibid.protocols import Fetched, FileStat, SourceFile
from ibid.sources.above import Above, spell
from ibid.sources.patterns import read_small_file
from ibid.sources.walk import Walk, refuse_name


class FolderSource:
    """The files below a folder.

    Hidden files, and what `.ibidignore` names, are skipped; a skipped folder is one entry whose
    path ends with `/`. No link is followed: nothing is listed from elsewhere, no walk is endless,
    and no file escapes the rules of the place where it lies. Names stay as they are written on
    disk. With `above`, the ignore files of the folders above are honoured too.

    `unreadable` holds, after a scan, each folder (its path ends with `/`) and file that could not
    be looked at, with the reason: what lies there is unknown, and must not be taken for gone.

    Raises InputError when there is no such folder.
    """

    def __init__(self, path: str | os.PathLike[str], *, above: Above | None = None) -> None:
        self.root = Path(path).expanduser().resolve()
        self.unreadable: dict[str, str] = {}
        self._above = above
        if not self.root.is_dir():
            what = "isn't a folder" if self.root.exists() else "doesn't exist"
            raise InputError(f"{self.root} {what}", hint="give the path of a folder to sync")

    @property
    def location(self) -> str:
        """The folder's URI."""
        return self.root.as_uri()

    def scan(
        self, recall: Callable[[str], FileStat | None] = lambda path: None
    ) -> Iterator[SourceFile]:
        """Every file below the folder, in the order of its path by code points.

        Memory holds the names of one folder and of those above it. Raises InputError when the
        folder itself can't be listed.
        """
        self.unreadable.clear()
        walk = Walk(self, self.unreadable)
        if self._above is not None:
            ignores = self._above.list_ignores(self.root)
            walk = Walk(self, self.unreadable, ignores, spell(self.root, folder=True))
        yield from walk.scan()
        if reason := self.unreadable.get(""):
            raise InputError(
                f"{self.root} can't be listed: {reason}", hint="nothing was changed; try again"
            )

    @contextmanager
    def fetch(self, files: Iterable[SourceFile], *, max_bytes: int) -> Iterator[Iterator[Fetched]]:
        """Where each file lies: nothing has to be brought here."""
        places = ((file, self.root / file.path) for file in files)
        yield (Fetched(file, path.as_uri(), path) for file, path in places)

    # -- the tree that is walked -----------------------------------------------------------------

    def list_folder(self, path: str) -> list[tuple[str, os.DirEntry[str]]]:
        """The entries of a folder by their names, a folder's with `/`. Raises OSError."""
        with os.scandir(f"{self.root}/{path}") as listing:
            return [(_name_entry(entry), entry) for entry in listing]

    def look_at(self, path: str, entry: os.DirEntry[str]) -> SourceFile | None:
        """A file, with why it can't be read; None when it has vanished. Raises OSError."""
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(found.st_mode):
            skip: str | None = "a link; what it leads to is read where it lies"
            return SourceFile(path, FileStat(0, 0, 0), skip)
        skip = "not a regular file"
        if stat.S_ISREG(found.st_mode):
            skip = refuse_name(entry.name, found.st_size)
        file_stat = FileStat(found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)
        return SourceFile(path, file_stat, skip)

    def holds(self, path: str) -> bool:
        """Whether there is such a file."""
        return os.path.exists(f"{self.root}/{path}")

    def read_text(self, path: str) -> str | None:
        """The text of a small file, None when there is none. Raises ValueError."""
        return read_small_file(self.root / path)


def _name_entry(entry: os.DirEntry[str]) -> str:
    """The name, with `/` at the end of a folder's: so they stand in the order of paths."""
    return entry.name + "/" if entry.is_dir(follow_symlinks=False) else entry.name
