"""The routes that measure: golden cases run, what came of each, and where a text was lost."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any, Final

from anyio import sleep
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import Field
from starlette.datastructures import UploadFile

from ibid.errors import BadQuery, EvaluationError, UnsupportedFormat
from ibid.evaluation.golden import GoldenCase, describe_case, parse_golden
from ibid.evaluation.outcomes import CUTS
from ibid.evaluation.report import Report, order_worst, render_report
from ibid.flows.evaluate import make_query
from ibid.flows.golden import Expected
from ibid.measuring.shapes import shape_cases, shape_run
from ibid.service.access import need
from ibid.service.asking import note
from ibid.service.bodies import (
    MOST_CASES,
    DiagnoseBody,
    EvaluateBody,
    GoldenBody,
    parse_body,
)
from ibid.service.callers import Caller
from ibid.service.context import find_context
from ibid.service.evaluating import Evaluated, read_cases
from ibid.service.jobs import Job, Jobs
from ibid.service.replies import describe
from ibid.service.replies.measures import (
    DiagnosisReply,
    EvaluationReply,
    GoldenReply,
    QuestionsReply,
    StartedReply,
)
from ibid.shapes import Shape
from ibid.shapes.inspection import shape_diagnosis

router = APIRouter(tags=["measures"])

WAIT: Final = 10.0
"""Seconds that a caller waits for an evaluation unless told otherwise."""

MOST_WAIT: Final = 60.0
LOOK_SECONDS: Final = 0.1

LINES: Final = frozenset({"application/x-ndjson", "application/jsonl", "text/plain"})
"""What a file of golden cases is sent as."""

_SENDING: Final[dict[str, Any]] = {
    "requestBody": {
        "required": False,
        "content": {
            "application/json": {"schema": EvaluateBody.model_json_schema()},
            "application/x-ndjson": {
                "schema": {"type": "string"},
                "example": '{"question": "What does a hotel night cost?", "contains": "140"}\n',
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
        },
    }
}

Rank = Annotated[int, Field(ge=1, le=100)]


# -- evaluations ----------------------------------------------------------------------------------


@router.post(
    "/v1/evaluate",
    openapi_extra=_SENDING,
    responses=describe(EvaluationReply) | describe(StartedReply, 202),
)
async def evaluate(
    request: Request,
    caller: Annotated[Caller, need("admin")],
    k: Annotated[list[Rank], Query(min_length=1, max_length=20)] = [*CUTS],  # noqa: B006 - not changed
    answers: bool = True,
    wait: Annotated[float, Query(ge=0, le=MOST_WAIT)] = WAIT,
) -> JSONResponse:
    """How well golden cases are found and answered: those that are sent, as JSON, as lines of JSON
    or as a file in a form, or else the library's own.

    A job does it. Where it ends within `wait` seconds the reply is what `ibid evaluate --json`
    tells, with the stages that lost what was not found in `causes`; else 202 with the job's id.
    """
    cases = await _read_sent(request)
    job = await run_sync(_put, request, caller, cases, {"k": sorted({*k}), "answers": answers})
    note(request, job=job.id, cases=job.total)
    ended = await _await_end(find_context(request).jobs, job, caller, wait)
    headers = {"Location": f"/v1/jobs/{job.id}"}
    if ended is None:
        return JSONResponse({"job_id": job.id}, 202, headers)
    if ended.error is not None:
        status = 503 if ended.error["type"].startswith(("Model", "Library")) else 422
        return JSONResponse({"error": ended.error}, status, headers)
    return JSONResponse({"job_id": job.id, **ended.report}, 200, headers)


@router.get("/v1/evaluate/{id}", responses=describe(QuestionsReply))
def list_questions(
    id: str,
    request: Request,
    caller: Annotated[Caller, need("admin")],
    most: Annotated[int, Query(ge=1, le=MOST_CASES)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> JSONResponse:
    """The questions of an evaluation by its job's id, the worst first: what was expected, what was
    found and answered, and the stage that lost it. They are kept until the service stops."""
    found = find_context(request).evaluations.find(id, caller)
    deepest = max(found.evaluation.cuts)
    runs = order_worst(found.evaluation.runs, deepest)
    shown = [
        {**shape_run(run, deepest), "cause": _shape_cause(found, run.case.id)}
        for run in runs[offset : offset + most]
    ]
    note(request, job=id)
    return JSONResponse({"questions": shown, "total": len(runs)})


@router.get(
    "/v1/evaluate/{id}/report.html",
    response_class=HTMLResponse,
    responses={200: {"content": {"text/html": {}}}},
)
def write_report(
    id: str, request: Request, caller: Annotated[Caller, need("admin")]
) -> HTMLResponse:
    """An evaluation as one page that needs nothing else, as `ibid evaluate --report` writes it."""
    context = find_context(request)
    found = context.evaluations.find(id, caller)
    status = context.library.status(caller.principals)
    facts = {
        "embedder": status.manifest.embedder,
        "chunking": status.manifest.chunking,
        "generator": context.library.generator.name,
    }
    note(request, job=id)
    return HTMLResponse(render_report(Report(found.evaluation, facts)))


async def _read_sent(request: Request) -> list[GoldenCase] | None:
    """The cases of a body; None where there is no body. Raises EvaluationError, BadQuery."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        async with request.form(max_files=1, max_fields=1) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadQuery("no file in the form", hint="send it in a field called file")
            return _read_lines(await file.read(), file.filename or "the file")
    body = await request.body()
    if not body:
        return None
    if kind == "application/json":
        sent = parse_body(EvaluateBody, body).cases
        return None if sent is None else read_cases(sent)
    if kind in LINES:
        return _read_lines(body, "the golden set")
    raise UnsupportedFormat(
        f"a body of type {kind or 'unknown'}", hint="send application/json or application/x-ndjson"
    )


