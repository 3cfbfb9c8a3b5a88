"""Plain text, in any encoding: kept as it is, its paragraphs found by the blank lines."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from ibid.errors import EmptyDocument
from ibid.reading.builder import normalize_text, trim_text
from ibid.reading.encodings import decode_bytes
from ibid.records import Block, BlockKind, Document

_BLANK_LINES: Final = re.compile(r"\n[^\S\n]*\n\s*")


def read_text(data: bytes, name: str) -> Document:
    """The text of the bytes, whole; only blank lines at its start and end are left out.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for white space alone.
    """
    return build_text(normalize_text(decode_bytes(data)))


def build_text(source: str, *, line: int = 1) -> Document:
    """The document of a text that begins at this line of its file; as `read_text` does."""
    text = trim_text(source)
    if not text:
        raise EmptyDocument("no text in it")
    line += source.count("\n", 0, source.index(text))
    blocks = []
    for start, end in pairwise(_find_bounds(text)):
        content = text[start:end]
        last = line + content.rstrip().count("\n")
        blocks.append(Block(BlockKind.PARAGRAPH, start, end, 0, None, (), (line, last)))
        line += content.count("\n")
    return Document(id="", text=text, blocks=tuple(blocks))


def find_blocks(text: str) -> tuple[Block, ...]:
    """One block a paragraph, by the blank lines; they tile any text, none for an empty one."""
    if not text:
        return ()
    spans = pairwise(_find_bounds(text))
    return tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in spans)


def _find_bounds(text: str) -> list[int]:
    """Where the paragraphs of a text begin, and where the last one ends."""
    first, whole = len(text) - len(text.lstrip()), len(text)
    spans = (gap.span() for gap in _BLANK_LINES.finditer(text))
    return [0, *(end for start, end in spans if first < start and end < whole), whole]
