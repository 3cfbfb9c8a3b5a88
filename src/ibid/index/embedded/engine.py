"""The embedded engine: one folder that holds a library, with one writer and many readers.

    library.db      SQLite: the truth, and the only place where a version is published
    lexical/N/      postings of the generation N that the database names
    vectors/        segments of float16 vectors; the database names the live ones
    answers.db      SQLite: the log of answers, which no writer of documents holds up
    lock            held by the writer

The order of a commit: the database's transaction is opened and filled; vectors are written and
synced; postings are added; the transaction commits, and with that the version is published. What
a crash leaves unpublished is in no reader's way, and the next writer clears it.
"""

from __future__ import annotations

import fcntl
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ibid.errors import BadQuery, Corrupt, LibraryError, LibraryLocked
from ibid.index.embedded import reads, schema
from ibid.index.embedded.connections import Connections
from ibid.index.embedded.reads import REMEDY
from ibid.index.embedded.snapshot import EmbeddedSnapshot, SearchFiles
from ibid.index.options import Approximation
from ibid.protocols import Change, FileState, Manifest, SourceInfo

if TYPE_CHECKING:
    from ibid.index.embedded.answers import EmbeddedAnswers
    from ibid.index.embedded.lexical import Postings
    from ibid.protocols import Vectors

LOCK_POLL_SECONDS: Final = 0.05

VECTOR_FILE: Final = re.compile(r"\d+-\d+-v\d+\.(?:faiss|clusters|part)")
"""The names of our files; what else lies in the folder is not ours to remove."""

EXACT_BELOW: Final = Approximation()

OPEN_TRIES: Final = 5
"""Times that files are looked up anew when a merge or purge has replaced one of them."""


