"""Kinds of text: recognised by how their parts begin, so that each part can stay whole.

A finder looks at the blocks of one section and marks where its parts begin; it marks nothing where
the text is not of its kind. A mark that is wrong costs little: a passage begins at that line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

from ibid.chunking.clauses import find_clauses
from ibid.chunking.cuts import trim
from ibid.chunking.marks import Mark, end_of_line, find_lines
from ibid.chunking.pieces import Spans
from ibid.chunking.units import Rule
from ibid.records import Block, BlockKind

_MEAN_LENGTH: Final = 2000
"""Characters of the parts of a kind of text, at most, in the mean; longer ones are a chance."""

_MAX_QUESTION: Final = 200
"""Characters of a line that can be a question of its own."""

_FEW: Final = 4
"""A section of questions and answers has a question in at least every fourth block."""

_MIN_TURNS: Final = 4
_SPEAKERS_AGAIN: Final = 0.8
"""Share of the lines with a name that must be by one who speaks more than once."""

_MAX_SIGNATURE: Final = 300  # characters

_QUESTION: Final = re.compile(r"^[^\S\n]*(?:Q|Question|Frage|Pregunta)[^\S\n]*\d*[.:)]\s", re.M)
_ANSWER: Final = re.compile(
    r"^[^\S\n]*(?:A|Answer|Antwort|Réponse|Respuesta)[^\S\n]*\d*[.:)]\s", re.M
)
_ASKS: Final = ("?", "？", "؟")

_TIME: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?Z?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_DATE: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_STAMP: Final = rf"[\[(]?(?:{_DATE},?[T ]?\s?)?{_TIME}[\])]?"
_NAME: Final = r"[^\W\d_][^\n:<>|?!]{0,39}"
_MESSAGE: Final = re.compile(
    rf"^[^\S\n]*(?:{_STAMP}[^\S\n]*[-–—|,]?[^\S\n]*(?:<[^<>\n]{{1,40}}>|{_NAME}:)(?=\s)"
    rf"|{_NAME}[^\S\n]+{_STAMP}[^\S\n]*$)",
    re.M,
)
_SPEAKER: Final = re.compile(r"^[^\S\n]*([^\W\d_][^\s:]*(?:[^\S\n][^\s:]+){0,3}):(?=[^\S\n])", re.M)

_REQUEST: Final = r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+/\S*"
_DECLARES: Final = r"(?:async|def|class|func|fn|function|static|public)\s+"
_CALL: Final = r"[\w.:]*\w\([^\n]*\)"
_RETURNS: Final = r"\s*(?:->|:|→)[^\n]*"
_SIGNATURES: Final = {
    BlockKind.PARAGRAPH: re.compile(rf"{_REQUEST}|(?:{_DECLARES})*{_CALL}(?:{_RETURNS})?"),
    # A call alone is code that runs, as in a notebook.
    BlockKind.CODE: re.compile(rf"{_REQUEST}|(?:{_DECLARES})+{_CALL}(?:{_RETURNS})?"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks that belong together: a part of a kind of text, or what stands between such parts.

    `rule` is None for blocks that are each of its own. `leads` are lines further up that the part
    belongs to, `label` is its own first line, which later parts need when it has to be cut.
    """

    blocks: tuple[Block, ...]
    rule: Rule | None = None
    leads: Spans = ()
    label: Spans = ()


Finder: TypeAlias = Callable[[str, Sequence[Block]], list[Mark]]


def find_groups(text: str, blocks: Sequence[Block], heading: str) -> list[Group]:
    """The blocks of one section, below this heading, in groups; a block may be cut by them."""
    if heading.endswith(_ASKS) and blocks:
        return [Group(tuple(blocks), Rule.QUESTION)]
    for rule, find in _FINDERS:
        marks = find(text, blocks)
        if marks and blocks[-1].end - marks[0].start <= _MEAN_LENGTH * len(marks):
            return list(_group_blocks(text, blocks, marks, rule))
    return [Group(tuple(blocks))] if blocks else []


def _group_blocks(
    text: str, blocks: Sequence[Block], marks: Sequence[Mark], rule: Rule
) -> Iterator[Group]:
    edges = [mark.start for mark in marks] + [blocks[-1].end]
    if before := _clip(text, blocks, blocks[0].start, edges[0]):
        yield Group(before)
    for mark, (start, end) in zip(marks, pairwise(edges), strict=True):
        yield Group(_clip(text, blocks, start, end), rule, mark.leads, (mark.label,))


def _clip(text: str, blocks: Sequence[Block], start: int, end: int) -> tuple[Block, ...]:
    """The parts of the blocks that lie within a range and aren't blank."""
    first = max(0, bisect_right(blocks, start, key=lambda block: block.start) - 1)
    last = bisect_left(blocks, end, key=lambda block: block.start)
    parts = (
        replace(block, start=max(block.start, start), end=min(block.end, end))
        for block in blocks[first:last]
    )
    return tuple(part for part in parts if text[part.span].strip())


def _find_questions(text: str, blocks: Sequence[Block]) -> list[Mark]:
    """Lines marked as questions, where others are marked as answers."""
    if not any(find_lines(text, blocks, _ANSWER)):
        return []
    asked = (match.start() for match in find_lines(text, blocks, _QUESTION))
    return [_mark_line(text, start) for start in asked]


def _find_asking_lines(text: str, blocks: Sequence[Block]) -> list[Mark]:
    """Lines that end with a question mark, where the text begins with one and has many."""
    asked = [block.start for block in blocks if _asks(text, block)]
    opens = any(block.start in asked[:1] for block in blocks[:2])
    if len(asked) < 2 or not opens or len(asked) * _FEW < len(blocks):
        return []
    return [_mark_line(text, start) for start in asked]


def _mark_line(text: str, start: int) -> Mark:
    return Mark(start, (start, end_of_line(text, start)))


def _asks(text: str, block: Block) -> bool:
    if block.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST):
        return False
    line = text[block.start : min(block.end, end_of_line(text, block.start))].strip()
    return len(line) <= _MAX_QUESTION and line.endswith(_ASKS)


def _find_messages(text: str, blocks: Sequence[Block]) -> list[Mark]:
    """Lines that begin with a time and a name, else with the name of one who speaks again."""
    found = list(find_lines(text, blocks, _MESSAGE))
    if len(found) < 2:
        found = list(find_lines(text, blocks, _SPEAKER))
        turns = Counter(match[1] for match in found)
        again = sum(count for count in turns.values() if count > 1)
        if len(turns) < 2 or len(found) < _MIN_TURNS or again < _SPEAKERS_AGAIN * len(found):
            return []
    return [Mark(match.start(), match.span()) for match in found]


def _find_entries(text: str, blocks: Sequence[Block]) -> list[Mark]:
    """Signatures of functions and addresses of a service, each alone on the line of its block."""
    found = []
    for block in blocks:
        start, end = trim(text, (block.start, block.end))
        signature = _SIGNATURES.get(block.kind)
        if signature and end - start <= _MAX_SIGNATURE and signature.fullmatch(text[start:end]):
            found.append(Mark(block.start, (start, end)))
    opens = bool(found) and found[0].start == blocks[0].start
    return found if opens and len(found) < len(blocks) else []


_FINDERS: Final[tuple[tuple[Rule, Finder], ...]] = (
    (Rule.QUESTION, _find_questions),
    (Rule.MESSAGES, _find_messages),
    (Rule.QUESTION, _find_asking_lines),
    (Rule.CLAUSE, find_clauses),
    (Rule.ENTRY, _find_entries),
)
