"""Mail: EML and MBOX, whatever encodings their headers and parts claim to be in."""

from __future__ import annotations

import email
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import replace
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from typing import Final

from ibid.errors import UnreadableDocument, UnsupportedFormat
from ibid.reading.attachments import drop_folders
from ibid.reading.builder import DocumentBuilder
from ibid.reading.encodings import decode_bytes
from ibid.reading.mail.letters import (
    HEAD_FIELDS,
    Body,
    Letter,
    append_letter,
    build_letter,
    is_encrypted,
)
from ibid.reading.markup.html import decode_html
from ibid.reading.pages import report_pages
from ibid.records import Document

_BYTES_A_PAGE: Final = 10_000
# A line that begins a message in a mailbox: "From", who and when, then a header.
_FROM_LINE: Final = re.compile(rb"^From [^\n]*\d[^\n]*\n(?=[!-9;-~]+:|>From )", re.M)
_STUFFED: Final = re.compile(rb"^>(?=>*From )", re.M)
_SIGNATURES: Final = frozenset({"application/pgp-signature", "application/pkcs7-signature"})
_SEALED: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_MAX_WORDS: Final = 5_000  # encoded words of a field; decoding takes the square of them
_BINARY_NAMES: Final = {"text/calendar": ".ics", "message/rfc822": ".eml"}


