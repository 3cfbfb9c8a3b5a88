"""Which paragraphs of a PDF are headings, and of what level: by its outline, size and weight."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import pypdfium2 as pdfium

from ibid.reading.pdf_layout import Paragraph

_HEADING_SIZE: Final = 1.15  # times the size of most of the text
_MAX_HEADING: Final = 200  # characters
_MAX_BOLD: Final = 100  # characters of a heading that is only bold
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
    looks = _rank_looks([paragraph for _, paragraph in paragraphs])
    told: dict[Look, Counter[int]] = {}
    for (_, paragraph), level in zip(paragraphs, levels, strict=True):
        look = find_look(paragraph)
        if level and look in looks:
            told.setdefault(look, Counter())[level] += 1
    looks |= {look: counts.most_common(1)[0][0] for look, counts in told.items()}
    return [
        level or (looks.get(find_look(paragraph), 0) if _can_be_heading(paragraph) else 0)
        for (_, paragraph), level in zip(paragraphs, levels, strict=True)
    ]


def find_look(paragraph: Paragraph) -> Look:
    """The look of a paragraph, the same font counting as one size."""
    return round(paragraph.size * 2) / 2, paragraph.bold


def _rank_looks(paragraphs: Sequence[Paragraph]) -> dict[Look, int]:
    """The level of each look that is one of headings; most of the text is in none of them."""
    characters: Counter[float] = Counter()
    bold = 0
    for paragraph in paragraphs:
        characters[find_look(paragraph)[0]] += len(paragraph.text)
        bold += len(paragraph.text) * paragraph.bold
    if not characters:
        return {}
    body = characters.most_common(1)[0][0]
    emphatic = bold * 3 < characters.total()  # else most of it is bold, and that says nothing
    found: set[Look] = set()
    for paragraph in paragraphs:
        size, heavy = look = find_look(paragraph)
        larger = size >= body * _HEADING_SIZE
        stands_out = heavy and emphatic and size >= body and _is_short(paragraph)
        if (larger or stands_out) and _can_be_heading(paragraph):
            found.add(look)
    sizes = sorted({size for size, _ in found}, reverse=True)
    return {look: min(sizes.index(look[0]) + 1, _MAX_LEVEL) for look in found}


def _can_be_heading(paragraph: Paragraph) -> bool:
    """True for a short text with a word in it."""
    letters = sum(map(str.isalpha, paragraph.text))
    return len(paragraph.text) <= _MAX_HEADING and letters >= 2


def _is_short(paragraph: Paragraph) -> bool:
    return len(paragraph.text) <= _MAX_BOLD and not _ENDED.search(paragraph.text)


def _find_named(paragraph: Paragraph, titles: Mapping[str, int]) -> int:
    if not titles or len(paragraph.text) > _MAX_HEADING:
        return 0
    return titles.get(_simplify(paragraph.text), 0)


def _simplify(text: str) -> str:
    return _NO_LETTERS.sub("", _NUMBER.sub("", text.strip())).casefold()
