"""Blocks as plain JSON values and back, for what is stored and what crosses a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ibid.records import Block, BlockKind, Box


def pack_blocks(blocks: Iterable[Block]) -> list[list[Any]]:
    """Each block as a list of plain values, its coordinates to the hundredth of a point."""
    return [
        [
            block.kind.value,
            block.start,
            block.end,
            block.level,
            block.page,
            block.place,
            block.lines,
            [_pack_box(box) for box in block.boxes],
        ]
        for block in blocks
    ]


def unpack_blocks(packed: Iterable[Any]) -> tuple[Block, ...]:
    """The blocks that were packed."""
    return tuple(
        Block(
            kind=BlockKind(kind),
            start=start,
            end=end,
            level=level,
            page=page,
            place=place,
            lines=(lines[0], lines[1]) if lines else None,
            boxes=tuple(Box(*box) for box in boxes),
        )
        for kind, start, end, level, page, place, lines, boxes in packed
    )


def _pack_box(box: Box) -> list[float]:
    return [box.page, *(round(n, 2) for n in (box.left, box.top, box.right, box.bottom))]
