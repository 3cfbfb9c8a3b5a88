"""Both engines find the same by words on a set with judged relevance.

Keyword search looks at no vector, so the embedder costs nothing; `bench/parity.py` compares all
modes with the real one.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import ibid
from ibid.evaluation.metrics import ndcg_at
from ibid.testing.embedders import HashingEmbedder
from postgres_server import locate

DATA: Final = Path(
    os.environ.get("IBID_DATA", Path(__file__).parents[2] / "shared" / "data")
).resolve()
CRANFIELD: Final = DATA / "retrieval" / "cranfield"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not CRANFIELD.is_dir(), reason=f"no {CRANFIELD}; set IBID_DATA"),
]


def read_lines(name: str) -> Iterator[dict[str, Any]]:
    with (CRANFIELD / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def test_both_engines_find_the_same_by_words(postgres: str, tmp_path: Path) -> None:
    documents = [
        ibid.Document(str(row["id"]), row["text"] or row["title"], title=row["title"] or None)
        for row in read_lines("corpus.jsonl")
        if (row["text"] or row["title"] or "").strip()
    ]
    judged: dict[str, dict[str, float]] = {}
    for line in (CRANFIELD / "qrels.tsv").read_text().splitlines():
        query, document, grade = line.split("\t")[:3]
        if grade.lstrip("-").isdigit():
            judged.setdefault(query, {})[document] = float(grade)
    gains: list[list[float]] = []
    found: list[list[set[str]]] = []
    for place in (str(tmp_path / "embedded"), locate(postgres, tmp_path)):
        with ibid.open(place, embedder=HashingEmbedder()) as library:
            library.ingest(documents)
            rankings = {
                str(row["id"]): rank(library, row["text"])
                for row in read_lines("queries.jsonl")
                if str(row["id"]) in judged
            }
        gains.append([ndcg_at(ids, judged[query], 10) for query, ids in rankings.items()])
        found.append([set(ids) for ids in rankings.values()])
    mine, theirs = map(statistics.fmean, gains)
    assert abs(mine - theirs) < 0.005
    shared = [len(one & other) / max(len(one), 1) for one, other in zip(*found, strict=True)]
    assert statistics.fmean(shared) >= 0.95


def rank(library: ibid.Library, text: str) -> list[str]:
    """The first ten documents, each by its best passage."""
    hits = library.search(text, k=50, mode="lexical")
    return list(dict.fromkeys(hit.document_id for hit in hits))[:10]
