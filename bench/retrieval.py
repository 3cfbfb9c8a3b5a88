"""nDCG@10, recall@10 and MRR@10 of lexical, dense and hybrid search, beside bm25s in the same run.

    python bench/retrieval.py
    python bench/retrieval.py scifact xquad/de xquad/de@en --queries 300

One document each, title and text, default settings; a document counts by its best passage. A name
such as xquad/de@en asks the questions of xquad/en against the documents of xquad/de. bm25s cuts
with its own tokenizer, runs of two or more letters and digits, and stems and leaves out stop words
where it has them for the language; of Chinese, Japanese and Thai that makes whole clauses one word.

With each mean stands its 95% interval from a bootstrap over the queries, and below the table that
of the difference between hybrid search and the better of its halves, query by query. The exit code
is 1 when a floor is missed, when lexical search is below bm25s, or when hybrid search is
significantly below the better of its halves. A document without any text is left out, as ibid
refuses it. With --keep the libraries stay in a folder, and a run that finds one there embeds only
the queries.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import bm25s
import numpy as np
import Stemmer
from beir import Collection, load_collection
from numpy.typing import NDArray
from results import make_parser, save_results

import ibid
from ibid.evaluation.metrics import Metric, ndcg_at, recall_at, reciprocal_rank
from ibid.records import Query, SearchMode

DEPTH: Final = 100
"""Passages asked for, of which the first ten documents count."""

RESAMPLES: Final = 2_000

SETS: Final = (
    "scifact", "cranfield", "cmrc2018_dev", "jsquad_valid",
    "xquad/en", "xquad/de", "xquad/ru", "xquad/ar", "xquad/zh", "xquad/th",
    "xquad/de@en", "xquad/ru@en", "xquad/ar@en", "xquad/zh@en", "xquad/th@en",
)  # fmt: skip

MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "hybrid")

METRICS: Final[Mapping[str, Metric]] = {
    "nDCG@10": partial(ndcg_at, k=10),
    "recall@10": partial(recall_at, k=10),
    "MRR@10": partial(reciprocal_rank, k=10),
}

FLOORS: Final = {
    ("scifact", "hybrid"): 0.73,
    ("cranfield", "hybrid"): 0.43,
    ("cmrc2018_dev", "lexical"): 0.85,
    ("jsquad_valid", "lexical"): 0.85,
}
"""The least nDCG@10 of the default settings, by set and mode."""

BASELINE: Final = "bm25s"

STEMMERS: Final = {
    "en": ("english", "en"), "de": ("german", "de"), "ru": ("russian", "ru"),
    "ar": ("arabic", None),
}  # fmt: skip
"""What bm25s stems with and leaves out, by the language of the documents."""

LANGUAGES: Final = {"scifact": "en", "cranfield": "en", "cmrc2018_dev": "zh", "jsquad_valid": "ja"}
"""The languages of the documents; those of xquad stand in its name."""

Values: TypeAlias = NDArray[np.float64]
Figures: TypeAlias = dict[str, dict[str, list[float]]]


def main() -> int:
    """Print one table for each set named; 1 when something that must hold does not."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the libraries here")
    parser.add_argument("--queries", type=int, help="so many of each set, evenly drawn")
    options = parser.parse_args()
    missed: list[str] = []
    figures = {}
    for name in options.sets:
        figures[name], wrong = measure_set(name, options.keep, options.queries)
        missed += wrong
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


def measure_set(name: str, keep: Path | None, queries: int | None) -> tuple[Figures, list[str]]:
    """The figures of every way of searching one set, printed, and what of them must not be."""
    collection = draw_queries(load_set(name), queries)
    documents, asked = len(collection.documents), len(collection.qrels)
    print(f"\n{name}: {documents:,} documents, {asked:,} queries")
    place = name.partition("@")[0]
    runs = {BASELINE: run_bm25s(collection, find_language(place))}
    with open_library(place.replace("/", "_"), keep) as library:
        ingest(collection, library)
        runs |= run_modes(library, collection)
    values = {label: score_queries(run, collection) for label, run in runs.items()}
    figures = {
        label: {metric: describe(scores) for metric, scores in row.items()}
        for label, row in values.items()
    }
    print(f"{'':10}" + "".join(f"{metric:>25}" for metric in METRICS))
    for label, row in figures.items():
        cells = (f"{mean:.4f} [{low:.4f}, {high:.4f}]" for mean, low, high in row.values())
        print(f"{label:10}" + "".join(f"{cell:>25}" for cell in cells), flush=True)
    return figures, judge(name, {label: row["nDCG@10"] for label, row in values.items()})


