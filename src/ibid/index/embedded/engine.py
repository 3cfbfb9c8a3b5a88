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

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ibid.errors import BadQuery, Corrupt, UnknownDocument
from ibid.index.embedded import reads, schema
from ibid.index.embedded.snapshot import EmbeddedSnapshot
from ibid.index.embedded.storage import Storage
from ibid.index.options import Approximation
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
    from ibid.index.embedded.answers import EmbeddedAnswers
    from ibid.protocols import Vectors

EXACT_BELOW: Final = Approximation()


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
        self._storage = Storage(folder, analyze=analyze, lock_timeout_s=lock_timeout_s)
        self._connect = self._storage.connect
        self._approximation = approximation
        self._snapshots: dict[int, EmbeddedSnapshot] = {}
        self._languages: tuple[int, Mapping[str, int]] = (-1, {})

    @property
    def answers(self) -> EmbeddedAnswers:
        """See `Index.answers`."""
        return self._storage.answers

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
            self._languages = (version, reads.count_public_languages(connection))
        return self._languages[1]

    def snapshot(self, version: int | None = None) -> EmbeddedSnapshot:
        """See `Index.snapshot`."""
        connection = self._connect()
        last = reads.read_version(connection)
        wanted = last if version is None else version
        if not reads.holds_version(connection, wanted):
            raise BadQuery(f"the library has no version {wanted}", hint=f"the last one is {last}")
        known = self._snapshots.get(wanted)
        if known is None or known.first_row != reads.read_first_row(connection):
            known = EmbeddedSnapshot(
                wanted,
                connect=self._connect,
                open_files=self._storage.open_files,
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
        found: dict[bytes, Vectors] = {}
        for mapped in self._storage.open_segments():
            segment = mapped.segment
            inside = {
                h: row for h, row in rows.items() if segment.first_row <= row < segment.end_row
            }
            if inside:
                positions = [row - segment.first_row for row in inside.values()]
                found.update(zip(inside, mapped.read(positions), strict=True))
        return found

    def find_contexts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """See `Index.find_contexts`."""
        return reads.read_contexts(self._connect(), keys)

    def history(self, id: str, scope: Scope) -> list[Revision]:
        """See `Index.history`."""
        from ibid.index.embedded.past import read_history  # noqa: PLC0415 - seldom needed

        found = read_history(self._connect(), id, scope.principals)
        if not found:
            raise UnknownDocument(
                f"no version holds a document {id!r}", hint="`ibid list` shows ids"
            )
        return found

    def sources(self) -> list[SourceInfo]:
        """See `Index.sources`."""
        return reads.read_sources(self._connect())

    def files(self, source: str) -> dict[str, FileState]:
        """See `Index.files`."""
        return reads.read_files(self._connect(), source)

    # -- writing --------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[None]:
        """See `Index.writing`."""
        return self._storage.holding_lock()

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
                    folder=self._storage.vectors,
                    add_postings=lambda found: self._storage.live_postings().add(found),
                    approximation=self._approximation,
                )
            for file in replaced:
                file.unlink(missing_ok=True)
            return version

    def purge(self, ids: Sequence[str]) -> int:
        """See `Index.purge`."""
        from ibid.index.embedded.purge import purge_documents  # noqa: PLC0415 - seldom needed

        with self._erasing() as connection:
            return purge_documents(
                connection,
                self._storage.folder,
                ids,
                analyze=self._storage.analyze,
                approximation=self._approximation,
            )

    def vacuum(self, before: datetime, *, cited: bool = False) -> Vacuumed:
        """See `Index.vacuum`."""
        from ibid.index.embedded.vacuum import vacuum_versions  # noqa: PLC0415 - likewise

        with self._erasing() as connection:
            return vacuum_versions(
                connection,
                self._storage.folder,
                before,
                drawn=() if cited else self.answers.list_drawn(),
                analyze=self._storage.analyze,
            )

    def check(self) -> list[Problem]:
        """See `Index.check`."""
        from ibid.index.embedded.check import check_library  # noqa: PLC0415 - seldom needed

        with self._storage.holding_lock(clear=False):
            with suppress(Corrupt):  # what stands in the way of that is among the problems
                self._storage.clear_unpublished()
            problems = check_library(self._connect(), self._storage.folder)
            if (damage := self.answers.check()) is not None:
                told = f"{damage}; a repair sets it aside and begins a new log"
                problems.append(Problem("answers", "answers.db", told, repairable=True))
            return problems

    def repair(self, embed: EmbedTexts) -> None:
        """See `Index.repair`."""
        from ibid.index.embedded.repair import repair_library  # noqa: PLC0415 - seldom needed

        with self._storage.holding_lock(clear=False):
            if self.answers.check() is not None:
                self.answers.set_aside()
        with self._erasing(clear=False) as connection:
            repair_library(
                connection, self._storage.folder, analyze=self._storage.analyze, embed=embed
            )

    @contextmanager
    def stage(self, manifest: Manifest) -> Iterator[Staging]:
        """See `Index.stage`."""
        from ibid.index.embedded.staging import open_staging  # noqa: PLC0415 - seldom needed

        with open_staging(
            self._connect(),
            self._storage.folder,
            manifest,
            lock_timeout_s=self._storage.lock.timeout_s,
            on_published=self._switch_files,
        ) as staging:
            yield staging

    @contextmanager
    def _erasing(self, *, clear: bool = True) -> Iterator[sqlite3.Connection]:
        """The connection of a writer that erases; afterwards nothing erased is left in any file."""
        with self._storage.erasing(clear=clear) as connection:
            yield connection
            self._snapshots = {}

    def _switch_files(self) -> None:
        """Let go of postings and vectors: others are live now."""
        self._storage.forget_postings()
        self._storage.clear_files(reads.read_generation(self._connect()))
        self._snapshots = {}

    def close(self) -> None:
        """See `Index.close`."""
        self._snapshots = {}
        self._storage.close()

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
        for path in self._storage.folder.rglob("*"):
            with suppress(FileNotFoundError):  # a merge may have taken it meanwhile
                sizes += path.stat().st_size if path.is_file() else 0
        return sizes
