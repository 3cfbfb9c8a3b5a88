"""A document and its parts: text, blocks, passages, who may see it, and what a run changed."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Final, TypeAlias, TypeGuard

from ibid.record import record
from ibid.records.blocks import Block

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


class Owner(enum.Enum):
    """The one who owns the library and sees all of it; no string a service is sent can be it."""

    OWNER = "*"


OWNER: Final = Owner.OWNER

Principals: TypeAlias = frozenset[str] | Owner
"""Who asks: a set such as {"user:ann", "group:hr"}, empty for public documents only, or OWNER."""


def is_principal(name: object) -> TypeGuard[str]:
    """Whether this can name a principal, such as "group:hr".

    That is a text without white space, control or invisible characters, with something on either
    side of its first colon; the sign of the owner is none.
    """
    if not isinstance(name, str) or name == OWNER.value:
        return False
    kind, colon, own = name.partition(":")
    named = bool(kind) and bool(own or not colon)
    return named and name.isprintable() and " " not in name  # no other space is printable


@record
class Document:
    """One document as a reader sees it; `text` is the one truth for offsets.

    `allow` names the principals who may see it: None says nothing (a new document is then
    public, an updated one keeps what was set), an empty set is nobody but the owner.
    `blocks` may be empty: the paragraphs are then found when the document is ingested.
    `attachments` came inside this one, like those of a mail; the id of each is its name there.
    """

    id: str
    text: str
    blocks: Sequence[Block] = ()
    title: str | None = None
    source: str | None = None
    media_type: str = "text/plain"
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    tags: Mapping[str, JSON] = field(default_factory=dict)
    allow: frozenset[str] | None = None
    modified_at: datetime | None = None
    archived: bool = False
    attachments: tuple[Document, ...] = ()


@record
class Passage:
    """The retrievable piece: `document.text[passage.span] == passage.text`, always.

    `headings` is the path of headings above it. `prefix` is that path as it is embedded, within
    its limit; `body` counts the characters of heading lines at the start of `text`, which the
    prefix already says. `lead` is what stands further up and belongs to it: the header of its
    table, the line that introduces its list; it is embedded and shown with the text and is no part
    of it. `context` is what a model wrote of where it stands, embedded with it and never shown as
    text; `context_key` finds it again. `ordinal` counts from 0. `page` and `place` are those of its
    first block, `rule` says what cut it.
    """

    id: str
    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    headings: tuple[str, ...] = ()
    prefix: str = ""
    body: int = 0
    lead: str = ""
    page: int | None = None
    place: str | None = None
    rule: str = ""
    context: str = ""
    context_key: bytes = b""

    @property
    def span(self) -> slice:
        """The passage's place in its document: `document.text[passage.span]`."""
        return slice(self.start, self.end)

    @property
    def indexed_text(self) -> str:
        """What is embedded: heading path, colon, context, lead, and text without headings."""
        parts = (self.context, self.lead, self.text[self.body :].strip())
        body = "\n".join(filter(None, parts))
        if not self.prefix:
            return body
        return f"{self.prefix}: {body}" if body else self.prefix


@record
class DocumentInfo:
    """A document as it is listed: all but its text. `version` is the one that wrote it."""

    id: str
    title: str | None
    source: str | None
    media_type: str
    version: int
    modified_at: datetime | None
    archived: bool
    allow: frozenset[str] | None
    tags: Mapping[str, JSON]
    metadata: Mapping[str, JSON]
    passages: int
    characters: int


@record
class Skipped:
    """A file that is not a document, and why."""

    id: str
    reason: str


@record
class Failed:
    """A file that should have become a document and did not: the kind of error and its message."""

    id: str
    error: str
    message: str


@record
class Incomplete:
    """A document whose file could be read in part only, and why."""

    id: str
    reason: str


@record
class Moved:
    """A document whose file has another name now."""

    old_id: str
    new_id: str


@record
class PassageCounts:
    """Passages that a run added, removed, embedded, and had to cut to the embedder's limit."""

    added: int = 0
    removed: int = 0
    embedded: int = 0
    truncated: int = 0


@record
class IngestReport:
    """What a run changed, document by document; `version` is the last one that was written.

    `seconds` tells where the time went, by stage, with the total. `context_tokens` is, of a dry run
    alone, about how many tokens a model would be sent and send back for contexts.
    """

    version: int
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    metadata_changed: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    failed: tuple[Failed, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()
    passages: PassageCounts = PassageCounts()
    context_tokens: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
