"""What became of golden cases: each run with its scores, and all of them summed up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Final, Literal, TypeAlias

from ibid.evaluation.answers import (
    abstention_f1,
    abstention_precision,
    abstention_recall,
    best_match,
    citation_precision,
    citation_recall,
    contains_match,
    evidence_cited,
    exact_match,
    faithfulness,
    token_f1,
)
from ibid.evaluation.folding import fold_space, holds
from ibid.evaluation.golden import GoldenCase
from ibid.evaluation.intervals import (
    Difference,
    Estimate,
    compare_pairs,
    estimate_mean,
    estimate_ratio,
)
from ibid.evaluation.metrics import (
    Judgements,
    average_precision,
    evidence_recall,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from ibid.records import Answer, AnswerStatus, Hit

CUTS: Final = (1, 3, 5, 10)
"""The ranks at which retrieval is measured unless others are asked for."""

RETRIEVAL: Final[Mapping[str, Callable[..., float]]] = {
    "recall": recall_at,
    "precision": precision_at,
    "hit": hit_at,
    "mrr": reciprocal_rank,
    "map": average_precision,
    "ndcg": ndcg_at,
}
"""Measures of a ranking by the name that stands before `@k`."""

CORRECTNESS: Final = {"exact": exact_match, "f1": token_f1, "contains": contains_match}

GROUNDING: Final = {
    "faithfulness": faithfulness,
    "citation_recall": citation_recall,
    "citation_precision": citation_precision,
}

RELEVANCE: Final = "relevance"
EVIDENCE: Final = "evidence_cited"
DECISION: Final = "abstention_accuracy"
"""Whether it was right to answer, or not to: the measure of abstaining that each question has."""

ABSTAINING: Final = {
    "abstention_precision": abstention_precision,
    "abstention_recall": abstention_recall,
    "abstention_f1": abstention_f1,
}

JUDGED: Final = ("judged_faithfulness", "judged_relevance", "judged_correctness")

ANSWERS: Final = (EVIDENCE, *CORRECTNESS, *GROUNDING, RELEVANCE, *JUDGED, DECISION, *ABSTAINING)
"""Measures of answers by name."""

Kind: TypeAlias = Literal["error", "retrieval", "abstained", "answered", "citation", "judge"]


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One case as it was asked: what was found and answered, and the scores of both by name.

    `hits` are the first of what was found, as many as the largest rank measured at; `ranking` are
    the ids that were scored, `judgements` those that were wanted. `unjudged` is
    one that a judge was asked about in vain. With an `error` there is nothing else.
    """

    case: GoldenCase
    hits: tuple[Hit, ...] = ()
    ranking: tuple[str, ...] = ()
    judgements: Judgements = field(default_factory=dict)
    retrieval: Mapping[str, float] = field(default_factory=dict)
    answer: Answer | None = None
    answers: Mapping[str, float] = field(default_factory=dict)
    search_ms: Mapping[str, float] = field(default_factory=dict)
    unjudged: bool = False
    error: str | None = None

    @property
    def abstained(self) -> bool | None:
        """Whether no answer was given; None where none was asked for."""
        return None if self.answer is None else self.answer.status is not AnswerStatus.ANSWERED


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that went wrong: what did, and in words how."""

    id: str
    question: str
    kind: Kind
    detail: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All cases summed up: retrieval and answers apart, each measure with n and its interval.

    `drafts` are cases that did not count, as nobody has accepted them yet.
    """

    queries: int
    drafts: int
    cuts: tuple[int, ...]
    retrieval: Mapping[str, Estimate]
    answers: Mapping[str, Estimate]
    failures: tuple[Failure, ...]
    runs: tuple[CaseRun, ...]


# -- one case -------------------------------------------------------------------------------------


