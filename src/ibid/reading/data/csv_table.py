"""CSV and TSV: the delimiter found by trying, each record under the names of its columns."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

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


class _Record(NamedTuple):
    """The cells of one record, its number in the file and its first and last line."""

    cells: list[str]
    number: int
    lines: tuple[int, int]


def read_csv(data: bytes, name: str) -> Document:
    """The records as Markdown rows, in tables that all begin with the names of the columns.

    Lines above those names, such as a title, are paragraphs. What has no columns, or rows that
    don't fit under the names it gives, is kept as it stands.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for no records.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    csv.field_size_limit(sys.maxsize)
    said = _SAID.match(source)
    skipped = said.end() if said else 0
    delimiter = said[1] if said else _find_delimiter(source, name)
    records = _parse(source[skipped:], delimiter, line=2 if said else 1) if delimiter else []
    if not records and not source.strip():
        raise EmptyDocument("no text in it")
    width = _find_width(records)
    top = next((i for i, record in enumerate(records) if len(record.cells) == width), 0)
    while top < len(records) - 1 and _is_caption(records[top]):
        top += 1
    if width < 2 or not all(map(_is_caption, records[:top])):
        return build_text(source)
    return _build(records[:top], records[top:])


def _build(captions: list[_Record], records: list[_Record]) -> Document:
    builder = DocumentBuilder()
    for record in captions:
        builder.place = f"row {record.number}"
        builder.append(BlockKind.PARAGRAPH, " ".join(record.cells), lines=record.lines)
    header = records[0].cells if is_header(records[0].cells) else None
    rows = records[1:] if header and len(records) > 1 else records
    append_rows(
        builder,
        [record.cells for record in rows],
        header=header if rows is not records else None,
        place=lambda first, last: _name_rows(rows[first].number, rows[last].number),
        lines=lambda first, last: (rows[first].lines[0], rows[last].lines[1]),
    )
    return builder.build()


def _name_rows(first: int, last: int) -> str:
    return f"row {first}" if first == last else f"rows {first}-{last}"


def _find_delimiter(source: str, name: str) -> str | None:
    """The delimiter that cuts most of the first records into equally many cells; None for none."""
    named = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    candidates = sorted(_DELIMITERS, key=lambda delimiter: delimiter != named)
    best, best_score = None, (0.0, 0)
    for delimiter in candidates:
        widths = Counter(
            len(cells) for cells in islice(_split(source, delimiter), _SAMPLE) if any(cells)
        )
        if not widths:
            return None
        width, count = widths.most_common(1)[0]
        score = (count / widths.total(), width)
        if width > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def _parse(source: str, delimiter: str, *, line: int) -> list[_Record]:
    """The records that aren't blank, quotes taken for what they are only where they are closed."""
    records = _number_records(_split(source, delimiter), line)
    if any(record.lines[1] - record.lines[0] > _MAX_LINES for record in records):
        return _number_records(_split(source, delimiter, quoting=csv.QUOTE_NONE), line)
    return records


def _split(source: str, delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL) -> Reader:
    lines = io.StringIO(source, newline="")  # whose idea of a line is that of the csv module
    return csv.reader(lines, delimiter=delimiter, quoting=quoting, skipinitialspace=True)


def _number_records(reader: Reader, line: int) -> list[_Record]:
    records = []
    before = 0
    for number, cells in enumerate(reader, 1):
        last = reader.line_num
        if any(map(str.strip, cells)):
            records.append(_Record(cells, number, (before + line, last + line - 1)))
        before = last
    return records


def _find_width(records: list[_Record]) -> int:
    """How many cells most of the records have."""
    widths = Counter(len(record.cells) for record in records if not _is_caption(record))
    return widths.most_common(1)[0][0] if widths else 0


def _is_caption(record: _Record) -> bool:
    """True for a record of one cell: a title or a note rather than a row."""
    return len(list(islice(filter(None, map(str.strip, record.cells)), 2))) == 1
