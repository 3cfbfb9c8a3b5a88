"""What the graph, follow-ups made standalone and questions taken apart gain or lose, in one run.

    python bench/ways.py --keep FOLDER scifact cranfield hotpotqa_100 mtrag_un

Each row is the hybrid search of the defaults with one thing changed; a document counts by its best
passage, and the interval beside a difference is the 95% one of its bootstrap over the queries. Of
hotpotqa_100, "both@k" is the share of questions whose two documents are among the first k. mtrag_un
is asked with the conversation before each question.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from beir import ROOT, Collection, load_collection, read_lines
from results import make_parser, save_results
from retrieval import DEPTH, ingest, open_library

import ibid
from ibid.evaluation.metrics import Metric, ndcg_at, recall_at
from ibid.flows.options import RewriteOptions
from ibid.records import OWNER, Query

ALONE: Final = RewriteOptions(methods=())

WAYS: Final[Mapping[str, Mapping[str, Any]]] = {
    "as it is": {"graph": False, "rewrite": ALONE},
    "with the graph": {"graph": True, "rewrite": ALONE},
    "follow-ups made standalone": {
        "graph": False,
        "rewrite": RewriteOptions(methods=("follow-up",)),
    },
    "taken apart": {"graph": False, "rewrite": RewriteOptions(methods=("decompose",))},
}


def hold_all(ranked: Sequence[str], relevant: Mapping[str, int], *, k: int) -> float:
    """1 where every relevant document is among the first k, else 0."""
    return float({id for id, grade in relevant.items() if grade > 0} <= {*ranked[:k]})


METRICS: Final[Mapping[str, Metric]] = {
    "nDCG@10": partial(ndcg_at, k=10),
    "recall@10": partial(recall_at, k=10),
    "both@4": partial(hold_all, k=4),
    "both@6": partial(hold_all, k=6),
    "both@10": partial(hold_all, k=10),
}

RESAMPLES: Final = 2_000


def main() -> int:
    """Print one table for each set named."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=["hotpotqa_100", "mtrag_un"])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the libraries here")
    options = parser.parse_args()
    save_results(options.save, {name: measure_set(name, options.keep) for name in options.sets})
    return 0


def measure_set(name: str, keep: Path | None) -> dict[str, dict[str, float]]:
    """The means of every way of searching one set, printed with their differences to the first."""
    collection = load_collection(name)
    histories = read_histories(name)
    print(f"\n{name}: {len(collection.documents)} documents, {len(collection.qrels)} queries")
    means = {}
    first: dict[str, list[float]] = {}
    with open_library(name, keep) as library:
        ingest(collection, library)
        for way, changes in WAYS.items():
            runs, changed = run_way(library, collection, histories, changes)
            scores = {
                label: [metric(runs[id], collection.qrels[id]) for id in runs]
                for label, metric in METRICS.items()
            }
            first = first or scores
            means[way] = {label: statistics.fmean(values) for label, values in scores.items()}
            print(f"{way:28}", end="")
            for label, values in scores.items():
                print(f"  {label} {means[way][label]:.4f} {compare(first[label], values)}", end="")
            print(f"  ({changed} questions rewritten)" if changed else "", flush=True)
    return means


def read_histories(name: str) -> dict[str, tuple[str, ...]]:
    """The questions and answers before each question, where the set has them."""
    path = ROOT / "questions" / name / "queries.jsonl"
    rows = list(read_lines(path)) if path.exists() else []
    return {
        str(row["id"]): tuple(str(turn["text"]) for turn in row.get("history", ())) for row in rows
    }


def run_way(
    library: ibid.Library,
    collection: Collection,
    histories: Mapping[str, tuple[str, ...]],
    changes: Mapping[str, Any],
) -> tuple[dict[str, list[str]], int]:
    """The ten best documents for each query, and how many queries were rewritten."""
    runs: dict[str, list[str]] = {}
    rewritten = 0
    for id in collection.qrels:
        query = Query(collection.queries[id], OWNER, history=histories.get(id, ()))
        found = library.run_search(query, k=DEPTH, **changes)
        ids = dict.fromkeys(hit.document_id for hit in found.hits)
        runs[id] = list(ids)[:10]
        rewritten += any(step.stage == "rewrite" for step in found.trace)
    return runs, rewritten


def compare(before: Sequence[float], after: Sequence[float]) -> str:
    """The mean difference with its 95% interval; nothing for the same values."""
    differences = [b - a for a, b in zip(before, after, strict=True)]
    if not any(differences):
        return ""
    chosen = random.Random(0)
    means = sorted(
        statistics.fmean(chosen.choices(differences, k=len(differences))) for _ in range(RESAMPLES)
    )
    low, high = means[RESAMPLES // 40], means[-RESAMPLES // 40]
    return f"[{statistics.fmean(differences):+.4f}, {low:+.4f} to {high:+.4f}]"


if __name__ == "__main__":
    sys.exit(main())
