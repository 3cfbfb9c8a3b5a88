"""The next generation of a library, staged in a database of its own beside the one that serves.

A library that is embedded, analysed or cut anew keeps its documents, versions and access; what
changes are the passages of every text. They are staged text by text, so that a killed run goes on
where it was, and at the end take rows after all that were ever used. Publishing is one transaction
of the library's database: until it commits all readers have the old rows, afterwards the new ones.
The old passages stay for some minutes, for those who were reading.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from ibid.errors import LibraryError, LibraryLocked
from ibid.index.codec import dump_json
from ibid.index.columns import read_content
from ibid.index.embedded import reads, vectors, writes
from ibid.index.embedded.lexical import create_postings
from ibid.index.embedded.lock import ProcessLock
from ibid.index.embedded.purge import empty_log
from ibid.index.embedded.schema import open_database, transacting
from ibid.index.packing import pack_passages, unpack_passages
from ibid.protocols import Manifest, PutDocument, StoredContent

if TYPE_CHECKING:
    from ibid.index.embedded.vectors import Codes
    from ibid.protocols import Vectors

STAGING_FILE: Final = "staging.db"
LOCK_FILE: Final = "reindex.lock"

BUSY_SECONDS: Final = 5.0
"""How long one who stages, and one who erases, wait for each other."""

_STAGED: Final = ("contents", "vectors")

_TABLES: Final = """
CREATE TABLE manifest (value TEXT NOT NULL);
CREATE TABLE contents (
    key INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    language TEXT,
    passages TEXT NOT NULL       -- JSON
);
CREATE TABLE vectors (text_hash BLOB PRIMARY KEY, codes BLOB NOT NULL) WITHOUT ROWID;
"""


@contextmanager
def open_staging(
    library: sqlite3.Connection,
    folder: Path,
    manifest: Manifest,
    *,
    lock_timeout_s: float,
    on_published: Callable[[], None],
) -> Iterator[EmbeddedStaging]:
    """What was staged under this manifest, to go on with, or nothing yet; for one at a time.

    Raises LibraryLocked when another one stages for longer than the limit.
    """
    lock = ProcessLock(folder, lock_timeout_s, name=LOCK_FILE, doing="re-indexing")
    with lock.holding():
        staging = EmbeddedStaging(library, folder, manifest, on_published=on_published)
        try:
            yield staging
        finally:
            staging.close()


class EmbeddedStaging:
    """A `Staging` of the embedded engine."""

    def __init__(
        self,
        library: sqlite3.Connection,
        folder: Path,
        manifest: Manifest,
        *,
        on_published: Callable[[], None],
    ) -> None:
        """Go on with what was staged under this manifest, or begin."""
        self._library = library
        self._on_published = on_published
        self._folder = folder
        self._manifest = manifest
        self._path = folder / STAGING_FILE
        self._connection = _open_staging(self._path, dump_json(dataclasses.asdict(manifest)))

    @property
    def staged(self) -> int:
        """See `Staging.staged`."""
        (count,) = self._connection.execute("SELECT count(*) FROM contents").fetchone()
        return int(count)

    def count_contents(self) -> int:
        """See `Staging.count_contents`."""
        (count,) = self._library.execute("SELECT count(*) FROM contents").fetchone()
        return int(count)

    def pending(self) -> Iterator[StoredContent]:
        """See `Staging.pending`."""
        done = {key for (key,) in self._connection.execute("SELECT key FROM contents")}
        keys = self._library.execute("SELECT id FROM contents ORDER BY first_row").fetchall()
        for (key,) in keys:
            if key not in done and (found := _read_content(self._library, key)) is not None:
                yield found

    def find_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """See `Staging.find_vectors`."""
        found = {
            text_hash: codes
            for some in reads.in_parts(text_hashes)
            for text_hash, codes in self._connection.execute(
                f"SELECT text_hash, codes FROM vectors WHERE text_hash IN ({reads.marks(some)})",
                some,
            )
        }
        return {
            text_hash: np.frombuffer(codes, np.float16).astype(np.float32)
            for text_hash, codes in found.items()
        }

    def stage(self, contents: Mapping[int, PutDocument], vectors: Mapping[bytes, Vectors]) -> None:
        """See `Staging.stage`."""
        with transacting(self._connection):
            # Inside, so that an erasure either is seen here or finds what is staged here.
            held = self._keep_held(contents)
            hashes = {indexed.text_hash for put in held.values() for indexed in put.passages}
            self._connection.executemany(
                "INSERT OR REPLACE INTO contents VALUES (?,?,?,?)",
                (
                    (key, put.content_hash, put.language, pack_passages(put.passages))
                    for key, put in held.items()
                ),
            )
            self._connection.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?,?)",
                (
                    (text_hash, np.asarray(vector, np.float16).tobytes())
                    for text_hash, vector in vectors.items()
                    if text_hash in hashes
                ),
            )

    def _keep_held(self, contents: Mapping[int, PutDocument]) -> dict[int, PutDocument]:
        """Those that the library still holds."""
        held = {
            key
            for some in reads.in_parts(list(contents))
            for (key,) in self._library.execute(
                f"SELECT id FROM contents WHERE id IN ({reads.marks(some)})", some
            )
        }
        return {key: put for key, put in contents.items() if key in held}

    def publish(self) -> int:
        """See `Staging.publish`."""
        if next(self.pending(), None) is not None:
            raise LibraryError("documents came in since", hint="stage them, then publish")
        version = reads.read_version(self._library) + 1
        generation = reads.read_generation(self._library) + 1
        first_row = reads.read_next_row(self._library)
        with transacting(self._library):
            postings = create_postings(self._folder / "lexical" / str(generation))
            postings.add(self._write_passages(first_row))
            postings.finish()
            next_row = reads.read_end_row(self._library)
            self._write_segments(first_row, next_row, version)
            writes.write_manifest(self._library, self._manifest)
            writes.write_generation(self._library, generation)
            writes.write_first_row(self._library, first_row)
            writes.mark_replaced(self._library)
            writes.publish(self._library, version, max(next_row, first_row))
        self._on_published()
        self.discard()
        return version

    def discard(self) -> None:
        """See `Staging.discard`."""
        self.close()
        drop_staging(self._folder)

    def close(self) -> None:
        """Let go of the files; what is staged stays for the next run."""
        self._connection.close()

    def _write_passages(self, row: int) -> Iterator[tuple[int, int, str]]:
        """Give every content its new passages, in the order that contents had; their postings."""
        keys = self._library.execute("SELECT id FROM contents ORDER BY first_row").fetchall()
        for (key,) in keys:
            content_hash, language, stored = self._connection.execute(
                "SELECT hash, language, passages FROM contents WHERE key = ?", (key,)
            ).fetchone()
            passages = unpack_passages(stored)
            writes.replace_passages(
                self._library,
                key,
                row,
                passages,
                content_hash=content_hash,
                language=language,
            )
            for number, indexed in enumerate(passages):
                yield row + number, key, indexed.terms
            row += len(passages)

    def _write_segments(self, first_row: int, next_row: int, version: int) -> None:
        """Write the vectors of the new rows, and name these files as the live ones."""
        folder = self._folder / "vectors"
        written = []
        for start in range(first_row, next_row, vectors.SEGMENT_ROWS):
            end = min(start + vectors.SEGMENT_ROWS, next_row)
            name = f"{start}-{end}-v{version}.faiss"
            hash = vectors.write_segment(folder / name, self._read_codes(start, end))
            written.append(reads.Segment(name, start, end - start, hash=hash))
        writes.replace_segments(self._library, reads.read_segments(self._library), written)

    def _read_codes(self, start: int, end: int) -> list[Codes]:
        found = []
        for some in reads.in_parts(range(start, end)):
            hashes = self._library.execute(
                "SELECT text_hash FROM passages WHERE row >= ? AND row <= ? ORDER BY row",
                (some[0], some[-1]),
            ).fetchall()
            held = self.find_vectors([text_hash for (text_hash,) in hashes])
            found.append(
                vectors.encode_rows(np.stack([held[text_hash] for (text_hash,) in hashes]))
            )
        return found


def erase_staging(folder: Path) -> None:
    """Remove what is staged, as it holds texts that are to be erased; a run that goes on stages
    what is left anew.

    Raises LibraryLocked when that run reads or writes for longer than this waits.
    """
    path = folder / STAGING_FILE
    if not path.exists():
        return
    with suppress(LibraryLocked), ProcessLock(folder, 0.0, name=LOCK_FILE).holding():
        drop_staging(folder)
        return
    connection = open_database(path, busy_seconds=BUSY_SECONDS)
    try:
        with transacting(connection):
            for table in _STAGED:
                connection.execute(f"DELETE FROM {table}")
        empty_log(connection, folder)
    finally:
        connection.close()


def drop_staging(folder: Path) -> None:
    """Remove the files of what is staged; nobody else may stage meanwhile."""
    for name in (STAGING_FILE, f"{STAGING_FILE}-wal", f"{STAGING_FILE}-shm"):
        (folder / name).unlink(missing_ok=True)


def _open_staging(path: Path, manifest: str) -> sqlite3.Connection:
    connection = open_database(path, busy_seconds=BUSY_SECONDS)
    connection.execute("PRAGMA synchronous = NORMAL")
    with transacting(connection):
        begun = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'manifest'").fetchone()
        if begun and connection.execute("SELECT value FROM manifest").fetchone() == (manifest,):
            return connection
        for table in ("manifest", *_STAGED):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in filter(str.strip, _TABLES.split(";")):
            connection.execute(statement)
        connection.execute("INSERT INTO manifest VALUES (?)", (manifest,))
    return connection


def _read_content(connection: sqlite3.Connection, key: int) -> StoredContent | None:
    """A text as a document, under the name and title that it had last; None where it is gone."""
    found = connection.execute(
        "SELECT r.name, r.title, r.source_uri, r.media_type, t.text, t.blocks, c.hash"
        " FROM contents c JOIN texts t ON t.content = c.id JOIN revisions r ON r.content = c.id"
        " WHERE c.id = ? ORDER BY r.id DESC LIMIT 1",
        (key,),
    ).fetchone()
    return None if found is None else read_content(key, found)
