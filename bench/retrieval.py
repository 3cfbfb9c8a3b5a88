"""nDCG@10, recall@10 and MRR@10 of lexical, dense and hybrid search, beside bm25s in the same run.

    python bench/retrieval.py scifact cranfield

One document each, title and text, default settings; a document counts by its best passage. The
floors say what the defaults must reach; the exit code is 1 when one is missed. A document without
any text is left out, as ibid refuses it. With --keep the libraries stay in a folder, and a run that
finds one there embeds nothing but the queries.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import bm25s
import Stemmer
from beir import Collection, load_collection
from results import make_parser, save_results

import ibid
from ibid.evaluation.metrics import Metric, mean_over_queries, ndcg_at, recall_at, reciprocal_rank
from ibid.records import Query, SearchMode

DEPTH: Final = 100
"""Passages asked for, of which the first ten documents count."""

MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "hybrid")

METRICS: Final[Mapping[str, Metric]] = {
    "nDCG@10": partial(ndcg_at, k=10),
    "recall@10": partial(recall_at, k=10),
    "MRR@10": partial(reciprocal_rank, k=10),
}

FLOORS: Final = {
    ("scifact", "hybrid"): 0.705,
    ("scifact", "lexical"): 0.67,
    ("cranfield", "hybrid"): 0.40,
}
"""The least nDCG@10 of the default settings, by set and mode."""

Scores = dict[str, float]


def main() -> int:
    """Print one table for each set named; 1 when a floor is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=["scifact", "cranfield"])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the libraries here")
    options = parser.parse_args()
    figures = {name: measure_set(name, options.keep) for name in options.sets}
    missed = [
        f"{name} {mode}: {figures[name][f'ibid {mode}']['nDCG@10']:.4f} < {floor}"
        for (name, mode), floor in FLOORS.items()
        if name in figures and figures[name][f"ibid {mode}"]["nDCG@10"] < floor
    ]
    print("\n" + "\n".join(["floors missed:", *missed] if missed else ["all floors hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


def measure_set(name: str, keep: Path | None) -> dict[str, Scores]:
    """The scores of every way of searching one set, printed as they come."""
    collection = load_collection(name)
    print(f"\n{name}: {len(collection.documents)} documents, {len(collection.qrels)} queries")
    runs = {"bm25s, English stems": run_bm25s(collection)}
    with open_library(name, keep) as library:
        ingest(collection, library)
        for mode in MODES:
            runs[f"ibid {mode}"] = {
                id: rank_documents(library, collection.queries[id], mode) for id in collection.qrels
            }
    print(f"{'':24}" + "".join(f"{metric:>11}" for metric in METRICS))
    means = {label: score_runs(run, collection) for label, run in runs.items()}
    for label, row in means.items():
        print(f"{label:24}" + "".join(f"{value:11.4f}" for value in row.values()), flush=True)
    return means


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


def rank_documents(library: ibid.Library, text: str, mode: SearchMode) -> list[str]:
    """The documents of the best passages, each once."""
    hits = library.run_search(Query(text), mode=mode, k=DEPTH).hits
    return list(dict.fromkeys(hit.document_id for hit in hits))[:10]


def run_bm25s(collection: Collection) -> dict[str, list[str]]:
    """The ten best documents for each query by bm25s: its defaults, with stems and stop words."""
    stemmer = Stemmer.Stemmer("english")
    texts = [f"{title} {text}" for _, title, text in collection.documents]
    retriever = bm25s.BM25()
    retriever.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    queries = [collection.queries[id] for id in collection.qrels]
    found, _ = retriever.retrieve(
        bm25s.tokenize(queries, stopwords="en", stemmer=stemmer, show_progress=False),
        k=10,
        show_progress=False,
    )
    return {
        id: [collection.documents[number][0] for number in row]
        for id, row in zip(collection.qrels, found.tolist(), strict=True)
    }


def score_runs(runs: Mapping[str, Sequence[str]], collection: Collection) -> Scores:
    """Each measure's mean over all judged queries."""
    return {
        label: mean_over_queries(metric, runs, collection.qrels)
        for label, metric in METRICS.items()
    }


if __name__ == "__main__":
    sys.exit(main())
