"""The lines of a page made into paragraphs and headings, by where they stand and how large."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ibid.reading.builder import join_lines
from ibid.records import Box

_LOOSE_PITCH: Final = 1.3  # times the usual distance of two lines: there a paragraph ends
_MAX_PITCH: Final = 2.1  # times the height of a line: so does it here, however lines are set
_SHORT_LINE: Final = 0.25  # of the width left free: the line was ended by its writer
_LAST_LINE: Final = 0.1  # of the width left free after a full stop: a paragraph's last line
_INDENT: Final = 0.8  # of the height of a line
_OTHER_SIZE: Final = 1.15  # times as large: another kind of text
_HEADING_SIZE: Final = 1.15  # times the size of most of the text
_MAX_HEADING: Final = 200  # characters

_SENTENCE_END: Final = re.compile(r"[.!?:;。！？：；…][\"'”’)\]»」』]*$")
_ITEM: Final = re.compile(r"[•‣▪◦●■∙·–—*-]\s|\(?(\d{1,3}|[a-zA-Z])[.)]\s")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text with its box, in points from the page's top left corner.

    `size` is the height of its characters; `hyphenated` when its last word goes on in the next.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    hyphenated: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together, as one text."""

    text: str
    page: int
    size: float
    box: Box


def find_paragraphs(lines: Sequence[Line], page: int) -> list[Paragraph]:
    """The paragraphs of a page whose lines are given in reading order."""
    rows = list(_merge_rows(lines))
    pitch = _measure_pitch(rows)
    groups: list[list[Line]] = []
    for line in rows:
        if groups and not _begins_paragraph(groups[-1], line, pitch):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_make_paragraph(group, page) for group in groups]


def find_levels(paragraphs: Iterable[Paragraph]) -> dict[float, int]:
    """The level, 1 to 6, of each size of text that is one of headings: the largest is 1.

    Most of the text is in the size of no heading.
    """
    characters: Counter[float] = Counter()
    headings: set[float] = set()
    paragraphs = list(paragraphs)
    for paragraph in paragraphs:
        characters[round_size(paragraph.size)] += len(paragraph.text)
    if not characters:
        return {}
    body = characters.most_common(1)[0][0]
    for paragraph in paragraphs:
        size = round_size(paragraph.size)
        if size >= body * _HEADING_SIZE and can_be_heading(paragraph):
            headings.add(size)
    return {size: min(i, 6) for i, size in enumerate(sorted(headings, reverse=True), 1)}


def round_size(size: float) -> float:
    """The size to the half point, so that the same font counts as one size."""
    return round(size * 2) / 2


def can_be_heading(paragraph: Paragraph) -> bool:
    """True for a short text with a word in it."""
    letters = sum(map(str.isalpha, paragraph.text))
    return len(paragraph.text) <= _MAX_HEADING and letters >= 2


def _merge_rows(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines, those pieces joined that stand side by side: superscripts, cells of a row."""
    row: Line | None = None
    for line in lines:
        if row is not None and not row.hyphenated and _stands_beside(row, line):
            row = Line(
                f"{row.text} {line.text}",
                row.left,
                min(row.top, line.top),
                line.right,
                max(row.bottom, line.bottom),
                max(row.size, line.size),
                line.hyphenated,
            )
            continue
        if row is not None:
            yield row
        row = line
    if row is not None:
        yield row


def _stands_beside(row: Line, line: Line) -> bool:
    shared = min(row.bottom, line.bottom) - max(row.top, line.top)
    height = min(row.bottom - row.top, line.bottom - line.top)
    return shared > height / 2 and line.left >= row.right - row.size / 2


def _measure_pitch(lines: Sequence[Line]) -> float:
    """The usual distance from line to line within a paragraph, in heights of a line."""
    found = sorted(
        pitch
        for above, line in pairwise(lines)
        if 0.7 < (pitch := (line.bottom - above.bottom) / max(line.size, 1)) < _MAX_PITCH
    )
    return found[len(found) * 3 // 10] if found else 1.0


def _begins_paragraph(group: Sequence[Line], line: Line, pitch: float) -> bool:
    """True when the line does not go on with the paragraph of the lines before it."""
    above = group[-1]
    if above.hyphenated:
        return False
    sizes = sorted((above.size, line.size))
    if sizes[1] > sizes[0] * _OTHER_SIZE or _ITEM.match(line.text):
        return True
    ended = bool(_SENTENCE_END.search(above.text))
    if line.bottom < above.top or line.left > above.right:  # the next column
        return ended or not line.text[:1].islower()
    distance = (line.bottom - above.bottom) / max(line.size, 1)
    if distance > min(pitch * _LOOSE_PITCH, _MAX_PITCH):
        return True
    left = min(part.left for part in group)
    right = max(line.right, *(part.right for part in group))
    short = right - above.right > (right - left) * _LAST_LINE
    indented = line.left - above.left > line.size * _INDENT
    return ended and (short or indented)


def _make_paragraph(group: Sequence[Line], page: int) -> Paragraph:
    left, right = min(line.left for line in group), max(line.right for line in group)
    rows: list[list[str]] = [[]]
    for i, line in enumerate(group):
        if i and group[i - 1].hyphenated:
            rows[-1][-1] = mend_word(rows[-1][-1], line.text)
        else:
            rows[-1].append(line.text)
        if not line.hyphenated and right - line.right > (right - left) * _SHORT_LINE:
            rows.append([])
    text = "\n".join(join_lines(row) for row in rows if row)
    if group[-1].hyphenated:
        text += "-"
    sizes = Counter[float]()
    for line in group:
        sizes[line.size] += len(line.text)
    box = Box(page, left, min(n.top for n in group), right, max(n.bottom for n in group))
    return Paragraph(text, page, sizes.most_common(1)[0][0], box)


def mend_word(start: str, rest: str) -> str:
    """Two lines as one whose word was divided between them.

    The hyphen stays in a word that has another one, and before a capital or a digit.
    """
    word = start.rpartition(" ")[2]
    keep = "-" in word or not rest[:1].islower()
    return f"{start}-{rest}" if keep and rest[:1].isalnum() else start + rest
