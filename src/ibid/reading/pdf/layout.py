"""The lines of a page made into paragraphs, by where they stand and how large they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from ibid.reading.builder import join_lines
from ibid.reading.pdf.boxes import Rectangle, unite
from ibid.reading.pdf.page import Line
from ibid.reading.pdf.words import mend_word

_LOOSE_PITCH: Final = 1.3  # times the usual distance of two lines: there a paragraph ends
_LOOSE_TITLE: Final = 1.6  # so it does in a title, whose lines are set apart
_MAX_PITCH: Final = 2.4  # times the size of a line: so does it here, however lines are set
_SHORT_LINE: Final = 0.25  # of the width left free: the line was ended by its writer
_LAST_LINE: Final = 0.1  # of the width left free after a full stop: a paragraph's last line
_INDENT: Final = 0.8  # of the size of a line
_OTHER_SIZE: Final = 1.15  # times as large: another kind of text

_SENTENCE_END: Final = re.compile(r"[.!?:;。！？：；…][\"'”’)\]»」』]*$")
_LEADING: Final = re.compile(r"… \w{1,5}$")
_ITEM: Final = re.compile(r"[•‣▪◦●■∙·–—*-]\s|\(?(\d{1,3}|[a-zA-Z])[.)]\s")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together, as one text, with a box for each column they run through."""

    text: str
    size: float
    bold: bool
    boxes: tuple[Rectangle, ...]


def find_paragraphs(lines: Sequence[Line], words: frozenset[str] = frozenset()) -> list[Paragraph]:
    """The paragraphs of lines given in reading order; `words` are those of the document."""
    usual = _measure_usual(lines)
    groups: list[list[Line]] = []
    for line in lines:
        if groups and not _begins_paragraph(groups[-1], line, usual):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_make_paragraph(group, words) for group in groups]


def is_item(text: str) -> bool:
    """True for a text that begins with the marker of a list item."""
    return _ITEM.match(text) is not None


def leads_to_page(text: str) -> bool:
    """True for an entry of a table of contents, with its page at the end."""
    return _LEADING.search(text) is not None


class _Usual(NamedTuple):
    """The usual size of a line, and the distance to the next within a paragraph, in sizes."""

    size: float
    pitch: float


def _measure_usual(lines: Sequence[Line]) -> _Usual:
    found = sorted(
        pitch
        for above, line in pairwise(lines)
        if 0.7 < (pitch := (line.bottom - above.bottom) / max(line.size, 1)) < _MAX_PITCH
    )
    pitch = found[len(found) * 3 // 10] if found else 1.0
    return _Usual(median(line.size for line in lines), pitch)


def _begins_paragraph(group: Sequence[Line], line: Line, usual: _Usual) -> bool:
    """True when the line does not go on with the paragraph of the lines before it."""
    above = group[-1]
    if above.hyphenated:
        return False
    smaller, larger = sorted((above.size, line.size))
    large = line.size > usual.size * _OTHER_SIZE
    other = larger > smaller * _OTHER_SIZE or (above.bold != line.bold and not large)
    if other or is_item(line.text):
        return True
    ended = bool(_SENTENCE_END.search(above.text))
    if _is_in_next_column(above, line):
        return ended or not line.text[:1].islower()
    distance = (line.bottom - above.bottom) / max(line.size, 1)
    loose = _LOOSE_TITLE if large else _LOOSE_PITCH
    if distance > min(usual.pitch * loose, _MAX_PITCH):
        return True
    left = min(part.left for part in group)
    right = max(line.right, *(part.right for part in group))
    short = right - above.right > (right - left) * _LAST_LINE
    indented = line.left - above.left > line.size * _INDENT
    return ended and (short or indented)


def _is_in_next_column(above: Line, line: Line) -> bool:
    return line.bottom < above.top or line.left > above.right


def _make_paragraph(group: Sequence[Line], words: frozenset[str]) -> Paragraph:
    columns = _split_columns(group)
    boxes = tuple(unite(line[1:5] for line in column) for column in columns)
    rows: list[list[str]] = [[]]
    divided = False
    for column, (left, _, right, _) in zip(columns, boxes, strict=True):
        for line in column:
            if divided:
                rows[-1][-1] = mend_word(rows[-1][-1], line.text, words)
            else:
                rows[-1].append(line.text)
            divided = line.hyphenated
            short = right - line.right > (right - left) * _SHORT_LINE
            if not divided and (short or leads_to_page(line.text)):
                rows.append([])
    text = "\n".join(join_lines(row) for row in rows if row)
    if divided:
        text += "-"
    sizes = Counter[float]()
    for line in group:
        sizes[line.size] += len(line.text)
    bold = all(line.bold for line in group)
    return Paragraph(text, sizes.most_common(1)[0][0], bold, boxes)


def _split_columns(group: Sequence[Line]) -> list[list[Line]]:
    """The lines of a paragraph, those of each column together."""
    columns = [[group[0]]]
    for above, line in pairwise(group):
        if _is_in_next_column(above, line):
            columns.append([line])
        else:
            columns[-1].append(line)
    return columns
