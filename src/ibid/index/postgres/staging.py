"""The next generation of a library, staged in tables beside those that serve.

A library that is embedded, analysed or cut anew keeps its documents, versions and access; what
changes are the passages of every text. They are staged text by text, so that a killed run goes on
where it was, and at the end take rows after all that were ever used. Publishing is one transaction:
until it commits all readers have the old rows, afterwards the new ones. The old passages stay
for some minutes, for those who were reading.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np
from pgvector import HalfVector

from ibid.errors import LibraryError
from ibid.index.codec import dump_json
from ibid.index.columns import read_content
from ibid.index.packing import pack_passages, unpack_passages
from ibid.index.postgres import writes
from ibid.index.postgres.database import Database
from ibid.index.postgres.postings import BUCKET
from ibid.index.postgres.purge import drop_staged, recount_versions
from ibid.index.postgres.writes import Rows, Sizes
from ibid.protocols import Manifest, PutDocument, StoredContent

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors

LOCK: Final = "reindex"
CONTENTS_AT_ONCE: Final = 200


@contextmanager
def open_staging(database: Database, manifest: Manifest) -> Iterator[PostgresStaging]:
    """What was staged under this manifest, to go on with, or nothing yet; for one at a time.

    Raises LibraryLocked when another one stages for longer than the limit.
    """
    with database.holding(LOCK):
        staging = PostgresStaging(database, manifest)
        staging.begin()
        yield staging


class PostgresStaging:
    """A `Staging` of the PostgreSQL engine."""

    def __init__(self, database: Database, manifest: Manifest) -> None:
        """Stage under this manifest."""
        self._database = database
        self._manifest = manifest

    def begin(self) -> None:
        """Go on with what was staged under this manifest, or begin."""
        wanted = dump_json(dataclasses.asdict(self._manifest))
        with self._database.changing() as connection:
            if connection.execute("SELECT manifest FROM staging").fetchall() != [(wanted,)]:
                drop_staged(connection)
                connection.execute("INSERT INTO staging VALUES (%s)", (wanted,))

    @property
    def staged(self) -> int:
        """See `Staging.staged`."""
        return self._count("staged_contents")

    def count_contents(self) -> int:
        """See `Staging.count_contents`."""
        return self._count("contents")

    def _count(self, table: str) -> int:
        with self._database.changing() as connection:
            ((count,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
            return int(count)

    def pending(self) -> Iterator[StoredContent]:
        """See `Staging.pending`."""
        with self._database.changing() as connection:
            keys = _list_pending(connection)
        for key in keys:
            with self._database.changing() as connection:
                found = _read_content(connection, key)
            if found is not None:
                yield found

    def find_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """See `Staging.find_vectors`."""
        with self._database.changing() as connection:
            return _find_vectors(connection, text_hashes)

    def stage(self, contents: Mapping[int, PutDocument], vectors: Mapping[bytes, Vectors]) -> None:
        """See `Staging.stage`."""
        with self._database.changing() as connection, connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO staged_contents VALUES (%s,%s,%s,%s) ON CONFLICT (key) DO UPDATE SET"
                " hash = excluded.hash, language = excluded.language, passages = excluded.passages",
                [
                    (key, put.content_hash, put.language, pack_passages(put.passages))
                    for key, put in contents.items()
                ],
            )
            cursor.executemany(
                "INSERT INTO staged_vectors VALUES (%s,%s) ON CONFLICT DO NOTHING",
                [(text_hash, HalfVector(vector)) for text_hash, vector in vectors.items()],
            )

    def publish(self) -> int:
        """See `Staging.publish`."""
        with self._database.publishing() as connection:
            if _list_pending(connection):
                raise LibraryError("documents came in since", hint="stage them, then publish")
            ((version, next_row),) = connection.execute(
                "SELECT version + 1, next_row FROM library"
            ).fetchall()
            first_row = -(-next_row // BUCKET) * BUCKET  # no value has postings of both generations
            next_row = _write_passages(connection, first_row)
            _move_ends(connection, first_row)
            writes.write_manifest(connection, self._manifest)
            writes.publish(connection, version, next_row=next_row, added=Sizes())
            connection.execute(
                "UPDATE library SET first_row = %s, replaced_at = %s", (first_row, time.time())
            )
            recount_versions(connection)
            drop_staged(connection)
        return int(version)

    def discard(self) -> None:
        """See `Staging.discard`."""
        with self._database.changing() as connection:
            drop_staged(connection)


def _list_pending(connection: Connection) -> list[int]:
    """The contents that aren't staged, oldest first."""
    found = connection.execute(
        "SELECT c.id FROM contents c WHERE NOT EXISTS"
        " (SELECT FROM staged_contents s WHERE s.key = c.id) ORDER BY c.first_row, c.id"
    )
    return [key for (key,) in found]