class EmbeddedIndex:
    """A library in one folder; fills the `Index` protocol.

    `analyze` turns an indexed text and its language into terms; it is used where postings are
    made anew from the passages.
    """

    engine: Final = "embedded"

    def __init__(
        self,
        folder: Path,
        *,
        analyze: Callable[[str, str | None], str],
        lock_timeout_s: float = 30.0,
        approximation: Approximation = EXACT_BELOW,
    ) -> None:
        """Open the library in `folder`, making an empty one when there is none.

        Raises FormatTooNew or Corrupt for one that this ibid can't read.
        """
        self._folder = folder
        self._analyze = analyze
        self._lock_timeout_s = lock_timeout_s
        self._approximation = approximation
        self._database = folder / "library.db"
        self._connections = Connections(lambda: schema.connect(self._database))
        self._closed = False
        self._mutex = threading.RLock()
        self._depth = 0
        self._snapshots: dict[int, EmbeddedSnapshot] = {}
        self._postings: tuple[int, Postings] | None = None
        self._languages: tuple[int, Mapping[str, int]] = (-1, {})
        self._make_folder()
        self._migrate()

    @cached_property
    def answers(self) -> EmbeddedAnswers:
        """See `Index.answers`."""
        from ibid.index.embedded.answers import EmbeddedAnswers  # noqa: PLC0415 - not for a search

        return EmbeddedAnswers(self._folder, self._connect)

    # -- reading --------------------------------------------------------------------------------

    @property
    def manifest(self) -> Manifest | None:
        """See `Index.manifest`."""
        return reads.read_manifest(self._connect())

    @property
    def languages(self) -> Mapping[str, int]:
        """See `Index.languages`."""
        connection = self._connect()
        version = reads.read_version(connection)
        if self._languages[0] != version:
            self._languages = (version, reads.count_languages(connection))
        return self._languages[1]

    def snapshot(self, version: int | None = None) -> EmbeddedSnapshot:
        """See `Index.snapshot`."""
        connection = self._connect()
        last = reads.read_version(connection)
        wanted = last if version is None else version
        if not reads.holds_version(connection, wanted):
            raise BadQuery(f"the library has no version {wanted}", hint=f"the last one is {last}")
        known = self._snapshots.get(wanted)
        if known is None:
            known = EmbeddedSnapshot(
                wanted,
                connect=self._connect,
                open_files=self._open_files,
                approximation=self._approximation,
            )
            kept = self._snapshots.get(last)
            self._snapshots = {wanted: known} | ({last: kept} if kept else {})
        return known

    def find_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """See `Index.find_vectors`."""
        connection = self._connect()
        rows = reads.read_rows_of(connection, list(dict.fromkeys(text_hashes)))
        if not rows:
            return {}
        from ibid.index.embedded.vectors import MappedSegment  # noqa: PLC0415 - loads numpy

        found: dict[bytes, Vectors] = {}
        for segment in reads.read_segments(connection):
            inside = {
                h: row for h, row in rows.items() if segment.first_row <= row < segment.end_row
            }
            if inside:
                mapped = MappedSegment(segment, self._folder / "vectors")
                positions = [row - segment.first_row for row in inside.values()]
                found.update(zip(inside, mapped.read(positions), strict=True))
        return found

    def find_contexts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """See `Index.find_contexts`."""
        return reads.read_contexts(self._connect(), keys)

    def sources(self) -> list[SourceInfo]:
        """See `Index.sources`."""
        return reads.read_sources(self._connect())

    def files(self, source: str) -> dict[str, FileState]:
        """See `Index.files`."""
        return reads.read_files(self._connect(), source)

    def _open_files(self) -> SearchFiles:
        """The files of the last version, which hold the rows of all versions before it."""
        from ibid.index.embedded.vectors import MappedSegment  # noqa: PLC0415 - loads numpy

        for attempt in count():
            connection = self._connect()
            with schema.reading_one_state(connection):
                segments = reads.read_segments(connection)
                generation = reads.read_generation(connection)
            try:
                mapped = [MappedSegment(segment, self._folder / "vectors") for segment in segments]
                postings = self._open_postings(generation)
                return SearchFiles(postings, postings.searcher(), mapped)
            except FileNotFoundError as error:
                if attempt == OPEN_TRIES:
                    raise Corrupt(f"{error.filename} is missing", hint=REMEDY) from error
        raise AssertionError

    # -- writing --------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Index.writing`."""
        if not self._mutex.acquire(timeout=self._lock_timeout_s):
            raise self._locked()
        try:
            if self._depth:
                yield
                return
            with self._locking():
                self._depth += 1
                try:
                    self._clear_unpublished()
                    yield
                finally:
                    self._depth -= 1
                    if self._postings is not None:
                        self._postings[1].finish()
        finally:
            self._mutex.release()

    def commit(
        self,
        changes: Sequence[Change],
        vectors: Mapping[bytes, Vectors],
        *,
        manifest: Manifest | None = None,
        source: str | None = None,
        files: Iterable[FileState] = (),
        forgotten: Iterable[str] = (),
    ) -> int:
        """See `Index.commit`."""
        # What writes is loaded by those who write.
        from ibid.index.embedded.commit import commit_changes, remember_files  # noqa: PLC0415

        with self.writing():
            connection = self._connect()
            with schema.transacting(connection):
                if source is not None:
                    remember_files(connection, source, files, forgotten)
                if not changes:
                    return reads.read_version(connection)
                version, replaced = commit_changes(
                    connection,
                    changes,
                    vectors,
                    manifest=manifest,
                    folder=self._folder / "vectors",
                    add_postings=lambda found: self._live_postings().add(found),
                    approximation=self._approximation,
                )
            for file in replaced:
                file.unlink(missing_ok=True)
            return version

    def purge(self, ids: Sequence[str]) -> int:
        """See `Index.purge`."""
        with self.writing():
            if self._postings is not None:
                self._postings[1].finish()
            from ibid.index.embedded.migrate import drop_copies  # noqa: PLC0415 - seldom needed
            from ibid.index.embedded.purge import (  # noqa: PLC0415 - likewise
                empty_log,
                purge_documents,
            )

            version = purge_documents(
                self._connect(),
                self._folder,
                ids,
                analyze=self._analyze,
                approximation=self._approximation,
            )
            self._postings = None
            self._snapshots = {}
            self._clear_unpublished()
            drop_copies(self._database)
            empty_log(self._connect(), self._folder)
            return version

    def put_source(self, source: SourceInfo) -> None:
        """See `Index.put_source`."""
        from ibid.index.embedded.writes import write_source  # noqa: PLC0415 - as above

        with self.writing(), schema.transacting(self._connect()) as connection:
            write_source(connection, source)

    def drop_source(self, name: str) -> None:
        """See `Index.drop_source`."""
        with self.writing(), schema.transacting(self._connect()) as connection:
            connection.execute("UPDATE documents SET source = NULL WHERE source = ?", (name,))
            connection.execute("DELETE FROM sources WHERE name = ?", (name,))

    def count_bytes(self) -> int:
        """See `Index.count_bytes`."""
        sizes = 0
        for path in self._folder.rglob("*"):
            with suppress(FileNotFoundError):  # a merge may have taken it meanwhile
                sizes += path.stat().st_size if path.is_file() else 0
        return sizes

    def close(self) -> None:
        """See `Index.close`."""
        with self._mutex:
            self._closed = True
            if self._postings is not None:
                self._postings[1].finish()
            self._postings = None
            self._snapshots = {}
            self._connections.close()
            if "answers" in vars(self):
                self.answers.close()

    def _clear_unpublished(self) -> None:
        """Clear what a crash or a failed commit has left behind; the caller holds the lock."""
        connection = self._connect()
        self.answers.forget_purged()
        generation = reads.read_generation(connection)
        try:
            self._open_postings(generation).drop_from(reads.read_next_row(connection))
        except ValueError:  # what a full disk left there is in the way of any writer
            generation = self._rebuild_postings()
        live = {
            file
            for segment in reads.read_segments(connection)
            for file in (segment.file, segment.clusters)
        }
        for file in (self._folder / "vectors").iterdir():
            if VECTOR_FILE.fullmatch(file.name) and file.name not in live:
                file.unlink(missing_ok=True)
        for folder in (self._folder / "lexical").iterdir():
            if folder.name.isdecimal() and int(folder.name) != generation:
                shutil.rmtree(folder, ignore_errors=True)

    def _rebuild_postings(self) -> int:
        """Make the keyword index anew from the passages; its generation."""
        from ibid.index.embedded.purge import rebuild_postings  # noqa: PLC0415 - seldom needed

        connection = self._connect()
        generation = reads.read_generation(connection) + 1
        with schema.transacting(connection):
            rebuild_postings(connection, self._folder / "lexical" / str(generation), self._analyze)
        self._postings = None
        self._snapshots = {}
        return generation

    # -- the folder -----------------------------------------------------------------------------

    def _make_folder(self) -> None:
        if self._database.exists():
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder.chmod(0o700)
        with self._locking():
            if not self._database.exists():
                from ibid.index.embedded.lexical import create_postings  # noqa: PLC0415 - seldom

                (self._folder / "vectors").mkdir(exist_ok=True)
                create_postings(self._folder / "lexical" / str(schema.FIRST_GENERATION))
                schema.create_database(self._database)

    def _migrate(self) -> None:
        """Bring a library of an older format to today's."""
        if schema.read_format(self._connect()) == schema.FORMAT:
            return
        from ibid.index.embedded.migrate import migrate_database  # noqa: PLC0415 - once a library

        with self._locking():
            migrate_database(self._connect(), self._database)

    @contextmanager
    def _locking(self) -> Iterator[None]:
        """Hold the lock between processes; the system lets go of it when a process dies."""
        deadline = time.monotonic() + self._lock_timeout_s
        with (self._folder / "lock").open("a") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise self._locked() from None
                    time.sleep(LOCK_POLL_SECONDS)
            yield

    def _locked(self) -> LibraryLocked:
        return LibraryLocked(
            f"another process is writing to {self._folder}",
            hint=f"waited {self._lock_timeout_s:g} s; try again when it is done",
        )

    def _connect(self) -> sqlite3.Connection:
        """The calling thread's connection. Raises LibraryError once the library is closed."""
        if self._closed:
            raise LibraryError(f"{self._folder} was closed", hint="open the library again")
        return self._connections.get()

    def _live_postings(self) -> Postings:
        return self._open_postings(reads.read_generation(self._connect()))

    def _open_postings(self, generation: int) -> Postings:
        from ibid.index.embedded.lexical import Postings  # noqa: PLC0415 - loads numpy, tantivy

        if self._postings is None or self._postings[0] != generation:
            self._postings = (generation, Postings(self._folder / "lexical" / str(generation)))
        return self._postings[1]
