"""Outlook's MSG: the streams of a compound file, as oxmsg unfolds it, made into a letter."""

from __future__ import annotations

import email
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final

from olefile import OleFileIO
from oxmsg.storage import Storage

from ibid.errors import UnreadableDocument, UnsupportedFormat
from ibid.reading.attachments import drop_folders
from ibid.reading.encodings import decode_bytes
from ibid.reading.mail.letters import HEAD_FIELDS, Body, Letter, build_letter
from ibid.reading.mail.mail import decode_field
from ibid.reading.markup.html import decode_html
from ibid.reading.pages import report_pages
from ibid.records import Document

_BYTES_A_PAGE: Final = 10_000
# Properties of [MS-OXPROPS] by their number.
_SUBJECT: Final = 0x0037
_CLASS: Final = 0x001A
_HEADERS: Final = 0x007D
_SENDER_NAME: Final = 0x0C1A
_SENDER_ADDRESSES: Final = (0x5D01, 0x0C1F)  # SMTP, then any other kind
_DISPLAYED: Final = {"To": 0x0E04, "Cc": 0x0E03}
_SUBMIT_TIME: Final = 0x0039
_BODY: Final = 0x1000
_HTML: Final = 0x1013
_CODE_PAGES: Final = (0x3FDE, 0x3FFD)  # of the Internet, then of the message
_ATTACHED: Final = 0x3701
_ATTACHED_NAMES: Final = (0x3707, 0x3704, 0x3001)  # long, short, displayed
_ATTACHED_TYPE: Final = 0x370E
_CONTENT_ID: Final = 0x3712
# Kinds of property, as they end the names of streams.
_WIDE: Final = 0x001F
_NARROW: Final = 0x001E
_BINARY: Final = 0x0102
_EMBEDDED: Final = 0x000D
_PROPERTY: Final = struct.Struct("<2xH4x8s")
_ROOT_HEADER: Final = 32  # bytes before the properties of the message of the file
_EMBEDDED_HEADER: Final = 24  # and of one within it
_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)
_UTF8: Final = 65001


def read_msg(data: bytes, name: str) -> Document:
    """The letter: subject, head, text; its attachments are documents of their own.

    The plain text is taken, and the HTML where there is none.

    Raises UnreadableDocument for a damaged or an encrypted one, EmptyDocument for one without
    a word.
    """
    report_pages(len(data) // _BYTES_A_PAGE)
    try:
        with OleFileIO(data) as file:
            letter = _open_message(Storage.from_ole(file), _ROOT_HEADER)
    except (OSError, ValueError, KeyError, IndexError, struct.error, RecursionError) as error:
        raise UnreadableDocument("damaged: not a whole Outlook message") from error
    return build_letter(letter)


def _open_message(storage: Storage, header: int) -> Letter:
    properties = _Properties(storage, header)
    plain = properties.text(_BODY)
    html = "" if plain.strip() else properties.html()
    bodies = (Body(plain), Body(html, html=True))
    return Letter(
        properties.text(_SUBJECT),
        _find_fields(properties),
        tuple(body for body in bodies if body.text.strip()),
        tuple(filter(None, map(_open_attachment, storage.iter_attachment_storages()))),
        encrypted=properties.text(_CLASS).upper() == "IPM.NOTE.SMIME",
    )


def _open_attachment(storage: Storage) -> tuple[str, bytes | Letter] | None:
    """The name and content of an attachment; None for an image that stands in the text."""
    properties = _Properties(storage, 8)
    if properties.text(_CONTENT_ID) and properties.text(_ATTACHED_TYPE).startswith("image/"):
        return None
    name = next(filter(None, map(properties.text, _ATTACHED_NAMES)), "attachment")
    for inner in storage.storages:
        if inner.name == _stream_name(_ATTACHED, _EMBEDDED):
            letter = _open_message(inner, _EMBEDDED_HEADER)
            return name if "." in name else f"{name}.eml", letter
    return drop_folders(name), properties.binary(_ATTACHED)


def _stream_name(number: int, kind: int) -> str:
    return f"__substg1.0_{number:04X}{kind:04X}"


class _Properties:
    """The properties of a message or an attachment; empty for those that aren't there."""

    def __init__(self, storage: Storage, header: int) -> None:
        self._streams: Mapping[str, bytes] = {s.name: s.bytes_ for s in storage.streams}
        fixed = self._streams.get("__properties_version1.0", b"")[header:]
        whole = fixed[: len(fixed) // _PROPERTY.size * _PROPERTY.size]
        self._fixed: Mapping[int, bytes] = dict(_PROPERTY.iter_unpack(whole))

    def binary(self, number: int) -> bytes:
        """The bytes of a binary property."""
        return self._streams.get(_stream_name(number, _BINARY), b"")

    def text(self, number: int) -> str:
        """The text of a property, in whatever encoding it is."""
        wide = self._streams.get(_stream_name(number, _WIDE))
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._streams.get(_stream_name(number, _NARROW), b"").rstrip(b"\0")
        try:
            return decode_bytes(narrow, declared=self._encoding())
        except UnsupportedFormat:
            return ""

    def html(self) -> str:
        """The source of the body as a page."""
        try:
            return self.text(_HTML) or decode_html(self.binary(_HTML), declared=self._encoding())
        except UnsupportedFormat:
            return ""

    def date(self, number: int) -> str:
        """A time as a mail header writes it."""
        tenths_of_microseconds = int.from_bytes(self._fixed.get(number, b""), "little")
        if not tenths_of_microseconds:
            return ""
        try:
            return format_datetime(_EPOCH + timedelta(microseconds=tenths_of_microseconds // 10))
        except OverflowError:
            return ""

    def _encoding(self) -> str | None:
        found = (int.from_bytes(self._fixed.get(page, b"")[:4], "little") for page in _CODE_PAGES)
        page = next(filter(None, found), 0)
        return ("utf-8" if page == _UTF8 else f"cp{page}") if page else None


def _find_fields(properties: _Properties) -> dict[str, str]:
    """The fields of the head: as they travelled, else as Outlook shows them."""
    headers = email.message_from_string(properties.text(_HEADERS).lstrip())
    fields = {name: decode_field(headers, name) for name in HEAD_FIELDS}
    name = properties.text(_SENDER_NAME)
    # An address without an @ is one of Exchange's own, which tells a reader nothing.
    address = next((text for text in map(properties.text, _SENDER_ADDRESSES) if "@" in text), "")
    shown = {
        "From": f"{name} <{address}>" if name and address else name or address,
        "Date": properties.date(_SUBMIT_TIME),
        **{name: properties.text(number) for name, number in _DISPLAYED.items()},
    }
    return {name: fields[name] or shown[name] for name in HEAD_FIELDS}