def _read_content(connection: Connection, key: int) -> StoredContent | None:
    """A text as a document, under the name and title that it had last; None where it is gone."""
    found = connection.execute(
        "SELECT r.name, r.title, r.source_uri, r.media_type, t.text, t.blocks, c.hash"
        " FROM contents c JOIN texts t ON t.content = c.id JOIN revisions r ON r.content = c.id"
        " WHERE c.id = %s ORDER BY r.id DESC LIMIT 1",
        (key,),
    ).fetchone()
    return None if found is None else read_content(key, found)


def _find_vectors(connection: Connection, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
    found = connection.execute(
        "SELECT text_hash, embedding FROM staged_vectors WHERE text_hash = ANY (%s)",
        (list(dict.fromkeys(text_hashes)),),
    )
    return {text_hash: embedding.to_numpy().astype(np.float32) for text_hash, embedding in found}


# -- publishing ---------------------------------------------------------------------------------


def _write_passages(connection: Connection, first_row: int) -> int:
    """Give every content its new passages, in the order that contents had; the row after them."""
    contents = connection.execute(
        "SELECT c.id, s.hash, s.language FROM contents c JOIN staged_contents s ON s.key = c.id"
        " ORDER BY c.first_row, c.id"
    ).fetchall()
    connection.execute("CREATE TEMP TABLE moved (old_row bigint, end_row bigint) ON COMMIT DROP")
    row = first_row
    for start in range(0, len(contents), CONTENTS_AT_ONCE):
        rows = Rows()
        for key, content_hash, language in contents[start : start + CONTENTS_AT_ONCE]:
            row = _replace_passages(connection, rows, row, (key, content_hash, language))
        rows.write(connection)
    return row


def _replace_passages(
    connection: Connection, rows: Rows, row: int, staged: tuple[int, str, str | None]
) -> int:
    """Give a content its new passages in rows from `row` on; the row after them.

    What is known of its file follows, so that the next sync takes it for unchanged.
    """
    key, content_hash, language = staged
    ((stored,),) = connection.execute(
        "SELECT passages FROM staged_contents WHERE key = %s", (key,)
    ).fetchall()
    passages = unpack_passages(stored)
    vectors = _find_vectors(connection, [indexed.text_hash for indexed in passages])
    rows.add_passages(key, row, passages)
    rows.add_vectors(
        (place, vectors[indexed.text_hash]) for place, indexed in enumerate(passages, start=row)
    )
    connection.execute(
        "INSERT INTO moved SELECT first_row, %s FROM contents WHERE id = %s",
        (row + len(passages), key),
    )
    connection.execute(
        "UPDATE files SET content_hash = %s WHERE content_hash ="
        " (SELECT hash FROM contents WHERE id = %s)",
        (content_hash, key),
    )
    connection.execute(
        "UPDATE contents SET hash = %s, language = %s, first_row = %s, rows = %s WHERE id = %s",
        (content_hash, language, row, len(passages), key),
    )
    return row + len(passages)


def _move_ends(connection: Connection, first_row: int) -> None:
    """Let every version end after the new passages of the last content that it had."""
    connection.execute(
        "UPDATE versions v SET end_row = coalesce("
        "(SELECT max(m.end_row) FROM moved m WHERE m.old_row < v.end_row), %s)",
        (first_row,),
    )
