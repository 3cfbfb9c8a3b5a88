"""The blocks that tile a document's text, and the columns of plain values that they are kept in."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias, overload


class BlockKind(enum.StrEnum):
    """What a block of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    PAGE_BREAK = "page_break"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from the page's top left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, list, table or code block; a document's blocks tile its text.

    The white space between two blocks belongs to the first of them. `level` is 1 to 6 for a
    heading and 0 for the rest; `page` counts from 1, slides too; `place` says where else it is
    found, such as "Prices!A2:D9", "cell 5" or "00:01:10"; `lines` are the first and last line in
    the source file, from 1, where the format has lines.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    lines: tuple[int, int] | None = None
    place: str | None = None

    @property
    def span(self) -> slice:
        """The block's place in its document: `document.text[block.span]`."""
        return slice(self.start, self.end)


BlockRow: TypeAlias = tuple[
    str, int, int, int, int | None, str | None, Sequence[int] | None, Sequence[Sequence[float]]
]
"""A block as plain values: kind, start, end, level, page, place, lines, boxes."""

_KINDS: Final = {kind.value: kind for kind in BlockKind}


class Blocks(Sequence[Block]):
    """Blocks that a reader found, each made of its row when they are first looked at.

    A reader finds thousands that only pass through the process that it runs in, as rows. Equal to
    any sequence of equal blocks.
    """

    __slots__ = ("_made", "rows")

    def __init__(self, rows: Sequence[BlockRow]) -> None:
        self.rows = rows
        self._made: tuple[Block, ...] | None = None

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Self:
        """The same blocks as rows, their boxes to the hundredth of a point."""
        if isinstance(blocks, cls):
            return blocks
        return cls([_make_row(block) for block in blocks])

    @property
    def made(self) -> tuple[Block, ...]:
        """All of them."""
        if self._made is None:
            self._made = tuple(map(_make_block, self.rows))
        return self._made

    @overload
    def __getitem__(self, index: int) -> Block: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Block, ...]: ...

    def __getitem__(self, index: int | slice) -> Block | tuple[Block, ...]:
        return self.made[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.made)

    def __eq__(self, other: object) -> bool:
        return self.made == tuple(other) if isinstance(other, Blocks | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)


def _make_block(row: BlockRow) -> Block:
    kind, start, end, level, page, place, lines, boxes = row
    return Block(
        _KINDS[kind],
        start,
        end,
        level,
        page,
        tuple(Box(int(page), *box) for page, *box in boxes) if boxes else (),
        (lines[0], lines[1]) if lines else None,
        place,
    )


def _make_row(block: Block) -> BlockRow:
    return (
        block.kind.value,
        block.start,
        block.end,
        block.level,
        block.page,
        block.place,
        block.lines,
        make_corners(block.boxes),
    )


def make_corners(boxes: Iterable[Box]) -> list[list[float]]:
    """Page and corners of each box as plain values, to the hundredth of a point."""
    return [
        [box.page, *(round(n, 2) for n in (box.left, box.top, box.right, box.bottom))]
        for box in boxes
    ]
