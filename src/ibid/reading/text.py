"""Plain text, in any encoding: kept as it is, its paragraphs found by the blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, repeat
from typing import Final

from ibid.errors import EmptyDocument
from ibid.reading.builder import normalize_text, trim_text
from ibid.reading.encodings import decode_bytes
from ibid.records import Block, BlockKind, Blocks, Document

_GAP: Final = re.compile(r"(\n[^\S\n]*\n\s*)")


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
    line += source.count("\n", 0, len(source.rstrip()) - len(text))
    return Document(id="", text=text, blocks=_tile(_GAP.split(text), line))


def find_blocks(text: str) -> Sequence[Block]:
    """One block a paragraph, by the blank lines; they tile any text, none for an empty one."""
    if not text:
        return ()
    pieces = _GAP.split(text)
    if len(pieces) > 1 and not pieces[-1]:  # the text ends with blank lines
        pieces[-3:] = ["".join(pieces[-3:])]
    if len(pieces) > 1 and not pieces[0].strip():  # or begins with some
        pieces[:3] = ["".join(pieces[:3])]
    return _tile(pieces)


def _tile(pieces: Sequence[str], line: int | None = None) -> Blocks:
    """The blocks of a text in pieces: paragraph, gap, paragraph, and so on; with lines from `line`.

    Made column by column: a long text has thousands of paragraphs.
    """
    bounds = list(accumulate(map(len, pieces), initial=0))
    lines: Iterable[tuple[int, int] | None] = repeat(None)
    if line is not None:
        # Most pieces have no line break in them, or are an empty line and nothing else.
        counts = [2 if p == "\n\n" else p.count("\n") if "\n" in p else 0 for p in pieces]
        breaks = list(accumulate(counts, initial=line))
        lines = zip(breaks[::2], breaks[1::2], strict=True)
    starts, ends = bounds[:-1:2], [*bounds[2::2], *bounds[-1:]]
    same = (repeat(0), repeat(None), repeat(None))
    columns = (repeat(BlockKind.PARAGRAPH), starts, ends, *same, lines, repeat(()))
    return Blocks(list(zip(*columns, strict=False)))
