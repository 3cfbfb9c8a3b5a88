"""Patterns of paths in gitignore's language, and the small files that hold them."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

MAX_BYTES: Final = 1_000_000
"""Size of the largest file of patterns or rules that is read."""


class Patterns:
    """Lines of patterns, of which the last that matches a path decides.

    As in git: a pattern without a slash, but perhaps at its end, matches at any depth; a slash at
    its start or within ties it to the top, one at its end to folders; `**` stands for any folders,
    and `!` takes a path back. Raises ValueError for a line that is no pattern.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        # `a/**` is all below a and not a itself, so that `!a/b` can take back a file of it.
        bounded = [re.sub(r"/\*\*\s*$", "/**/*", line) for line in lines]
        try:
            self._spec = GitIgnoreSpec.from_lines(bounded, backend="simple")
        except re.error as error:
            raise ValueError(str(error)) from error

    def decide(self, path: str) -> bool | None:
        """True for a path that matches, False for one taken back, None when no line says.

        A folder's path ends with `/`.
        """
        return self._spec.check_file(path).include

    @property
    def match_anything(self) -> bool:
        """False when all lines are blank, comments, or take back."""
        return any(pattern.include for pattern in self._spec.patterns)


def parse_pattern(pattern: str) -> Patterns:
    """The one pattern of a rule. Raises ValueError for none, and for one that takes back."""
    patterns = Patterns([pattern])
    if not patterns.match_anything or "\n" in pattern:
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
