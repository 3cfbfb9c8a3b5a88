"""Which paragraphs of a PDF are headings, and of what level: by its outline, size and weight."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import pypdfium2 as pdfium

from ibid.reading.pdf.layout import Paragraph, leads_to_page

_HEADING_SIZE: Final = 1.15  # times the size of most of the text
_MAX_HEADING: Final = 200  # characters
_MAX_BOLD: Final = 100  # characters of a heading that is only bold
_LITTLE: Final = 3  # bold is at most one character in so many, or it says nothing
_MAX_LEVEL: Final = 6
_MAX_OUTLINE: Final = 5000  # entries
_ENDED: Final = re.compile(r"[.,;:!?。，；：]$")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_NUMBER: Final = re.compile(r"^(?:(?:\d+\.)*\d+\.?|[A-Z]\.|[IVX]+\.)\s+")

Look: TypeAlias = tuple[float, bool]
"""How a paragraph looks: its size to the half point, and True for bold."""


class Entry(NamedTuple):
    """An entry of the outline: its title without anything but letters and figures, and level."""

    title: str
    level: int
    page: int


def read_outline(pdf: pdfium.PdfDocument) -> list[Entry]:
    """The entries of the bookmarks that lead to a page, counted from 1, in their order."""
    entries: list[Entry] = []
    try:
        for bookmark in pdf.get_toc(max_depth=_MAX_LEVEL):
            target = bookmark.get_dest()
            index = target.get_index() if target else None
            if index is not None:
                title = _simplify(bookmark.get_title())
                entries.append(Entry(title, min(bookmark.level + 1, _MAX_LEVEL), index + 1))
            if len(entries) >= _MAX_OUTLINE:
                break
    except pdfium.PdfiumError:
        return entries
    return entries


def find_levels(
    paragraphs: Sequence[tuple[int, Paragraph]], outline: Iterable[Entry] = ()
) -> list[int]:
    """For each paragraph, given with its page, its level as a heading, 1 to 6, or 0 for none.

    The outline is right where it names a paragraph, and for those that look the same. Else the
    largest size is 1, and short bold lines of the size of most of the text come last.
    """
    named: dict[int, dict[str, int]] = {}
    for entry in outline:
        named.setdefault(entry.page, {}).setdefault(entry.title, entry.level)
    levels = [_find_named(paragraph, named.get(page, {})) for page, paragraph in paragraphs]
    body = _find_body([paragraph for _, paragraph in paragraphs])
    candidates = [
        find_look(paragraph) if _can_be_heading(paragraph, body) else None
        for _, paragraph in paragraphs
    ]
    looks = _rank_looks(candidates)
    told: dict[Look, Counter[int]] = {}
    for look, level in zip(candidates, levels, strict=True):
        if look and level:
            told.setdefault(look, Counter())[level] += 1
    looks |= {look: counts.most_common(1)[0][0] for look, counts in told.items()}
    return [
        level or (looks[look] if look else 0)
        for look, level in zip(candidates, levels, strict=True)
    ]


def find_look(paragraph: Paragraph) -> Look:
    """The look of a paragraph, the same font counting as one size."""
    return round(paragraph.size * 2) / 2, paragraph.bold


def _rank_looks(looks: Iterable[Look | None]) -> dict[Look, int]:
    """The level of each look of a heading, by its size: the largest is 1."""
    found = {look for look in looks if look}
    sizes = sorted({size for size, _ in found}, reverse=True)
    return {look: min(sizes.index(look[0]) + 1, _MAX_LEVEL) for look in found}


class _Body(NamedTuple):
    """The size of most of the text; `light` when little of it is bold, so that bold stands out."""

    size: float
    light: bool


def _find_body(paragraphs: Sequence[Paragraph]) -> _Body:
    characters: Counter[float] = Counter()
    bold = 0
    for paragraph in paragraphs:
        characters[find_look(paragraph)[0]] += len(paragraph.text)
        bold += len(paragraph.text) * paragraph.bold
    size = characters.most_common(1)[0][0] if characters else 0.0
    return _Body(size, bold * _LITTLE < characters.total())


def _can_be_heading(paragraph: Paragraph, body: _Body) -> bool:
    """True for a short text, with a word in it, that is larger than most, or bold and no less."""
    text = paragraph.text
    if len(text) > _MAX_HEADING or sum(map(str.isalpha, text)) < 2 or leads_to_page(text):
        return False
    size, bold = find_look(paragraph)
    if size >= body.size * _HEADING_SIZE:
        return True
    return bold and body.light and size >= body.size and _is_short(paragraph)


def _is_short(paragraph: Paragraph) -> bool:
    return len(paragraph.text) <= _MAX_BOLD and not _ENDED.search(paragraph.text)


def _find_named(paragraph: Paragraph, titles: Mapping[str, int]) -> int:
    if not titles or len(paragraph.text) > _MAX_HEADING:
        return 0
    return titles.get(_simplify(paragraph.text), 0)


def _simplify(text: str) -> str:
    return _NO_LETTERS.sub("", _NUMBER.sub("", text.strip())).casefold()
