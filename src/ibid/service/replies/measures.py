"""Replies that tell how well questions are found and answered."""

from __future__ import annotations

from typing import Any

from ibid.service.replies.model import Reply


class Measure(Reply):
    """A measure over n questions, and the ends of its 95% interval."""

    mean: float
    low: float
    high: float
    n: int


class FailedCase(Reply):
    """A question that went wrong: what did, and in words how."""

    id: str
    question: str
    kind: str
    detail: str


class EvaluationReply(Reply):
    """Retrieval and answers apart, what went wrong, and how many each stage lost."""

    job_id: str
    queries: int
    drafts: int
    k: list[int]
    retrieval: dict[str, Measure]
    answers: dict[str, Measure]
    failures: list[FailedCase]
    tokens: dict[str, int]
    causes: dict[str, int]


class StartedReply(Reply):
    """The job that goes on."""

    job_id: str


class Wanted(Reply):
    """What a golden case expects."""

    contains: list[str]
    document_id: list[str]
    unanswerable: bool
    answer: list[str]


class Fault(Reply):
    """What went wrong with one question."""

    kind: str
    detail: str


class RunHit(Reply):
    """A hit of a question that was run, and whether it was wanted."""

    rank: int
    document_id: str
    title: str | None
    headings: list[str]
    page: int | None
    start: int
    end: int
    text: str
    wanted: bool


class Cause(Reply):
    """The stage that lost what was expected, and what would change that."""

    stage: str | None
    advice: str


class RunQuestion(Reply):
    """One question: what was expected, found and answered, and what of it went wrong."""

    id: str
    question: str
    expected: Wanted
    failures: list[Fault]
    scores: dict[str, float | None]
    hits: list[RunHit]
    status: str | None
    text: str | None
    cause: Cause | None


class QuestionsReply(Reply):
    """Some of the questions, the worst first, and how many there are."""

    questions: list[RunQuestion]
    total: int


class Stage(Reply):
    """A stage, and whether the text passed it."""

    stage: str
    ok: bool | None
    detail: str
    rank: int | None


class DiagnosisReply(Reply):
    """The stages that a text passed, and the one that lost it."""

    question: str
    expected: str
    stages: list[Stage]
    first_failure: str | None
    advice: str


class GoldenReply(Reply):
    """The golden case that an answer became, as its file has it."""

    case: dict[str, Any]
