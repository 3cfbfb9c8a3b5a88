"""The routes of answers that were given: listed, read, opened at their places, asked again, rated.

A caller sees the answers that were asked by exactly the principals that they hold.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from ibid.service.access import need
from ibid.service.asking import note
from ibid.service.bodies import FeedbackBody
from ibid.service.callers import Caller
from ibid.service.context import find_context
from ibid.service.replies import describe
from ibid.service.replies.answers import (
    AnswersReply,
    KeptAnswerReply,
    PlacesReply,
    RatingReply,
    ReplayReply,
)
from ibid.shapes import shape_answer, shape_cited_place, shape_entry, shape_kept

router = APIRouter(tags=["answers"])


@router.get("/v1/answers", responses=describe(AnswersReply))
def list_answers(
    request: Request,
    caller: Annotated[Caller, need("ask")],
    most: Annotated[int, Query(ge=1, le=1000)] = 20,
    rated: Literal["good", "bad"] | None = None,
) -> JSONResponse:
    """The newest answers, newest first."""
    found = find_context(request).library.answers(caller.principals, most=most, rated=rated)
    return JSONResponse({"answers": [shape_entry(kept) for kept in found]})


@router.get("/v1/answers/{id}", responses=describe(KeptAnswerReply))
def show_answer(id: str, request: Request, caller: Annotated[Caller, need("ask")]) -> JSONResponse:
    """One answer as it was given, with the hits of its search and what was said of it."""
    kept = find_context(request).library.answer(id, caller.principals)
    note(request, answer=kept.answer.id)
    return JSONResponse(shape_kept(kept))


@router.get("/v1/answers/{id}/places", responses=describe(PlacesReply))
def show_places(
    id: str,
    request: Request,
    caller: Annotated[Caller, need("ask")],
    marker: Annotated[int | None, Query(ge=1, le=10**6)] = None,
) -> JSONResponse:
    """The places that an answer cites, with the text around them and their boxes on pages."""
    found = find_context(request).library.cited(id, marker, caller.principals)
    note(request, answer=id)
    return JSONResponse({"places": [shape_cited_place(place) for place in found]})


@router.post("/v1/answers/{id}/replay", responses=describe(ReplayReply))
def replay_answer(
    id: str, request: Request, caller: Annotated[Caller, need("ask")]
) -> JSONResponse:
    """The question answered again from what was kept, and whether that gave the same."""
    answer, identical = find_context(request).library.replay(id, caller.principals)
    note(request, answer=id)
    return JSONResponse({**shape_answer(answer), "identical": identical})


@router.post("/v1/answers/{id}/feedback", responses=describe(RatingReply))
def rate_answer(
    id: str, body: FeedbackBody, request: Request, caller: Annotated[Caller, need("ask")]
) -> JSONResponse:
    """Say whether an answer was good."""
    library = find_context(request).library
    library.feedback(id, body.rating, body.comment, caller.principals)
    note(request, answer=id, rating=body.rating)
    return JSONResponse({"answer_id": id, "rating": body.rating})
