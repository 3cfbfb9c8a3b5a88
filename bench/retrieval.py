"""nDCG@10, recall@10 and MRR@10 of lexical, dense and hybrid search, beside bm25s in the same run.

    python bench/retrieval.py scifact cranfield

One document each, title and text, default settings; a document counts by its best passage.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import bm25s
from beir import Collection, load_collection

import ibid
from ibid.evaluation.metrics import mean_over_queries, ndcg_at, recall_at, reciprocal_rank
from ibid.records import Query, SearchMode

DEPTH = 100
"""Passages asked for, of which the first ten documents count."""

MODES: tuple[SearchMode, ...] = ("lexical", "dense", "hybrid")


def main() -> None:
    """Print one table for each set named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["scifact", "cranfield"])
    for name in parser.parse_args().sets:
        collection = load_collection(name)
        print(f"\n{name}: {len(collection.documents)} documents, {len(collection.qrels)} queries")
        print(f"{'':22} nDCG@10  recall@10  MRR@10")
        print_scores("bm25s (own tokenizer)", run_bm25s(collection), collection)
        with (
            tempfile.TemporaryDirectory() as folder,
            ibid.open(Path(folder) / "library") as library,
        ):
            library.ingest(
                ibid.Document(id=id, text=text or title, title=title or None)
                for id, title, text in collection.documents
            )
            for mode in MODES:
                runs = {
                    id: rank_documents(library, collection.queries[id], mode)
                    for id in collection.qrels
                }
                print_scores(f"ibid {mode}", runs, collection)


def rank_documents(library: ibid.Library, text: str, mode: SearchMode) -> list[str]:
    """The documents of the best passages, each once."""
    hits = library.run_search(Query(text), mode=mode, k=DEPTH).hits
    return list(dict.fromkeys(hit.document_id for hit in hits))[:10]


def run_bm25s(collection: Collection) -> dict[str, list[str]]:
    """The ten best documents for each query by bm25s with its default tokenizer and parameters."""
    texts = [f"{title} {text}" for _, title, text in collection.documents]
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    queries = [collection.queries[id] for id in collection.qrels]
    found, _ = retriever.retrieve(
        bm25s.tokenize(queries, show_progress=False), k=10, show_progress=False
    )
    return {
        id: [collection.documents[number][0] for number in row]
        for id, row in zip(collection.qrels, found.tolist(), strict=True)
    }


def print_scores(label: str, runs: Mapping[str, Sequence[str]], collection: Collection) -> None:
    """One line of the table: the means over all judged queries."""
    metrics = (ndcg_at, recall_at, reciprocal_rank)
    means = [
        mean_over_queries(lambda run, judged, f=f: f(run, judged, 10), runs, collection.qrels)
        for f in metrics
    ]
    print(f"{label:22} {means[0]:7.4f} {means[1]:10.4f} {means[2]:7.4f}")


if __name__ == "__main__":
    main()
