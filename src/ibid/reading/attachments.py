"""Files that came inside another: each that can be read becomes a document of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ibid.errors import InputError, UnreadableDocument, UnsupportedFormat
from ibid.reading.pages import hold_page_reports
from ibid.reading.registry import read_bytes
from ibid.records import Document

_MAX_DEPTH: Final = 8  # files in files in files
_depth = 0


def read_attachments(files: Iterable[tuple[str, bytes]]) -> tuple[list[Document], list[str]]:
    """The documents of those named files that can be read, and a line of text for each file."""
    documents: dict[str, Document] = {}
    lines = []
    for name, data in files:
        line = f"Attachment: {name}"
        try:
            with _go_deeper(), hold_page_reports():
                document = read_bytes(data, name)
        except UnsupportedFormat:
            pass
        except InputError as error:
            line += f" (not read: {error.message})"
        else:
            id = make_unique(name.replace("/", "_"), documents)
            documents[id] = replace(document, id=id)
        lines.append(line)
    return list(documents.values()), lines


def make_unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number before its extension where another one has it already."""
    taken = frozenset(taken)
    stem, dot, extension = name.rpartition(".") if "." in name else (name, "", "")
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{stem} ({number}){dot}{extension}", number + 1
    return unique


@contextmanager
def _go_deeper() -> Iterator[None]:
    global _depth
    if _depth >= _MAX_DEPTH:
        raise UnreadableDocument(f"more than {_MAX_DEPTH} files one within the other")
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
