"""The way of tuning: candidates asked golden questions by successive halving, one held-out check.

Every question asked is written down at once, and scratch libraries are committed as they grow: a
run that was stopped goes on where it was, and ends as it would have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from blake3 import blake3

from ibid.chunking.options import parse_chunking
from ibid.errors import EvaluationError
from ibid.evaluation.approach import CHARACTERS_PER_TOKEN
from ibid.evaluation.golden import GoldenCase, describe_case
from ibid.evaluation.intervals import Difference, Estimate, compare_pairs, estimate_mean
from ibid.evaluation.outcomes import rank_expected
from ibid.evaluation.tuning import (
    DEPTH,
    LEAST_CASES,
    SPACE,
    Candidate,
    Choice,
    Row,
    Trial,
    Value,
    choose_cut,
    draw_candidates,
    halve,
    split_cases,
)
from ibid.flows.options import IngestOptions, OnProgress, SearchOptions
from ibid.flows.scratch import OpenScratch, SavingEmbedder, fill_scratch
from ibid.flows.search import search
from ibid.protocols import Embedder, Index, Reranker
from ibid.records import Hit, Owner, Principals, Query

CHUNKINGS: Final = ("structure/120/0", "structure/200/40", "sentences/100/20", "words/120/30")
"""Ways of cutting that are tried beside the one in force."""

_FIELDS: Final = {
    "search.fusion": "fusion",
    "search.weights.document": "document_weight",
}
"""Settings that are options of a search by another name."""

_WEIGHT: Final = "search.weights."


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """What is tried, from which seed, and who asks a case that names nobody."""

    candidates: int = 24
    chunkings: tuple[str, ...] = CHUNKINGS
    space: Mapping[str, tuple[Value, ...]] = field(default_factory=lambda: SPACE)
    seed: int = 7
    principals: Principals = frozenset()


@dataclass(frozen=True, slots=True)
class Worth:
    """What settings are worth on the questions held out: nDCG of what is sent, and what that costs.

    `tokens` and `milliseconds` are means for a question.
    """

    quality: Estimate
    tokens: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning found: the tables of all rungs, the best choice, and what both are worth.

    `default` is the worth of what is in force and `tried` that of the choice; `difference` is that
    of their qualities. `settings` are those to write, by key; none where the choice is what is in
    force, or no better. `embedded` counts the passages that had to be.
    """

    rungs: tuple[tuple[Row, ...], ...]
    choice: Choice
    default: Worth
    tried: Worth
    difference: Difference
    settings: Mapping[str, Value]
    embedded: int

    @property
    def kept(self) -> bool:
        """Whether what is in force stays."""
        return not self.settings

    @property
    def worth(self) -> Worth:
        """That of the settings that tuning ends with."""
        return self.default if self.kept else self.tried


@dataclass(frozen=True, slots=True)
class TuneParts:
    """What tuning works with.

    `current` are the settings in force, by key, and `searching` the options they make; `trials` is
    the file in which every question asked is written down.
    """

    index: Index
    embedder: Embedder
    searching: SearchOptions
    ingest: IngestOptions
    current: Mapping[str, Value]
    open_reranker: Callable[[str], Reranker | None]
    open_scratch: OpenScratch
    trials: Path
    settings_hash: str = ""
    on_progress: OnProgress = lambda progress: None


