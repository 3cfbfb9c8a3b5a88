"""The PostgreSQL engine: a library in one schema, for many writers and stateless readers.

What a writer does beside the database, reading, cutting and embedding, goes on at many places at
once. Only the transaction of a commit waits for the one before it, so that versions come in the
order of their numbers, and rows in the order of versions. Readers wait for nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ibid.errors import BadQuery, UnknownDocument
from ibid.index.options import Approximation
from ibid.index.postgres import reads
from ibid.index.postgres.database import Database, is_storable
from ibid.index.postgres.scope import list_seen
from ibid.index.postgres.snapshot import PostgresSnapshot
from ibid.protocols import (
    Change,
    EmbedTexts,
    FileState,
    Manifest,
    Problem,
    Revision,
    Scope,
    SourceInfo,
    Staging,
    Vacuumed,
)

if TYPE_CHECKING:
    from ibid.index.postgres.answers import PostgresAnswers
    from ibid.index.postgres.database import Connection
    from ibid.index.postgres.queue import PostgresQueue
    from ibid.protocols import Vectors

EXACT_BELOW: Final = Approximation()


class PostgresIndex:
    """A library in PostgreSQL; fills the `Index` protocol.

    `analyze` turns an indexed text and its language into terms; it is used where postings are
    made anew from the passages.
    """

    engine: Final = "postgres"

    def __init__(
        self,
        address: str,
        *,
        analyze: Callable[[str, str | None], str],
        readers: str | None = None,
        lock_timeout_s: float = 30.0,
        approximation: Approximation = EXACT_BELOW,
        create: bool = True,
    ) -> None:
        """Open the library at an address, making an empty one when there is none.

        `readers` is another address of the same library, such as that of its replicas, for all
        reading that no writing stands on. Raises LibraryNotFound where `create` forbids to make
        one, FormatTooNew, BadSetting, and LibraryError for a server that can't be reached.
        """
        self._database = Database(
            address, readers=readers, lock_timeout_s=lock_timeout_s, create=create
        )
        self._analyze = analyze
        self._approximation = approximation
        self._seen: int | None = None
        self._languages: tuple[int | None, Mapping[str, int]] = None, {}

    @cached_property
    def answers(self) -> PostgresAnswers:
        """See `Index.answers`."""
        from ibid.index.postgres.answers import PostgresAnswers  # noqa: PLC0415 - not for a search

        return PostgresAnswers(self._database)

    # -- reading --------------------------------------------------------------------------------

    @property
    def manifest(self) -> Manifest | None:
        """See `Index.manifest`."""
        with self._database.asking() as connection:
            return reads.read_manifest(connection)

    @property
    def languages(self) -> Mapping[str, int]:
        """See `Index.languages`: of the version that a snapshot was last made of."""
        seen, languages = self._languages
        if seen != self._seen or seen is None:
            seen = self._seen
            with self._database.asking() as connection:
                languages = reads.count_public_languages(connection)
            self._languages = seen, languages
        return languages

    def snapshot(self, version: int | None = None) -> PostgresSnapshot:
        """See `Index.snapshot`."""
        with self._database.asking() as connection:
            held, last = reads.read_generation(connection, version)
        self._seen = last
        if held is None:
            raise BadQuery(f"the library has no version {version}", hint=f"the last one is {last}")
        return PostgresSnapshot(self._database, held, approximation=self._approximation)

    def find_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """See `Index.find_vectors`."""
        with self._database.reading() as connection:
            return reads.find_vectors(connection, text_hashes)

    def find_contexts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """See `Index.find_contexts`."""
        with self._database.reading() as connection:
            return reads.read_contexts(connection, keys)

    def history(self, id: str, scope: Scope) -> list[Revision]:
        """See `Index.history`."""
        seen = list_seen(scope.principals)
        with self._database.reading(scope.principals) as connection:
            found = reads.read_history(connection, id, seen) if is_storable(id) else []
        if not found:
            raise UnknownDocument(
                f"no version holds a document {id!r}", hint="`ibid list` shows ids"
            )
        return found

    def sources(self) -> list[SourceInfo]:
        """See `Index.sources`."""
        with self._database.reading() as connection:
            return reads.read_sources(connection)

    def files(self, source: str) -> dict[str, FileState]:
        """See `Index.files`."""
        with self._database.reading() as connection:
            return reads.read_files(connection, source)

    # -- writing --------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[None]:
        """See `Index.writing`: everyone has the right, and commits come one after another."""
        return self._database.marking_writer()

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
        from ibid.index.postgres.answers import forget_purged  # noqa: PLC0415
        from ibid.index.postgres.changes import commit_changes  # noqa: PLC0415
        from ibid.index.postgres.purge import ERASED  # noqa: PLC0415
        from ibid.index.postgres.writes import forget_files, write_files  # noqa: PLC0415

        forget_purged(self._database)
        with self._database.publishing(pipelined=True) as connection:
            if source is not None:
                write_files(connection, source, files)
                forget_files(connection, source, forgotten)
            if not changes:
                return reads.read_version(connection)
            committed = commit_changes(connection, changes, vectors, manifest)
        self._seen = committed.version
        if committed.has_grown:  # the server itself would see it a minute later
            self._database.analyze(*ERASED)
        if committed.passages >= self._approximation.min_rows:
            self._index_near()
        return committed.version

    def _index_near(self) -> None:
        """Make the index of vectors, where the library is large enough and has none."""
        from ibid.index.postgres.near import make_near_index  # noqa: PLC0415 - for writers

        make_near_index(self._database, self._approximation)

    def purge(self, ids: Sequence[str]) -> int:
        """See `Index.purge`."""
        from ibid.index.postgres.purge import purge_documents  # noqa: PLC0415 - seldom needed

        with self._erasing() as connection:
            return purge_documents(connection, ids)

    def vacuum(self, before: datetime, *, cited: bool = False) -> Vacuumed:
        """See `Index.vacuum`."""
        from ibid.index.postgres.answers import list_all_drawn  # noqa: PLC0415 - seldom needed
        from ibid.index.postgres.vacuum import vacuum_versions  # noqa: PLC0415 - likewise

        with self._erasing() as connection:
            drawn = [] if cited else list_all_drawn(connection)
            return vacuum_versions(connection, before, drawn=drawn)

    def check(self) -> list[Problem]:
        """See `Index.check`."""
        from ibid.index.postgres.answers import forget_purged  # noqa: PLC0415 - seldom needed
        from ibid.index.postgres.check import check_library  # noqa: PLC0415 - likewise

        forget_purged(self._database)
        with self.writing(), self._database.reading() as connection:
            return check_library(connection)

    def repair(self, embed: EmbedTexts) -> None:
        """See `Index.repair`."""
        from ibid.index.postgres.repair import repair_library  # noqa: PLC0415 - seldom needed

        with self._erasing() as connection:
            repair_library(connection, analyze=self._analyze, embed=embed)

    @contextmanager
    def stage(self, manifest: Manifest) -> Iterator[Staging]:
        """See `Index.stage`."""
        from ibid.index.postgres.staging import open_staging  # noqa: PLC0415 - seldom needed

        with open_staging(self._database, manifest) as staging:
            yield staging
        self._seen = None
        self._index_near()

    @contextmanager
    def _erasing(self) -> Iterator[Connection]:
        """A transaction that erases; afterwards answers keep nothing of it, and the room is free
        to be written over."""
        from ibid.index.postgres.answers import forget_purged  # noqa: PLC0415 - seldom needed
        from ibid.index.postgres.purge import ERASED  # noqa: PLC0415 - likewise

        with self._database.publishing() as connection:
            yield connection
        self._seen = None
        forget_purged(self._database)
        self._database.clean(*ERASED, "answers", "drawn")

    def put_source(self, source: SourceInfo) -> None:
        """See `Index.put_source`."""
        from ibid.index.postgres.writes import write_source  # noqa: PLC0415 - as above

        with self._database.changing() as connection:
            write_source(connection, source)

    def drop_source(self, name: str) -> None:
        """See `Index.drop_source`."""
        with self._database.changing() as connection:
            connection.execute("UPDATE documents SET source = NULL WHERE source = %s", (name,))
            connection.execute("DELETE FROM runs WHERE source = %s", (name,))
            connection.execute("DELETE FROM sources WHERE name = %s", (name,))

    def open_queue(self, *, attempts: int, lost_s: float) -> PostgresQueue:
        """The files that wait for workers; see `PostgresQueue`."""
        from ibid.index.postgres.queue import PostgresQueue  # noqa: PLC0415 - for workers

        return PostgresQueue(self._database, attempts=attempts, lost_s=lost_s)

    def count_bytes(self) -> int:
        """See `Index.count_bytes`."""
        with self._database.reading() as connection:
            ((size,),) = connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
                " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
            ).fetchall()
            return int(size)

    def close(self) -> None:
        """See `Index.close`."""
        self._database.close()
