"""Which reader reads what: one line a format."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Final, cast

from ibid.errors import EmptyDocument, UnsupportedFormat
from ibid.protocols import Reader
from ibid.reading.media_types import HEAD_BYTES, guess_media_type
from ibid.records import Block, BlockKind, Document

_TEXT: Final = "ibid.reading.text:read_text"
_HTML: Final = "ibid.reading.markup.html:read_html"
_CSV: Final = "ibid.reading.data.csv_table:read_csv"
_SUBTITLES: Final = "ibid.reading.data.subtitles:read_subtitles"

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_OPEN: Final = "application/vnd.oasis.opendocument."

_COLLECTED: Final = 50_000  # new objects after which the collector looks, while a file is read
MAX_BLOCKS: Final = 100_000
"""Blocks of one document beyond which neighbouring paragraphs become one."""

# A reader is imported when the first file of its kind comes: a child loads only what it needs.
_READERS: Final = {
    "text/plain": _TEXT,
    "text/markdown": "ibid.reading.markup.markdown:read_markdown",
    "text/html": _HTML,
    "application/xhtml+xml": _HTML,
    "application/pdf": "ibid.reading.pdf.reader:read_pdf",
    "text/csv": _CSV,
    "text/tab-separated-values": _CSV,
    "text/x-rst": "ibid.reading.markup.rst:read_rst",
    "text/asciidoc": "ibid.reading.markup.asciidoc:read_asciidoc",
    "text/x-tex": "ibid.reading.markup.latex:read_latex",
    "text/vtt": _SUBTITLES,
    "text/x-subrip": _SUBTITLES,
    "text/x-source": "ibid.reading.data.source_code:read_source",
    "application/json": "ibid.reading.data.json_data:read_json",
    "application/jsonl": "ibid.reading.data.json_data:read_json_lines",
    "application/x-ipynb+json": "ibid.reading.data.notebook:read_notebook",
    "application/xml": "ibid.reading.data.xml_data:read_xml",
    "application/epub+zip": "ibid.reading.markup.epub:read_epub",
    "message/rfc822": "ibid.reading.mail.mail:read_mail",
    "application/mbox": "ibid.reading.mail.mail:read_mailbox",
    f"{_OFFICE}wordprocessingml.document": "ibid.reading.office.docx:read_docx",
    f"{_OFFICE}presentationml.presentation": "ibid.reading.office.pptx:read_pptx",
    f"{_OFFICE}spreadsheetml.sheet": "ibid.reading.office.sheets_xlsx:read_xlsx",
    "application/vnd.ms-excel": "ibid.reading.office.sheets_xls:read_xls",
    f"{_OPEN}text": "ibid.reading.office.odt:read_odt",
    f"{_OPEN}text-template": "ibid.reading.office.odt:read_odt",
    f"{_OPEN}presentation": "ibid.reading.office.odt:read_odp",
    f"{_OPEN}presentation-template": "ibid.reading.office.odt:read_odp",
    f"{_OPEN}spreadsheet": "ibid.reading.office.sheets_ods:read_ods",
    f"{_OPEN}spreadsheet-template": "ibid.reading.office.sheets_ods:read_ods",
    "application/rtf": "ibid.reading.office.rtf:read_rtf",
    "application/vnd.ms-outlook": "ibid.reading.mail.msg:read_msg",
    "application/yaml": _TEXT,
    "application/toml": _TEXT,
}

_NEWER: Final = {"application/msword": ".docx", "application/vnd.ms-powerpoint": ".pptx"}

# What a reader takes by keyword beside the bytes and the name.
_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    "application/pdf": frozenset({"password", "last_page", "languages"}),
    f"{_OFFICE}wordprocessingml.document": frozenset({"password"}),
    f"{_OFFICE}presentationml.presentation": frozenset({"password"}),
    f"{_OFFICE}spreadsheetml.sheet": frozenset({"password"}),
}


def supported_media_types() -> frozenset[str]:
    """The media types that have a reader."""
    return frozenset(_READERS)


def read_bytes(
    data: bytes,
    name: str,
    media_type: str | None = None,
    *,
    password: str | None = None,
    last_page: int | None = None,
    languages: Sequence[str] | None = None,
) -> Document:
    """The document that a file's bytes hold; its id, source and time of change are left unset.

    Runs in this process: bytes from a stranger belong in a `ReaderPool`. The media type is
    guessed from name and bytes unless it is given. `password` opens those that are encrypted, and
    what is behind `last_page` is left out; scans are in `languages` (tesseract's names). A format
    without passwords, pages or scans doesn't ask for them.

    Raises EmptyDocument, UnsupportedFormat or UnreadableDocument.
    """
    media_type = media_type or guess_media_type(name, data[:HEAD_BYTES])
    read = load_reader(media_type)
    if not data:
        raise EmptyDocument("the file is empty")
    options = {"password": password, "last_page": last_page, "languages": languages}
    taken = _TAKEN.get(media_type, frozenset())
    given = {key: value for key, value in options.items() if key in taken and value is not None}
    with _collect_seldom():
        document = cast("Callable[..., Document]", read)(data, name, **given)
    return replace(document, media_type=media_type, blocks=limit_blocks(document.blocks))


@contextmanager
def _collect_seldom() -> Iterator[None]:
    """Within it the garbage collector looks seldom: what a reader makes it needs to the end."""
    usual = gc.get_threshold()
    if 0 < usual[0] < _COLLECTED:
        gc.set_threshold(_COLLECTED, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def limit_blocks(blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks, neighbouring paragraphs joined where there are more than MAX_BLOCKS.

    Each costs some hundred bytes in every process that holds it, so a file of empty lines must not
    become a million of them.
    """
    if len(blocks) <= MAX_BLOCKS:
        return blocks
    most = -(-len(blocks) // MAX_BLOCKS)
    joined: list[Block] = []
    count = 0
    for block in blocks:
        last = joined[-1] if joined else None
        if last is not None and count < most and _may_join(last, block):
            lines = (last.lines[0], block.lines[1]) if last.lines and block.lines else last.lines
            joined[-1] = replace(last, end=block.end, lines=lines)
            count += 1
        else:
            joined.append(block)
            count = 1
    return tuple(joined)


def _may_join(first: Block, second: Block) -> bool:
    alike = (first.kind, first.page, first.place) == (second.kind, second.page, second.place)
    return alike and first.kind is BlockKind.PARAGRAPH and not first.boxes


def load_reader(media_type: str) -> Reader:
    """The reader of a media type, imported. Raises UnsupportedFormat when there is none."""
    if media_type not in _READERS:
        newer = _NEWER.get(media_type)
        hint = f"save it as {newer} to have it read" if newer else ""
        raise UnsupportedFormat(f"unsupported type {media_type}", hint=hint)
    module, _, function = _READERS[media_type].partition(":")
    return cast("Reader", getattr(import_module(module), function))