def tune(cases: Sequence[GoldenCase], options: TuneOptions, parts: TuneParts) -> Tuned:
    """The settings that find best what the golden cases expect, by questions not held out.

    On the questions held out they have to be better than those in force, or as good and cheaper, or
    these are kept. Nothing is changed. Raises EvaluationError for fewer than LEAST_CASES cases with
    something to find.
    """
    asked = {case.id: case for case in cases if not case.draft and not case.unanswerable}
    if len(asked) < LEAST_CASES:
        raise EvaluationError(
            f"{len(asked)} golden cases are too few to tune by",
            hint=f"give {LEAST_CASES} or more with contains or document_id, better 50",
        )
    searching, made = parts.searching, str(parts.ingest.chunking)
    # A model that writes contexts would have to write all of them anew.
    named = () if parts.ingest.contextualizer else options.chunkings
    chunkings = list(dict.fromkeys([made, *(str(parse_chunking(name)) for name in named)]))
    space = {key: _put_first(values, parts.current[key]) for key, values in options.space.items()}
    bench = _Bench(parts, asked, options.principals)
    try:
        bench.open_rerankers(space.get("search.rerank", (parts.current["search.rerank"],)))
        train, held = split_cases(list(asked), options.seed)
        drawn = draw_candidates(chunkings, space, count=options.candidates, seed=options.seed)
        rungs = [tuple(rows) for rows in halve(drawn, train, searching.k, bench.attempt)]
        winner = rungs[-1][0].candidate
        default = Choice(drawn[0], searching.k, searching.min_score)
        choice = choose_cut(default, winner, [bench.attempt(winner, id) for id in train])
        return _check_held(bench, rungs, choice, default, held)
    finally:
        bench.close()


def _put_first(values: Sequence[Value], current: Value) -> tuple[Value, ...]:
    return (current, *(value for value in values if value != current))


def _check_held(
    bench: _Bench,
    rungs: Sequence[tuple[Row, ...]],
    choice: Choice,
    default: Choice,
    held: Sequence[str],
) -> Tuned:
    """What the choice is worth on the questions held out, beside what is in force."""
    before, after = (
        [bench.attempt(c.candidate, id).cut(c.sources, c.min_score) for id in held]
        for c in (default, choice)
    )
    old, new = ([trial.quality for trial in trials] for trials in (before, after))
    difference = compare_pairs({"quality": (old, new)})["quality"]
    in_force, tried = _measure_worth(before), _measure_worth(after)
    # What is as good has to be cheaper, or it changes settings for nothing.
    better = difference.mean > 0 or (difference.mean == 0 and tried.tokens < in_force.tokens)
    return Tuned(
        rungs=tuple(rungs),
        choice=choice,
        default=in_force,
        tried=tried,
        difference=difference,
        settings=_list_settings(choice, default) if better else {},
        embedded=bench.embedder.embedded,
    )


def _measure_worth(trials: Sequence[Trial]) -> Worth:
    count = len(trials)
    return Worth(
        estimate_mean([trial.quality for trial in trials]),
        sum(sum(trial.sizes) for trial in trials) / CHARACTERS_PER_TOKEN / count,
        sum(trial.milliseconds for trial in trials) / count,
    )


def _list_settings(choice: Choice, default: Choice) -> dict[str, Value]:
    settings = dict(choice.candidate.changes)
    if choice.candidate.chunking != default.candidate.chunking:
        chunking = parse_chunking(choice.candidate.chunking)
        settings |= {
            "chunking.by": chunking.by,
            "chunking.size": chunking.size,
            "chunking.overlap": chunking.overlap,
        }
    if choice.sources != default.sources:
        settings["ask.sources"] = choice.sources
    if choice.min_score != default.min_score:
        settings["search.min_score"] = choice.min_score
    return settings


