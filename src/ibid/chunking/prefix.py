"""The heading path as it is embedded and indexed in front of a passage, within its limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ibid.chunking.pieces import find_pieces
from ibid.chunking.sections import fold_space
from ibid.protocols import Tokenizer

SEPARATOR: Final = " > "
COLON: Final = ": "
PREFIX_TOKENS: Final = 64
"""Word pieces that a heading path may take of what the embedder reads."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A heading path: its text, its pieces with the colon, how many last headings are whole."""

    text: str
    pieces: int
    whole: int


def make_prefixes(
    title: str | None, paths: Iterable[tuple[str, ...]], *, tokenizer: Tokenizer, limit: int
) -> dict[tuple[str, ...], Prefix]:
    """The prefix of each path of headings: title and headings, joined by " > ".

    A title that the first heading repeats is left out. Of a path with more than `limit` pieces the
    first parts are dropped; if the last one alone is too long, its end is.
    """
    parts = {path: _join_title(fold_space(title or ""), path) for path in paths}
    texts = [SEPARATOR.join(part) for part in parts.values()]
    counts = _count_pieces(tokenizer, texts)
    return {
        path: Prefix(text, pieces, len(path))
        if pieces <= limit
        else _shorten(parts[path], tokenizer, limit)
        for path, text, pieces in zip(parts, texts, counts, strict=True)
    }


def _join_title(title: str, path: tuple[str, ...]) -> tuple[str, ...]:
    return path if not title or path[:1] == (title,) else (title, *path)


def _count_pieces(tokenizer: Tokenizer, texts: list[str]) -> list[int]:
    """The pieces of each text with the colon after it, none for an empty one."""
    found = find_pieces(tokenizer, [text + COLON if text else "" for text in texts])
    return [len(starts) for starts in found]


def _shorten(parts: tuple[str, ...], tokenizer: Tokenizer, limit: int) -> Prefix:
    for first in range(1, len(parts)):
        text = SEPARATOR.join(parts[first:])
        [pieces] = _count_pieces(tokenizer, [text])
        if pieces <= limit:
            return Prefix(text, pieces, len(parts) - first)
    return Prefix(*shorten_text(parts[-1], COLON, tokenizer, limit), 0)


def shorten_text(text: str, mark: str, tokenizer: Tokenizer, limit: int) -> tuple[str, int]:
    """The beginning of a text that has at most `limit` pieces with a mark after it, and how many.

    Empty when nothing has.
    """
    [starts] = find_pieces(tokenizer, [text])
    keep = min(limit, len(starts))
    # A cut inside a word can make more pieces of what is left: then less is kept.
    while (keep := keep - 1) > 0:
        shorter = text[: starts[keep]].rstrip()
        [found] = find_pieces(tokenizer, [shorter + mark])
        if len(found) <= limit:
            return shorter, len(found)
    return "", 0
