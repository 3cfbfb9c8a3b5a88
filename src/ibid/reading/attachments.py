"""Files that came inside another: each that can be read becomes a document of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ibid.errors import InputError, UnreadableDocument, UnsupportedFormat
from ibid.reading.pages import hold_page_reports
from ibid.reading.registry import read_bytes
from ibid.records import Document

_MAX_DEPTH: Final = 8  # files in files in files
_MAX_FILES: Final = 1000  # in one file, however deep
_MAX_BYTES: Final = 512 << 20  # of them all

Content: TypeAlias = bytes | Callable[[], Document]
"""A file inside another: its bytes, or what makes its document where it is no file of its own."""


@dataclass(slots=True)
class _Opened:
    """What has been opened of the file at hand: how deep this one lies, how many and how large."""

    depth: int = 0
    files: int = 0
    bytes: int = 0


_opened = _Opened()


def read_attachments(files: Iterable[tuple[str, Content]]) -> tuple[list[Document], list[str]]:
    """The documents of those named files that can be read, and a line of text for each file."""
    documents: dict[str, Document] = {}
    lines = []
    if not _opened.depth:
        _opened.files = _opened.bytes = 0
    for name, content in files:
        line = f"Attachment: {name}"
        try:
            with _go_deeper(content), hold_page_reports():
                document = content() if callable(content) else read_bytes(content, name)
        except UnsupportedFormat:
            pass
        except InputError as error:
            line += f" (not read: {error.message})"
        else:
            id = make_unique(name.replace("/", "_"), documents)
            documents[id] = replace(document, id=id)
        lines.append(line)
    return list(documents.values()), lines


def drop_folders(name: str) -> str:
    r"""The last part of a name that may be a path, by either slash; `..\x/y.csv` is y.csv.

    Which folders a file lay in where it was sent says nothing here (RFC 2183, 2.3).
    """
    parts = [part for part in re.split(r"[/\\]", name) if part.strip(". ")]
    return parts[-1] if parts else "file"


def make_unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number before its extension where another one has it already."""
    taken = frozenset(taken)
    stem, dot, extension = name.rpartition(".") if "." in name else (name, "", "")
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{stem} ({number}){dot}{extension}", number + 1
    return unique


@contextmanager
def _go_deeper(content: Content) -> Iterator[None]:
    """Within it a file inside another is read. Raises UnreadableDocument where that is too much."""
    if _opened.depth >= _MAX_DEPTH:
        raise UnreadableDocument(f"more than {_MAX_DEPTH} files one within the other")
    _opened.files += 1
    _opened.bytes += 0 if callable(content) else len(content)
    if _opened.files > _MAX_FILES or _opened.bytes > _MAX_BYTES:
        limits = f"{_MAX_FILES} files or {_MAX_BYTES >> 20} MiB"
        raise UnreadableDocument(f"more than {limits} inside one file")
    _opened.depth += 1
    try:
        yield
    finally:
        _opened.depth -= 1
