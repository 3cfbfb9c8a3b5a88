"""The sections of a document: where each begins, its path of headings, the blocks below them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final

from ibid.chunking.cuts import trim
from ibid.chunking.pieces import Span
from ibid.records import Block, BlockKind, Document, Passage

_BELOW_ALL: Final = 7
"""A level below that of every heading."""


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
    is a section of its own, as each slide of a presentation is. A document without blocks is one
    paragraph.
    """
    by_page = is_presentation(document)
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

    page: int | None = None
    for block in _find_blocks(document):
        if by_page and block.page != page:
            # A title above all slides stands on none; the first slide is its body.
            if page is not None:
                close_section()
            page = block.page
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


def is_presentation(document: Document) -> bool:
    """Whether the pages of a document are slides."""
    return "presentation" in document.media_type or "powerpoint" in document.media_type


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


def find_section(document: Document, passage: Passage, fits: Callable[[Span], bool]) -> Span:
    """The widest range around a passage that fits: its section, one above it, the whole document.

    A section ends before the next heading that isn't below its own. Where not even the text right
    under the passage's own heading fits, that is shown as far as it does: the passage with the
    blocks after and before it in turn, at the least the passage alone.
    """
    position = min(passage.start + passage.body, passage.end - 1)
    span = passage.start, passage.end
    inner, *outer = _find_ranges(document, position)
    ranges = (_join(span, trim(document.text, found)) for found in (*reversed(outer), inner))
    return next(filter(fits, ranges), None) or _grow(span, inner, document, fits)


def _find_ranges(document: Document, position: int) -> list[Span]:
    """The ranges of the sections around a position, innermost first."""
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    index = bisect_right(headings, position, key=lambda block: block.start)
    whole = (0, len(document.text))
    next_one = headings[index].start if index < len(headings) else whole[1]
    inner = headings[index - 1].start if index else 0
    ranges = [(inner, next_one)]
    level = _BELOW_ALL
    for heading in reversed(headings[:index]):
        if heading.level < level:
            level = heading.level
            below = (block.start for block in headings[index:] if block.level <= level)
            ranges.append((heading.start, next(below, whole[1])))
    return [*ranges, whole]


def _grow(span: Span, within: Span, document: Document, fits: Callable[[Span], bool]) -> Span:
    """The range with the blocks next to it, after and before in turn, as long as it fits."""
    blocks = [b for b in document.blocks if within[0] <= b.start < within[1]]
    after = [(span[0], block.end) for block in blocks if block.end > span[1]]
    before = [(block.start, span[1]) for block in reversed(blocks) if block.start < span[0]]
    for start, end in chain.from_iterable(zip_longest(after, before, fillvalue=span)):
        longer = _join(span, trim(document.text, (start, end)))
        if not fits(longer):
            break
        span = longer
    return span


def _join(first: Span, second: Span) -> Span:
    return min(first[0], second[0]), max(first[1], second[1])


def find_block(document: Document, position: int) -> Block | None:
    """The block in which this position lies; None in a document without blocks."""
    index = bisect_right(document.blocks, position, key=lambda block: block.start) - 1
    return document.blocks[index] if index >= 0 else None


def fold_space(text: str) -> str:
    """The text with every run of white space made one space, and none at its ends."""
    return " ".join(text.split())
