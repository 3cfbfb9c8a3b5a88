"""The data sets beside the project, in BEIR's shape."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("IBID_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents as (id, title, text), queries by id, and graded relevance by query and document."""

    documents: list[tuple[str, str, str]]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def load_collection(name: str) -> Collection:
    """The set in the folder `retrieval/NAME` or `questions/NAME`; SystemExit without it."""
    folder = next(
        (p for kind in ("retrieval", "questions") if (p := ROOT / kind / name).is_dir()), None
    )
    if folder is None:
        raise SystemExit(f"no data set {name!r} below {ROOT}; set IBID_DATA")
    documents = [
        (str(row["id"]), str(row.get("title") or ""), str(row["text"]))
        for row in read_lines(folder / "corpus.jsonl")
    ]
    queries = {str(row["id"]): str(row["text"]) for row in read_lines(folder / "queries.jsonl")}
    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines():
        query, document, relevance = line.split("\t")[:3]
        if relevance.lstrip("-").isdigit():
            qrels.setdefault(query, {})[document] = int(relevance)
    return Collection(documents, queries, qrels)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
