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
    line += source[: source.index(text)].count("\n")
    blocks = []
    for block in find_blocks(text):
        content = text[block.span]
        last = line + content.rstrip().count("\n")
        blocks.append(Block(block.kind, block.start, block.end, lines=(line, last)))
        line += content.count("\n")
    return Document(id="", text=text, blocks=tuple(blocks))


def find_blocks(text: str) -> tuple[Block, ...]:
    """One block a paragraph, by the blank lines; they tile any text, none for an empty one."""
    if not text:
        return ()
    first = len(text) - len(text.lstrip())
    gaps = [gap for gap in _BLANK_LINES.finditer(text) if first < gap.start()]
    bounds = [0, *(gap.end() for gap in gaps if gap.end() < len(text)), len(text)]
    return tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in pairwise(bounds))
