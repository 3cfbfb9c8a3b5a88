"""JSON and JSON-lines: one line a value with its path, grouped by object; flat objects as rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ibid.reading.builder import DocumentBuilder, normalize_text
from ibid.reading.data.table_blocks import append_rows
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.reading.text import build_text
from ibid.records import BlockKind, Document

_CHARACTERS_A_PAGE: Final = 6000
_MAX_COLUMNS: Final = 40  # of objects that are shown as rows
_MAX_ROW: Final = 400  # characters, in the mean; longer ones read better line by line
_NESTED: Final = frozenset({dict, list})
_WORDS: Final = {None: "", True: "true", False: "false"}


def read_json(data: bytes, name: str) -> Document:
    """The values, each in a line that begins with its path; a list of flat objects is a table.

    Every object of a list is a block of its own. Numbers are kept as they are written. What is
    not whole JSON, or is nested beyond reason, is kept as plain text.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for no values.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    builder = DocumentBuilder()
    try:
        value = _parse(source)
        _Outline(builder).put(value)
    except (ValueError, RecursionError):
        return build_text(source)
    return builder.build(title=_find_title(value))


def read_json_lines(data: bytes, name: str) -> Document:
    """The values of all lines, as `read_json` shows a list of them; a broken line as it stands.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for no values.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    builder = DocumentBuilder()
    values = [_parse_line(line) for line in source.split("\n") if line.strip()]
    try:
        _Outline(builder).put(values)
    except RecursionError:
        return build_text(source)
    return builder.build()


def _parse(source: str) -> Any:
    return json.loads(
        source, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_join_pairs
    )


def _parse_line(line: str) -> Any:
    try:
        return _parse(line)
    except (ValueError, RecursionError):
        return line


def _join_pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its pairs; a key that comes again keeps all of its values."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        name = key
        while name in found:
            name += "'"
        found[name] = value
    return found


def _find_title(value: Any) -> str | None:
    title = value.get("title") if isinstance(value, dict) else None
    return title.strip() or None if isinstance(title, str) else None


class _Outline:
    """Puts values into a builder; the lines of the object at hand are gathered until it ends."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._lines: list[str] = []

    def put(self, value: Any) -> None:
        """Put a value and all that is in it as blocks; a block's place is its object in a list."""
        self._gather(value, "")
        self._flush()

    def _gather(self, value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                self._gather(item, f"{path}.{key}" if path else key)
        elif isinstance(value, list) and not _is_flat(value):
            self._flush()
            self._put_list(value, path)
        elif text := _show(value):
            if not self._lines:
                self._builder.place = path[: path.rfind("]") + 1] or None
            self._lines.append(f"{path}: {text}" if path else text)

    def _put_list(self, items: list[Any], path: str) -> None:
        columns = _find_columns(items)
        if columns:
            rows = [[_show(item.get(column)) for column in columns] for item in items]
            append_rows(
                self._builder,
                rows,
                header=columns,
                place=lambda first, last: f"{path}[{first}-{last}]",
            )
            return
        for number, item in enumerate(items):
            self._gather(item, f"{path}[{number}]")
            self._flush()

    def _flush(self) -> None:
        """Put the lines gathered so far as one block."""
        self._builder.append(BlockKind.LIST, "\n".join(self._lines))
        self._lines.clear()


def _is_flat(items: list[Any]) -> bool:
    """True for a list without an object or a list in it."""
    return _NESTED.isdisjoint(map(type, items))


def _show(value: Any) -> str:
    """A scalar, or a list of them, as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join([item if isinstance(item, str) else _show(item) for item in value])
    return _WORDS[value]


def _find_columns(items: list[Any]) -> list[str]:
    """The keys of objects that can stand as the rows of a table; none where they can't."""
    if len(items) < 2 or not all(isinstance(item, dict) and item for item in items):
        return []
    columns = list(dict.fromkeys(key for item in items for key in item))
    if len(columns) > _MAX_COLUMNS or sum(map(len, items)) * 2 < len(columns) * len(items):
        return []
    length = 0
    for cell in _iterate_cells(items):
        nested = isinstance(cell, list) and not _is_flat(cell)
        if nested or isinstance(cell, dict) or "\n" in (shown := _show(cell)):
            return []
        length += len(shown)
    return columns if length <= _MAX_ROW * len(items) else []


def _iterate_cells(items: list[dict[str, Any]]) -> Iterator[Any]:
    for item in items:
        yield from item.values()
