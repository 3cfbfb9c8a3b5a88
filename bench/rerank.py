"""nDCG@10 of hybrid search without and with each reranker that works offline, over its first 50.

    python bench/rerank.py cranfield clapnq_dev

Beside the means stand the paired difference to no reranking with its 95% interval (bootstrap over
queries), the time a question takes as a multiple of that without, and the calibration that fits
best: slope and offset on one half of the queries, with the error of the scores shown on the other.
A document counts by its best passage. Vectors of word pieces are computed once for each passage, so
that a question to a library takes even longer than told here. The exit code is 1 when a reranker is
significantly better than none, which is the default, on one of the sets and on none of them worse.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np
from beir import Collection, load_collection
from results import make_parser, save_results
from retrieval import ingest, open_library

from ibid.embedding.local import open_local_embedder
from ibid.evaluation.metrics import ndcg_at
from ibid.flows.rerank import rerank_hits
from ibid.language.analyzer import analyze
from ibid.protocols import Reranker, TokenEmbedder
from ibid.ranking.calibration import calibrate_scores
from ibid.ranking.late_interaction import LateInteractionReranker
from ibid.ranking.proximity import ProximityReranker
from ibid.records import Hit, Query

DEPTH: Final = 50
RESAMPLES: Final = 2000

Pairs = list[tuple[float, bool]]


def main() -> int:
    """Print one table for each set named; 1 when a reranker beats the default, none."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=["cranfield"])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the libraries here")
    options = parser.parse_args()
    figures = {name: measure_set(name, options.keep) for name in options.sets}
    save_results(options.save, figures)
    names = next(iter(figures.values()))
    better = [name for name in names if is_better([rows[name] for rows in figures.values()])]
    print(f"\nbetter than the default: {', '.join(better) or 'none'}")
    return int(bool(better))


def is_better(rows: Sequence[dict[str, float]]) -> bool:
    """Whether a reranker gains on a set, beyond chance, and loses on none."""
    return any(row["low"] > 0 for row in rows) and all(row["high"] >= 0 for row in rows)


def measure_set(name: str, keep: Path | None) -> dict[str, dict[str, float]]:
    """Each reranker's figures on one set, printed as they come."""
    collection = load_collection(name)
    print(f"\n{name}: {len(collection.documents)} documents, {len(collection.qrels)} queries")
    with open_library(name, keep) as library:
        ingest(collection, library)
        start = time.perf_counter()
        found = {
            id: library.run_search(Query(collection.queries[id]), k=100, rerank="none").hits
            for id in collection.qrels
        }
        plain_seconds = time.perf_counter() - start
        plain = score_queries(found, collection)
        print(f"{'':18}{'nDCG@10':>9}{'difference':>24}{'time':>7}   calibration")
        print(f"{'none':18}{np.mean(plain):9.4f}", flush=True)
        rerankers: list[Reranker] = [
            ProximityReranker(analyze),
            LateInteractionReranker(KeptTokens(open_local_embedder())),
        ]
        rows = {}
        for reranker in rerankers:
            rows[reranker.name] = measure_reranker(reranker, found, collection, plain)
            seconds = rows[reranker.name]["seconds"]
            rows[reranker.name]["time"] = 1 + seconds / plain_seconds
            print_row(reranker.name, rows[reranker.name])
    return rows


def measure_reranker(
    reranker: Reranker,
    found: dict[str, tuple[Hit, ...]],
    collection: Collection,
    plain: Sequence[float],
) -> dict[str, float]:
    """The mean, its paired difference to no reranking, and the best calibration."""
    start = time.perf_counter()
    moved = {
        id: rerank_hits(collection.queries[id], hits, reranker, depth=DEPTH).hits
        for id, hits in found.items()
    }
    seconds = time.perf_counter() - start
    scores = score_queries(moved, collection)
    low, high = bootstrap(np.asarray(scores) - np.asarray(plain))
    halves: tuple[Pairs, Pairs] = ([], [])
    for number, (id, hits) in enumerate(moved.items()):
        relevant = {document for document, grade in collection.qrels[id].items() if grade > 0}
        halves[number % 2].extend((hit.moves[-1].raw, hit.document_id in relevant) for hit in hits)
    slope, offset = fit_platt(halves[0])
    shown = calibrate_scores(
        [raw for raw, _ in halves[1]], reranker.calibration, name=reranker.name
    )
    return {
        "ndcg@10": float(np.mean(scores)),
        "difference": float(np.mean(scores) - np.mean(plain)),
        "low": low,
        "high": high,
        "seconds": seconds,
        "slope": slope,
        "offset": offset,
        "error": calibration_error(shown, [relevant for _, relevant in halves[1]]),
    }


def score_queries(found: dict[str, tuple[Hit, ...]], collection: Collection) -> list[float]:
    """nDCG@10 of each query."""
    return [
        ndcg_at(list(dict.fromkeys(hit.document_id for hit in hits)), collection.qrels[id], k=10)
        for id, hits in found.items()
    ]


def bootstrap(differences: np.ndarray) -> tuple[float, float]:
    """The middle 95% of the mean over queries drawn anew."""
    draws = np.random.default_rng(0).integers(len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.percentile(differences[draws].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def fit_platt(pairs: Pairs) -> tuple[float, float]:
    """Slope and offset of the sigmoid that makes the labels likeliest, by Newton's method."""
    scores = np.array([score for score, _ in pairs])
    labels = np.array([relevant for _, relevant in pairs], dtype=float)
    design = np.stack([scores, np.ones_like(scores)], axis=1)
    weights = np.zeros(2)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ weights))
        spread = design.T @ (design * (chance * (1 - chance))[:, None]) + 1e-9 * np.eye(2)
        weights += np.linalg.solve(spread, design.T @ (labels - chance))
    return float(weights[0]), float(weights[1])


def calibration_error(shown: Sequence[float], labels: Sequence[bool]) -> float:
    """How far, in ten groups of equal size, the mean score is from the part that is relevant."""
    order = np.argsort(shown, kind="stable")
    groups = np.array_split(order, 10)
    gaps = [
        abs(np.mean(np.asarray(shown)[group]) - np.mean(np.asarray(labels)[group]))
        for group in groups
        if len(group)
    ]
    return float(np.mean(gaps))


class KeptTokens:
    """A TokenEmbedder that computes the vectors of each passage once."""

    remote = None

    def __init__(self, embedder: TokenEmbedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, np.ndarray] = {}

    def embed_tokens(
        self, texts: Iterable[str], *, kind: Literal["passage", "query"]
    ) -> list[np.ndarray]:
        texts = list(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        made = self._embedder.embed_tokens(missing, kind=kind)
        half = [vectors.astype(np.float16) for vectors in made]
        self._kept.update(zip(missing, half, strict=True))
        return [self._kept[text].astype(np.float32) for text in texts]


def print_row(name: str, row: dict[str, float]) -> None:
    """One line of the table."""
    gap = f"{row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]"
    fit = f"slope {row['slope']:.2f}, offset {row['offset']:.2f}, error {row['error']:.3f}"
    print(f"{name:18}{row['ndcg@10']:9.4f}{gap:>24}{row['time']:6.1f}x   {fit}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
