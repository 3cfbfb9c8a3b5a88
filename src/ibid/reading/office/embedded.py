"""Documents that stand in an Office file as objects: a workbook in a text, a PDF on a slide."""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Iterable, Iterator
from typing import Any, Final

from olefile import OleFileIO

from ibid.reading.attachments import read_attachments
from ibid.reading.media_types import HEAD_BYTES, find_extension, guess_media_type
from ibid.reading.office.ooxml import Package, is_ole
from ibid.records import Document

_KINDS: Final = frozenset({"package", "oleObject"})
_NATIVE: Final = "\x01Ole10Native"  # a file of any kind, with its name
_WRAPPED: Final = ("Package", "EmbeddedOdf", "CONTENTS")  # a file whose stream holds nothing else
_OLD: Final = {
    "WordDocument": ".doc",
    "Workbook": ".xls",
    "Book": ".xls",
    "PowerPoint Document": ".ppt",
}
_SIZE: Final = struct.Struct("<I")
_BROKEN: Final = (OSError, ValueError, KeyError, IndexError, struct.error, RecursionError)


def read_embedded(package: Package, parts: Iterable[str]) -> tuple[list[Document], list[str]]:
    """The documents of the objects that these parts show, and a line of text for each object.

    The workbook behind a chart is none of them: the chart's data are read where it stands.
    """
    names = {
        relation.target: None
        for part in parts
        for relation in package.read_relations(part).values()
        if relation.kind in _KINDS
    }
    objects = ((posixpath.basename(name), package.extract(name)) for name in names)
    return read_attachments(file for one in objects for file in unwrap_object(*one))


def unwrap_object(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of the file that an object is or holds; nothing where it is no file.

    An object such as an equation, or one that only points elsewhere, holds none.
    """
    if not is_ole(data):
        yield name, data
        return
    stem = posixpath.splitext(name)[0]
    try:
        with OleFileIO(data) as ole:
            yield from _unwrap(ole, stem, data)
    except _BROKEN:
        yield name, data


def _unwrap(ole: OleFileIO[Any], stem: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    native = _read_stream(ole, _NATIVE)
    if native is not None:
        yield _open_native(native, stem)
        return
    inner = next(filter(None, (_read_stream(ole, stream) for stream in _WRAPPED)), None)
    if inner is not None:
        yield stem + find_extension(guess_media_type(stem, inner[:HEAD_BYTES])), inner
        return
    streams = {path[-1] for path in ole.listdir()}
    extension = next((extension for stream, extension in _OLD.items() if stream in streams), None)
    if extension:
        yield stem + extension, data


def _read_stream(ole: OleFileIO[Any], name: str) -> bytes | None:
    path: Any = name  # which the stubs of olefile want as bytes, against what it takes
    return ole.openstream(path).read() if ole.exists(path) else None


def _open_native(stream: bytes, stem: str) -> tuple[str, bytes]:
    """Name and bytes of a file that the Object Packager wrapped.

    A size and two bytes, the label and the path, each ending with a NUL, four bytes, the length and
    the text of a second path, the length of the file, and the file.
    """
    label, start = _read_string(stream, _SIZE.size + 2)
    path, start = _read_string(stream, start)
    (length,) = _SIZE.unpack_from(stream, start + 4)
    start += 4 + _SIZE.size + length
    (size,) = _SIZE.unpack_from(stream, start)
    start += _SIZE.size
    name = (label or path).replace("\\", "/").rpartition("/")[2]
    return name or stem, stream[start : start + size]


def _read_string(stream: bytes, start: int) -> tuple[str, int]:
    end = stream.index(b"\0", start)
    return stream[start:end].decode("cp1252", "replace"), end + 1
