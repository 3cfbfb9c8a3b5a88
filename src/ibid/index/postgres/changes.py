"""Changes applied inside a transaction: from what a flow wants to the rows of a new version.

What they need to know is asked for once, then they are applied here, and what they made is written
at the end; see bearers.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ibid.errors import DuplicateDocument, EmbedderMismatch
from ibid.index.codec import dump_blocks
from ibid.index.columns import list_revision
from ibid.index.postgres import writes
from ibid.index.postgres.bearers import Bearer, Bearers, LiveRevision, find_bearers
from ibid.index.postgres.bulk import insert_rows
from ibid.index.postgres.postings import BUCKET
from ibid.index.postgres.snapshot import unknown_document
from ibid.index.postgres.writes import Rows
from ibid.protocols import Change, Manifest, PutDocument, RemoveDocument, SetMetadata
from ibid.records import Document

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors


_CONTENTS: Final[Mapping[str, str]] = {
    "id": "int8",
    **dict.fromkeys(("hash", "language"), "text"),
    "first_row": "int8",
    **dict.fromkeys(("rows", "characters"), "int4"),
}
_REVISIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("id", "document", "content"), "int8"),
    "name": "text",
    **dict.fromkeys(("version", "removed_in"), "int8"),
    **dict.fromkeys(("title", "source_uri", "media_type"), "text"),
    "modified_at": "float8",
    "archived": "bool",
    **dict.fromkeys(("tags", "metadata"), "text"),
}
_REMOVED_IN: Final = list(_REVISIONS).index("removed_in")

REPLACED_SECONDS: Final = 600.0
"""So long passages stay that a re-index has replaced; no search or answer takes longer."""


LEAST_ANALYZED: Final = 1_000
"""Passages from which on it matters what the planner knows of the tables."""


@dataclass(slots=True)
class Applied:
    """What a commit has made so far, and the numbers that come next."""

    version: int
    next_row: int
    last_id: int
    bearers: Bearers
    rows: Rows = field(default_factory=Rows)
    text_hashes: list[tuple[int, bytes]] = field(default_factory=list)
    contents: list[tuple[object, ...]] = field(default_factory=list)
    texts: list[tuple[object, ...]] = field(default_factory=list)
    blocks: dict[int, str] = field(default_factory=dict)
    revisions: dict[int, list[object]] = field(default_factory=dict)
    ended: list[int] = field(default_factory=list)

    def take_id(self) -> int:
        """A number that no document, content or revision of this library ever had."""
        self.last_id += 1
        return self.last_id

    def end_revision(self, bearer: Bearer) -> None:
        """Let the revision that a document has live no more from this version on."""
        assert bearer.live is not None
        if bearer.live.id in self.revisions:
            self.revisions[bearer.live.id][_REMOVED_IN] = self.version
        else:
            self.ended.append(bearer.live.id)
        bearer.live = None


@dataclass(frozen=True, slots=True)
class Committed:
    """A version, and how many passages there were before it and are with it, dead ones too."""

    version: int
    before: int
    passages: int

    @property
    def has_grown(self) -> bool:
        """Whether there are so many more that what the planner knows of the tables is worthless."""
        return self.before.bit_length() < self.passages.bit_length() > LEAST_ANALYZED.bit_length()


def commit_changes(
    connection: Connection,
    changes: Sequence[Change],
    vectors: Mapping[bytes, Vectors],
    manifest: Manifest | None,
) -> Committed:
    """The changes written in order as the next version, which the transaction's commit publishes.

    Raises DuplicateDocument, UnknownDocument, and EmbedderMismatch where the library was made with
    another embedder, or was re-indexed with one since it was opened.
    """
    names = {name for change in changes for name in _list_names(change)}
    asked = connection.execute(
        "SELECT l.manifest, l.version, v.passages, l.next_row, l.last_id, l.first_row,"
        " l.replaced_at FROM library l JOIN versions v ON v.version = l.version"
    )
    bearers = find_bearers(connection, names)
    ((held, version, passages, next_row, last_id, *replaced),) = asked.fetchall()
    made_with = _hold_manifest(connection, held, manifest)
    applied = Applied(version + 1, next_row, last_id, bearers)
    for change in changes:
        _APPLY[type(change)](change, applied)
    found = [(row, vectors[text_hash]) for row, text_hash in applied.text_hashes]
    _check_dimension(made_with, found)
    applied.rows.add_vectors(found)
    _drop_replaced_passages(connection, *replaced)
    _write(connection, applied)
    return Committed(applied.version, passages, passages + applied.rows.sizes.passages)


def _list_names(change: Change) -> set[str]:
    """The names that a change finds documents by."""
    named = {change.document.id} if isinstance(change, PutDocument | SetMetadata) else set()
    return named if isinstance(change, PutDocument) else named | {change.id}


def _write(connection: Connection, applied: Applied) -> None:
    """Write all that was made, in an order in which each row finds those it points at."""
    sizes = applied.rows.sizes
    applied.bearers.write(connection)
    insert_rows(connection, "contents", _CONTENTS, applied.contents)
    with connection.cursor() as cursor:  # a message for each, as a text may be very long
        if applied.texts:
            cursor.executemany("INSERT INTO texts VALUES (%s,%s,%s)", applied.texts)
        if applied.blocks:
            cursor.executemany(
                "UPDATE texts SET blocks = %s WHERE content = %s",
                [(blocks, content) for content, blocks in applied.blocks.items()],
            )
    connection.execute(
        "UPDATE revisions SET removed_in = %s WHERE id = ANY (%s::bigint[])",
        (applied.version, applied.ended),
    )
    insert_rows(connection, "revisions", _REVISIONS, list(applied.revisions.values()))
    applied.rows.write(connection)
    writes.publish(connection, applied.version, next_row=applied.next_row, added=sizes)
    connection.execute("UPDATE library SET last_id = %s", (applied.last_id,))


def _hold_manifest(
    connection: Connection, stored: str | None, manifest: Manifest | None
) -> Manifest | None:
    """What the library is made with, which is written where it is not yet."""
    held = None if stored is None else Manifest(**json.loads(stored))
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


def _drop_replaced_passages(connection: Connection, first_row: int, replaced_at: float) -> None:
    """Delete what a new generation has replaced, once nobody reads it."""
    if not first_row or time.time() - replaced_at < REPLACED_SECONDS:
        return
    for table in ("passages", "vectors", "mentions"):
        connection.execute(f"DELETE FROM {table} WHERE row < %s", (first_row,))
    for table in ("postings", "document_postings"):
        connection.execute(f"DELETE FROM {table} WHERE bucket < %s", (first_row // BUCKET,))


# -- one change ---------------------------------------------------------------------------------


def _put(put: PutDocument, applied: Applied) -> None:
    name, bearers = put.document.id, applied.bearers
    bearer = bearers.find_live(name)
    allow = put.document.allow
    if bearer is None:
        if allow is None and not put.opens:
            allow = bearers.read_last_access(name)
        bearer = Bearer(applied.take_id(), allow, source=put.source, is_new=True)
    elif put.create:
        raise DuplicateDocument(
            f"a document {name!r} exists", hint="to overwrite it on purpose, use update"
        )
    else:
        applied.end_revision(bearer)
    content = _add_content(put, applied)
    bearers.set_access(bearer, allow, put.overrides)
    _add_revision(put.document, bearer, content, applied)


def _add_content(put: PutDocument, applied: Applied) -> int:
    """The id of the content that waits to be written with its passages."""
    document, content, first_row = put.document, applied.take_id(), applied.next_row
    sizes = (first_row, len(put.passages), len(document.text))
    applied.contents.append((content, put.content_hash, put.language, *sizes))
    applied.texts.append((content, document.text, dump_blocks(document.blocks)))
    applied.rows.add_passages(content, first_row, put.passages)
    applied.text_hashes += [
        (row, indexed.text_hash) for row, indexed in enumerate(put.passages, start=first_row)
    ]
    applied.next_row += len(put.passages)
    return content


def _add_revision(document: Document, bearer: Bearer, content: int, applied: Applied) -> None:
    """Make a content what the document is from this version on."""
    revision = applied.take_id()
    applied.revisions[revision] = list_revision(
        document,
        revision=revision,
        identity=bearer.id,
        content=content,
        version=applied.version,
    )
    applied.rows.add_attributes(revision, document)
    applied.bearers.bear(document.id, bearer, LiveRevision(revision, document.id, content))
    applied.bearers.narrow_past(document.id, bearer)


def _set(change: SetMetadata, applied: Applied) -> None:
    bearer = _require_live(change.id, applied)
    document, name = change.document, change.document.id
    if name != change.id and applied.bearers.find_live(name) is not None:
        raise DuplicateDocument(
            f"{change.id!r} can't become {name!r}: a document of that id exists",
            hint="remove it first",
        )
    assert bearer.live is not None
    content = bearer.live.content
    applied.end_revision(bearer)
    applied.bearers.set_access(bearer, document.allow, change.overrides)
    applied.blocks[content] = dump_blocks(document.blocks)
    _add_revision(document, bearer, content, applied)


def _remove(change: RemoveDocument, applied: Applied) -> None:
    applied.end_revision(_require_live(change.id, applied))


_APPLY: Final[dict[type, Callable[[Change, Applied], None]]] = {
    PutDocument: _put,  # type: ignore[dict-item]  # the table's keys say which change it takes
    SetMetadata: _set,  # type: ignore[dict-item]
    RemoveDocument: _remove,  # type: ignore[dict-item]
}


def _require_live(name: str, applied: Applied) -> Bearer:
    bearer = applied.bearers.find_live(name)
    if bearer is None:
        raise unknown_document(name)
    return bearer
