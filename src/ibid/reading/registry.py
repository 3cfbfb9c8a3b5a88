"""Which reader reads what: one line a format."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Final, cast

from ibid.errors import EmptyDocument, UnsupportedFormat
from ibid.protocols import Reader
from ibid.reading.media_types import HEAD_BYTES, guess_media_type
from ibid.records import Document

_TEXT: Final = "ibid.reading.text:read_text"
_HTML: Final = "ibid.reading.html:read_html"

# A reader is imported when the first file of its kind comes: a child loads only what it needs.
_READERS: Final = {
    "text/plain": _TEXT,
    "text/markdown": "ibid.reading.markdown:read_markdown",
    "text/html": _HTML,
    "application/xhtml+xml": _HTML,
    "application/pdf": "ibid.reading.pdf:read_pdf",
    "text/csv": _TEXT,
    "text/tab-separated-values": _TEXT,
    "text/x-rst": _TEXT,
    "text/asciidoc": _TEXT,
    "text/x-tex": _TEXT,
    "text/vtt": _TEXT,
    "text/x-subrip": _TEXT,
    "text/x-source": _TEXT,
    "application/json": _TEXT,
    "application/jsonl": _TEXT,
    "application/x-ipynb+json": _TEXT,
    "application/xml": _TEXT,
    "application/yaml": _TEXT,
    "application/toml": _TEXT,
}


def supported_media_types() -> frozenset[str]:
    """The media types that have a reader."""
    return frozenset(_READERS)


def read_bytes(data: bytes, name: str, media_type: str | None = None) -> Document:
    """The document that a file's bytes hold; its id, source and time of change are left unset.

    Runs in this process: bytes from a stranger belong in a `ReaderPool`. The media type is
    guessed from name and bytes unless it is given.

    Raises EmptyDocument, UnsupportedFormat or UnreadableDocument.
    """
    media_type = media_type or guess_media_type(name, data[:HEAD_BYTES])
    read = load_reader(media_type)
    if not data:
        raise EmptyDocument("the file is empty")
    return replace(read(data, name), media_type=media_type)


def load_reader(media_type: str) -> Reader:
    """The reader of a media type, imported. Raises UnsupportedFormat when there is none."""
    if media_type not in _READERS:
        raise UnsupportedFormat(f"unsupported type {media_type}")
    module, _, function = _READERS[media_type].partition(":")
    return cast("Reader", getattr(import_module(module), function))