class _Bench:
    """Asks questions with candidates, each once, and remembers in a file what was found."""

    def __init__(
        self, parts: TuneParts, cases: Mapping[str, GoldenCase], principals: Principals
    ) -> None:
        self.embedder = SavingEmbedder(parts.embedder, [parts.index])
        self._parts = parts
        self._cases = cases
        self._principals = principals
        self._version = parts.index.snapshot().version
        self._indexes: dict[str, Index] = {}
        self._rerankers: dict[str, Reranker | None] = {}
        lines = parts.trials.read_text("utf-8").splitlines() if parts.trials.exists() else []
        self._known: dict[str, Trial] = dict(filter(None, map(_read_trial, lines)))

    def attempt(self, candidate: Candidate, id: str) -> Trial:
        """What a question finds with a candidate."""
        key = self._make_key(candidate, id)
        if key not in self._known:
            trial = self._ask(candidate, self._cases[id])
            with self._parts.trials.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **asdict(trial)}) + "\n")
            self._known[key] = trial
        return self._known[key]

    def open_rerankers(self, names: Iterable[Value]) -> None:
        """Have those at hand that are tried, so that one that isn't there stops at once."""
        self._rerankers |= {str(name): self._parts.open_reranker(str(name)) for name in names}

    def close(self) -> None:
        """Let go of the scratch libraries."""
        for index in self._indexes.values():
            index.close()

    def _make_key(self, candidate: Candidate, id: str) -> str:
        """All that a trial depends on, as 32 hexadecimal digits."""
        case, parts = self._cases[id], self._parts
        depends = (
            self._version,
            str(candidate),
            str(parts.ingest.chunking),
            parts.settings_hash,
            json.dumps(describe_case(case)),
            _name_asker(self._choose_asker(case)),
            (self.embedder.name, self.embedder.weights),
        )
        return blake3(repr(depends).encode("utf-8", "surrogatepass")).hexdigest(16)

    def _ask(self, candidate: Candidate, case: GoldenCase) -> Trial:
        changes = dict(candidate.changes)
        name = changes.get("search.rerank", self._parts.current["search.rerank"])
        found = search(
            Query(case.question, self._choose_asker(case), case.filter, history=case.history),
            change_options(self._parts.searching, changes),
            index=self._open(candidate.chunking),
            embedder=self.embedder,
            reranker=self._rerankers[str(name)],
        )
        _, judgements = rank_expected(case, found.hits)
        wanted = {id for id, grade in judgements.items() if grade > 0}
        return Trial(
            scores=tuple(hit.score for hit in found.hits),
            sizes=tuple(len(hit.passage.text) for hit in found.hits),
            held=tuple(_tell_held(found.hits, wanted)),
            wanted=len(wanted),
            milliseconds=found.timings_ms.get("total", 0.0),
        )

    def _choose_asker(self, case: GoldenCase) -> Principals:
        return self._principals if case.principals is None else case.principals

    def _open(self, chunking: str) -> Index:
        parts = self._parts
        if chunking == str(parts.ingest.chunking):
            return parts.index
        if chunking not in self._indexes:
            scratch = self._indexes[chunking] = parts.open_scratch(chunking)
            fill_scratch(
                scratch,
                parse_chunking(chunking),
                index=parts.index,
                embedder=self.embedder,
                options=parts.ingest,
                on_progress=parts.on_progress,
            )
        return self._indexes[chunking]


def change_options(options: SearchOptions, changes: Mapping[str, Value]) -> SearchOptions:
    """The options of a search with some settings changed, deep enough to try cuts on."""
    weights = dict(options.weights)
    fields: dict[str, Any] = {}
    for key, value in changes.items():
        if key in _FIELDS:
            fields[_FIELDS[key]] = value
        elif key.startswith(_WEIGHT):
            weights[key.removeprefix(_WEIGHT)] = float(str(value))
    return replace(options, k=DEPTH, min_score=None, weights=weights, **fields)


def _tell_held(hits: Sequence[Hit], wanted: set[str]) -> list[bool]:
    """Whether each hit is the first with something wanted: a passage, or a document."""
    met: set[str] = set()
    held = []
    for hit in hits:
        names = {hit.passage.id, hit.document_id} & wanted - met
        met |= names
        held.append(bool(names))
    return held


def _name_asker(principals: Principals) -> list[str]:
    return [principals.value] if isinstance(principals, Owner) else sorted(principals)


def _read_trial(line: str) -> tuple[str, Trial] | None:
    """A trial as it was written down; None for a line that was not finished."""
    try:
        values = json.loads(line)
    except ValueError:
        return None
    key = values.pop("key")
    lists = {name: tuple(values[name]) for name in ("scores", "sizes", "held")}
    return key, Trial(**{**values, **lists})
