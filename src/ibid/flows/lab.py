"""The lab: documents cut and searched in the open, to see what each control does to the evidence.

It works on plain lists and keeps nothing: what it shows is what its controls say, from the cut to
the rank, with the numbers of the functions that the rest of ibid is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from ibid.chunking.chunk import chunk
from ibid.chunking.options import By, choose_chunking
from ibid.errors import BadSetting
from ibid.flows.hashing import hash_text
from ibid.flows.prepare import clean_document
from ibid.language.analyzer import content_terms
from ibid.language.detection import detect_language
from ibid.protocols import Embedder, Scored
from ibid.ranking.bm25 import BM25
from ibid.ranking.expansion import expand_terms
from ibid.ranking.fusion import fuse
from ibid.ranking.order import best_first
from ibid.ranking.proximity import ProximityReranker
from ibid.ranking.tfidf import TfIdf
from ibid.records import Document

if TYPE_CHECKING:
    from ibid.protocols import Vectors

LabRetriever: TypeAlias = Literal["tfidf", "bm25", "dense", "hybrid"]

MOST_CHARACTERS: Final = 1_000_000
"""Of all documents together: the lab computes everything anew, for one who waits for it."""

SAMPLE: Final = 2_000
"""Characters from which the language of the documents is told."""

RERANKED: Final = 20
"""Chunks that the reranker reads, as far as they were found."""

Analyze: TypeAlias = Callable[[str], Sequence[str]]
FindVectors: TypeAlias = "Callable[[Sequence[bytes]], Mapping[bytes, Vectors]]"


@dataclass(frozen=True, slots=True)
class LabOptions:
    """The controls: how documents are cut, what searches them, and what comes before and after.

    `size` and `overlap` count what `unit` cuts by (for sentences, their words). With `expand`, the
    question is also searched by the synonyms of its words; with `rerank`, the first chunks are put
    in the order of how much of the question each holds, and how close together.
    """

    unit: By = "words"
    size: int = 20
    overlap: int = 5
    k: int = 3
    retriever: LabRetriever = "tfidf"
    expand: bool = False
    rerank: bool = False

    def __post_init__(self) -> None:
        """Raise BadSetting for a retriever that there is not, and for k below 1."""
        choose_chunking(self.unit, self.size, self.overlap)
        if self.retriever not in get_args(LabRetriever):
            names = ", ".join(get_args(LabRetriever))
            raise BadSetting(f"no retriever {self.retriever!r} in the lab", hint=f"use {names}")
        if self.k < 1:
            raise BadSetting(f"{self.k} chunks asked for", hint="ask for 1 or more")


@dataclass(frozen=True, slots=True)
class LabChunk:
    """A chunk, numbered from 0 over all documents; `evidence` says whether it holds it whole.

    `searched` is the text that is searched: by structure, the headings above it stand before it.
    """

    number: int
    document_id: str
    start: int
    end: int
    text: str
    searched: str
    evidence: bool


@dataclass(frozen=True, slots=True)
class LabHit:
    """A chunk that was found: `before` is its rank as the retriever had it, `score` the last."""

    rank: int
    score: float
    before: int
    chunk: LabChunk


@dataclass(frozen=True, slots=True)
class LabResult:
    """What the controls made of a question.

    `terms` are what is searched by words. `evidence_rank` is the rank of the first chunk that holds
    the evidence, None where none was found; `split` says that no chunk holds it, though a document
    does. `hits` are the first k.
    """

    question: str
    evidence: str
    options: LabOptions
    terms: tuple[str, ...]
    chunks: tuple[LabChunk, ...]
    hits: tuple[LabHit, ...]
    evidence_rank: int | None
    split: bool


@dataclass(slots=True)
class Lab:
    """Documents to try controls on. Vectors are kept, so that moving a control back costs nothing.

    `analyze` makes terms of a text: unless given, those that carry meaning in its language.
    `synonyms` are by word; `find_vectors` gives vectors that are held already, by the hash of their
    text. Raises BadSetting for more than MOST_CHARACTERS.
    """

    documents: Sequence[Document]
    embedder: Embedder
    analyze: Analyze | None = None
    synonyms: Mapping[str, Collection[str]] = field(default_factory=dict)
    find_vectors: FindVectors = lambda hashes: {}
    _vectors: dict[bytes, Vectors] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.check_room(sum(len(document.text) for document in self.documents))
        if self.analyze is None:
            sample = "\n".join(document.text[:SAMPLE] for document in self.documents)
            self.analyze = partial(content_terms, language=detect_language(sample[:SAMPLE]))
        self.synonyms = {
            term: [other for word in others for other in self.analyze(word)]
            for name, others in self.synonyms.items()
            for term in self.analyze(name)[:1]
        }

    @staticmethod
    def check_room(characters: int) -> None:
        """Raise BadSetting for more characters than the lab takes."""
        if characters > MOST_CHARACTERS:
            raise BadSetting(
                f"{characters:,} characters are too many for the lab: {MOST_CHARACTERS:,} are not",
                hint="name the documents to try, or narrow them with a filter",
            )

    def list_terms(self, text: str) -> Sequence[str]:
        """The terms of a text."""
        assert self.analyze is not None
        return self.analyze(text)

    def run(self, question: str, evidence: str, options: LabOptions) -> LabResult:
        """The chunks of all documents, and what is found among them for the question."""
        chunks = self.cut(evidence, options)
        terms = list(self.list_terms(question))
        if options.expand:
            terms = expand_terms(terms, self.synonyms)
        found = _RETRIEVERS[options.retriever](self, question, terms, chunks)
        hits = [
            LabHit(rank, scored.score, rank, chunks[scored.row])
            for rank, scored in enumerate(found, start=1)
        ]
        if options.rerank:
            hits = self._rerank(question, hits, expand=options.expand)
        rank = next((hit.rank for hit in hits if hit.chunk.evidence), None)
        held = any(_holds(document.text, evidence) for document in self.documents)
        return LabResult(
            question=question,
            evidence=evidence,
            options=options,
            terms=tuple(terms),
            chunks=tuple(chunks),
            hits=tuple(hits[: options.k]),
            evidence_rank=rank,
            split=held and not any(one.evidence for one in chunks),
        )

    def cut(self, evidence: str, options: LabOptions) -> list[LabChunk]:
        """The chunks of all documents in their order."""
        chunking = choose_chunking(options.unit, options.size, options.overlap)
        chunks: list[LabChunk] = []
        for document in self.documents:
            cleaned = clean_document(document)
            for passage in chunk(
                cleaned, chunking, tokenizer=self.embedder.tokenizer, content_hash=cleaned.id
            ):
                held = _holds(passage.text, evidence)
                place = (len(chunks), document.id, passage.start, passage.end)
                chunks.append(LabChunk(*place, passage.text, passage.indexed_text, held))
        return chunks

    def compare(self, question: str, chunks: Sequence[LabChunk]) -> list[Scored]:
        """The chunks by their cosine to the question."""
        if not chunks or not question.strip():
            return []
        texts = {hash_text(one.searched): one.searched for one in chunks}
        if missing := [key for key in texts if key not in self._vectors]:
            self._vectors |= self.find_vectors(missing)
        if missing := [key for key in missing if key not in self._vectors]:
            new = self.embedder.embed([texts[key] for key in missing], kind="passage")
            self._vectors |= dict(zip(missing, new, strict=True))
        [vector] = self.embedder.embed([question], kind="query")
        cosines = [float(self._vectors[hash_text(one.searched)] @ vector) for one in chunks]
        return best_first(dict(enumerate(cosines)))

    def _rerank(self, question: str, hits: Sequence[LabHit], *, expand: bool) -> list[LabHit]:
        """The first hits by proximity, equal ones in the order they had; the others after them."""
        reranker = ProximityReranker(self.list_terms, self.synonyms)
        read = hits[:RERANKED]
        scores = reranker.rerank(question, [hit.chunk.searched for hit in read])
        order = best_first(dict(enumerate(scores)))
        moved = [
            replace(read[one.row], rank=rank, score=one.score)
            for rank, one in enumerate(order, start=1)
        ]
        return [*moved, *hits[RERANKED:]]


def _search_tfidf(
    lab: Lab, _: str, terms: Sequence[str], chunks: Sequence[LabChunk]
) -> list[Scored]:
    return TfIdf([lab.list_terms(one.searched) for one in chunks]).search(terms)


def _search_bm25(
    lab: Lab, _: str, terms: Sequence[str], chunks: Sequence[LabChunk]
) -> list[Scored]:
    return BM25([lab.list_terms(one.searched) for one in chunks]).search(terms)


def _search_dense(
    lab: Lab, question: str, _: Sequence[str], chunks: Sequence[LabChunk]
) -> list[Scored]:
    return lab.compare(question, chunks)


def _search_hybrid(
    lab: Lab, question: str, terms: Sequence[str], chunks: Sequence[LabChunk]
) -> list[Scored]:
    runs = {
        "lexical": _search_bm25(lab, question, terms, chunks),
        "dense": lab.compare(question, chunks),
    }
    return [Scored(one.row, one.score) for one in fuse(runs, "best")]


_RETRIEVERS: Final[
    Mapping[str, Callable[[Lab, str, Sequence[str], Sequence[LabChunk]], list[Scored]]]
] = {
    "tfidf": _search_tfidf,
    "bm25": _search_bm25,
    "dense": _search_dense,
    "hybrid": _search_hybrid,
}


def _holds(text: str, evidence: str) -> bool:
    """Whether a text holds the evidence, white space aside; no evidence is held by none."""
    wanted = " ".join(evidence.split())
    return bool(wanted) and wanted in " ".join(text.split())
