"""CSV and TSV: the delimiter found by trying, each record under the names of its columns."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from ibid.errors import EmptyDocument
from ibid.reading.builder import DocumentBuilder, normalize_text
from ibid.reading.data.table_blocks import append_rows, is_header
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.reading.text import build_text
from ibid.records import BlockKind, Document

if TYPE_CHECKING:
    from _csv import Reader

_CHARACTERS_A_PAGE: Final = 6000
_DELIMITERS: Final = ",;\t|"
_SAMPLE: Final = 100  # records that a delimiter is tried on
_MAX_LINES: Final = 1000  # of one cell: more come from a quote that nobody closed
_SAID: Final = re.compile(r"sep=(.)\n")  # how a spreadsheet program says its delimiter


@dataclass(frozen=True, slots=True)
class _Records:
    """The records of a file that aren't blank: their cells, and their numbers from 1 in the file.

    `ends` is the last line of each record in the file, blank ones included, by its number; what
    comes before the first record ends at `ends[0]`.
    """

    rows: list[list[str]]
    numbers: list[int]
    ends: list[int]

    def tell_lines(self, first: int, last: int) -> tuple[int, int]:
        """The first and the last line of these records."""
        return self.ends[self.numbers[first] - 1] + 1, self.ends[self.numbers[last]]

    def name_place(self, first: int, last: int) -> str:
        """Where these records are found, such as "rows 2-51"."""
        start, end = self.numbers[first], self.numbers[last]
        return f"row {start}" if start == end else f"rows {start}-{end}"


def read_csv(data: bytes, name: str) -> Document:
    """The records as Markdown rows, in tables that all begin with the names of the columns.

    Lines above those names, such as a title, are paragraphs. What has no columns, or rows that
    don't fit under the names it gives, is kept as it stands.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for no records.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    csv.field_size_limit(sys.maxsize)
    lines = _split_lines(source)
    said = _SAID.match(source)
    delimiter = said[1] if said else _find_delimiter(source, lines, name)
    if delimiter is None:
        records = _Records([], [], [0])
    else:
        records = _parse(lines[1:], delimiter, before=1) if said else _parse(lines, delimiter)
    if not records.rows and not source.strip():
        raise EmptyDocument("no text in it")
    width = _find_width(records.rows)
    top = next((i for i, cells in enumerate(records.rows) if len(cells) == width), 0)
    while top < len(records.rows) - 1 and _is_caption(records.rows[top]):
        top += 1
    if width < 2 or not all(map(_is_caption, records.rows[:top])):
        return build_text(source)
    return _build(records, top)


def _build(records: _Records, top: int) -> Document:
    """The document of the records, those above `top` being captions."""
    builder = DocumentBuilder()
    for i, cells in enumerate(records.rows[:top]):
        builder.place = records.name_place(i, i)
        builder.append(BlockKind.PARAGRAPH, " ".join(cells), lines=records.tell_lines(i, i))
    named = is_header(records.rows[top]) and top + 1 < len(records.rows)
    begin = top + named
    append_rows(
        builder,
        records.rows[begin:],
        header=records.rows[top] if named else None,
        place=lambda first, last: records.name_place(begin + first, begin + last),
        lines=lambda first, last: records.tell_lines(begin + first, begin + last),
    )
    return builder.build()


def _split_lines(source: str) -> list[str]:
    r"""The lines with their ends, `\n` alone being one."""
    lines = [f"{line}\n" for line in source.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _find_delimiter(source: str, lines: Sequence[str], name: str) -> str | None:
    """The delimiter that cuts most of the first records into equally many cells; None for none."""
    named = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    found = filter(source.__contains__, _DELIMITERS)
    candidates = sorted(found, key=lambda delimiter: delimiter != named)
    best, best_score = None, (0.0, 0)
    for delimiter in candidates:
        widths = Counter(
            len(cells) for cells in islice(_split(lines, delimiter), _SAMPLE) if any(cells)
        )
        if not widths:
            return None
        width, count = widths.most_common(1)[0]
        score = (count / widths.total(), width)
        if width > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def _parse(lines: Sequence[str], delimiter: str, *, before: int = 0) -> _Records:
    """The records, quotes taken for what they are only where they are closed.

    So many lines of the file stand `before` them.
    """
    records = _number_records(_split(lines, delimiter), before)
    ends = records.ends
    if any(ends[number] - ends[number - 1] > _MAX_LINES + 1 for number in records.numbers):
        return _number_records(_split(lines, delimiter, quoting=csv.QUOTE_NONE), before)
    return records


def _split(
    lines: Sequence[str], delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Reader:
    return csv.reader(lines, delimiter=delimiter, quoting=quoting, skipinitialspace=True)


def _number_records(reader: Reader, before: int) -> _Records:
    rows, ends = [], [before]
    for cells in reader:
        rows.append(cells)
        ends.append(before + reader.line_num)
    # The first cell alone tells of nearly all that they aren't blank.
    numbers = [
        number
        for number, cells in enumerate(rows, 1)
        if cells and (cells[0].strip() or any(map(str.strip, cells)))
    ]
    return _Records([rows[number - 1] for number in numbers], numbers, ends)


def _find_width(rows: Sequence[list[str]]) -> int:
    """How many cells most of the records have."""
    widths = Counter(
        len(cells)
        for cells in rows
        # Two cells with words in them, as in nearly all, and it isn't asked any further.
        if (len(cells) > 1 and cells[0].strip() and cells[1].strip()) or not _is_caption(cells)
    )
    return widths.most_common(1)[0][0] if widths else 0


def _is_caption(cells: list[str]) -> bool:
    """True for a record of one cell: a title or a note rather than a row."""
    return len(list(islice(filter(None, map(str.strip, cells)), 2))) == 1
