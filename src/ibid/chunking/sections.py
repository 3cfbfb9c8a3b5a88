"""The sections of a document: where each begins, its path of headings, the blocks below them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ibid.records import Block, BlockKind, Document


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and the blocks up to the next one.

    `path` is the text of every heading above those blocks, its own last. `headings` are the blocks
    that stand at its start: its own, after those right above it that have no other body. Before
    the first heading of a document both are empty.
    """

    path: tuple[str, ...]
    headings: tuple[Block, ...]
    body: tuple[Block, ...]

    @property
    def start(self) -> int:
        """Where the section begins in its document."""
        return (self.headings or self.body)[0].start


def find_sections(document: Document) -> list[Section]:
    """The sections in their order; together they hold every block that isn't blank.

    A heading without a body belongs to the section below it when it is that one's parent; else it
    is a section of its own. A document without blocks is one paragraph.
    """
    sections: list[Section] = []
    above: list[Block] = []
    headings: list[Block] = []
    body: list[Block] = []

    def close_section() -> None:
        if headings or body:
            path = tuple(fold_space(document.text[block.span]) for block in above)
            sections.append(Section(path, tuple(headings), tuple(body)))
        headings.clear()
        body.clear()

    for block in _find_blocks(document):
        if block.kind is not BlockKind.HEADING:
            body.append(block)
            continue
        if body or (headings and block.level <= headings[-1].level):
            close_section()
        while above and above[-1].level >= block.level:
            above.pop()
        above.append(block)
        headings.append(block)
    close_section()
    return sections


def _find_blocks(document: Document) -> list[Block]:
    """The blocks that hold anything but white space."""
    blocks = document.blocks or (Block(BlockKind.PARAGRAPH, 0, len(document.text)),)
    return [
        block
        for block in blocks
        if not document.text[block.span].isspace() and block.end > block.start
    ]


def find_path(sections: Sequence[Section], position: int) -> tuple[str, ...]:
    """The path of headings above this position of the document."""
    index = bisect_right(sections, position, key=lambda section: section.start) - 1
    return sections[index].path if index >= 0 else ()


def find_block(document: Document, position: int) -> Block | None:
    """The block in which this position lies; None in a document without blocks."""
    index = bisect_right(document.blocks, position, key=lambda block: block.start) - 1
    return document.blocks[index] if index >= 0 else None


def fold_space(text: str) -> str:
    """The text with every run of white space made one space, and none at its ends."""
    return " ".join(text.split())
