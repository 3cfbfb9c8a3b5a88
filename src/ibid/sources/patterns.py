"""Patterns of paths in gitignore's language, and the small files that hold them."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

from pathspec import GitIgnoreSpec

MAX_BYTES: Final = 1_000_000
"""Size of the largest file of patterns or rules that is read."""


class Patterns:
    """Lines of patterns, each of which may take paths back that those before it match.

    As in git: a pattern without a slash, but perhaps at its end, matches at any depth; a slash at
    its start or within ties it to the top, one at its end to folders; `**` stands for any folders,
    and `!` takes back. Raises ValueError for a line that is no pattern.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        # `a/**` is all below a and not a itself, so that `!a/b` can take back a file of it.
        bounded = [re.sub(r"/\*\*(/?)\s*$", r"/**/*\1", line) for line in lines]
        try:
            parsed = GitIgnoreSpec.from_lines(bounded, backend="simple").patterns
        except re.error as error:
            raise ValueError(str(error)) from error
        # A blank line or a comment has no expression.
        self._patterns: list[tuple[re.Pattern[str], bool]] = [
            (one.regex, bool(one.include)) for one in parsed if one.regex is not None
        ]

    @property
    def match_something(self) -> bool:
        """Whether any line is a pattern that doesn't take back."""
        return any(include for _, include in self._patterns)

    def cover(self, path: str) -> bool:
        """Whether a pattern matches a file or a folder above it; none is taken back."""
        return any(expression.search(path) for expression, include in self._patterns if include)

    def decide(self, path: str) -> bool | None:
        """What the last pattern that matches a path says of it: True, or False if it takes back.

        None when no line matches. A folder's path ends with `/`. Only the path itself counts, as
        in a walk that has decided before on the folders above it.
        """
        for expression, include in reversed(self._patterns):
            if any(_reaches_end(found, path) for found in expression.finditer(path)):
                return include
        return None


def decide_nearest(ignores: Ignores, path: str) -> bool:
    """Whether the last patterns that say anything of a path ignore it."""
    said = (patterns.decide(path[depth:]) for depth, patterns in reversed(ignores))
    return next((ignored for ignored in said if ignored is not None), False)


def _reaches_end(found: re.Match[str], path: str) -> bool:
    """Whether a path itself matched: the one group of pathspec is the slash after a folder."""
    return found.lastindex is None or found.end(found.lastindex) == len(path)


Ignores: TypeAlias = tuple[tuple[int, Patterns], ...]
"""Patterns of folders, the nearest last, each with the length of its folder's path, from which on
paths are matched with them."""


def parse_pattern(pattern: str) -> Patterns:
    """The one pattern of a rule. Raises ValueError for none, and for one that takes back."""
    patterns = Patterns([pattern])
    if not patterns.match_something or "\n" in pattern:
        raise ValueError("it must be one pattern, and not begin with ! or #")
    return patterns


def parse_patterns(text: str) -> Patterns:
    """The patterns of a file, one a line. Raises ValueError for a line that is no pattern."""
    return Patterns(line.removesuffix("\r") for line in text.split("\n"))


def read_small_file(path: Path) -> str | None:
    """The text of a file that stands beside documents; None when there is none.

    Raises ValueError for one that is there and can't be read: it is no regular file, too large,
    not UTF-8, a link to nothing, or forbidden.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it isn't a regular file")
        if found.st_size > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        if path.is_symlink():
            raise ValueError("it is a link to nothing") from None
        return None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