def _read_lines(body: bytes, name: str) -> list[GoldenCase]:
    try:
        return parse_golden(body.decode("utf-8-sig").splitlines(), name)
    except UnicodeDecodeError as error:
        raise EvaluationError(f"{name} is not UTF-8: {error}", hint="save it as UTF-8") from error


def _put(
    request: Request, caller: Caller, cases: list[GoldenCase] | None, options: Mapping[str, Any]
) -> Job:
    """The job that evaluates. Raises EvaluationError for too many cases, AccessDenied for one that
    is asked by others than the caller."""
    if cases is not None:
        if len(cases) > MOST_CASES:
            raise EvaluationError(
                f"{len(cases):,} cases are more than {MOST_CASES:,}",
                hint="`ibid evaluate` takes any number",
            )
        for case in cases:
            make_query(case, caller.principals, caller.principals)
    work = {
        "cases": None if cases is None else [describe_case(case) for case in cases],
        "principals": sorted(caller.principals),
        **options,
    }
    return find_context(request).jobs.put(caller.name, "evaluate", work, len(cases or ()))


async def _await_end(jobs: Jobs, job: Job, caller: Caller, wait: float) -> Job | None:
    """The job once it has ended; None where that takes longer than `wait` seconds."""
    until = time.monotonic() + wait
    while time.monotonic() < until:
        found = await run_sync(jobs.find, job.id, caller.name)
        if found.state in ("done", "failed"):
            return found
        await sleep(LOOK_SECONDS)
    return None


def _shape_cause(found: Evaluated, id: str) -> Shape | None:
    cause = found.causes.get(id)
    return None if cause is None else {"stage": cause.stage, "advice": cause.advice}


# -- one question ---------------------------------------------------------------------------------


@router.post("/v1/diagnose", responses=describe(DiagnosisReply))
def diagnose(
    body: DiagnoseBody, request: Request, caller: Annotated[Caller, need("ask")]
) -> JSONResponse:
    """The stages that a text passes on the way of a question, up to the one that lost it, and what
    would change that. Nothing is kept."""
    found = find_context(request).library.diagnose(principals=caller.principals, **dict(body))
    note(request, question=body.question)
    return JSONResponse(shape_diagnosis(found))


@router.post("/v1/answers/{id}/golden", status_code=201, responses=describe(GoldenReply, 201))
def add_golden(
    id: str, body: GoldenBody, request: Request, caller: Annotated[Caller, need("ask")]
) -> JSONResponse:
    """Make a golden case of an answer and keep it in the library's own set.

    Without the scope admin it is a draft, which counts when `ibid golden accept` lets it.
    """
    expected = Expected(
        contains=_list_texts(body.contains),
        documents=_list_texts(body.document_id),
        unanswerable=body.unanswerable,
        answers=_list_texts(body.answer),
    )
    library = find_context(request).library
    draft = "admin" not in caller.scopes
    case = library.add_golden(id, expected, caller.principals, draft=draft)
    note(request, answer=id, case=case.id)
    return JSONResponse({"case": shape_cases([case])[0]}, 201)


def _list_texts(texts: str | list[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)
