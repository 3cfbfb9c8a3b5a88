"""What evaluation jobs do, and what came of each question, for as long as the service runs.

In the store stand the measures alone. Questions with what was found for them hold texts of
documents: they are kept in memory, and shown as far as their caller may see them today.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ibid.errors import IbidError, UnknownDocument
from ibid.evaluation.golden import GoldenCase, parse_golden
from ibid.evaluation.outcomes import Evaluation
from ibid.flows.diagnosis import STAGES
from ibid.flows.options import Progress
from ibid.library import Library
from ibid.measuring.shapes import shape_evaluation
from ibid.records import Principals
from ibid.service.callers import Caller
from ibid.service.jobs import Advance, Job

KEPT: Final = 5
"""Evaluations whose questions are held; of more, the last ones."""

UNWALKED: Final = frozenset({"error", "judge"})
"""Failures that no stage can be blamed for."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The stage that lost what a question should have found, and what would change that."""

    stage: str
    advice: str


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation with the causes of its failures by case, and whose it is.

    `version` is that of the library afterwards; `own` says that the cases are of its own set.
    """

    evaluation: Evaluation
    causes: Mapping[str, Cause]
    caller: str
    principals: Principals
    version: int
    own: bool


class Evaluations:
    """Carries evaluations out and holds the last of them."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept: OrderedDict[str, Evaluated] = OrderedDict()
        self._mutex = threading.Lock()

    def carry_out(self, job: Job, advance: Advance) -> None:
        """Do a job, from its beginning. Raises what evaluating and `advance` do."""
        work, principals = job.work, frozenset(job.work["principals"])
        own = work["cases"] is None
        cases = self._library.list_golden(principals) if own else read_cases(work["cases"])

        def tell(progress: Progress) -> None:
            advance(progress.done, progress.total, None)

        evaluation = self._library.evaluate(
            cases,
            cuts=work["k"],
            answers=work["answers"],
            principals=principals,
            within=principals,
            on_progress=tell,
        )
        causes = self._find_causes(evaluation, principals, advance)
        version = self._library.status(principals).version
        kept = Evaluated(evaluation, causes, job.caller, principals, version, own)
        with self._mutex:
            self._kept[job.id] = kept
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        total = len(cases)
        advance(total, total, {**shape_evaluation(evaluation), "causes": _count_stages(causes)})

    def _find_causes(
        self, evaluation: Evaluation, principals: Principals, advance: Advance
    ) -> dict[str, Cause]:
        """The stage that lost it, of each case that went wrong and can be walked."""
        failed = _list_walked(evaluation)
        if not failed:
            return {}
        answering = any(run.answer is not None for run in evaluation.runs)
        diagnostician = self._library.open_diagnostician(principals, answering=answering)
        causes = {}
        for done, case in enumerate(failed, start=evaluation.queries + 1):
            try:
                found = diagnostician.diagnose_case(case, principals).diagnosis
            except IbidError:  # what can't be walked has no cause to tell, and is a failure already
                continue
            if found.first_failure is not None:
                causes[case.id] = Cause(found.first_failure, found.advice)
            advance(done, evaluation.queries + len(failed), None)
        return causes

    def find(self, id: str, caller: Caller) -> Evaluated:
        """An evaluation of a caller, as far as they may see it today.

        Raises UnknownDocument, also for another's.
        """
        with self._mutex:
            kept = self._kept.get(id)
        if kept is None or (kept.caller, kept.principals) != (caller.name, caller.principals):
            raise UnknownDocument(
                f"no questions of an evaluation {id!r}",
                hint="they are kept until the service stops: evaluate again",
            )
        if self._library.status(caller.principals).version != kept.version:
            # What would have changed a loss may name a document, which may be hidden by now.
            causes = {id: replace(cause, advice="") for id, cause in kept.causes.items()}
            kept = replace(kept, causes=causes)
        shown = self._library.show_evaluation(kept.evaluation, caller.principals)
        if kept.own:
            held = {case.id for case in self._library.list_golden(caller.principals)}
            shown = replace(shown, runs=tuple(run for run in shown.runs if run.case.id in held))
        return replace(kept, evaluation=shown)


def read_cases(values: Iterable[Any]) -> list[GoldenCase]:
    """Golden cases of their objects, numbered from 1 where they have no id.

    Raises EvaluationError for one that can't be understood, and for an id that stands twice.
    """
    return parse_golden(map(json.dumps, values), "the golden set")


def _list_walked(evaluation: Evaluation) -> list[GoldenCase]:
    """The cases that went wrong in a way that some stage can be blamed for."""
    failed = {one.id for one in evaluation.failures if one.kind not in UNWALKED}
    return [run.case for run in evaluation.runs if run.case.id in failed]


def _count_stages(causes: Mapping[str, Cause]) -> dict[str, int]:
    """How many cases each stage lost, in the order of the stages."""
    counts = Counter(cause.stage for cause in causes.values())
    return {stage: counts[stage] for stage in STAGES if counts[stage]}
