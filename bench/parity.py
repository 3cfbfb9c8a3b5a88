"""Whether a library in PostgreSQL ranks as the embedded one does, on sets with judged relevance.

    python bench/parity.py [SET …] [--kept FOLDER]

Each set is taken in by both engines, with default settings and the same vectors, and its questions
are asked in each mode. `--kept` holds embedded libraries by name (SET.ibid) as bench/retrieval.py
--keep leaves them; one that is there is copied, and nothing of it is embedded again. Prints
nDCG@10 of both, and how many of the ten first documents they share, for each set and mode.

The exit code is 1 when nDCG@10 differs by more than 0.005, or when less than 0.95 are shared.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from beir import Collection, load_collection
from postgres import open_server
from results import make_parser, save_results
from search import MODES

import ibid
from ibid.embedding.local import open_local_embedder
from ibid.evaluation.metrics import ndcg_at
from ibid.flows.hashing import hash_text
from ibid.openers import find_cache
from ibid.records import SearchMode

if TYPE_CHECKING:
    from ibid.protocols import Embedder, Index, Vectors

SETS: Final = ("scifact", "cranfield")
AT_ONCE: Final = 500
DEPTH: Final = 100
"""Passages asked for, of which the first ten documents count."""

MOST_APART: Final = 0.005
LEAST_SHARED: Final = 0.95


class RecallingEmbedder:
    """An embedder that embeds no text twice, and none that a library holds the vector of."""

    remote: Final = None

    def __init__(self, inner: Embedder) -> None:
        self.name, self.weights, self.tokenizer = inner.name, inner.weights, inner.tokenizer
        self.dimension, self.max_tokens = inner.dimension, inner.max_tokens
        self.held: Index | None = None
        self._inner = inner
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        import numpy as np

        found = {}
        if kind == "passage" and self.held is not None:
            held = self.held.find_vectors([hash_text(text) for text in texts])
            found = {text: held[key] for text in texts if (key := hash_text(text)) in held}
        missing = [text for text in texts if text not in self._known and text not in found]
        if missing:
            self._known |= dict(zip(missing, self._inner.embed(missing, kind=kind), strict=True))
        return np.stack([found[text] if text in found else self._known[text] for text in texts])


def main() -> int:
    """Print a line for each set and mode; 1 when the engines differ by too much."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="embedded libraries are here")
    parser.add_argument("--address", help="a server to measure, instead of one of its own")
    options = parser.parse_args()
    embedder = RecallingEmbedder(open_local_embedder(cache=find_cache()))
    figures: dict[str, dict[str, float]] = {}
    for name in options.sets:
        collection = load_collection(name)
        with (
            tempfile.TemporaryDirectory() as scratch,
            open_server(options.address) as address,
        ):
            place = Path(scratch, f"{name}.ibid")
            if options.kept is not None and (options.kept / place.name).exists():
                shutil.copytree(options.kept / place.name, place)
            with (
                ibid.open(place, embedder=embedder) as embedded,
                ibid.open(address, embedder=embedder) as postgres,
            ):
                fill(embedded, collection)
                embedder.held = embedded._index
                fill(postgres, collection)
                embedder.held = None
                for mode in MODES:
                    row = compare(embedded, postgres, collection, mode)
                    figures[f"{name}, {mode}"] = row
                    words = (f"{label} {value:.4f}" for label, value in row.items())
                    print(f"{name:12}{mode:10}" + "   ".join(words), flush=True)
    missed = [
        label
        for label, row in figures.items()
        if abs(row["embedded"] - row["postgres"]) > MOST_APART or row["shared"] < LEAST_SHARED
    ]
    print("\n" + ("missed: " + "; ".join(missed) if missed else "all requirements hold"))
    save_results(options.save, figures)
    return 1 if missed else 0


def fill(library: ibid.Library, collection: Collection) -> None:
    """Take in the documents of a set, where the library does not hold them already."""
    held = {info.id for info in library.documents(ibid.OWNER)}
    documents = [
        ibid.Document(id=id, text=text or title, title=title or None)
        for id, title, text in collection.documents
        if id not in held and (text or title).strip()
    ]
    for start in range(0, len(documents), AT_ONCE):
        library.ingest(documents[start : start + AT_ONCE])


def compare(
    embedded: ibid.Library, postgres: ibid.Library, collection: Collection, mode: SearchMode
) -> dict[str, float]:
    """nDCG@10 of both engines, and the part of the first ten documents that they share."""
    gains: dict[str, list[float]] = {"embedded": [], "postgres": []}
    shared = []
    for query, judged in collection.qrels.items():
        found = {
            name: rank(library, collection.queries[query], mode)
            for name, library in (("embedded", embedded), ("postgres", postgres))
        }
        relevance = {id: float(grade) for id, grade in judged.items()}
        for name, ranking in found.items():
            gains[name].append(ndcg_at(ranking, relevance, 10))
        mine, theirs = (set(ranking) for ranking in found.values())
        shared.append(len(mine & theirs) / max(len(mine), len(theirs), 1))
    means = {name: statistics.fmean(values) for name, values in gains.items()}
    return {**means, "shared": statistics.fmean(shared)}


def rank(library: ibid.Library, text: str, mode: SearchMode) -> list[str]:
    """The first ten documents, each by its best passage."""
    hits = library.search(text, k=DEPTH, mode=mode)
    return list(dict.fromkeys(hit.document_id for hit in hits))[:10]


if __name__ == "__main__":
    sys.exit(main())
