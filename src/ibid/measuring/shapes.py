"""The JSON of evaluations and golden sets; the same at each door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from ibid.evaluation.golden import describe_case
from ibid.evaluation.outcomes import count_tokens, find_failures, is_wanted, time_stages

if TYPE_CHECKING:
    from ibid.evaluation.golden import GoldenCase
    from ibid.evaluation.intervals import Difference, Estimate
    from ibid.evaluation.outcomes import CaseRun, Evaluation
    from ibid.flows.golden import GoldenProblem
    from ibid.shapes import Shape


def shape_evaluation(evaluation: Evaluation, *, timings: bool = False) -> Shape:
    """Retrieval and answers apart, each measure with its interval and n, and what went wrong.

    The same documents, questions and settings give the same object; only with `timings` does it
    hold what no two runs have alike.
    """
    shape: Shape = {
        "queries": evaluation.queries,
        "drafts": evaluation.drafts,
        "k": list(evaluation.cuts),
        "retrieval": shape_estimates(evaluation.retrieval),
        "answers": shape_estimates(evaluation.answers),
        "failures": [asdict(failure) for failure in evaluation.failures],
        "tokens": count_tokens(evaluation.runs),
    }
    if timings:
        shape["timings_ms"] = {
            one.stage: {"median": one.median_ms, "p95": one.p95_ms}
            for one in time_stages(evaluation.runs)
        }
    return shape


def shape_run(run: CaseRun, deepest: int) -> Shape:
    """One question: what was expected, what was found and answered, and what of it went wrong.

    The hits are those to the `deepest` rank measured at.
    """
    case, answer = run.case, run.answer
    failures = find_failures(run, deepest)
    return {
        "id": case.id,
        "question": case.question,
        "expected": {
            "contains": list(case.contains),
            "document_id": list(case.documents),
            "unanswerable": case.unanswerable,
            "answer": list(case.answers),
        },
        "failures": [{"kind": one.kind, "detail": one.detail} for one in failures],
        "scores": {**run.retrieval, **run.answers},
        "hits": [
            {
                "rank": hit.rank,
                "document_id": hit.document_id,
                "title": hit.document.title,
                "headings": list(hit.passage.headings),
                "page": hit.passage.page,
                "start": hit.passage.start,
                "end": hit.passage.end,
                "text": hit.passage.text,
                "wanted": is_wanted(case, hit),
            }
            for hit in run.hits
        ],
        "status": None if answer is None else answer.status.value,
        "text": None if answer is None else answer.text,
    }


def shape_estimates(estimates: Mapping[str, Estimate]) -> Shape:
    """Measures by name."""
    return {name: asdict(estimate) for name, estimate in estimates.items()}


def shape_differences(differences: Mapping[str, Difference]) -> Shape:
    """Differences by measure, each with its p-values and whether it is significant."""
    return {
        name: {**asdict(one), "significant": one.significant} for name, one in differences.items()
    }


def shape_cases(cases: Iterable[GoldenCase]) -> list[Shape]:
    """Golden cases as their file has them."""
    return [describe_case(case) for case in cases]


def shape_problem(problem: GoldenProblem) -> Shape:
    """Something expected that can't be found."""
    return asdict(problem)
