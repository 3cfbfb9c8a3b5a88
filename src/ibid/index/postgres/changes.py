"""Changes applied inside a transaction: from what a flow wants to the rows of a new version."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ibid.errors import DuplicateDocument, EmbedderMismatch
from ibid.index.codec import dump_blocks, dump_json
from ibid.index.postgres import reads, writes
from ibid.index.postgres.snapshot import unknown_document
from ibid.index.postgres.writes import Rows
from ibid.protocols import Change, Manifest, PutDocument, RemoveDocument, SetMetadata
from ibid.records import Document

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors


REPLACED_SECONDS: Final = 600.0
"""So long passages stay that a re-index has replaced; no search or answer takes longer."""


@dataclass(slots=True)
class Applied:
    """What a transaction has written so far, and the numbers that come next."""

    version: int
    next_row: int
    last_id: int
    rows: Rows = field(default_factory=Rows)
    text_hashes: list[tuple[int, bytes]] = field(default_factory=list)

    def take_id(self) -> int:
        """A number that no document, content or revision of this library ever had."""
        self.last_id += 1
        return self.last_id


@dataclass(frozen=True, slots=True)
class LiveRevision:
    """The revision that a document has now."""

    id: int
    document: int
    content: int


def commit_changes(
    connection: Connection,
    changes: Sequence[Change],
    vectors: Mapping[bytes, Vectors],
    manifest: Manifest | None,
) -> int:
    """The changes written in order as the next version, which the transaction's commit publishes.

    Raises DuplicateDocument, UnknownDocument, and EmbedderMismatch where the library was made with
    another embedder, or was re-indexed with one since it was opened.
    """
    held = _hold_manifest(connection, manifest)
    _drop_replaced_passages(connection)
    ((version, next_row, last_id),) = connection.execute(
        "SELECT version, next_row, last_id FROM library"
    ).fetchall()
    applied = Applied(version + 1, next_row, last_id)
    for change in changes:
        _APPLY[type(change)](connection, change, applied)
    found = [(row, vectors[text_hash]) for row, text_hash in applied.text_hashes]
    _check_dimension(held, found)
    applied.rows.add_vectors(found)
    sizes = applied.rows.sizes
    applied.rows.copy(connection)
    writes.publish(connection, applied.version, next_row=applied.next_row, added=sizes)
    connection.execute("UPDATE library SET last_id = %s", (applied.last_id,))
    return applied.version


def _hold_manifest(connection: Connection, manifest: Manifest | None) -> Manifest | None:
    """What the library is made with, which is written where it is not yet."""
    held = reads.read_manifest(connection)
    if manifest is None or held is None:
        if manifest is not None:
            writes.write_manifest(connection, manifest)
        return held or manifest
    if (held.embedder, held.weights) != (manifest.embedder, manifest.weights):
        raise EmbedderMismatch(
            f"the library was made with {held.embedder}, and now comes {manifest.embedder}",
            hint="open the library again with the embedder that it has now",
        )
    return held


def _check_dimension(held: Manifest | None, vectors: Sequence[tuple[int, Vectors]]) -> None:
    expected = held.dimension if held is not None else None
    for _, vector in vectors:
        if expected is not None and len(vector) != expected:
            raise EmbedderMismatch(
                f"the library has vectors of {expected} numbers, and these have {len(vector)}",
                hint="open it with the embedder that it was made with",
            )


def _drop_replaced_passages(connection: Connection) -> None:
    """Delete what a new generation has replaced, once nobody reads it."""
    ((first_row, replaced_at),) = connection.execute(
        "SELECT first_row, replaced_at FROM library"
    ).fetchall()
    if not first_row or time.time() - replaced_at < REPLACED_SECONDS:
        return
    for table in ("passages", "vectors", "postings", "document_postings", "mentions"):
        connection.execute(f"DELETE FROM {table} WHERE row < %s", (first_row,))


# -- one change ---------------------------------------------------------------------------------


def _put(connection: Connection, put: PutDocument, applied: Applied) -> None:
    name = put.document.id
    live = _find_live(connection, name)
    if live is None:
        if put.document.allow is None and not put.opens:
            allow = writes.read_last_access(connection, name)
            put = replace(put, document=replace(put.document, allow=allow))
        identity = applied.take_id()
        connection.execute(
            "INSERT INTO documents VALUES (%s, %s, NULL, '{}')", (identity, put.source)
        )
    elif put.create:
        raise DuplicateDocument(
            f"a document {name!r} exists", hint="to overwrite it on purpose, use update"
        )
    else:
        identity = live.document
        writes.end_revision(connection, live.id, applied.version)
    content = _insert_content(connection, put, applied)
    _insert_revision(connection, put.document, identity, content, applied)
    writes.set_access(connection, identity, put.document.allow, put.overrides)
    writes.narrow_past(connection, name, identity, put.document.allow)


def _insert_content(connection: Connection, put: PutDocument, applied: Applied) -> int:
    """The id of the content written; its passages wait to be copied."""
    document, content, first_row = put.document, applied.take_id(), applied.next_row
    connection.execute(
        "INSERT INTO contents VALUES (%s,%s,%s,%s,%s,%s)",
        (content, put.content_hash, put.language, first_row, len(put.passages), len(document.text)),
    )
    connection.execute(
        "INSERT INTO texts VALUES (%s,%s,%s)",
        (content, document.text, dump_blocks(document.blocks)),
    )
    applied.rows.add_passages(content, first_row, put.passages)
    applied.text_hashes += [
        (row, indexed.text_hash) for row, indexed in enumerate(put.passages, start=first_row)
    ]
    applied.next_row += len(put.passages)
    return content


def _insert_revision(
    connection: Connection, document: Document, identity: int, content: int, applied: Applied
) -> None:
    """Make a content what the document is from this version on."""
    revision = applied.take_id()
    connection.execute(
        "INSERT INTO revisions VALUES (%s,%s,%s,%s,%s,NULL,%s,%s,%s,%s,%s,%s,%s)",
        (
            revision,
            identity,
            content,
            document.id,
            applied.version,
            document.title,
            document.source,
            document.media_type,
            document.modified_at.timestamp() if document.modified_at else None,
            document.archived,
            dump_json(document.tags),
            dump_json(document.metadata),
        ),
    )
    applied.rows.add_attributes(revision, document)


def _set(connection: Connection, change: SetMetadata, applied: Applied) -> None:
    live = _require_live(connection, change.id)
    document = change.document
    name = document.id
    if name != change.id and _find_live(connection, name) is not None:
        raise DuplicateDocument(
            f"{change.id!r} can't become {name!r}: a document of that id exists",
            hint="remove it first",
        )
    writes.end_revision(connection, live.id, applied.version)
    _insert_revision(connection, document, live.document, live.content, applied)
    writes.narrow_past(connection, name, live.document, document.allow)
    connection.execute(
        "UPDATE texts SET blocks = %s WHERE content = %s",
        (dump_blocks(document.blocks), live.content),
    )
    writes.set_access(connection, live.document, document.allow, change.overrides)


def _remove(connection: Connection, change: RemoveDocument, applied: Applied) -> None:
    writes.end_revision(connection, _require_live(connection, change.id).id, applied.version)


_APPLY: Final[dict[type, Callable[[Connection, Change, Applied], None]]] = {
    PutDocument: _put,  # type: ignore[dict-item]  # the table's keys say which change it takes
    SetMetadata: _set,  # type: ignore[dict-item]
    RemoveDocument: _remove,  # type: ignore[dict-item]
}


def _find_live(connection: Connection, name: str) -> LiveRevision | None:
    found = connection.execute(
        "SELECT id, document, content FROM revisions WHERE name = %s AND removed_in IS NULL",
        (name,),
    ).fetchone()
    return LiveRevision(*found) if found else None


def _require_live(connection: Connection, name: str) -> LiveRevision:
    live = _find_live(connection, name)
    if live is None:
        raise unknown_document(name)
    return live
