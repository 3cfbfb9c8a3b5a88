"""The way of an evaluation: each golden case searched and asked, and its outcome scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ibid.errors import AccessDenied, EvaluationError, InputError, MalformedOutput, ModelTimeout
from ibid.evaluation.folding import strip_markers
from ibid.evaluation.golden import GoldenCase
from ibid.evaluation.judging import score_judgement
from ibid.evaluation.outcomes import (
    CUTS,
    RELEVANCE,
    CaseRun,
    Evaluation,
    rank_expected,
    score_answer,
    score_retrieval,
    sum_up,
)
from ibid.flows.judge import Judge
from ibid.flows.options import OnProgress, Progress
from ibid.protocols import Embedder
from ibid.records import OWNER, Answer, AnswerStatus, Principals, Query, SearchResult

PASSAGES_EACH: Final = 5
"""Passages looked at for each document that a ranking of documents is to have."""

COUNTED: Final = (InputError, ModelTimeout, MalformedOutput)
"""What may go wrong with one question alone; anything else ends the evaluation."""


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """At which ranks retrieval is measured, whether answers are, and by whom cases are asked.

    `principals` ask a case that names none. Whoever is held `within` a set may not have cases
    asked by others than these.
    """

    cuts: tuple[int, ...] = CUTS
    answers: bool = True
    principals: Principals = frozenset()
    within: Principals = OWNER


@dataclass(frozen=True, slots=True)
class Asked:
    """What an evaluation asks: `search` gives so many hits for a query, `ask` an answer, which a
    `judge` judges where there is one; the `embedder` compares answers with questions."""

    search: Callable[[Query, int], SearchResult]
    ask: Callable[[Query], Answer]
    embedder: Embedder
    judge: Judge | None = None


def evaluate(
    cases: Sequence[GoldenCase],
    options: EvaluateOptions,
    asked: Asked,
    *,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """The evaluation of all cases but drafts, in their order.

    What goes wrong with one question is a failure of it; a model or library that is not there ends
    the evaluation. Raises EvaluationError for no cases or no ranks, AccessDenied for a case that
    the caller may not have asked.
    """
    if min(options.cuts, default=0) < 1:
        raise EvaluationError("retrieval is measured at ranks from 1", hint="such as 1, 3, 5, 10")
    counted = [case for case in cases if not case.draft]
    if not counted:
        drafts = f", only {len(cases)} drafts" if cases else ""
        raise EvaluationError(
            f"there is no golden case{drafts}", hint="docs/EVALUATION.md tells how to make some"
        )
    queries = {case.id: make_query(case, options.principals, options.within) for case in counted}
    runs = []
    for done, case in enumerate(counted, start=1):
        run = run_case(case, queries[case.id], options, asked)
        runs.append(run if asked.judge is None else judge_run(run, asked.judge))
        if on_progress is not None:
            on_progress(Progress(done, len(counted), 0))
    runs = add_relevance(runs, asked.embedder)
    return sum_up(runs, options.cuts, drafts=len(cases) - len(counted))


def make_query(case: GoldenCase, asker: Principals, held: Principals) -> Query:
    """The query of a case, asked by its own principals or else by the asker's.

    Raises AccessDenied for principals that are not among those held.
    """
    asked = asker if case.principals is None else case.principals
    if held is not OWNER and (asked is OWNER or not asked <= held):
        raise AccessDenied(
            f"golden case {case.id} is asked by others than you",
            hint="leave out its `as`, or ask as the owner: --as '*'",
        )
    return Query(case.question, asked, case.filter, history=case.history)


def run_case(case: GoldenCase, query: Query, options: EvaluateOptions, asked: Asked) -> CaseRun:
    """One case searched, and asked where answers are measured; an error of its own is its outcome.

    A ranking of documents is made of more passages than ranks: those of one document are one.
    """
    deepest = max(options.cuts)
    try:
        found = asked.search(query, deepest if case.contains else deepest * PASSAGES_EACH)
        answer = asked.ask(query) if options.answers else None
    except COUNTED as error:
        return CaseRun(case, error=f"{type(error).__name__}: {error.message}")
    ranking, judgements = rank_expected(case, found.hits)
    return CaseRun(
        case=case,
        hits=found.hits[:deepest],
        ranking=tuple(ranking),
        judgements={} if case.unanswerable else judgements,
        retrieval=score_retrieval(case, found.hits, options.cuts),
        answer=answer,
        answers=score_answer(case, answer) if answer is not None else {},
        search_ms=found.timings_ms,
    )


def judge_run(run: CaseRun, judge: Judge) -> CaseRun:
    """The run with what a model says of its answer; as it is where nothing was answered.

    A judgement that failed is told of and has no score.
    """
    answer = run.answer
    if answer is None or answer.status is not AnswerStatus.ANSWERED:
        return run
    judgement = judge.judge(answer, run.case.answers)
    if judgement is None:
        return replace(run, unjudged=True)
    return replace(run, answers={**run.answers, **score_judgement(judgement)})


def add_relevance(runs: Sequence[CaseRun], embedder: Embedder) -> list[CaseRun]:
    """The runs, those that were answered with the relevance of their answer.

    It is the cosine of question and answer, 0 where they are farther apart than a right angle.
    """
    answers = {
        run.case.id: strip_markers(run.answer.text)
        for run in runs
        if run.answer is not None and run.answer.status is AnswerStatus.ANSWERED
    }
    asked = [run.case.question for run in runs if run.case.id in answers]
    if not asked:
        return list(runs)
    questions = embedder.embed(asked, kind="query")
    texts = embedder.embed(list(answers.values()), kind="passage")
    cosines = dict(zip(answers, (questions * texts).sum(axis=1).tolist(), strict=True))
    return [
        replace(run, answers={**run.answers, RELEVANCE: max(0.0, cosines[run.case.id])})
        if run.case.id in cosines
        else run
        for run in runs
    ]