def rank_expected(case: GoldenCase, hits: Sequence[Hit]) -> tuple[list[str], dict[str, float]]:
    """What was found as a ranking of ids, and the judgements that it is held against.

    Of a case that names documents the ids are theirs, each at its best passage. Of one that names
    pieces of evidence they are those of passages, judged as they are found: a piece counts once,
    in the first passage that holds it, and pieces first found in one passage count as one; a piece
    that none holds is judged under an id of its own.
    """
    if not case.contains:
        return list(dict.fromkeys(hit.document_id for hit in hits)), dict(case.documents)
    missing = [fold_space(piece) for piece in case.contains]
    ranking, judgements = [], {}
    for hit in hits:
        text = fold_space(hit.passage.text)
        left = [piece for piece in missing if piece not in text]
        ranking.append(hit.passage.id)
        if len(left) < len(missing):
            judgements[hit.passage.id] = 1.0
        missing = left
    return ranking, judgements | {f"not found: {piece}": 1.0 for piece in missing}


def is_wanted(case: GoldenCase, hit: Hit) -> bool:
    """Whether a hit is what a case expects: one with a piece of the evidence, or of a document that
    is named."""
    if case.contains:
        return any(holds(hit.passage.text, piece) for piece in case.contains)
    return hit.document_id in case.documents


def score_retrieval(case: GoldenCase, hits: Sequence[Hit], cuts: Sequence[int]) -> dict[str, float]:
    """Each measure of a ranking at each of the ranks, as `recall@5`; none of an unanswerable case.

    The recall of a case with evidence is that of its pieces: the share that is found whole.
    """
    if case.unanswerable:
        return {}
    ranking, judgements = rank_expected(case, hits)
    scores = score_ranking(ranking, judgements, cuts)
    if case.contains:
        texts = [hit.passage.text for hit in hits]
        recall = partial(evidence_recall, texts, case.contains)
        scores |= {f"recall@{k}": recall(k) for k in cuts}
    return scores


def score_ranking(
    ranking: Sequence[str], judgements: Judgements, cuts: Sequence[int]
) -> dict[str, float]:
    """Each measure of a ranking at each of the ranks, as `recall@5`."""
    return {
        f"{name}@{k}": measure(ranking, judgements, k=k)
        for name, measure in RETRIEVAL.items()
        for k in cuts
    }


def score_answer(case: GoldenCase, answer: Answer) -> dict[str, float]:
    """The measures of an answer by name, as far as the case and the answer have what they need.

    Correctness is that of answerable cases: one that was not answered is not correct. What is
    grounded is counted for whatever was answered.
    """
    answered = answer.status is AnswerStatus.ANSWERED
    text = answer.text if answered else ""
    scores = {DECISION: float(answered != case.unanswerable)}
    if not case.unanswerable:
        scores[EVIDENCE] = evidence_cited(
            answer.citations, case.contains, () if case.contains else case.documents
        )
        if case.answers:
            scores |= {
                name: best_match(measure, text, case.answers)
                for name, measure in CORRECTNESS.items()
            }
    if answered:
        found = {name: measure(answer.citations) for name, measure in GROUNDING.items()}
        scores |= {name: value for name, value in found.items() if value is not None}
    return scores


def find_failures(run: CaseRun, deepest: int) -> list[Failure]:
    """What went wrong with a case: an error alone, or each stage that did not do its part."""

    def fail(kind: Kind, detail: str) -> Failure:
        return Failure(run.case.id, run.case.question, kind, detail)

    if run.error is not None:
        return [fail("error", run.error)]
    failures = []
    if run.retrieval and not run.retrieval[f"hit@{deepest}"]:
        failures.append(fail("retrieval", f"nothing expected is among the first {deepest}"))
    if run.unjudged:
        failures.append(fail("judge", "the judge gave no judgement that can be understood"))
    if run.answer is None:
        return failures
    if run.case.unanswerable and not run.abstained:
        failures.append(fail("answered", "answered, though nothing answers it"))
    if not run.case.unanswerable and run.abstained:
        failures.append(fail("abstained", "not answered, though there is an answer"))
    elif run.answers.get(EVIDENCE) == 0:
        failures.append(fail("citation", "answered from something else than is expected"))
    return failures


# -- all of them ----------------------------------------------------------------------------------


