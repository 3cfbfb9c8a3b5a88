"""A tokenizer for embedders whose own is unknown: words, punctuation, characters of CJK."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_PIECE: Final = re.compile(
    r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
    r"|[^\W\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]{1,8}"
    r"|[^\w\s]"
)
"""One CJK character, up to eight letters or digits, or one mark: most real tokenizers cut a long
word into pieces, and scripts that put no space between words must not count as one."""


class WordTokenizer:
    """Cuts text into words of at most eight letters, marks, and single CJK characters."""

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text the character ranges of its pieces, in order."""
        return [[piece.span() for piece in _PIECE.finditer(text)] for text in texts]
