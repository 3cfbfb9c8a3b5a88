"""The Python face: a library that is opened, filled and asked.

with ibid.open("handbook.ibid") as library:
    library.sync("handbook/")
    answer = library.ask("How long is parental leave?")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ibid.crew import Crew
from ibid.flows.manifest import check_manifest, describe_library
from ibid.flows.options import (
    Listener,
    OnProgress,
    SyncOptions,
    describe_said,
)
from ibid.flows.queries import make_query
from ibid.inspection import Inspection
from ibid.logbook import Logbook
from ibid.measuring import Measuring
from ibid.parts import Parts
from ibid.protocols import Reranker
from ibid.records import (
    JSON,
    Answer,
    AskContext,
    Document,
    Hit,
    IngestReport,
    Owner,
    Query,
    SearchMode,
    SearchResult,
)
from ibid.shelf import Shelf
from ibid.upkeep import Upkeep


class Library(Crew, Shelf, Logbook, Measuring, Upkeep, Inspection):
    """A user's collection. Use it as a context, or close it.

    Whoever is given the object may write. Reading methods take `principals`, the set that the
    caller holds: empty sees public documents only, `ibid.OWNER` all.
    """

    def __init__(self, location: str, parts: Parts, *, reindexing: bool = False) -> None:
        """Take the parts; raises EmbedderMismatch when the library was made with others.

        With `reindexing` it is opened all the same, and then `reindex` must come first.
        """
        self.location = location
        self._parts = parts
        self._index = parts.index
        if not reindexing:
            check_manifest(
                parts.index.manifest, describe_library(parts.embedder, parts.ingest.chunking)
            )

    # -- documents come in ----------------------------------------------------------------------

    def ingest(
        self, documents: Document | Iterable[Document], *, flags: Mapping[str, JSON] | None = None
    ) -> IngestReport:
        """Create documents, all as one version or none.

        Raises DuplicateDocument for an id that exists, EmptyDocument for one without text.
        """
        return self._write(documents, flags, create=True)

    def update(
        self, documents: Document | Iterable[Document], *, flags: Mapping[str, JSON] | None = None
    ) -> IngestReport:
        """Write documents over those with their ids, or new ones; all as one version or none.

        What an update does not say of access, tags and archiving stays as it was set.
        """
        return self._write(documents, flags, create=False)

    def add_files(
        self,
        paths: Sequence[Path | str],
        *,
        id: str | None = None,
        overwrite: bool = False,
        flags: Mapping[str, JSON] | None = None,
        folder: Path | None = None,
        password: str | None = None,
        ruled: bool = True,
    ) -> IngestReport:
        """Read files, folders walked, into documents; ids are paths relative to `folder`.

        `folder` is the current one unless given. An id that exists is refused, with nothing
        changed, unless `overwrite`. `password` opens encrypted files. Unless `ruled` is False,
        files obey the rules and ignore files of all folders that they lie in. Raises
        DuplicateDocument, BadQuery, or what is wrong with the rules, with nothing changed.
        """
        from ibid.flows.files import find_files, write_files
        from ibid.sources.above import Above

        files = find_files(
            [Path(path) for path in paths],
            id=id,
            folder=folder or Path.cwd(),
            above=Above() if ruled else None,
        )
        return write_files(
            files,
            index=self._index,
            embedder=self._parts.embedder,
            options=replace(self._parts.ingest, password=password),
            create=not overwrite,
            flags=flags or {},
        )

    def sync(
        self,
        folder: Path | str,
        *,
        prefix: str | None = None,
        checksum: bool = False,
        dry_run: bool = False,
        allow_emptying: bool = False,
        password: str | None = None,
        workers: bool = False,
        on_wait: Callable[[], None] = lambda: None,
        ray: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """Make the documents of a source equal to a folder, or to an address (s3://BUCKET/PREFIX).

        The first source's ids have no prefix, a later one's its base name, unless `prefix` says.
        `checksum` reads every file, `dry_run` only tells what would be done, `allow_emptying` lets
        more than half of the documents go, `password` opens encrypted files. With `workers`, those
        of the library take the files in, and `on_wait` is called while it waits for them; `ray` is
        a Ray cluster that reads and embeds: its address, or "local". Raises InputError, BadSetting
        or ModelUnavailable, with nothing changed.
        """
        from ibid.flows.register import register_source
        from ibid.flows.sync import sync_folder

        source = self._parts.open_source(os.fspath(folder))
        options = SyncOptions(
            ingest=replace(self._parts.ingest, password=password),
            checksum=checksum,
            dry_run=dry_run,
            allow_emptying=allow_emptying,
            lend_readers=self._readers.lend,
            workers=self._ask_workers(on_wait, password) if workers else None,
            spread=None if ray is None else self._parts.open_spread(ray),
        )
        with self._index.writing():  # else another first sync could take the name or the prefix
            return sync_folder(
                source,
                register_source(self._index, source, prefix=prefix),
                options,
                index=self._index,
                embedder=self._parts.embedder,
                on_progress=on_progress,
            )

    def remove(self, *ids: str, purge: bool = False) -> IngestReport:
        """Hide documents from now on; with `purge`, erase them from every version.

        Raises UnknownDocument, with nothing changed.
        """
        from ibid.flows.ingest import remove_documents

        if purge:  # what lies beside the index goes first: after a kill the purge can be repeated
            borne = self._list_borne(ids)
            self.forget_golden(borne)
            self.forget_trials()
            self._forget_uploads(borne)
        return remove_documents(ids, index=self._index, purge=purge)

    def _list_borne(self, ids: Sequence[str]) -> list[str]:
        """All ids that these documents, and those that came inside them, ever bore."""
        from ibid.flows.ingest import include_attachments
        from ibid.flows.options import EVERYTHING

        ids = include_attachments(ids, self._index.snapshot())
        histories = [self._index.history(id, EVERYTHING) for id in ids]
        return list(dict.fromkeys(one.info.id for history in histories for one in history))

    def _forget_uploads(self, ids: Iterable[str]) -> None:
        """Erase the files that these documents were sent as to a service."""
        from ibid.uploads import UPLOADS, Uploads

        if "://" not in self.location:
            uploads = Uploads(Path(self.location) / UPLOADS)
            for id in ids:
                uploads.forget_others(id, None)

    def set_said(self, ids: Sequence[str], said: Mapping[str, JSON]) -> IngestReport:
        """The same as `set`, with what is said as one mapping."""
        from ibid.flows.ingest import set_metadata

        return set_metadata(ids, said, index=self._index)

    def set(
        self,
        *ids: str,
        allow: Iterable[str] | None = None,
        public: bool = False,
        tags: Mapping[str, JSON] | None = None,
        archived: bool | None = None,
    ) -> IngestReport:
        """Say who may see documents, how they are tagged, whether they are archived.

        A tag with the value None is taken away. Nothing is embedded. Raises UnknownDocument or
        BadSetting, with nothing changed.
        """
        said = describe_said(allow=allow, public=public, tags=tags, archived=archived)
        return self.set_said(ids, said)

    def forget(self, name: str) -> IngestReport:
        """Remove a source with its documents. Raises UnknownSource."""
        from ibid.flows.register import forget_source

        return forget_source(self._index, name)

    def writing(self) -> AbstractContextManager[None]:
        """Holds the right to write for the length of a `with`. Raises LibraryLocked."""
        return self._index.writing()

    def _write(
        self,
        documents: Document | Iterable[Document],
        flags: Mapping[str, JSON] | None,
        *,
        create: bool,
    ) -> IngestReport:
        from ibid.flows.ingest import write_documents

        return write_documents(
            [documents] if isinstance(documents, Document) else documents,
            index=self._index,
            embedder=self._parts.embedder,
            options=self._parts.ingest,
            create=create,
            flags=flags,
        )

    # -- and questions are asked ----------------------------------------------------------------

    def search(
        self,
        text: str,
        k: int | None = None,
        mode: SearchMode | None = None,
        filter: str | None = None,
        principals: Iterable[str] | Owner = (),
        rerank: str | None = None,
        version: int | None = None,
    ) -> list[Hit]:
        """The k best passages for a text, best first; an empty library gives an empty list.

        What is None is as the settings say: 10 hits, hybrid, no reranker, the last version.
        Raises BadQuery for a filter or version that can't be, BadSetting for an unknown reranker.
        """
        query = make_query(text, principals, filter, version=version)
        return list(self.run_search(query, rerank=rerank, **_given({"k": k, "mode": mode})).hits)

    def run_search(
        self, query: Query, *, rerank: str | None = None, **changes: Any
    ) -> SearchResult:
        """The whole result of a query: hits, version, timings; `changes` are to SearchOptions."""
        from ibid.flows.search import search

        return search(
            query,
            replace(self._parts.search, **changes),
            index=self._index,
            embedder=self._parts.embedder,
            reranker=self._choose_reranker(rerank),
        )

    def ask(
        self,
        question: str,
        k: int | None = None,
        mode: SearchMode | None = None,
        filter: str | None = None,
        principals: Iterable[str] | Owner = (),
        rerank: str | None = None,
        version: int | None = None,
        *,
        strict: bool | None = None,
        context: AskContext | None = None,
        history: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """An answer from at most k sources, every claim cited and checked, or an abstention.

        `history` holds the questions and answers before, in turns; `on_text` is given the answer
        as it is written. With `strict`, claims that no source supports are left out. With the
        `context` "whole", a model is sent all that the caller may see, with "auto" where it fits.
        """
        query = make_query(question, principals, filter, version=version, history=history)
        return self.run_ask(
            query,
            rerank=rerank,
            strict=strict,
            context=context,
            on_text=on_text,
            **_given({"k": k, "mode": mode}),
        )

    def run_ask(
        self,
        query: Query,
        *,
        rerank: str | None = None,
        strict: bool | None = None,
        context: AskContext | None = None,
        on_text: Callable[[str], None] | None = None,
        on_sources: Callable[[Sequence[Hit]], None] | None = None,
        log: bool | None = None,
        **changes: Any,
    ) -> Answer:
        """The answer to a query; `changes` are to the SearchOptions of asking.

        It is kept in the log, where `log` or the settings say so. `on_sources` is given what the
        answer is made from before it is written. What one of these raises ends the answer.
        """
        from ibid.flows.answers import ask_and_keep

        options = self._parts.ask
        options = replace(
            options,
            search=replace(options.search, **changes),
            strict=options.strict if strict is None else strict,
            context=context or options.context,
        )
        return ask_and_keep(
            query,
            options,
            self._parts.log if log is None else replace(self._parts.log, keep=log),
            index=self._index,
            embedder=self._parts.embedder,
            generator=self.generator,
            reranker=self._choose_reranker(rerank),
            listener=Listener(on_sources, on_text),
        )

    @property
    def writes_contexts(self) -> bool:
        """Whether a model writes a context for each passage that comes in."""
        return self._parts.ingest.contextualizer is not None

    def find_remote(
        self, part: Literal["embedder", "reranker", "generator", "rewriter", "contextualizer"]
    ) -> str | None:
        """Where a part sends text; None for one that works on this machine, or is not there."""
        if part == "rewriter" and self._parts.search.rewriter is None:
            return None
        if part == "contextualizer" and not self.writes_contexts:
            return None
        if part in ("generator", "rewriter", "contextualizer"):
            return self.generator.remote
        chosen = self._parts.embedder if part == "embedder" else self._parts.reranker
        return None if chosen is None else chosen.remote

    def close(self) -> None:
        """Let go of the library; calling it again does nothing."""
        if "_readers" in vars(self):
            self._readers.close()
        self._index.close()
        self._parts.close_models()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _choose_reranker(self, name: str | None) -> Reranker | None:
        return self._parts.reranker if name is None else self._parts.open_reranker(name)


def _given(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if value is not None}
