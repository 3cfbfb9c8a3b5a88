"""Changes on their way into an index: documents written, described anew, removed."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from ibid.record import record
from ibid.records import JSON, Document, Passage


class Role(enum.IntEnum):
    """Where a passage names an entity: in its text, in a heading above it, in its title."""

    TEXT = 1
    HEADING = 2
    TITLE = 3


@record
class IndexedPassage:
    """A passage ready to be written: its index terms, and the hash of its indexed text.

    `terms` are parted by white space; those of the first line count for its document too.
    `entities` are the numbers of what it names, each with the strongest of its roles.
    """

    passage: Passage
    terms: str
    text_hash: bytes
    entities: Mapping[int, Role] = field(default_factory=dict)


@record
class PutDocument:
    """Write a document: a new one, or with `create` False also over the one with its id.

    `document.allow` says who may see it from now on (None: public). `overrides` keeps what
    `ibid set` and flags said, so that a later update can tell it from what the file says.
    Where nothing is said of access and `opens` is False, a document that comes back keeps the
    access that the one before it had. `content_hash` stands for all that its passages depend on.
    `language` is the one its terms were analysed in.
    """

    document: Document
    content_hash: str
    passages: Sequence[IndexedPassage]
    language: str | None = None
    source: str | None = None
    overrides: Mapping[str, JSON] = field(default_factory=dict)
    create: bool = False
    opens: bool = False


@record
class SetMetadata:
    """Change what is known of the document `id`, or its id (a file that moved), not its text.

    `document` has the same text, and blocks that differ at most in their lines.
    """

    id: str
    document: Document
    overrides: Mapping[str, JSON]


@record
class RemoveDocument:
    """Hide a document from now on; older versions still hold it."""

    id: str


Change: TypeAlias = PutDocument | SetMetadata | RemoveDocument