def judge(name: str, values: Mapping[str, Values]) -> list[str]:
    """What is missed of the nDCG@10 of a set's queries; the paired difference is printed."""
    means = {label: float(scores.mean()) for label, scores in values.items()}
    half = max(("lexical", "dense"), key=lambda mode: means[mode])
    mean, low, high = describe(values["hybrid"] - values[half])
    print(f"hybrid less {half}: {mean:+.4f} [{low:+.4f}, {high:+.4f}]")
    missed = [
        f"{name} {mode}: {means[mode]:.4f} < {floor}"
        for (place, mode), floor in FLOORS.items()
        if place == name and means[mode] < floor
    ]
    if means["lexical"] < means[BASELINE]:
        missed.append(f"{name} lexical: {means['lexical']:.4f} < bm25s {means[BASELINE]:.4f}")
    if high < 0:
        missed.append(f"{name}: hybrid is below {half}")
    return missed


def describe(scores: Values) -> list[float]:
    """The mean over queries, and the ends of its 95% interval by the bootstrap."""
    generator = np.random.default_rng(0)
    drawn = generator.integers(len(scores), size=(RESAMPLES, len(scores)))
    low, high = np.percentile(scores[drawn].mean(axis=1), [2.5, 97.5])
    return [float(scores.mean()), float(low), float(high)]


# -- data -----------------------------------------------------------------------------------------


def load_set(name: str) -> Collection:
    """The set of a name; one with an @ takes its questions from the set in another language."""
    place, _, asked = name.partition("@")
    collection = load_collection(place)
    if not asked:
        return collection
    questions = load_collection(f"{place.partition('/')[0]}/{asked}")
    return replace(collection, queries=questions.queries)


def draw_queries(collection: Collection, count: int | None) -> Collection:
    """The collection with so many of its judged queries, evenly drawn in their order."""
    ids = list(collection.qrels)
    if count is None or count >= len(ids):
        return collection
    drawn = [ids[round(n * len(ids) / count)] for n in range(count)]
    return replace(collection, qrels={id: collection.qrels[id] for id in drawn})


def find_language(place: str) -> str:
    """The language of a set's documents."""
    return LANGUAGES.get(place, place.rpartition("/")[2])


# -- searching ------------------------------------------------------------------------------------


@contextlib.contextmanager
def open_library(name: str, keep: Path | None) -> Iterator[ibid.Library]:
    """The library of a set, in a folder that is kept or in one that goes."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        ibid.open((keep or Path(scratch)) / f"{name}.ibid") as library,
    ):
        yield library


def ingest(collection: Collection, library: ibid.Library) -> None:
    """Fill the library, unless a run before has."""
    start = time.perf_counter()
    if library.status(ibid.OWNER).version == 0:
        library.ingest(
            ibid.Document(id=id, text=text or title, title=title or None)
            for id, title, text in collection.documents
            if (text or title).strip()
        )
        seconds = time.perf_counter() - start
        passages = library.status(ibid.OWNER).passages
        print(f"{passages} passages ingested in {seconds:.0f} s, {passages / seconds:.1f} a second")


def run_modes(library: ibid.Library, collection: Collection) -> dict[str, dict[str, list[str]]]:
    """The ten best documents by mode and query; all modes of a query at once, as it is embedded."""
    runs: dict[str, dict[str, list[str]]] = {mode: {} for mode in MODES}
    for id in collection.qrels:
        for mode in MODES:
            runs[mode][id] = rank_documents(library, collection.queries[id], mode)
    return runs


def rank_documents(library: ibid.Library, text: str, mode: SearchMode) -> list[str]:
    """The documents of the best passages, each once."""
    hits = library.run_search(Query(text), mode=mode, k=DEPTH).hits
    return list(dict.fromkeys(hit.document_id for hit in hits))[:10]


def run_bm25s(collection: Collection, language: str) -> dict[str, list[str]]:
    """The ten best documents for each query by bm25s with its defaults."""
    stemmed, stop_words = STEMMERS.get(language, (None, None))
    cut = partial(
        bm25s.tokenize,
        stopwords=stop_words,
        stemmer=Stemmer.Stemmer(stemmed) if stemmed else None,
        show_progress=False,
    )
    retriever = bm25s.BM25()
    texts = [f"{title} {text}" for _, title, text in collection.documents]
    retriever.index(cut(texts), show_progress=False)
    found, scores = retriever.retrieve(
        cut([collection.queries[id] for id in collection.qrels]), k=10, show_progress=False
    )
    return {
        id: [
            collection.documents[number][0]
            for number, score in zip(row, given, strict=True)
            if score > 0
        ]
        for id, row, given in zip(collection.qrels, found.tolist(), scores.tolist(), strict=True)
    }


def score_queries(run: Mapping[str, Sequence[str]], collection: Collection) -> dict[str, Values]:
    """Each measure of every judged query, in their order."""
    return {
        label: np.array([metric(run[id], judged) for id, judged in collection.qrels.items()])
        for label, metric in METRICS.items()
    }


if __name__ == "__main__":
    sys.exit(main())
