"""How documents are cut: by what, to which size, with how much repeated."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast, get_args

from ibid.chunking.windows import check_window
from ibid.errors import BadSetting
from ibid.record import record

By: TypeAlias = Literal["structure", "sentences", "words", "characters"]

DEFAULTS: Final[dict[By, tuple[int, int]]] = {
    "structure": (200, 0),
    "sentences": (200, 0),
    "words": (200, 40),
    "characters": (500, 50),
}
"""Size and overlap by method: word pieces, words, words, characters."""


@record
class Chunking:
    """A method with its size and overlap in the unit of its own; `str` gives its stable name.

    Raises BadSetting unless 0 <= overlap < size.
    """

    by: By = "structure"
    size: int = 200
    overlap: int = 0

    def __post_init__(self) -> None:
        check_window(self.size, self.overlap)

    def __str__(self) -> str:
        return f"{self.by}/{self.size}/{self.overlap}"


def choose_chunking(
    by: str = "structure", size: int | None = None, overlap: int | None = None
) -> Chunking:
    """The chunking of these names and numbers; what is None is the method's default.

    A default overlap shrinks with the size asked for. Raises BadSetting for an unknown method, and
    as Chunking does.
    """
    if by not in get_args(By):
        raise BadSetting(f"no chunking by {by!r}", hint=f"choose one of {', '.join(get_args(By))}")
    method = cast(By, by)
    default_size, default_overlap = DEFAULTS[method]
    if size is None:
        size = default_size
    if overlap is None:
        overlap = default_overlap * min(size, default_size) // default_size
    return Chunking(method, size, overlap)


def parse_chunking(written: str) -> Chunking:
    """The chunking that a manifest's text stands for. Raises BadSetting for another text."""
    by, _, numbers = written.partition("/")
    size, _, overlap = numbers.partition("/")
    if not (size.isdigit() and overlap.isdigit()):
        raise BadSetting(f"{written!r} is no chunking", hint="it is written structure/200/0")
    return choose_chunking(by, int(size), int(overlap))
