"""A letter, whatever mail format it came in, and the document that it makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import groupby
from typing import Final

from ibid.errors import UnreadableDocument
from ibid.reading.attachments import read_attachments
from ibid.reading.builder import DocumentBuilder, normalize_text
from ibid.reading.markup.html import append_html
from ibid.records import JSON, BlockKind, Document

HEAD_FIELDS: Final = ("From", "To", "Cc", "Date")
"""The fields that are shown above a letter, in their order."""

_METADATA: Final = {"author": "From", "to": "To", "cc": "Cc"}
_ENCRYPTED: Final = "-----BEGIN PGP MESSAGE-----"
_QUOTE: Final = re.compile(r"\s*[>|]")


@dataclass(frozen=True, slots=True)
class Body:
    """One part of a letter's text."""

    text: str
    html: bool = False


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail, decoded: `fields` are those of its head by name, `attachments` named files."""

    subject: str
    fields: dict[str, str]
    bodies: tuple[Body, ...] = ()
    attachments: tuple[tuple[str, bytes | Letter], ...] = ()
    encrypted: bool = False


def build_letter(letter: Letter) -> Document:
    """The document of one letter, its attachments beside it.

    Raises UnreadableDocument for an encrypted letter, EmptyDocument for one without a word.
    """
    if is_encrypted(letter):
        raise UnreadableDocument(
            "the mail is encrypted", hint="save it decrypted from your mail program"
        )
    builder = DocumentBuilder()
    attachments = append_letter(builder, letter)
    return builder.build(
        title=letter.subject or None,
        media_type="message/rfc822",
        metadata=_find_metadata(letter),
        attachments=attachments,
    )


def is_encrypted(letter: Letter) -> bool:
    """True for a letter that only its receiver's key opens."""
    return letter.encrypted or any(
        body.text.lstrip().startswith(_ENCRYPTED) for body in letter.bodies
    )


def append_letter(builder: DocumentBuilder, letter: Letter) -> tuple[Document, ...]:
    """Put a letter: its subject as a heading, its head, its text, the names of its attachments.

    What it quotes of older letters stands in blocks of its own. Gives the attachments that can
    be read.
    """
    builder.append(BlockKind.HEADING, letter.subject, level=1)
    head = [f"{name}: {letter.fields[name]}" for name in HEAD_FIELDS if letter.fields.get(name)]
    builder.append(BlockKind.PARAGRAPH, "\n".join(head))
    for body in letter.bodies:
        if body.html:
            append_html(builder, body.text, levels=1)
        else:
            for text in _split_plain(normalize_text(body.text)):
                builder.append(BlockKind.PARAGRAPH, text)
    documents, lines = read_attachments(
        (name, partial(build_letter, content) if isinstance(content, Letter) else content)
        for name, content in letter.attachments
    )
    builder.append(BlockKind.PARAGRAPH, "\n".join(lines))
    return tuple(documents)


def _find_metadata(letter: Letter) -> dict[str, JSON]:
    found: dict[str, JSON] = {
        key: letter.fields[name] for key, name in _METADATA.items() if letter.fields.get(name)
    }
    # Without a date, or with one that no one can read, the head still shows what is said.
    with suppress(KeyError, ValueError, TypeError, OverflowError):
        found["date"] = parsedate_to_datetime(letter.fields["Date"]).isoformat()
    return found


def _split_plain(text: str) -> Iterator[str]:
    """The paragraphs, those that are quoted apart from those that are not."""

    def kind(line: str) -> tuple[bool, bool]:
        if line[:1].isalnum():  # as most begin
            return False, False
        return _QUOTE.match(line) is not None, not line.strip(" \t>|")

    for (_, blank), lines in groupby(text.split("\n"), kind):
        if not blank:
            yield "\n".join(lines)
