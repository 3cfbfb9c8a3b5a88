"""The way of a library to other models: every text is cut, analysed and embedded anew.

The next generation is staged beside the one that serves, a batch at a time, so that a killed run
goes on where it was. Only the last step needs the right to write: it stages what came in meanwhile
and switches over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ibid.flows.manifest import describe_library
from ibid.flows.options import IngestOptions, OnProgress, Progress
from ibid.flows.prepare import Contextualize, embed_passages, hash_content, put_document
from ibid.protocols import Embedder, Index, PutDocument, Staging, StoredContent

if TYPE_CHECKING:
    from ibid.protocols import Vectors


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a re-index did: the version that it published, and what that took."""

    version: int
    contents: int
    passages: int
    embedded: int
    truncated: int


def reindex_library(
    *,
    index: Index,
    embedder: Embedder,
    options: IngestOptions,
    on_progress: OnProgress | None = None,
) -> Reindexed:
    """Make every text of every version anew with this embedder and chunking, then switch.

    Until then the library serves as it was, and may be written to. A killed run goes on where it
    was when it is started with the same parts; with others it begins anew. Raises what the embedder
    raises, and LibraryLocked.
    """
    with index.stage(describe_library(embedder, options.chunking)) as staging:
        work = _Work(index, embedder, options, staging, on_progress)
        work.stage_pending()
        with index.writing():
            work.stage_pending()
            if work.is_cut_otherwise:
                # A rule of its folder cut some text in another way; a re-reading finds it again.
                for source in index.sources():
                    index.put_source(replace(source, recipe=""))
            version = staging.publish()
    return Reindexed(version, work.contents, work.passages, work.embedded, work.truncated)


class _Work:
    """Stages what is pending, and counts."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        options: IngestOptions,
        staging: Staging,
        on_progress: OnProgress | None,
    ) -> None:
        made = index.manifest
        self._index = index
        self._embedder = embedder
        self._options = options
        self._staging = staging
        self._on_progress = on_progress or (lambda _: None)
        self._languages = Counter(index.languages)
        self._reuses = made is not None and (
            (made.embedder, made.weights) == (embedder.name, embedder.weights)
        )
        self._old_recipe = made.chunking if made is not None else ""
        self._contextualize: Contextualize | None = None
        if (contextualizer := options.contextualizer) is not None:
            self._contextualize = partial(contextualizer.add_contexts, index=index)
        self.is_cut_otherwise = False
        self.contents = self.passages = self.embedded = self.truncated = 0

    def stage_pending(self) -> None:
        """Stage every content that isn't, in batches of about as many passages as a commit has."""
        total = self._staging.count_contents()
        for batch in self._gather():
            found = embed_passages(
                list(batch.values()), find_vectors=self._find_vectors, embedder=self._embedder
            )
            self._staging.stage(batch, found.vectors)
            self.embedded += found.embedded
            self.truncated += found.truncated
            self._on_progress(Progress(self._staging.staged, total, self._index.snapshot().version))

    def _gather(self) -> Iterator[dict[int, PutDocument]]:
        batch: dict[int, PutDocument] = {}
        waiting = 0
        for content in self._staging.pending():
            put = self._cut(content)
            batch[content.key] = put
            waiting += len(put.passages)
            self.contents += 1
            self.passages += len(put.passages)
            if waiting >= self._options.commit_passages:
                yield batch
                batch, waiting = {}, 0
        if batch:
            yield batch

    def _cut(self, content: StoredContent) -> PutDocument:
        document, chunking = content.document, self._options.chunking
        self.is_cut_otherwise |= content.content_hash != hash_content(document, self._old_recipe)
        return put_document(
            document,
            content_hash=hash_content(document, self._options.tell_recipe(chunking)),
            chunking=chunking,
            embedder=self._embedder,
            languages=self._languages,
            contextualize=self._contextualize,
        )

    def _find_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Vectors that were staged, and those of the library where its embedder is the same."""
        found = self._staging.find_vectors(text_hashes)
        if self._reuses:
            missing = [text_hash for text_hash in text_hashes if text_hash not in found]
            found |= self._index.find_vectors(missing)
        return found
