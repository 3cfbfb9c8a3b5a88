"""Small forms of text for people: tables, counts, wrapped and indented passages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ibid.records import JSON

WIDTH: Final = 96
"""Columns of printed text."""


def join_words(*parts: str | None, by: str = ", ") -> str:
    """The parts that say something, joined."""
    return by.join(part for part in parts if part)


def count_words(number: int, noun: str) -> str:
    """`1 passage`, `2 passages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def make_table(rows: Iterable[Sequence[str]]) -> str:
    """The rows with their columns aligned, nothing at the end of a line."""
    kept = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in kept
    )


def tell_facts(facts: Mapping[str, str | None]) -> str:
    """Names and values below each other; a value that says nothing is left out."""
    return make_table((name, value) for name, value in facts.items() if value)


def tell_tags(tags: Mapping[str, JSON]) -> str:
    """`department=hr, level=2`."""
    return ", ".join(f"{name}={value}" for name, value in tags.items())


def tell_allow(allow: Iterable[str] | None) -> str:
    """Who may see a document; empty for a public one."""
    return "" if allow is None else f"for {', '.join(sorted(allow)) or 'nobody'}"


def shorten(text: str, most: int = 60) -> str:
    """The text on one line, cut with an ellipsis where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def indent(text: str, most: int | None = None) -> str:
    """The text wrapped line by line and indented, at most so many lines of it."""
    lines = [
        piece
        for line in text.splitlines()
        for piece in textwrap.wrap(line, WIDTH - 4, break_long_words=False)
    ]
    if most is not None and len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]} …"]
    return textwrap.indent("\n".join(lines), "    ")
