"""How the columns of a row become records, the same in every engine that stores rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from ibid.index.codec import dump_json, load_blocks, load_json, read_allow, read_time
from ibid.protocols import FileState, Revision, StoredContent, StoredDocument
from ibid.records import Document, DocumentInfo, Passage

LANGUAGES: Final = """SELECT c.language, count(*) FROM revisions r
    JOIN contents c ON c.id = r.content
    WHERE r.removed_in IS NULL AND c.language IS NOT NULL
    GROUP BY c.language ORDER BY min(c.id)"""
"""How many live documents are in each language."""

PUBLIC_LANGUAGES: Final = """SELECT c.language, count(*) FROM revisions r
    JOIN contents c ON c.id = r.content JOIN documents d ON d.id = r.document
    WHERE r.removed_in IS NULL AND d.allow IS NULL AND c.language IS NOT NULL
    GROUP BY c.language ORDER BY min(c.id)"""
"""How many of those that everyone may see. Questions are read by this: what is hidden must not show
in how they are understood."""


def read_info(row: Sequence[object]) -> DocumentInfo:
    """The listing entry of a row of INFO_COLUMNS, as each engine selects them."""
    (
        name,
        title,
        uri,
        media_type,
        version,
        modified_at,
        archived,
        allow,
        tags,
        metadata,
        *sizes,
    ) = row
    passages, characters = sizes
    return DocumentInfo(
        id=str(name),
        title=_text_or_none(title),
        source=_text_or_none(uri),
        media_type=str(media_type),
        version=_integer(version),
        modified_at=read_time(modified_at),
        archived=bool(archived),
        allow=read_allow(allow),
        tags=json.loads(str(tags)),
        metadata=json.loads(str(metadata)),
        passages=_integer(passages),
        characters=_integer(characters),
    )


def read_content(key: int, row: Sequence[object]) -> StoredContent:
    """A text as a document, from its last name, title, source and type, text, blocks and hash."""
    name, title, source, media_type, text, blocks, content_hash = row
    document = Document(
        id=str(name),
        text=str(text),
        blocks=load_blocks(str(blocks)),
        title=_text_or_none(title),
        source=_text_or_none(source),
        media_type=str(media_type),
    )
    return StoredContent(key, document, str(content_hash))


def read_passage(name: str, columns: Sequence[object]) -> Passage:
    """The passage of a document of this name from its columns, `c.hash` first and its text last."""
    content_hash, ordinal, start, end, body, prefix, headings, lead, *more = columns
    page, place, rule, context, context_key, text = more
    return Passage(
        id=f"{name}@{str(content_hash)[:8]}#{start}-{end}",
        document_id=name,
        ordinal=_integer(ordinal),
        start=_integer(start),
        end=_integer(end),
        text=str(text),
        headings=tuple(json.loads(str(headings))),
        prefix=str(prefix),
        body=_integer(body),
        lead=str(lead),
        page=None if page is None else _integer(page),
        place=_text_or_none(place),
        rule=str(rule),
        context=str(context),
        context_key=context_key if isinstance(context_key, bytes) else b"",
    )


def read_revision(columns: Sequence[object]) -> Revision:
    """A revision from its document, hash, time of writing, end, and the columns of `read_info`."""
    identity, content_hash, created_at, removed_in, *info = columns
    return Revision(
        identity=_integer(identity),
        info=read_info(info),
        content_hash=str(content_hash),
        written_at=read_time(created_at),
        removed_in=None if removed_in is None else _integer(removed_in),
    )


def read_stored(columns: Sequence[Any]) -> StoredDocument:
    """A document as it is stored, from its text, blocks, hash, language, source, what was said of
    it, and the columns of `read_info`."""
    text, blocks, content_hash, language, source, overrides, *listed = columns
    info = read_info(listed)
    document = read_document(info, text, blocks)
    return StoredDocument(info, document, content_hash, source, load_json(overrides), language)


def read_document(info: DocumentInfo, text: str, blocks: str) -> Document:
    """The whole document from its listing entry, its text and its stored blocks."""
    return Document(
        id=info.id,
        text=text,
        blocks=load_blocks(blocks),
        title=info.title,
        source=info.source,
        media_type=info.media_type,
        metadata=info.metadata,
        tags=info.tags,
        allow=info.allow,
        modified_at=info.modified_at,
        archived=info.archived,
    )


def list_revision(
    document: Document, *, revision: int, identity: int, content: int, version: int
) -> list[object]:
    """The columns of a revision that is live from this version on."""
    return [
        revision,
        identity,
        content,
        document.id,
        version,
        None,
        document.title,
        document.source,
        document.media_type,
        document.modified_at.timestamp() if document.modified_at else None,
        document.archived,
        dump_json(document.tags),
        dump_json(document.metadata),
    ]


def list_file(source: str, file: FileState) -> tuple[object, ...]:
    """The columns of what a source knows of a file."""
    return (
        source,
        file.path,
        file.stat.size,
        file.stat.modified_ns,
        signed(file.stat.inode),
        file.status,
        file.bytes_hash,
        file.content_hash,
        file.error,
        file.message,
        file.container,
        file.stat.changed_ns,
        file.stat.tag,
    )


def unsigned(inode: int) -> int:
    """An inode from a database's signed 64 bits."""
    return inode + 2**64 if inode < 0 else inode


def signed(inode: int) -> int:
    """An inode as a database's signed 64 bits can hold it."""
    return inode - 2**64 if inode >= 2**63 else inode


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


def _integer(value: object) -> int:
    assert isinstance(value, int)
    return value
