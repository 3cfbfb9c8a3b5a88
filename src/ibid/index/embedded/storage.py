"""The files of an embedded library: its connections, its lock, its open postings and vectors.

What a crash leaves unpublished is in no reader's way, and the next writer clears it.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from ibid.errors import Corrupt, LibraryError, LibraryLocked
from ibid.index.embedded import reads, schema
from ibid.index.embedded.connections import Connections
from ibid.index.embedded.files import SearchFiles
from ibid.index.embedded.lock import ProcessLock, refuse_writing
from ibid.index.embedded.reads import REBUILD, Segment

if TYPE_CHECKING:
    from ibid.index.embedded.answers import EmbeddedAnswers
    from ibid.index.embedded.lexical import Postings
    from ibid.index.embedded.vectors import MappedSegment

Opened = TypeVar("Opened")

VECTOR_FILE: Final = re.compile(r"\d+-\d+-v\d+(?:g\d+)?\.(?:faiss|clusters|part)")
"""The names of our files; what else lies in the folder is not ours to remove."""

REPLACED_SECONDS: Final = 600.0
"""So long passages stay that a re-index has replaced; no search or answer takes longer."""

OPEN_TRIES: Final = 5
"""Times that files are looked up anew when a merge or purge has replaced one of them."""


class Storage:
    """A library's folder, opened: made when there is none, brought to today's format when older.

    `analyze` turns an indexed text and its language into terms, where postings are made anew.
    """

    def __init__(
        self, folder: Path, *, analyze: Callable[[str, str | None], str], lock_timeout_s: float
    ) -> None:
        """Raises FormatTooNew or Corrupt for a library that this ibid can't read."""
        self.folder = folder
        self.database = folder / "library.db"
        self.vectors = folder / "vectors"
        self.lexical = folder / "lexical"
        self.analyze = analyze
        self.lock = ProcessLock(folder, lock_timeout_s)
        self._connections = Connections(lambda: schema.connect(self.database))
        self._closed = False
        self.mutex = threading.RLock()
        self._depth = 0
        self._postings: tuple[int, Postings] | None = None
        with self._telling_refusal():
            self._make_folder()
            self._migrate()

    @cached_property
    def answers(self) -> EmbeddedAnswers:
        """The log of answers, opened when it is first needed."""
        from ibid.index.embedded.answers import EmbeddedAnswers  # noqa: PLC0415 - not for a search

        return EmbeddedAnswers(self.folder, self.connect)

    def connect(self) -> sqlite3.Connection:
        """The calling thread's connection. Raises LibraryError once the library is closed."""
        if self._closed:
            raise LibraryError(f"{self.folder} was closed", hint="open the library again")
        return self._connections.get()

    def live_postings(self) -> Postings:
        """The postings of the live generation. Raises Corrupt."""
        return self.open_postings(reads.read_generation(self.connect()))

    def open_postings(self, generation: int) -> Postings:
        """The postings of a generation, opened once. Raises Corrupt."""
        from ibid.index.embedded.lexical import Postings  # noqa: PLC0415 - loads numpy, tantivy

        if self._postings is None or self._postings[0] != generation:
            self._postings = (generation, Postings(self.lexical / str(generation)))
        return self._postings[1]

    def open_files(self) -> SearchFiles:
        """The files of the last version, which hold the rows of all versions before it."""
        connection = self.connect()

        def open_all() -> SearchFiles:
            with schema.reading_one_state(connection):
                segments = reads.read_segments(connection)
                generation = reads.read_generation(connection)
                first_row = reads.read_first_row(connection)
            mapped = self._map_segments(segments)
            postings = self.open_postings(generation)
            return SearchFiles(postings, postings.searcher(), mapped, first_row)

        return self._open_again(open_all)

    def open_segments(self) -> list[MappedSegment]:
        """The live vector files, mapped."""
        connection = self.connect()
        return self._open_again(lambda: self._map_segments(reads.read_segments(connection)))

    def _map_segments(self, segments: Sequence[Segment]) -> list[MappedSegment]:
        from ibid.index.embedded.vectors import MappedSegment  # noqa: PLC0415 - loads numpy

        return [MappedSegment(segment, self.vectors) for segment in segments]

    def _open_again(self, open: Callable[[], Opened]) -> Opened:
        """What is opened, looked up anew where a writer has replaced a file since it was named."""
        for _ in range(OPEN_TRIES):
            with suppress(OSError, Corrupt):
                return open()
        try:
            return open()
        except PermissionError as error:
            raise schema.refuse_reading(Path(error.filename), error.strerror) from error
        except OSError as error:
            raise Corrupt(
                f"{error.filename} is missing, or no such file ({error.strerror})", hint=REBUILD
            ) from error

    # -- writing ----------------------------------------------------------------------------

    @contextmanager
    def holding_lock(self, *, clear: bool = True) -> Iterator[None]:
        """Hold the lock, once for all that one thread does; `clear` what a crash left first."""
        if not self.mutex.acquire(timeout=self.lock.timeout_s):
            raise self.lock.refusal()
        try:
            if self._depth:
                yield
                return
            with self.lock.holding(), self._telling_refusal():
                self._depth += 1
                try:
                    for folder in (self.vectors, self.lexical):  # one may have been deleted
                        self._make(folder)
                    if clear:
                        self.clear_unpublished()
                    yield
                finally:
                    self._depth -= 1
                    self.finish_postings()
        finally:
            self.mutex.release()

    @contextmanager
    def _telling_refusal(self) -> Iterator[None]:
        """Tells of a file of the library that may not be read; what is elsewhere is not its own."""
        try:
            yield
        except PermissionError as error:
            if error.filename is None or not Path(error.filename).is_relative_to(self.folder):
                raise
            raise schema.refuse_reading(Path(error.filename), error.strerror) from error

    @staticmethod
    def _make(folder: Path) -> None:
        try:
            folder.mkdir(exist_ok=True)
        except FileExistsError as error:
            raise Corrupt(
                f"{folder} is no folder", hint="remove it, then run `ibid verify --repair`"
            ) from error
        except OSError as error:
            raise refuse_writing(folder, error) from error

    @contextmanager
    def erasing(self, *, clear: bool = True) -> Iterator[sqlite3.Connection]:
        """The connection of a writer that erases; afterwards nothing erased is left in any file.

        Where it is killed on the way, the next writer brings that to its end.
        """
        from ibid.index.embedded.writes import mark_erasing  # noqa: PLC0415 - seldom needed

        with self.holding_lock(clear=clear):
            self.finish_postings()
            mark_erasing(self.connect())
            yield self.connect()
            self.forget_postings()
            self.clear_unpublished()
            if reads.is_erasing(self.connect()):
                self._end_erasing()

    def _end_erasing(self, *, wait: bool = True) -> None:
        """Remove every copy of what was erased. Raises LibraryLocked where one is being read."""
        from ibid.index.embedded.migrate import drop_copies  # noqa: PLC0415 - seldom needed
        from ibid.index.embedded.purge import empty_log  # noqa: PLC0415 - likewise
        from ibid.index.embedded.staging import erase_staging  # noqa: PLC0415 - likewise
        from ibid.index.embedded.writes import unmark_erasing  # noqa: PLC0415 - likewise

        drop_copies(self.database)
        erase_staging(self.folder)
        empty_log(self.connect(), self.folder, wait=wait)
        unmark_erasing(self.connect())

    def finish_postings(self) -> None:
        """Let the writer of postings go, once its merges are done."""
        if self._postings is not None:
            self._postings[1].finish()

    def forget_postings(self) -> None:
        """Open the postings anew at the next use: another generation is live now."""
        self._postings = None

    def close(self) -> None:
        """Let go of files and connections; calling it again does nothing."""
        with self.mutex:
            self._closed = True
            self.finish_postings()
            self._postings = None
            self._connections.close()
            if "answers" in vars(self):
                self.answers.close()

    def clear_unpublished(self) -> None:
        """Clear what a crash or a failed commit has left behind; the caller holds the lock."""
        connection = self.connect()
        self.answers.forget_purged()
        self._drop_replaced_passages(connection)
        generation = reads.read_generation(connection)
        try:
            self.open_postings(generation).drop_from(reads.read_next_row(connection))
        except ValueError:  # what a full disk left there is in the way of any writer
            generation = self._rebuild_postings()
        self.clear_files(generation)
        if reads.is_erasing(connection):
            with suppress(LibraryLocked):  # another process reads: the next writer tries again
                self._end_erasing(wait=False)

    def clear_files(self, generation: int) -> None:
        """Remove the vector files and postings that are live no more; who reads them keeps them."""
        live = {
            file
            for segment in reads.read_segments(self.connect())
            for file in (segment.file, segment.clusters)
        }
        for file in self.vectors.iterdir():
            if VECTOR_FILE.fullmatch(file.name) and file.name not in live:
                file.unlink(missing_ok=True)
        for folder in self.lexical.iterdir():
            if folder.name.isdecimal() and int(folder.name) != generation:
                shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def _drop_replaced_passages(connection: sqlite3.Connection) -> None:
        """Delete the passages that a new generation has replaced, once nobody reads them."""
        first_row = reads.read_first_row(connection)
        if time.time() - reads.read_replaced_at(connection) < REPLACED_SECONDS:
            return
        if not connection.execute("SELECT 1 FROM passages WHERE row < ?", (first_row,)).fetchone():
            return
        with schema.transacting(connection):
            connection.execute("DELETE FROM passages WHERE row < ?", (first_row,))
            connection.execute("DELETE FROM mentions WHERE row < ?", (first_row,))

    def _rebuild_postings(self) -> int:
        """Make the keyword index anew from the passages; its generation."""
        from ibid.index.embedded.purge import rebuild_postings  # noqa: PLC0415 - seldom needed

        connection = self.connect()
        generation = reads.read_generation(connection) + 1
        with schema.transacting(connection):
            rebuild_postings(connection, self.lexical / str(generation), self.analyze)
        self.forget_postings()
        return generation

    # -- the folder -------------------------------------------------------------------------

    def _make_folder(self) -> None:
        if self.database.exists():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.folder.chmod(0o700)
        except OSError as error:
            raise refuse_writing(self.folder, error) from error
        with self.lock.holding():
            if not self.database.exists():
                from ibid.index.embedded.lexical import create_postings  # noqa: PLC0415 - seldom

                self.vectors.mkdir(exist_ok=True)
                create_postings(self.lexical / str(schema.FIRST_GENERATION))
                schema.create_database(self.database)

    def _migrate(self) -> None:
        """Bring a library of an older format to today's: its tables, then its postings."""
        if schema.read_format(self.connect()) < schema.FORMAT:
            from ibid.index.embedded.migrate import migrate_database  # noqa: PLC0415 - once

            with self.lock.holding():
                migrate_database(self.connect(), self.database)
        if self._lacks_documents():
            with self.lock.holding():
                if self._lacks_documents():  # another process may have been first
                    self._rebuild_postings()

    def _lacks_documents(self) -> bool:
        """Whether there are postings of passages alone, as an older ibid wrote them."""
        folder = self.lexical / str(reads.read_generation(self.connect()))
        return folder.is_dir() and not (folder / "documents").is_dir()
