"""A sync whose files are read, cut and embedded at many places, and written at one.

A place is given what it needs as one `Work`; what it makes of a file comes back as a `Prepared`.
Who writes goes the way of every sync, and finds the passages and vectors there already (`Ready`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from ibid.chunking.options import Chunking, choose_chunking
from ibid.errors import BadQuery, IbidError
from ibid.flows.fetch import read_source
from ibid.flows.hashing import hash_text
from ibid.flows.ingest import layer_over
from ibid.flows.options import EVERYTHING, IngestOptions, LendReaders, SyncOptions
from ibid.flows.plan import Known, Plan, name_document
from ibid.flows.prepare import Contextualize, clean_document, hash_content, put_document
from ibid.flows.taking import Take, list_attachments, take_document
from ibid.protocols import Embedder, PutDocument, Snapshot, Source, SourceFile, SourceInfo
from ibid.reading.pool import FileRead
from ibid.record import record
from ibid.records import Document
from ibid.sources.rules import Rules
from ibid.version import VERSION

if TYPE_CHECKING:
    from ibid.protocols import Vectors


@record
class Work:
    """What is the same for all files of a sync, wherever one is read.

    `languages` are those of the library's documents, `held` the hashes of texts whose vectors it
    has: of the documents that may change or move. `version` is the ibid that gives out the work.
    """

    source: Source
    info: SourceInfo
    options: IngestOptions
    rules: Rules
    languages: Mapping[str, int]
    held: frozenset[bytes]
    version: str = VERSION


@record
class Prepared:
    """What came of a file elsewhere: its documents cut, and vectors by their texts' hashes."""

    read: FileRead
    puts: tuple[PutDocument, ...] = ()
    vectors: Mapping[bytes, Vectors] = field(default_factory=dict)


def check_spread(source: Source, options: SyncOptions) -> None:
    """Raise BadQuery for a sync that only one place may do, or workers are to do."""
    if options.workers is not None:
        raise BadQuery("both workers and a Ray cluster", hint="leave --workers or --ray out")
    if source.location.startswith(("http://", "https://")):
        raise BadQuery("a website is asked from one place", hint="leave --ray out")
    if options.ingest.contextualizer is not None:
        raise BadQuery("contexts are written at one place", hint="leave --ray out")


def find_held(snapshot: Snapshot, info: SourceInfo, plan: Plan, known: Known) -> frozenset[bytes]:
    """The hashes of the texts of documents that a plan may change or move."""
    paths = [file.path for file in plan.read]
    inside = [path for file in paths for path in known.inside.get(file, ())]
    ids = {name_document(info, path) for path in (*paths, *inside)} & known.hashes.keys()
    return frozenset(
        hash_text(passage.indexed_text)
        for id in (*ids, *plan.gone)
        for passage in snapshot.document_passages(id, EVERYTHING)
    )


# -- at each place ------------------------------------------------------------------------------


def cut_files(
    files: Iterable[SourceFile], work: Work, *, embedder: Embedder, lend: LendReaders | None = None
) -> Iterator[Prepared]:
    """Each file read and cut, in order; not embedded yet."""
    for read in read_source(work.source, files, work.options, lend):
        path = read.file.name
        takes = {path: lambda *, id, read=read: take_document(read, id=id)}
        takes |= {f"{path}/{name}": take for name, take in list_attachments(read).items()}
        puts = (_cut(place, take, work, embedder) for place, take in takes.items())
        yield Prepared(read, tuple(put for put in puts if put is not None))


def _cut(path: str, take: Take, work: Work, embedder: Embedder) -> PutDocument | None:
    """A document cut as its sync will want it; None for one that it will say why it fails."""
    rules = work.rules.for_path(path)
    chunking = work.options.chunking
    if rules.chunking:
        chunking = choose_chunking(**rules.chunking)
    with suppress(IbidError):
        document = clean_document(take(id=name_document(work.info, path)))
        document, _ = layer_over(document, None, {}, rules=rules)
        return put_document(
            document,
            content_hash=hash_content(document, work.options.tell_recipe(chunking)),
            chunking=chunking,
            embedder=embedder,
            languages=work.languages,
        )
    return None


def embed_files(files: Sequence[Prepared], work: Work, *, embedder: Embedder) -> list[Prepared]:
    """The same files with the vectors of those texts that the library does not hold."""
    texts = [
        {
            indexed.text_hash: indexed.passage.indexed_text
            for put in file.puts
            for indexed in put.passages
            if indexed.text_hash not in work.held
        }
        for file in files
    ]
    wanted = {text_hash: text for found in texts for text_hash, text in found.items()}
    vectors: dict[bytes, Any] = {}
    if wanted:
        made = embedder.embed(list(wanted.values()), kind="passage")
        vectors = dict(zip(wanted, made, strict=True))
    return [
        replace(file, vectors={text_hash: vectors[text_hash] for text_hash in found})
        for file, found in zip(files, texts, strict=True)
    ]


# -- and where it is written --------------------------------------------------------------------


class Ready:
    """What was made elsewhere, for the batch that writes it: an embedder with vectors of its own.

    What is asked for and isn't there, such as the passages of a document that was given another
    title, is made here.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._puts: Mapping[tuple[str, str], PutDocument] = {}
        self._vectors: dict[bytes, Any] = {}

    def __getattr__(self, name: str) -> Any:
        """All else that an embedder is, it is as the one beneath."""
        return getattr(self._embedder, name)

    def take(self, prepared: Prepared) -> FileRead:
        """What came of a file; its passages wait until the next one, its vectors for a commit."""
        self._puts = {(put.document.id, put.content_hash): put for put in prepared.puts}
        self._vectors.update(prepared.vectors)
        return prepared.read

    def put_document(
        self,
        document: Document,
        *,
        content_hash: str,
        chunking: Chunking,
        embedder: Embedder,
        languages: Mapping[str, int],
        contextualize: Contextualize | None = None,
    ) -> PutDocument:
        """The same as `put_document` of `prepare`, of which all but the metadata may be there."""
        ready = self._puts.get((document.id, content_hash))
        if ready is not None and contextualize is None:
            return replace(ready, document=document)
        return put_document(
            document,
            content_hash=content_hash,
            chunking=chunking,
            embedder=embedder,
            languages=languages,
            contextualize=contextualize,
        )

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        """As any embedder does; only what waits for no commit is embedded."""
        import numpy as np  # noqa: PLC0415 - loaded by who embeds

        by_hash = {hash_text(text): text for text in texts}
        missing = [text_hash for text_hash in by_hash if text_hash not in self._vectors]
        made = self._embedder.embed([by_hash[text_hash] for text_hash in missing], kind=kind)
        if len(missing) == len(texts):
            return made
        vectors = self._vectors | dict(zip(missing, made, strict=True))
        return np.stack([vectors[hash_text(text)] for text in texts])

    def forget(self) -> None:
        """Let go of what waited for the commit that was made."""
        self._vectors.clear()
