"""Time of lexical, dense and hybrid search beside a bare scan of the same vectors, in one run.

    python bench/search.py

100,000 passages in 10,000 documents: invented words by Zipf's law, some 80 a passage; vectors are
real ones plus noise, cosine about 0.8 to their source, and so are those of the queries. The scan is
numpy's product of the float32 matrix with the query, and its 50 largest. Searching goes through the
whole flow with a prepared query vector, so without embedding. Prints medians in milliseconds and
their ratios to the scan, warm (scope met before) and cold (a filter or caller new to the snapshot),
and how many of the 50 nearest by brute force the dense search finds. The exit code is 1 when hybrid
search takes longer than the scan, when a filter that passes 1% doesn't make it faster, or when the
dense search misses anything.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray
from results import make_parser, save_results
from texts import draw_zipfian, make_vocabulary, vary_sentences

from ibid.embedding.local import open_local_embedder
from ibid.flows.options import SearchOptions
from ibid.flows.prepare import analyze_passage
from ibid.flows.search import search
from ibid.index.embedded.engine import EmbeddedIndex
from ibid.openers import find_cache
from ibid.protocols import IndexedPassage, Manifest, PutDocument, Scope
from ibid.records import OWNER, Document, Passage, Principals, Query, SearchMode
from ibid.testing.embedders import LetterTokenizer

if TYPE_CHECKING:
    from ibid.protocols import Vectors

K: Final = 50
PASSAGES_A_DOCUMENT: Final = 10
DOCUMENTS_A_COMMIT: Final = 500
WORDS_A_PASSAGE: Final = 80
WORDS_A_QUERY: Final = 6
VOCABULARY: Final = 50_000
FUNCTION_WORDS: Final = 100
"""The most frequent words, which a query doesn't hold: an analyzer leaves them out of queries."""

SENTENCES: Final = 400
COSINE: Final = 0.8
GROUPS: Final = 20
DEPARTMENTS: Final = 100
WARM_UP: Final = 5
MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "hybrid")


Figures: TypeAlias = dict[str, dict[str, float]]


class PreparedEmbedder:
    """An embedder that has nothing to do: it knows the vectors of the queries beforehand."""

    name: Final = "prepared"
    weights: Final = ""
    max_tokens: Final = None
    remote: Final = None
    tokenizer: Final = LetterTokenizer()

    def __init__(self, vectors: dict[str, Vectors]) -> None:
        self.vectors = vectors
        self.dimension = next(iter(vectors.values())).shape[0]

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        return np.stack([self.vectors[text] for text in texts])


@dataclass(slots=True)
class Corpus:
    """What is indexed, and what is asked: the vector of row n belongs to passage n."""

    texts: list[str]
    matrix: Vectors
    queries: dict[str, Vectors]
    departments: list[int]
    groups: list[int | None]


@dataclass(frozen=True, slots=True)
class Case:
    """A scope: who asks and through which filter, both varied by the number of the query."""

    label: str
    filter: Callable[[int], str | None] = lambda n: None
    principals: Callable[[int], Principals] = lambda n: OWNER


