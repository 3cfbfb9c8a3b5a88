"""A library of very many passages, made without embedding them: real vectors, each with some noise.

Vectors are those of the libraries that are named, or of sentences of the sample handbook, each
turned away in a direction of its own; some real ones are held out and asked instead. Texts are
invented words by Zipf's law, of lengths as passages have them. A batch is the same every time, so a
library that was left half full is filled on.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray
from texts import draw_zipfian, make_vocabulary, vary_sentences

from ibid.embedding.local import open_local_embedder
from ibid.flows.prepare import analyze_passage
from ibid.index.embedded import reads, schema
from ibid.index.embedded.engine import EmbeddedIndex
from ibid.index.embedded.vectors import MappedSegment
from ibid.openers import find_cache
from ibid.protocols import Index, IndexedPassage, Manifest, PutDocument
from ibid.records import Document, Passage

if TYPE_CHECKING:
    from ibid.protocols import Vectors

PASSAGES_A_DOCUMENT: Final = 10
DOCUMENTS_A_COMMIT: Final = 1_000
VOCABULARY: Final = 50_000
FUNCTION_WORDS: Final = 100
"""The most frequent words, which a query doesn't hold: an analyzer leaves them out of queries."""

WORDS_A_PASSAGE: Final = (10, 75, 160)
"""The fewest, the middle and the most words of a passage."""

LENGTH_SPREAD: Final = 0.5
"""Standard deviation of the logarithm of a length."""

WORDS_A_QUERY: Final = 6
SENTENCES: Final = 400
HELD_OUT: Final = 20
"""One real vector of so many is only asked."""

COSINE: Final = 0.9
"""Of a vector to the real one that it was made from."""

GROUPS: Final = 20
BUCKETS: Final = 1_000
"""Every document is in one of so many."""

TAGS: Final = {"thousandth": 1, "hundredth": 10, "tenth": 100, "half": 500}
"""Tags for filters of any selectivity, by the number of buckets that share a value."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one commit writes: places of words and a vector for each passage."""

    words: list[NDArray[np.int64]]
    vectors: Vectors


