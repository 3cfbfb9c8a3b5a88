"""The scratch libraries of tuning: where they lie, and that they go when the work is done."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ibid.errors import EvaluationError
from ibid.flows.options import OnProgress
from ibid.flows.tune import Tuned, TuneOptions, TuneParts, tune
from ibid.parts import Parts
from ibid.protocols import Reranker

if TYPE_CHECKING:
    from ibid.evaluation.golden import GoldenCase
    from ibid.evaluation.tuning import Value

SUFFIX: Final = ".tuning"
"""What the name of the scratch folder has more than that of the library beside it."""

TRIALS: Final = "trials.jsonl"


def tune_library(
    location: str,
    parts: Parts,
    cases: Sequence[GoldenCase],
    options: TuneOptions | None,
    on_progress: OnProgress,
) -> Tuned:
    """What tuning finds. A run that was stopped leaves its scratch, and the next goes on there.

    The scratch holds the documents, so nobody else may read it. Raises EvaluationError for a
    library in a database.
    """
    if "://" in location:
        raise EvaluationError(
            "only a library in a folder can be tuned", hint="export it, and tune what you import"
        )
    scratch = find_scratch(location)
    scratch.mkdir(mode=0o700, exist_ok=True)
    found = tune(
        cases,
        options or TuneOptions(),
        TuneParts(
            index=parts.index,
            embedder=parts.embedder,
            searching=parts.ask.search,
            ingest=parts.ingest,
            current=_describe_search(parts),
            open_reranker=partial(_choose_reranker, parts),
            open_scratch=lambda name: parts.open_scratch(scratch / name.replace("/", "-")),
            trials=scratch / TRIALS,
            settings_hash=parts.ask.settings_hash,
            on_progress=on_progress,
        ),
    )
    drop_scratch(location)
    return found


def find_scratch(location: str) -> Path:
    """The scratch folder of a library in a folder, there or not."""
    place = Path(location).resolve()
    return place.with_name(place.name + SUFFIX)


def drop_scratch(location: str) -> None:
    """Remove the scratch of a library, where there is any."""
    if "://" not in location and (scratch := find_scratch(location)).is_dir():
        shutil.rmtree(scratch)


def _choose_reranker(parts: Parts, name: str) -> Reranker | None:
    """The reranker in force under its own name, another by the name of the settings."""
    in_force = parts.reranker
    if in_force is not None and in_force.name == name:
        return in_force
    return parts.open_reranker(name)


def _describe_search(parts: Parts) -> dict[str, Value]:
    """The settings in force of those that are tried, by key."""
    search = parts.ask.search
    return {
        "search.fusion": search.fusion,
        "search.rerank": "none" if parts.reranker is None else parts.reranker.name,
        "search.weights.document": search.document_weight,
        **{f"search.weights.{name}": weight for name, weight in search.weights.items()},
    }