def main() -> int:
    """Print the table; 1 when a requirement is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the library here")
    options = parser.parse_args()
    corpus = make_corpus(options.passages, options.queries)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.keep or Path(scratch)) / f"search-{options.passages}"
        with closing(EmbeddedIndex(folder, analyze=analyze_passage)) as index:
            build(corpus, index)
        with closing(EmbeddedIndex(folder, analyze=analyze_passage)) as index:
            figures = measure(corpus, index)
            figures["recall"] = measure_recall(corpus, index)
    missed = judge(figures)
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


# -- what is searched ---------------------------------------------------------------------------


def make_corpus(passages: int, queries: int) -> Corpus:
    """The same passages every time, whatever the number of queries."""
    print(f"making {passages:,} passages", flush=True)
    generator, asking = np.random.default_rng(1), np.random.default_rng(2)
    sentences = list(islice(vary_sentences(random.Random(1)), SENTENCES))
    real = open_local_embedder(cache=find_cache()).embed(sentences, kind="passage")
    vocabulary = make_vocabulary(VOCABULARY)
    lengths = generator.integers(WORDS_A_PASSAGE * 3 // 4, WORDS_A_PASSAGE * 5 // 4, size=passages)
    drawn = np.split(draw_zipfian(int(lengths.sum()), vocabulary, generator), lengths.cumsum()[:-1])
    documents = passages // PASSAGES_A_DOCUMENT
    groups = generator.integers(-GROUPS, GROUPS, size=documents)
    questions = make_queries(drawn, vocabulary, queries, asking)
    asked = add_noise(real[asking.integers(len(real), size=queries)], asking)
    return Corpus(
        texts=[" ".join([vocabulary[place] for place in places.tolist()]) for places in drawn],
        matrix=add_noise(real[generator.integers(len(real), size=passages)], generator),
        queries=dict(zip(questions, asked, strict=True)),
        departments=generator.integers(DEPARTMENTS, size=documents).tolist(),
        groups=[group if group >= 0 else None for group in groups.tolist()],
    )


def add_noise(real: Vectors, generator: np.random.Generator) -> Vectors:
    """Unit vectors at COSINE from these, each in a direction of its own."""
    noise = generator.standard_normal(real.shape, dtype=np.float32)
    noise -= (noise * real).sum(axis=1, keepdims=True) * real
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.asarray(COSINE * real + (1 - COSINE**2) ** 0.5 * noise, dtype=np.float32)


def make_queries(
    drawn: Sequence[NDArray[np.int64]],
    vocabulary: Sequence[str],
    count: int,
    generator: np.random.Generator,
) -> list[str]:
    """Some rarer words of one passage each."""
    queries = []
    for place in generator.choice(len(drawn), size=count, replace=False).tolist():
        words = np.unique(drawn[place])
        words = words[words >= FUNCTION_WORDS]
        chosen = generator.choice(words, size=WORDS_A_QUERY, replace=False)
        queries.append(" ".join(vocabulary[word] for word in chosen.tolist()))
    return queries


def build(corpus: Corpus, index: EmbeddedIndex) -> None:
    """Fill the index by its own commits, unless a run before has."""
    if index.snapshot().version:
        return
    start = time.perf_counter()
    manifest = Manifest("prepared", "", corpus.matrix.shape[1], "ibid-1", "structure/254/0")
    for first in range(0, len(corpus.departments), DOCUMENTS_A_COMMIT):
        numbers = range(first, min(first + DOCUMENTS_A_COMMIT, len(corpus.departments)))
        puts = [make_document(corpus, number) for number in numbers]
        rows = range(first * PASSAGES_A_DOCUMENT, numbers.stop * PASSAGES_A_DOCUMENT)
        vectors = {hash_row(row): corpus.matrix[row] for row in rows}
        index.commit(puts, vectors, manifest=manifest)
    print(f"indexed in {time.perf_counter() - start:.0f} s, without embedding", flush=True)


def make_document(corpus: Corpus, number: int) -> PutDocument:
    """The change that writes a document of ten passages, with its department and its readers."""
    rows = range(number * PASSAGES_A_DOCUMENT, (number + 1) * PASSAGES_A_DOCUMENT)
    passages: list[IndexedPassage] = []
    start = 0
    for ordinal, row in enumerate(rows):
        text = corpus.texts[row]
        passage = Passage(
            f"{number}#{ordinal}", f"{number}", ordinal, start, start + len(text), text
        )
        passages.append(IndexedPassage(passage, analyze_passage(text, "en"), hash_row(row)))
        start += len(text) + 2
    group = corpus.groups[number]
    document = Document(
        f"guides/{number}.md",
        "\n\n".join(corpus.texts[row] for row in rows),
        title=f"Guide {number}",
        tags={"department": f"d{corpus.departments[number]}"},
        allow=None if group is None else frozenset({f"group:g{group}"}),
    )
    return PutDocument(document, f"{number:032x}", passages, language="en", create=True)


def hash_row(row: int) -> bytes:
    """A text hash for a passage: the library only wants it to be its own."""
    return blake3(str(row).encode()).digest(16)


# -- how long it takes --------------------------------------------------------------------------


def choose_departments(share: int) -> Callable[[int], str]:
    """Filters that pass so many percent of the documents, another one for each number."""

    def filter(number: int) -> str:
        names = [f'"d{(number + step) % DEPARTMENTS}"' for step in range(share)]
        return (
            f"tag.department in ({', '.join(names)})"
            if share > 1
            else (f"tag.department = {names[0]}")
        )

    return filter


def make_cases() -> list[Case]:
    """The scopes that are measured."""
    return [
        Case("no filter"),
        *(Case(f"filter passing {share}%", choose_departments(share)) for share in (1, 10, 50)),
        Case(
            "one of 20 groups (52%)",
            principals=lambda n: frozenset({f"user:u{n}", f"group:g{n % GROUPS}"}),
        ),
    ]


def measure(corpus: Corpus, index: EmbeddedIndex) -> Figures:
    """Medians in milliseconds by case, then by what was timed; printed as a table."""
    embedder = PreparedEmbedder(corpus.queries)

    def run(text: str, case: Case, number: int, mode: SearchMode = "hybrid") -> float:
        query = Query(text, case.principals(number), case.filter(number))
        options = SearchOptions(k=K, mode=mode)
        return time_call(lambda: search(query, options, index=index, embedder=embedder))

    chance = random.Random(3)
    cases = make_cases()
    first = run(next(iter(corpus.queries)), cases[0], 0)
    print(f"first search after opening: {first:.0f} ms")
    scans: list[float] = []
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number, (text, vector) in enumerate(corpus.queries.items()):
        # All for each query, so that a busy moment of the machine hits them all, in an order that
        # changes: whatever follows the scan finds the caches full of it and its threads awake.
        for case in chance.sample([None, *cases], len(cases) + 1):
            if case is None:
                scans.append(time_call(partial(scan, corpus.matrix, vector)))
                continue
            times[case.label]["cold hybrid"].append(run(text, case, number))
            for mode in MODES:
                times[case.label][mode].append(run(text, case, number, mode))
    medians = {
        label: {name: statistics.median(some[WARM_UP:]) for name, some in by_name.items()}
        for label, by_name in times.items()
    }
    reference = statistics.median(scans[WARM_UP:])
    print_table(medians, reference)
    return {"numpy scan": {"scan": reference}, **medians}


def time_call(call: Callable[[], object]) -> float:
    """Milliseconds of a call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def scan(matrix: Vectors, vector: Vectors) -> list[int]:
    """The rows of the K largest products, best first: brute force in numpy."""
    scores = matrix @ vector
    best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
    places: list[int] = best[np.argsort(-scores[best])].tolist()
    return places