def sum_up(runs: Sequence[CaseRun], cuts: Sequence[int], *, drafts: int = 0) -> Evaluation:
    """The evaluation of all cases that were run; means are over those that have the measure."""
    answered = [run for run in runs if run.answer is not None]
    truth = [run.case.unanswerable for run in answered]
    said = [bool(run.abstained) for run in answered]
    abstaining = {
        name: estimate_ratio(measure, truth, said)
        for name, measure in ABSTAINING.items()
        if any(truth)
    }
    scored = _average([run.answers for run in answered])
    order = [name for name in ANSWERS if name in scored]
    return Evaluation(
        queries=len(runs),
        drafts=drafts,
        cuts=tuple(cuts),
        retrieval=_average([run.retrieval for run in runs]),
        answers={name: scored[name] for name in order} | abstaining,
        failures=tuple(chain.from_iterable(find_failures(run, max(cuts)) for run in runs)),
        runs=tuple(runs),
    )


def score_runs(
    qrels: Mapping[str, Mapping[str, float]],
    rankings: Mapping[str, Sequence[str]],
    cuts: Sequence[int],
) -> Evaluation:
    """The evaluation of rankings of documents that came from elsewhere.

    It is over all judged queries; one that has no ranking found nothing.
    """
    runs = []
    for query, grades in qrels.items():
        ranking = tuple(rankings.get(query, ()))
        scores = score_ranking(ranking, grades, cuts)
        case = GoldenCase(query, query, documents=grades)
        runs.append(CaseRun(case, ranking=ranking, judgements=grades, retrieval=scores))
    return sum_up(runs, cuts)


def _average(scores: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    names = dict.fromkeys(chain.from_iterable(scores))
    return {name: estimate_mean([one[name] for one in scores if name in one]) for name in names}


def compare_evaluations(first: Evaluation, second: Evaluation) -> dict[str, Difference]:
    """How the second differs from the first, by measure, over the cases that both have scored.

    Compared are recall at each rank, the other measures of retrieval at the deepest, and all those
    of answers that have a value for each question; together they are one family of tests.
    """
    names = [name for name in first.retrieval if name.startswith("recall@")]
    names += [f"{name}@{max(first.cuts)}" for name in ("mrr", "ndcg")]
    names += [name for name in first.answers if name not in ABSTAINING]
    pairs = {name: _pair(name, first.runs, second.runs) for name in names}
    return compare_pairs({name: pair for name, pair in pairs.items() if pair[0]})


def _pair(
    name: str, first: Iterable[CaseRun], second: Iterable[CaseRun]
) -> tuple[list[float], list[float]]:
    before, after = _list_scores(name, first), _list_scores(name, second)
    both = [id for id in before if id in after]
    return [before[id] for id in both], [after[id] for id in both]


def _list_scores(name: str, runs: Iterable[CaseRun]) -> dict[str, float]:
    scores = {run.case.id: {**run.retrieval, **run.answers} for run in runs}
    return {id: values[name] for id, values in scores.items() if name in values}


# -- time and tokens ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StageTime:
    """How long a stage took: the median, and what nineteen of twenty questions stayed within."""

    stage: str
    median_ms: float
    p95_ms: float


def time_stages(runs: Sequence[CaseRun]) -> list[StageTime]:
    """The time of each stage of searching and answering, in the order of the way of a question."""
    timings = [run.answer.timings_ms if run.answer else run.search_ms for run in runs]
    stages = dict.fromkeys(chain.from_iterable(timings))
    ordered = [*(stage for stage in stages if stage != "total"), *(["total"] if stages else [])]
    return [
        StageTime(stage, _quantile(found, 0.5), _quantile(found, 0.95))
        for stage in ordered
        if (found := sorted(one[stage] for one in timings if stage in one))
    ]


def count_tokens(runs: Sequence[CaseRun]) -> dict[str, int]:
    """The tokens that all answers took, by kind."""
    kinds = ("prompt", "completion")
    spent = [run.answer.tokens for run in runs if run.answer is not None]
    return {kind: sum(one.get(kind, 0) for one in spent) for kind in kinds}


def _quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
