"""What is ranked: passages, or documents that each stand for their best passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from ibid.protocols import Scored
from ibid.ranking.fusion import Fused, Runs
from ibid.ranking.order import best_first

Unit: TypeAlias = Literal["passages", "documents"]

FirstRows: TypeAlias = Mapping[int, int]
"""The first row of its document for each row."""


def add_document_scores(
    passages: Sequence[Scored],
    documents: Sequence[Scored],
    first_rows: FirstRows,
    weight: float,
) -> list[Scored]:
    """The passages with weight * the score of the document around each, best first.

    `documents` are scored by their first rows; one that isn't among them adds nothing. Equal sums
    stand in the order of insertion.
    """
    around = {scored.row: weight * scored.score for scored in documents}
    return best_first(
        {one.row: one.score + around.get(first_rows[one.row], 0.0) for one in passages}
    )


def keep_best_passages(runs: Runs, first_rows: FirstRows) -> dict[str, list[Scored]]:
    """The runs with the first passage alone of each document: it counts once, by its best."""
    kept = {}
    for name, run in runs.items():
        best: dict[int, Scored] = {}
        for scored in run:
            best.setdefault(first_rows[scored.row], scored)
        kept[name] = list(best.values())
    return kept


def name_documents(runs: Runs, first_rows: FirstRows) -> dict[str, list[Scored]]:
    """The runs with each passage renamed to the first row of its document, for fusing."""
    return {
        name: [Scored(first_rows[scored.row], scored.score) for scored in run]
        for name, run in runs.items()
    }


def name_passages(fused: Sequence[Fused], runs: Runs, first_rows: FirstRows) -> list[Fused]:
    """The fused documents, each as the passage of the retriever that gave it the largest share."""
    passages = {
        name: {first_rows[scored.row]: scored.row for scored in run} for name, run in runs.items()
    }

    def choose(one: Fused) -> int:
        name = max(one.contributions, key=lambda name: one.contributions[name].share)
        return passages[name][one.row]

    return [replace(one, row=choose(one)) for one in fused]