def print_table(medians: Figures, scan: float) -> None:
    """Milliseconds, and in brackets the ratio to the scan."""
    print(f"\nnumpy float32 scan, top {K}: {scan:.2f} ms\n")
    columns = ("lexical", "dense", "hybrid", "cold hybrid")
    print(f"{'ms (ratio to the scan)':26}" + "".join(f"{name:>16}" for name in columns))
    for label, row in medians.items():
        cells = (f"{row[name]:.2f} ({row[name] / scan:.2f})" for name in columns)
        print(f"{label:26}" + "".join(f"{cell:>16}" for cell in cells))


def measure_recall(corpus: Corpus, index: EmbeddedIndex) -> dict[str, float]:
    """The part of the K nearest by brute force that the dense search finds, whole and filtered.

    The brute force sees the vectors as they are stored, rounded to float16.
    """
    stored = corpus.matrix.astype(np.float16).astype(np.float32)
    snapshot = index.snapshot()
    departments = np.repeat(corpus.departments, PASSAGES_A_DOCUMENT)
    shares: dict[str, list[float]] = defaultdict(list)
    for number, vector in enumerate(corpus.queries.values()):
        inside = np.flatnonzero(departments == number % DEPARTMENTS)
        nearest = {
            "no filter": scan(stored, vector),
            "filter passing 1%": inside[scan(stored[inside], vector)].tolist(),
        }
        filters = {"no filter": None, "filter passing 1%": choose_departments(1)(number)}
        for label, rows in nearest.items():
            hits = snapshot.search_dense(vector, K, Scope(OWNER, filters[label]))
            shares[label].append(len({hit.row for hit in hits}.intersection(rows)) / len(rows))
    recall = {label: statistics.fmean(values) for label, values in shares.items()}
    print("\nrecall of dense against brute force")
    for label, value in recall.items():
        print(f"{label:26}{value:16.4f}")
    return recall


def judge(figures: Figures) -> list[str]:
    """The requirements that are missed, with their figures."""
    scan, whole = figures["numpy scan"]["scan"], figures["no filter"]
    narrow = figures["filter passing 1%"]
    bounds = [
        ("hybrid over the scan", whole["hybrid"] / scan, 1.0),
        ("1% filter, warm, over no filter", narrow["hybrid"] / whole["hybrid"], 1.0),
        ("1% filter, cold, over no filter", narrow["cold hybrid"] / whole["cold hybrid"], 1.0),
        *((f"missed by dense, {k}", 1 - v, 0.0) for k, v in figures["recall"].items()),
    ]
    return [f"{name}: {value:.3f} > {bound}" for name, value, bound in bounds if value > bound]


if __name__ == "__main__":
    sys.exit(main())
