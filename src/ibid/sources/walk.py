"""A tree of files walked: what in it is to be a document, why the rest isn't, in which order."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from ibid.protocols import FileStat, SourceFile
from ibid.sources.patterns import Ignores, Patterns, decide_nearest, parse_patterns
from ibid.sources.rules import RULES_FILE

IGNORE_FILE: Final = ".ibidignore"

LIBRARY_FILE: Final = "library.db"
"""A folder with this file in it holds a library, not documents."""

_NO_STAT: Final = FileStat(0, 0, 0)
"""Of what isn't looked into; a folder's own times change with what is in it."""

_CONTROL: Final = frozenset({"Cc", "Zl", "Zp"})
"""Unicode categories that break the line a path is printed on."""

EntryT = TypeVar("EntryT")


class Tree(Protocol[EntryT]):
    """Files in folders, wherever they lie; a folder's path ends with `/`, that of the top is ''."""

    def list_folder(self, path: str) -> Sequence[tuple[str, EntryT]]:
        """What a folder holds: each name, a folder's with `/`, and the entry that it stands for.

        Raises OSError.
        """
        ...

    def look_at(self, path: str, entry: EntryT) -> SourceFile | None:
        """A file with its stat and why it can't be read; None when it has vanished.

        Raises OSError.
        """
        ...

    def holds(self, path: str) -> bool:
        """Whether there is such a file."""
        ...

    def read_text(self, path: str) -> str | None:
        """The text of a small file, None when there is none. Raises OSError or ValueError."""
        ...


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder below the source: its path with `/` at the end, and the patterns that reach it.

    Paths are matched with `above` before them, where the patterns of folders above are among these.
    """

    path: str
    ignores: Ignores
    above: str

    def enter(self, path: str) -> _Place:
        """A folder in this one."""
        return _Place(path, self.ignores, self.above)

    def ignore_too(self, patterns: Patterns) -> _Place:
        """The same with the patterns of this very folder."""
        depth = len(self.above) + len(self.path)
        return _Place(self.path, (*self.ignores, (depth, patterns)), self.above)

    def ignores_path(self, path: str) -> bool:
        """Whether the nearest patterns that say anything of the path ignore it."""
        return decide_nearest(self.ignores, self.above + path)


@dataclass(frozen=True, slots=True)
class Walk(Generic[EntryT]):
    """One walk through a tree.

    Hidden files, and what `.ibidignore` names, are skipped; a skipped folder is one entry whose
    path ends with `/`. What could not be looked at is put into `unreadable` with the reason.
    `ignores` are the patterns of folders above the tree, whose own path from there is `above`.
    """

    tree: Tree[EntryT]
    unreadable: dict[str, str]
    ignores: Ignores = ()
    above: str = ""

    def scan(self) -> Iterator[SourceFile]:
        """Every file of the tree, in the order of its path by code points.

        Memory holds the names of one folder and of those above it.
        """
        levels = [self._list_folder(_Place("", self.ignores, self.above))]
        while levels:
            for found in levels[-1]:
                if isinstance(found, _Place):
                    levels.append(self._list_folder(found))
                    break
                yield found
            else:
                levels.pop()

    def _list_folder(self, place: _Place) -> Iterator[SourceFile | _Place]:
        """What is in one folder, in order; its subfolders as places still to be listed."""
        try:
            entries = dict(self.tree.list_folder(place.path))
            if entries.pop(IGNORE_FILE, None) is not None:
                patterns = parse_patterns(self.tree.read_text(place.path + IGNORE_FILE) or "")
                place = place.ignore_too(patterns)
        except OSError as error:
            self.unreadable[place.path] = error.strerror or str(error)
            return iter(())
        except ValueError as error:
            self.unreadable[place.path] = f"its {IGNORE_FILE} can't be used: {error}"
            return iter(())
        if not place.path:
            entries.pop(RULES_FILE, None)
        return self._look_through(entries, place)

    def _look_through(
        self, entries: dict[str, EntryT], place: _Place
    ) -> Iterator[SourceFile | _Place]:
        for name in sorted(entries):
            path = place.path + name
            if (reason := _refuse_unseen(name, path, place)) is not None:
                yield SourceFile(_print_path(path), _NO_STAT, reason)
            elif name[-1] == "/":
                yield self._look_into(path, place)
            else:
                try:
                    found = self.tree.look_at(path, entries[name])
                except OSError as error:
                    self.unreadable[path] = error.strerror or str(error)
                    continue
                if found is not None:
                    yield found

    def _look_into(self, path: str, place: _Place) -> SourceFile | _Place:
        """A folder as a place to be listed, or why it is none."""
        if self.tree.holds(path + LIBRARY_FILE):
            return SourceFile(path, _NO_STAT, "a library of ibid")
        return place.enter(path)


def _refuse_unseen(name: str, path: str, place: _Place) -> str | None:
    """Why what has this name is not even looked at; None where it is."""
    if not is_printable(name):
        return "its name can't be printed as text"
    if name[0] == ".":
        return "hidden"
    if place.ignores and place.ignores_path(path):
        return f"ignored by {IGNORE_FILE}"
    return None


def refuse_name(name: str, size: int) -> str | None:
    """Why a regular file of this name and size is no document, None when it may be one."""
    if name == RULES_FILE:
        return "rules are read at the top of the folder only"
    return "empty" if size == 0 else None


def is_printable(name: str) -> bool:
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
        letter.encode("unicode_escape").decode() if not is_printable(letter) else letter
        for letter in text
    )
