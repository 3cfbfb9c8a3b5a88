"""Fixed windows over text: every `size` units, each repeating the last `overlap` of the one before.

A window ends the document as soon as it reaches its end, so none lies inside the one before.
"""

from __future__ import annotations

import re

from ibid.errors import BadSetting

WORD = re.compile(r"\S+")


def check_window(size: int, overlap: int) -> None:
    """Raises BadSetting, naming both numbers, unless 0 <= overlap < size."""
    if not 0 <= overlap < size:
        raise BadSetting(
            f"size {size} and overlap {overlap} make no windows",
            hint="the overlap must be at least 0 and smaller than the size",
        )


def count_windows(length: int, size: int, overlap: int) -> int:
    """How many windows a sequence of this length has: ceil((length - overlap) / (size - overlap)).

    One when the length is at most the size, none when it is 0. Raises BadSetting as check_window.
    """
    check_window(size, overlap)
    if length <= 0:
        return 0
    return max(1, -(-(length - overlap) // (size - overlap)))


def window_spans(length: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """The ranges of all windows over a sequence of this length, in order, none for length 0.

    Raises BadSetting as check_window.
    """
    step = size - overlap
    return [
        (start, min(start + size, length))
        for start in range(0, count_windows(length, size, overlap) * step, step)
    ]


def character_spans(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Windows of `size` characters, as ranges of the text. Raises BadSetting as check_window."""
    return window_spans(len(text), size, overlap)


def word_spans(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Windows of `size` words, as ranges of the text from a first word's start to a last one's end.

    A word is a run of characters that are not white space. Raises BadSetting as check_window.
    """
    words = [match.span() for match in WORD.finditer(text)]
    return [
        (words[first][0], words[last - 1][1])
        for first, last in window_spans(len(words), size, overlap)
    ]
