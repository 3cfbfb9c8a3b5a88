"""Changes applied inside a transaction: from what a flow wants to the rows of a new version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ibid.errors import DuplicateDocument, UnknownDocument
from ibid.index.embedded import reads, writes
from ibid.protocols import Change, PutDocument, RemoveDocument, SetMetadata


@dataclass(slots=True)
class Applied:
    """What a transaction has written so far, and what must be written beside the database."""

    version: int
    first_row: int
    next_row: int
    postings: list[tuple[int, int, str]] = field(default_factory=list)
    text_hashes: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LiveRevision:
    """The revision that a document has now."""

    id: int
    document: int
    content: int


def apply_changes(connection: sqlite3.Connection, changes: Sequence[Change]) -> Applied:
    """The changes written in order as the next version; the caller commits or takes back.

    Raises DuplicateDocument or UnknownDocument.
    """
    row = reads.read_next_row(connection)
    applied = Applied(reads.read_version(connection) + 1, row, row)
    for change in changes:
        _APPLY[type(change)](connection, change, applied)
    return applied


def _put(connection: sqlite3.Connection, put: PutDocument, applied: Applied) -> None:
    name = put.document.id
    live = _find_live(connection, name)
    if live is None:
        if put.document.allow is None and not put.opens:
            put = replace(
                put, document=replace(put.document, allow=writes.read_last_access(connection, name))
            )
        identity = writes.insert_document(connection, put.source)
    elif put.create:
        raise DuplicateDocument(
            f"a document {name!r} exists", hint="to overwrite it on purpose, use update"
        )
    else:
        identity = live.document
        writes.end_revision(connection, live.id, applied.version)
    content = writes.insert_content(connection, put, applied.next_row)
    writes.insert_revision(connection, put.document, identity, content, applied.version)
    writes.set_access(connection, identity, put.document.allow, put.overrides)
    writes.narrow_past(connection, name, identity, put.document.allow)
    for indexed in put.passages:
        applied.postings.append((applied.next_row, content, indexed.terms))
        applied.text_hashes.append(indexed.text_hash)
        applied.next_row += 1


def _set(connection: sqlite3.Connection, change: SetMetadata, applied: Applied) -> None:
    live = _require_live(connection, change.id)
    name = change.document.id
    if name != change.id and _find_live(connection, name) is not None:
        raise DuplicateDocument(
            f"{change.id!r} can't become {name!r}: a document of that id exists",
            hint="remove it first",
        )
    writes.end_revision(connection, live.id, applied.version)
    writes.insert_revision(
        connection, change.document, live.document, live.content, applied.version
    )
    writes.narrow_past(connection, name, live.document, change.document.allow)
    writes.set_blocks(connection, live.content, change.document)
    writes.set_access(connection, live.document, change.document.allow, change.overrides)


def _remove(connection: sqlite3.Connection, change: RemoveDocument, applied: Applied) -> None:
    writes.end_revision(connection, _require_live(connection, change.id).id, applied.version)


_APPLY: Final[dict[type, Callable[[sqlite3.Connection, Change, Applied], None]]] = {
    PutDocument: _put,  # type: ignore[dict-item]  # the table's keys say which change it takes
    SetMetadata: _set,  # type: ignore[dict-item]
    RemoveDocument: _remove,  # type: ignore[dict-item]
}


def _find_live(connection: sqlite3.Connection, name: str) -> LiveRevision | None:
    found = connection.execute(
        "SELECT id, document, content FROM revisions WHERE name = ? AND removed_in IS NULL",
        (name,),
    ).fetchone()
    return LiveRevision(*found) if found else None


def _require_live(connection: sqlite3.Connection, name: str) -> LiveRevision:
    live = _find_live(connection, name)
    if live is None:
        raise UnknownDocument(f"no document {name!r}", hint="`ibid list` shows the ids")
    return live
