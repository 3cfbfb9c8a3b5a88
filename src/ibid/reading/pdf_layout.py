"""The lines of a page made into paragraphs, by where they stand and how large they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ibid.reading.builder import join_lines
from ibid.reading.pdf_boxes import Rectangle, unite
from ibid.reading.pdf_page import Line
from ibid.reading.pdf_words import mend_word

_LOOSE_PITCH: Final = 1.3  # times the usual distance of two lines: there a paragraph ends
_MAX_PITCH: Final = 2.4  # times the size of a line: so does it here, however lines are set
_SHORT_LINE: Final = 0.25  # of the width left free: the line was ended by its writer
_LAST_LINE: Final = 0.1  # of the width left free after a full stop: a paragraph's last line
_INDENT: Final = 0.8  # of the size of a line
_OTHER_SIZE: Final = 1.15  # times as large: another kind of text

_SENTENCE_END: Final = re.compile(r"[.!?:;。！？：；…][\"'”’)\]»」』]*$")
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
    pitch = _measure_pitch(lines)
    groups: list[list[Line]] = []
    for line in lines:
        if groups and not _begins_paragraph(groups[-1], line, pitch):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_make_paragraph(group, words) for group in groups]


def is_item(text: str) -> bool:
    """True for a text that begins with the marker of a list item."""
    return _ITEM.match(text) is not None


def _measure_pitch(lines: Sequence[Line]) -> float:
    """The usual distance from line to line within a paragraph, in sizes of a line."""
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
    smaller, larger = sorted((above.size, line.size))
    if larger > smaller * _OTHER_SIZE or above.bold != line.bold or is_item(line.text):
        return True
    ended = bool(_SENTENCE_END.search(above.text))
    if _is_in_next_column(above, line):
        return ended or not line.text[:1].islower()
    distance = (line.bottom - above.bottom) / max(line.size, 1)
    if distance > min(pitch * _LOOSE_PITCH, _MAX_PITCH):
        return True
    left = min(part.left for part in group)
    right = max(line.right, *(part.right for part in group))
    short = right - above.right > (right - left) * _LAST_LINE
    indented = line.left - above.left > line.size * _INDENT
    return ended and (short or indented)


def _is_in_next_column(above: Line, line: Line) -> bool:
    return line.bottom < above.top or line.left > above.right


def _make_paragraph(group: Sequence[Line], words: frozenset[str]) -> Paragraph:
    left, right = min(line.left for line in group), max(line.right for line in group)
    rows: list[list[str]] = [[]]
    for i, line in enumerate(group):
        if i and group[i - 1].hyphenated:
            rows[-1][-1] = mend_word(rows[-1][-1], line.text, words)
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
    bold = all(line.bold for line in group)
    return Paragraph(text, sizes.most_common(1)[0][0], bold, tuple(_find_boxes(group)))


def _find_boxes(group: Sequence[Line]) -> list[Rectangle]:
    """A box around the lines of each column."""
    boxes: list[Rectangle] = []
    for i, line in enumerate(group):
        box = line.left, line.top, line.right, line.bottom
        if not i or _is_in_next_column(group[i - 1], line):
            boxes.append(box)
        else:
            boxes[-1] = unite([boxes[-1], box])
    return boxes
