"""Time of lexical, dense and hybrid search beside a bare scan of the same vectors, in one run.

    python bench/search.py [--passages 1000000 --keep FOLDER] [--vectors LIBRARY …]

100,000 passages, ten a document: invented words by Zipf's law, and vectors that are real ones plus
noise; `--vectors` takes them from libraries, else some sentences are embedded. The scan is numpy's
product of the float32 matrix with the query, and its 50 largest. Searching goes through the whole
flow with a prepared query vector, so without embedding. Prints medians in milliseconds and their
ratios to the scan, warm (scope met before) and cold (a filter or caller new to the snapshot); what
a process of its own takes to open the library and to search it; and how many of the nearest by
brute force the dense search finds: of 50 where it is exact, of 10 where it is approximate.

The exit code is 1 when hybrid search takes longer than the scan, or more than 0.3 of it in a
library that is large enough to be approximate; when, up to that, a filter that passes 1% or less
doesn't make it faster, or a wider one takes more than twice the time of none; when an exact search
misses anything, or an approximate one more than 2%; or when a process needs 1.2 GB of its own.
"""

from __future__ import annotations

import multiprocessing
import random
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from passages import (
    BUCKETS,
    GROUPS,
    PASSAGES_A_DOCUMENT,
    TAGS,
    Corpus,
    fill,
    load_real,
    read_vectors,
)
from results import make_parser, save_results

from ibid.flows.options import SearchOptions
from ibid.flows.prepare import analyze_passage
from ibid.flows.search import search
from ibid.index.embedded.engine import EmbeddedIndex
from ibid.index.options import Approximation
from ibid.protocols import Scope
from ibid.records import OWNER, Principals, Query, SearchMode
from ibid.testing.embedders import LetterTokenizer

if TYPE_CHECKING:
    from ibid.protocols import Vectors

K: Final = 50
WARM_UP: Final = 5
MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "hybrid")
SHARES: Final = {"thousandth": "0.1%", "hundredth": "1%", "tenth": "10%", "half": "50%"}
"""The part of the documents that have the same value of a tag."""

WIDE_FROM: Final = Approximation().min_rows
ROUNDING: Final = 1e-5
"""Sums of rounded numbers in another order differ by less; what is so near the cut is found."""

ANONYMOUS_MB: Final = 1_200.0
MB: Final = 1e6

Figures: TypeAlias = dict[str, dict[str, float]]


