"""Leads: the lines further up that a part of a table, a list or code can't be read without."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ibid.chunking.cuts import cut_sentences, find_lines, trim, trim_code
from ibid.chunking.marks import end_of_line
from ibid.chunking.pieces import Span, Spans, find_pieces
from ibid.chunking.prefix import shorten_text
from ibid.protocols import Tokenizer
from ibid.records import Block, BlockKind

_RULE: Final = re.compile(r"[\s|:+=-]+")
_CLOSES: Final = (")", "]", "}")
_INTRODUCES: Final = (":", "：")
_MAX_LEAD_IN: Final = 200
"""Characters of a paragraph that introduces a list as a whole; of a longer one its end does."""
_MAX_SCOPES: Final = 3
"""Lines that lead a part of code: a class, a function, and what is within."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Leads as they are shown, a line each, and the pieces that they take with the last newline."""

    text: str = ""
    pieces: int = 0


NO_LEAD: Final = Lead()


class LeadMaker:
    """Makes the leads of one document's passages, each once."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._text = text
        self._tokenizer = tokenizer
        self._made: dict[tuple[Spans, int], Lead] = {}

    def make(self, spans: Spans, limit: int) -> Lead:
        """The leads in at most `limit` pieces: the first are left out, then the last is cut."""
        if not spans:
            return NO_LEAD
        key = (spans, limit)
        if key not in self._made:
            lines = [self._text[slice(*span)].rstrip() for span in spans]
            self._made[key] = self._fit(lines, limit)
        return self._made[key]

    def _fit(self, lines: Sequence[str], limit: int) -> Lead:
        lines = lines[-limit:]
        found = find_pieces(self._tokenizer, [line + "\n" for line in lines])
        counts = [len(pieces) for pieces in found]
        for first in range(len(lines)):
            if sum(counts[first:]) <= limit:
                return Lead("\n".join(lines[first:]), sum(counts[first:]))
        return Lead(*shorten_text(lines[-1], "\n", self._tokenizer, limit))


def find_header(text: str, span: Span) -> Spans:
    """The first row of a table that has a rule below it, or is of mere lines with bars."""
    start, end = span
    stop = min(end, end_of_line(text, start))
    below = text[stop + 1 : min(end, end_of_line(text, stop + 1))]
    framed = text.startswith("|", start)
    has_header = bool(below) and (_RULE.fullmatch(below) is not None or not framed)
    return ((start, stop),) if has_header else ()


def is_table(text: str, block: Block) -> bool:
    """Whether a paragraph of plain text is rows of a table: three lines or more, all with bars."""
    if block.kind is not BlockKind.PARAGRAPH or text.find("|", block.start, block.end) < 0:
        return False
    lines = text[block.span].strip().split("\n")
    return len(lines) > 2 and all("|" in line for line in lines)


def find_lead_in(text: str, before: Block | None, language: str | None) -> Spans:
    """The paragraph before a list when it ends with a colon; of a long one the last sentence."""
    if before is None or before.kind is not BlockKind.PARAGRAPH:
        return ()
    start, end = trim(text, (before.start, before.end))
    if not text[start:end].endswith(_INTRODUCES):
        return ()
    if end - start <= _MAX_LEAD_IN:
        return ((start, end),)
    return (cut_sentences(text, (start, end), language)[-1],)


def find_scopes(text: str, blocks: Sequence[Block]) -> dict[int, Spans]:
    """For each line of code, by where it begins, the lines that it is indented below.

    They may stand in a block of code right before its own, as the name of a class does when each
    of its methods is a block.
    """
    found: dict[int, Spans] = {}
    scopes: list[tuple[int, Span]] = []
    for block in blocks:
        if block.kind is not BlockKind.CODE:
            scopes = []
            continue
        for start, end in find_lines(text, trim_code(text, (block.start, block.end))):
            line = text[start:end].rstrip()
            if not line:
                continue
            indent = len(line) - len(line.lstrip())
            # A line that closes a bracket ends what is within, not the line that opened it.
            closes = line.lstrip().startswith(_CLOSES)
            while scopes and scopes[-1][0] >= indent + closes:
                scopes.pop()
            found[start] = tuple(scope for _, scope in scopes[:_MAX_SCOPES])
            if not closes:
                scopes.append((indent, (start, start + len(line))))
    return found
