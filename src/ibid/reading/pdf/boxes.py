"""Rectangles on a page: from PDF's coordinates, up from the bottom left, to those that are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Rectangle: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom, in points from the top left corner."""


def place_box(
    crop: Rectangle, turns: int, left: float, bottom: float, right: float, top: float
) -> Rectangle:
    """A rectangle of PDF's as it stands on the page `crop`, turned clockwise so many times."""
    crop_left, crop_bottom, crop_right, crop_top = crop
    if not turns:  # most pages
        return left - crop_left, crop_top - top, right - crop_left, crop_top - bottom
    if turns == 1:
        return bottom - crop_bottom, left - crop_left, top - crop_bottom, right - crop_left
    if turns == 2:
        return crop_right - right, bottom - crop_bottom, crop_right - left, top - crop_bottom
    return crop_top - top, crop_right - right, crop_top - bottom, crop_right - left


def turn_back(box: Rectangle, turns: int, width: float, height: float) -> Rectangle:
    """Where a rectangle stood before its page, of this width and height, was turned clockwise."""
    left, top, right, bottom = box
    if turns == 1:
        return top, height - right, bottom, height - left
    if turns == 2:
        return width - right, height - bottom, width - left, height - top
    if turns == 3:
        return width - bottom, left, width - top, right
    return box


def unite(boxes: Iterable[Rectangle]) -> Rectangle:
    """The smallest rectangle around all of them."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=False)
    return min(lefts), min(tops), max(rights), max(bottoms)


def measure_gap(one: Rectangle, other: Rectangle) -> float:
    """How far apart two rectangles are from side to side; negative where they overlap."""
    return max(other[0] - one[2], one[0] - other[2])
