"""What the folders above a file say of it: their rules and ignore files.

A sync has one folder, whose rules it reads. A file that is added lies in many, and may be added by
itself or with any of them; so it obeys all, and what one of them closes no other opens.
"""

from __future__ import annotations

from functools import cache, reduce
from pathlib import Path

from ibid.errors import InputError
from ibid.sources.patterns import (
    Ignores,
    Patterns,
    decide_nearest,
    parse_patterns,
    read_small_file,
)
from ibid.sources.rules import RuleSet, join_rule_sets, read_folder_rules
from ibid.sources.walk import IGNORE_FILE


class Above:
    """The rules and ignore files of folders, each read once."""

    def __init__(self) -> None:
        self._rules = cache(read_folder_rules)
        self._patterns = cache(_read_patterns)

    def find_rules(self, file: Path) -> RuleSet:
        """What all rules above a file say of it together. Raises BadSetting or InputError."""
        return reduce(
            join_rule_sets,
            (
                self._rules(folder).for_path(file.relative_to(folder).as_posix())
                for folder in reversed(file.parents)
            ),
            RuleSet(),
        )

    def list_ignores(self, path: Path) -> Ignores:
        """The patterns above a file or folder. Raises InputError."""
        return tuple(
            (len(spell(folder, folder=True)), patterns)
            for folder in reversed(path.parents)
            if (patterns := self._patterns(folder)) is not None
        )

    def ignores_path(self, path: Path, *, folder: bool) -> bool:
        """Whether an ignore file above leaves out a file or folder, or one that it lies in."""
        ignores = self.list_ignores(path)
        places = [*reversed(path.parents[:-1]), path]
        return any(
            decide_nearest(
                tuple(one for one in ignores if one[0] < len(spell(place))),
                spell(place, folder=folder or place is not path),
            )
            for place in places
        )


def spell(path: Path, *, folder: bool = False) -> str:
    """An absolute path as ignore files are matched with: from the root, a folder's with `/`."""
    spelt = path.as_posix().lstrip("/")
    return f"{spelt}/" if folder and spelt else spelt


def _read_patterns(folder: Path) -> Patterns | None:
    path = folder / IGNORE_FILE
    try:
        text = read_small_file(path)
        return None if text is None else parse_patterns(text)
    except ValueError as error:
        raise InputError(
            f"{path} can't be used: {error}",
            hint="nothing was changed; mend the file, or remove it if it has no purpose",
        ) from error
