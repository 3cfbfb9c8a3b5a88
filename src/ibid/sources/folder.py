"""A folder as a source: its files in the order of their paths, and why some aren't read."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ibid.errors import InputError
from ibid.protocols import FileStat, SourceFile
from ibid.sources.patterns import Patterns, parse_patterns, read_small_file
from ibid.sources.rules import RULES_FILE

IGNORE_FILE: Final = ".ibidignore"

LIBRARY_FILE: Final = "library.db"
"""A folder with this file in it holds a library, not documents."""

_NO_STAT: Final = FileStat(0, 0, 0)
"""Of what isn't looked into; a folder's own times change with what is in it."""

_CONTROL: Final = frozenset({"Cc", "Zl", "Zp"})
"""Unicode categories that break the line a path is printed on."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder below the source: its path with `/` at the end, and the patterns that reach it.

    Each of `ignores` holds from a depth on: the length of its folder's path; the nearest is last.
    """

    path: str
    ignores: tuple[tuple[int, Patterns], ...]

    def ignores_path(self, path: str) -> bool:
        """Whether the nearest patterns that say anything of the path ignore it."""
        said = (patterns.decide(path[depth:]) for depth, patterns in reversed(self.ignores))
        return next((ignored for ignored in said if ignored is not None), False)


class FolderSource:
    """The files below a folder.

    Hidden files, and what `.ibidignore` names, are skipped; a skipped folder is one entry whose
    path ends with `/`. No link is followed: nothing is listed from elsewhere, no walk is endless,
    and no file escapes the rules of the place where it lies. Names stay as they are written on
    disk.

    `unreadable` holds, after a scan, each folder (its path ends with `/`) and file that could not
    be looked at, with the reason: what lies there is unknown, and must not be taken for gone.

    Raises InputError when there is no such folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.root = Path(path).expanduser().resolve()
        self.unreadable: dict[str, str] = {}
        if not self.root.is_dir():
            what = "isn't a folder" if self.root.exists() else "doesn't exist"
            raise InputError(f"{self.root} {what}", hint="give the path of a folder to sync")

    @property
    def location(self) -> str:
        """The folder's URI."""
        return self.root.as_uri()

    def find(self, path: str) -> Path:
        """Where a listed file lies."""
        return self.root / path

    def scan(self) -> Iterator[SourceFile]:
        """Every file below the folder, in the order of its path by code points.

        Memory holds the names of one folder and of those above it. Raises InputError when the
        folder itself can't be listed.
        """
        self.unreadable.clear()
        levels = [self._list_folder(_Place("", ()))]
        if reason := self.unreadable.get(""):
            raise InputError(
                f"{self.root} can't be listed: {reason}", hint="nothing was changed; try again"
            )
        while levels:
            for found in levels[-1]:
                if isinstance(found, _Place):
                    levels.append(self._list_folder(found))
                    break
                yield found
            else:
                levels.pop()

    def _list_folder(self, place: _Place) -> Iterator[SourceFile | _Place]:
        """The entries of one folder, in order; its subfolders as places still to be listed."""
        folder = self.root / place.path
        try:
            with os.scandir(folder) as listing:
                entries = sorted((_name_entry(entry), entry) for entry in listing)
            if any(name == IGNORE_FILE for name, _ in entries):
                patterns = parse_patterns(read_small_file(folder / IGNORE_FILE) or "")
                place = _Place(place.path, (*place.ignores, (len(place.path), patterns)))
        except OSError as error:
            self.unreadable[place.path] = error.strerror or str(error)
            return iter(())
        except ValueError as error:
            self.unreadable[place.path] = f"its {IGNORE_FILE} can't be used: {error}"
            return iter(())
        found = (self._look_at(name, entry, place) for name, entry in entries)
        return (one for one in found if one is not None)

    def _look_at(
        self, name: str, entry: os.DirEntry[str], place: _Place
    ) -> SourceFile | _Place | None:
        """A file, a folder to go into, or None for what is no document or has vanished."""
        path = place.path + name
        if name == IGNORE_FILE or path == RULES_FILE:
            return None
        if not _is_printable(name):
            return SourceFile(_print_path(path), _NO_STAT, "its name can't be printed as text")
        if name.startswith("."):
            return SourceFile(path, _NO_STAT, "hidden")
        if place.ignores and place.ignores_path(path):
            return SourceFile(path, _NO_STAT, f"ignored by {IGNORE_FILE}")
        if name.endswith("/"):
            if os.path.exists(self.root / path / LIBRARY_FILE):
                return SourceFile(path, _NO_STAT, "a library of ibid")
            return _Place(path, place.ignores)
        return self._look_at_file(entry, path)

    def _look_at_file(self, entry: os.DirEntry[str], path: str) -> SourceFile | None:
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.unreadable[path] = error.strerror or str(error)
            return None
        if stat.S_ISLNK(found.st_mode):
            return SourceFile(path, _NO_STAT, "a link; what it leads to is read where it lies")
        file_stat = FileStat(found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)
        return SourceFile(path, file_stat, _refuse_file(entry.name, found))


def _refuse_file(name: str, found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "not a regular file"
    if name == RULES_FILE:
        return "rules are read at the top of the folder only"
    return "empty" if found.st_size == 0 else None


def _name_entry(entry: os.DirEntry[str]) -> str:
    """The name, with `/` at the end of a folder's: so they stand in the order of paths."""
    return entry.name + "/" if entry.is_dir(follow_symlinks=False) else entry.name


def _is_printable(name: str) -> bool:
    """Whether a name is Unicode and stays on its line."""
    if name.isascii():
        return name.isprintable()
    return not any(
        "\ud800" <= letter <= "\udfff" or unicodedata.category(letter) in _CONTROL
        for letter in name
    )


def _print_path(path: str) -> str:
    r"""A path with the bytes and characters that can't be printed as `\xff` and `\n`."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(
        letter.encode("unicode_escape").decode() if not _is_printable(letter) else letter
        for letter in text
    )