def read_mail(data: bytes, name: str) -> Document:
    """The letter: subject, head, text; its attachments are documents of their own.

    Of two versions of a text the plain one is taken, and the HTML one where there is no other.
    A file of several letters is read as a mailbox.

    Raises UnreadableDocument for a mail that is encrypted or has no header, EmptyDocument for
    one without a word.
    """
    messages = _split_mailbox(data)
    if len(messages) > 1:
        return read_mailbox(data, name)
    report_pages(len(data) // _BYTES_A_PAGE)
    return build_letter(_parse(messages[0]))


def read_mailbox(data: bytes, name: str) -> Document:
    """Every letter as a section below its subject, its number, from 1, as the place of its blocks.

    An encrypted letter keeps its head. The attachments of all letters are documents of their own.

    Raises UnreadableDocument for bytes that are no mailbox, EmptyDocument for one without a word.
    """
    report_pages(len(data) // _BYTES_A_PAGE)
    builder = DocumentBuilder()
    attachments: list[Document] = []
    for number, message in enumerate(_split_mailbox(data), 1):
        letter = _parse(message)
        builder.place = place = f"message {number}"
        if is_encrypted(letter):
            letter = replace(letter, bodies=(Body("(encrypted)"),), attachments=())
        found = append_letter(builder, replace(letter, subject=letter.subject or place))
        attachments += [replace(document, id=f"{place}/{document.id}") for document in found]
    return builder.build(attachments=tuple(attachments))


def _split_mailbox(data: bytes) -> list[bytes]:
    """The messages of a mailbox; of any other file all of it."""
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").lstrip()
    if not data.startswith(b"From "):
        return [data]
    starts = [
        match for match in _FROM_LINE.finditer(data) if _begins_paragraph(data, match.start())
    ]
    if not starts or starts[0].start():
        return [data]
    ends = [match.start() for match in starts[1:]] + [len(data)]
    return [
        _STUFFED.sub(b"", data[match.end() : end]) for match, end in zip(starts, ends, strict=True)
    ]


def _begins_paragraph(data: bytes, start: int) -> bool:
    return start == 0 or data[max(start - 2, 0) : start] == b"\n\n"


def _parse(data: bytes) -> Letter:
    """The letter of one message. Raises UnreadableDocument where there is no header."""
    try:
        message = email.message_from_bytes(data)
        letter = _open_message(message)
    except RecursionError as error:
        raise UnreadableDocument("messages nested too deeply in it") from error
    if not message.keys():
        raise UnreadableDocument("no header at its top: not a mail")
    return letter


def _open_message(message: Message) -> Letter:
    opened = _Opened()
    opened.take(message)
    fields = {name: decode_field(message, name) for name in HEAD_FIELDS}
    return Letter(
        decode_field(message, "Subject"),
        fields,
        tuple(opened.bodies),
        tuple(opened.attachments),
        opened.encrypted,
    )


def decode_field(message: Message, name: str) -> str:
    """A field of the header in one line, its encoded words decoded, whatever they claim."""
    found = [value for key, value in message.raw_items() if key.lower() == name.lower()]
    return ", ".join(_decode_words(str(value)) for value in found[:1])


def _decode_words(raw: str) -> str:
    text = _decode(raw.encode("utf-8", "surrogateescape"))
    if text.count("=?") > _MAX_WORDS:
        return " ".join(text.split())
    try:
        pieces = decode_header(text)
    except (MessageError, ValueError):  # broken base64: shown as it stands
        pieces = [(text, None)]
    decoded = (
        piece if isinstance(piece, str) else _decode(piece, charset) for piece, charset in pieces
    )
    return " ".join("".join(decoded).split())


def _decode(data: bytes, charset: str | None = None) -> str:
    try:
        return decode_bytes(data, declared=charset)
    except UnsupportedFormat:  # said to be text and isn't
        return ""


class _Opened:
    """What is found in a message, part by part."""

    def __init__(self) -> None:
        self.bodies: list[Body] = []
        self.attachments: list[tuple[str, bytes | Letter]] = []
        self.encrypted = False

    def take(self, part: Message) -> None:
        """Take a part and all that is in it."""
        kind = part.get_content_type()
        if kind == "multipart/encrypted" or _is_sealed(part, kind):
            self.encrypted = True
        elif kind == "multipart/alternative" and part.is_multipart():
            self._take_best(list(_iterate_parts(part)))
        elif kind.startswith("multipart/") and part.is_multipart():
            for inner in _iterate_parts(part):
                self.take(inner)
        elif kind not in _SIGNATURES:
            self._take_leaf(part, kind)

    def _take_best(self, versions: list[Message]) -> None:
        """Take of several versions the plain one, else HTML, else the last."""
        opened = []
        for version in versions:
            found = _Opened()
            found.take(version)
            opened.append(found)
        plain = (o for o in opened if any(b.text.strip() and not b.html for b in o.bodies))
        html = (o for o in opened if any(b.text.strip() for b in o.bodies))
        best = next(plain, None) or next(html, None)
        for found in opened:
            self.bodies += found.bodies if found is best else ()
            self.attachments += found.attachments
            self.encrypted = self.encrypted or found.encrypted

    def _take_leaf(self, part: Message, kind: str) -> None:
        name = _decode_words(part.get_filename() or "")
        attached = part.get_content_disposition() == "attachment"
        if kind == "message/rfc822":
            for inner in _iterate_parts(part):
                letter = _open_message(inner)
                self.attachments.append((name or f"{letter.subject or 'message'}.eml", letter))
        elif part.is_multipart():  # the report of a mail server: parts that are headers alone
            self.bodies.append(Body("\n\n".join(map(str, _iterate_parts(part)))))
        elif kind.startswith(("text/", "multipart/")) and not attached and not name:
            self._take_text(part, html=kind == "text/html")
        elif attached or not (kind.startswith("image/") and part["Content-ID"]):
            self._attach(part, name, kind)

    def _take_text(self, part: Message, *, html: bool) -> None:
        charset = part.get_content_charset()
        try:
            data = _payload(part)
            text = decode_html(data, declared=charset) if html else _decode(data, charset)
        except UnsupportedFormat:
            return
        self.bodies.append(Body(text, html))

    def _attach(self, part: Message, name: str, kind: str) -> None:
        if not name:
            extension = _BINARY_NAMES.get(kind) or mimetypes.guess_extension(kind) or ""
            name = f"attachment {len(self.attachments) + 1}{extension}"
        self.attachments.append((drop_folders(name), _payload(part)))


def _is_sealed(part: Message, kind: str) -> bool:
    """True for S/MIME whose content can't be seen: it is encrypted, or hidden in a signature."""
    return kind in _SEALED and part.get_param("smime-type") != "certs-only"


def _iterate_parts(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (inner for inner in payload if isinstance(inner, Message))


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""
