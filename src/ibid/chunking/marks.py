"""Marks: where the parts of a kind of text begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import Match, Pattern

from ibid.chunking.pieces import Span, Spans
from ibid.records import Block, BlockKind


@dataclass(frozen=True, slots=True)
class Mark:
    """The beginning of a part: where it is, its first line or words, the lines it belongs under."""

    start: int
    label: Span
    leads: Spans = ()


def find_lines(text: str, blocks: Sequence[Block], pattern: Pattern[str]) -> Iterator[Match[str]]:
    """Where lines of paragraphs and lists match a pattern that begins with `^`, in order."""
    for block in blocks:
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.LIST):
            yield from pattern.finditer(text, block.start, block.end)


def end_of_line(text: str, start: int) -> int:
    """Where the line that begins here ends, before its newline."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end