class Corpus:
    """The passages, their documents and the questions, all from one seed."""

    def __init__(self, passages: int, real: Vectors) -> None:
        self.documents = passages // PASSAGES_A_DOCUMENT
        self.vocabulary = make_vocabulary(VOCABULARY)
        self._sources = np.delete(real, np.s_[::HELD_OUT], axis=0)
        self._asked = real[::HELD_OUT]
        generator = np.random.default_rng(1)
        self.buckets = generator.integers(BUCKETS, size=self.documents)
        self.groups = generator.integers(-GROUPS, GROUPS, size=self.documents)

    @property
    def batches(self) -> int:
        """How many commits fill the library."""
        return -(-self.documents // DOCUMENTS_A_COMMIT)

    def list_documents(self, batch: int) -> range:
        """The numbers of a batch's documents."""
        first = batch * DOCUMENTS_A_COMMIT
        return range(first, min(first + DOCUMENTS_A_COMMIT, self.documents))

    def draw(self, batch: int) -> Batch:
        """The words and vectors of a batch."""
        generator = np.random.default_rng((1, batch))
        count = len(self.list_documents(batch)) * PASSAGES_A_DOCUMENT
        fewest, middle, most = WORDS_A_PASSAGE
        drawn = generator.lognormal(np.log(middle), LENGTH_SPREAD, count)
        lengths = np.clip(drawn, fewest, most).astype(np.int64)
        words = draw_zipfian(int(lengths.sum()), self.vocabulary, generator)
        chosen = self._sources[generator.integers(len(self._sources), size=count)]
        return Batch(np.split(words, lengths.cumsum()[:-1]), add_noise(chosen, generator))

    def ask(self, count: int) -> dict[str, Vectors]:
        """Questions, each some rarer words of a passage, with held-out vectors in turn with noisy
        ones of those that were not."""
        generator = np.random.default_rng(2)
        passages = [words for words in self.draw(0).words if len(words) > 2 * WORDS_A_QUERY]
        asked: dict[str, Vectors] = {}
        while len(asked) < count:
            words = np.unique(passages[generator.integers(len(passages))])
            words = words[words >= FUNCTION_WORDS]
            if len(words) < WORDS_A_QUERY:
                continue
            chosen = generator.choice(words, size=WORDS_A_QUERY, replace=False).tolist()
            real = self._asked if len(asked) % 2 else self._sources
            vector = real[generator.integers(len(real))][None]
            vector = vector if len(asked) % 2 else add_noise(vector, generator)
            asked[" ".join(self.vocabulary[word] for word in chosen)] = vector[0]
        return asked

    @cached_property
    def terms(self) -> list[str]:
        """The terms of each word of the vocabulary."""
        return [analyze_passage(word, "en") for word in self.vocabulary]

    def make_put(self, number: int, words: Sequence[NDArray[np.int64]]) -> PutDocument:
        """The change that writes a document of ten passages, with its bucket and its readers."""
        texts = [" ".join([self.vocabulary[word] for word in some.tolist()]) for some in words]
        passages: list[IndexedPassage] = []
        start = 0
        for ordinal, (text, some) in enumerate(zip(texts, words, strict=True)):
            id = f"{number}#{ordinal}"
            passage = Passage(id, f"{number}", ordinal, start, start + len(text), text)
            terms = " ".join([self.terms[word] for word in some.tolist()])
            passages.append(IndexedPassage(passage, terms, hash_row(number, ordinal)))
            start += len(text) + 2
        group = int(self.groups[number])
        document = Document(
            f"guides/{number}.md",
            "\n\n".join(texts),
            title=f"Guide {number}",
            tags={tag: int(self.buckets[number]) // size for tag, size in TAGS.items()},
            allow=None if group < 0 else frozenset({f"group:g{group}"}),
        )
        return PutDocument(document, f"{number:032x}", passages, language="en", create=True)


def load_real(libraries: Sequence[Path]) -> Vectors:
    """The vectors of these libraries, none twice; without any, those of some sentences."""
    if not libraries:
        sentences = list(islice(vary_sentences(random.Random(1)), SENTENCES))
        return open_local_embedder(cache=find_cache()).embed(sentences, kind="passage")
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, library in enumerate(libraries):
            copy = Path(scratch) / str(number)
            shutil.copytree(library, copy)  # opening it may bring it to another format
            EmbeddedIndex(copy, analyze=analyze_passage).close()
            found.append(read_vectors(copy))
    return np.unique(np.concatenate(found), axis=0)


def read_vectors(library: Path) -> Vectors:
    """All vectors that a library holds, in the order of their rows."""
    connection = schema.connect(library / "library.db")
    segments = reads.read_segments(connection)
    connection.close()
    parts = []
    for segment in segments:
        mapped = MappedSegment(segment, library / "vectors")
        parts.append(mapped.numbers.astype(np.float32))
    return np.concatenate(parts)


def add_noise(real: Vectors, generator: np.random.Generator) -> Vectors:
    """Unit vectors at COSINE from these, each in a direction of its own."""
    noise = generator.standard_normal(real.shape, dtype=np.float32)
    noise -= (noise * real).sum(axis=1, keepdims=True) * real
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.asarray(COSINE * real + (1 - COSINE**2) ** 0.5 * noise, dtype=np.float32)


def fill(corpus: Corpus, index: Index) -> float | None:
    """Fill the index by its own commits from where a run before left it.

    The seconds that it took, None where it was full or half full before.
    """
    start, done = time.perf_counter(), index.snapshot().version
    for number in range(done, corpus.batches):
        batch = corpus.draw(number)
        manifest = Manifest("prepared", "", batch.vectors.shape[1], "ibid-1", "structure/254/0")
        puts: list[PutDocument] = []
        vectors: dict[bytes, Vectors] = {}
        for place, document in enumerate(corpus.list_documents(number)):
            rows = slice(place * PASSAGES_A_DOCUMENT, (place + 1) * PASSAGES_A_DOCUMENT)
            puts.append(corpus.make_put(document, batch.words[rows]))
            hashes = [hash_row(document, ordinal) for ordinal in range(PASSAGES_A_DOCUMENT)]
            vectors.update(zip(hashes, batch.vectors[rows], strict=True))
        index.commit(puts, vectors, manifest=manifest)
    return None if done else time.perf_counter() - start


def hash_row(document: int, ordinal: int) -> bytes:
    """A text hash for a passage: the library only wants it to be its own."""
    return blake3(f"{document}#{ordinal}".encode()).digest(16)