class PreparedEmbedder:
    """An embedder that has nothing to do: it knows the vectors of the queries beforehand."""

    name: Final = "prepared"
    weights: Final = ""
    max_tokens: Final = None
    remote: Final = None
    tokenizer: Final = LetterTokenizer()

    def __init__(self, vectors: Mapping[str, Vectors]) -> None:
        self.vectors = vectors
        self.dimension = next(iter(vectors.values())).shape[0]

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        return np.stack([self.vectors[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Case:
    """A scope: who asks and through which filter, both varied by the number of the query."""

    label: str
    tag: str | None = None
    principals: Callable[[int], Principals] = lambda n: OWNER

    def choose_filter(self, number: int) -> tuple[str | None, range]:
        """Another filter for each number, None for all, and the buckets that it lets through."""
        if self.tag is None:
            return None, range(BUCKETS)
        size = TAGS[self.tag]
        value = number % (BUCKETS // size)
        return f"tag.{self.tag} = {value}", range(value * size, (value + 1) * size)


NO_FILTER: Final = Case("no filter")
CASES: Final = [
    NO_FILTER,
    *(Case(f"filter passing {label}", tag) for tag, label in SHARES.items()),
    Case(
        "one of 20 groups (52%)",
        principals=lambda n: frozenset({f"user:u{n}", f"group:g{n % GROUPS}"}),
    ),
]
"""The scopes that are measured."""


def main() -> int:
    """Print the tables; 1 when a requirement is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the library here")
    parser.add_argument(
        "--vectors", type=Path, nargs="*", default=(), metavar="LIBRARY", help="take vectors here"
    )
    options = parser.parse_args()
    corpus = Corpus(options.passages, load_real(options.vectors))
    queries = corpus.ask(options.queries)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.keep or Path(scratch)) / f"search-{options.passages}"
        print(f"filling {folder.name}", flush=True)
        with closing(open_index(folder)) as index:
            seconds = fill(corpus, index)
        figures = {"size": measure_size(folder), "process": measure_process(folder, queries)}
        if seconds is not None:
            figures["size"]["filled in, s"] = seconds
        print_figures(figures)
        matrix = read_vectors(folder)
        with closing(open_index(folder)) as index:
            figures |= measure(matrix, queries, index)
            figures["recall"] = measure_recall(matrix, corpus, queries, index)
    missed = judge(figures, options.passages)
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


def open_index(folder: Path) -> EmbeddedIndex:
    """The index at a folder, with the defaults of a library."""
    return EmbeddedIndex(folder, analyze=analyze_passage)


def print_figures(figures: Figures) -> None:
    """One figure a line, under the name of its group."""
    for name, group in figures.items():
        print(f"\n{name}")
        for label, value in group.items():
            print(f"{label:26}{value:16.1f}")


# -- what it takes ------------------------------------------------------------------------------


def measure_size(folder: Path) -> dict[str, float]:
    """Megabytes on disk, by what they hold."""
    parts = {"library.db": "library.db*", "postings": "lexical/**/*", "vectors": "vectors/*.faiss"}
    sizes = {
        f"{label}, MB": sum(file.stat().st_size for file in folder.glob(form) if file.is_file())
        / MB
        for label, form in {**parts, "clusters": "vectors/*.clusters"}.items()
    }
    return {**sizes, "all, MB": sum(sizes.values())}


def measure_process(folder: Path, queries: Mapping[str, Vectors]) -> dict[str, float]:
    """What a fresh process takes that opens the library and asks every query, hybrid."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(ask_alone, (folder, dict(queries)))


def ask_alone(folder: Path, queries: dict[str, Vectors]) -> dict[str, float]:
    """Milliseconds and memory of opening and searching, in the process that calls it."""
    embedder, before = PreparedEmbedder(queries), read_memory()
    start = time.perf_counter()
    with closing(open_index(folder)) as index:
        index.snapshot()
        opened = time.perf_counter()
        for number, text in enumerate(queries):
            query, options = Query(text, OWNER), SearchOptions(k=K)
            search(query, options, index=index, embedder=embedder)
            if number == 0:
                first = time.perf_counter()
        memory = read_memory()
    return {
        "opened in, ms": (opened - start) * 1000,
        "first search, ms": (first - opened) * 1000,
        "anonymous before, MB": before.get("RssAnon", 0.0),
        "anonymous, MB": memory.get("RssAnon", 0.0),
        "mapped, MB": memory.get("RssFile", 0.0),
    }


def read_memory() -> dict[str, float]:
    """Megabytes that this process holds, by kind; nothing where the system does not tell."""
    status = Path("/proc/self/status")
    found = re.findall(r"(Rss\w+):\s+(\d+) kB", status.read_text() if status.exists() else "")
    return {name: int(kilobytes) * 1024 / MB for name, kilobytes in found}


# -- how long it takes --------------------------------------------------------------------------


def measure(matrix: Vectors, queries: Mapping[str, Vectors], index: EmbeddedIndex) -> Figures:
    """Medians in milliseconds by case, then by what was timed; printed as a table."""
    embedder = PreparedEmbedder(queries)

    def run(text: str, case: Case, number: int, mode: SearchMode = "hybrid") -> float:
        query = Query(text, case.principals(number), case.choose_filter(number)[0])
        options = SearchOptions(k=K, mode=mode)
        return time_call(lambda: search(query, options, index=index, embedder=embedder))

    chance = random.Random(3)
    run(next(iter(queries)), NO_FILTER, 0)
    scans: list[float] = []
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number, (text, vector) in enumerate(queries.items()):
        # All for each query, so that a busy moment of the machine hits them all, in an order that
        # changes: whatever follows the scan finds the caches full of it and its threads awake.
        for case in chance.sample([None, *CASES], len(CASES) + 1):
            if case is None:
                scans.append(time_call(partial(scan, matrix, vector)))
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


# -- what it finds ------------------------------------------------------------------------------


def measure_recall(
    matrix: Vectors, corpus: Corpus, queries: Mapping[str, Vectors], index: EmbeddedIndex
) -> dict[str, float]:
    """The part of the nearest by brute force that the dense search finds, by filter.

    Of the 50 nearest where it is exact, of the 10 nearest where it is approximate.
    """
    snapshot, shares = index.snapshot(), defaultdict[str, list[float]](list)
    buckets = np.repeat(corpus.buckets, PASSAGES_A_DOCUMENT)
    for number, vector in enumerate(queries.values()):
        scores = matrix @ vector
        for case in CASES[:-1]:
            expression, inside = case.choose_filter(number)
            passing = (buckets >= inside.start) & (buckets < inside.stop)
            wide = int(passing.sum()) >= WIDE_FROM
            k = min(10 if wide else K, int(passing.sum()))
            least = -np.partition(-scores[passing], k - 1)[k - 1]
            hits = snapshot.search_dense(vector, k, Scope(OWNER, expression))
            rows = np.array([hit.row for hit in hits])
            near = passing[rows] & (scores[rows] >= least - ROUNDING)
            shares[f"{case.label}, {'of 10' if wide else 'exact'}"].append(near.sum() / k)
    recall = {label: statistics.fmean(values) for label, values in shares.items()}
    print("\nrecall of dense against brute force")
    for label, value in recall.items():
        print(f"{label:32}{value:10.4f}")
    return recall


# -- what must hold -----------------------------------------------------------------------------


def judge(figures: Figures, passages: int) -> list[str]:
    """The requirements that are missed, with their figures."""
    scan, whole = figures["numpy scan"]["scan"], figures[NO_FILTER.label]["hybrid"]
    large = passages >= WIDE_FROM
    bounds = [
        ("hybrid over the scan", whole / scan, 0.3 if large else 1.0),
        ("anonymous MB", figures["process"]["anonymous, MB"], ANONYMOUS_MB),
    ]
    for tag, label in () if large else SHARES.items():
        for name in ("hybrid", "cold hybrid"):
            taken = figures[f"filter passing {label}"][name] / whole
            bounds.append(
                (f"{name}, {label}, over no filter", taken, 1.0 if TAGS[tag] <= 10 else 2.0)
            )
    for label, value in figures["recall"].items():
        bounds.append((f"missed, {label}", 1 - value, 0.02 if label.endswith("of 10") else 0.0))
    return [f"{name}: {value:.3f} > {bound}" for name, value, bound in bounds if value > bound]


if __name__ == "__main__":
    sys.exit(main())
