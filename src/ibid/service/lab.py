"""The route of the lab: documents cut and searched in the open, as its controls say."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ibid.chunking.options import By
from ibid.flows.lab import LabOptions, LabRetriever
from ibid.ranking.synonyms import parse_synonyms
from ibid.service.access import need
from ibid.service.asking import note
from ibid.service.bodies import MOST_CHARACTERS, Question
from ibid.service.callers import Caller
from ibid.service.context import find_context
from ibid.service.replies import describe
from ibid.service.replies.questions import LabReply
from ibid.shapes.inspection import shape_lab

router = APIRouter(tags=["questions"])

LEAST, MOST = 8, 100_000
"""What a chunk may have, in what it is cut by: smaller ones are too many to be compared."""

Text = Annotated[str, StringConstraints(max_length=MOST_CHARACTERS)]


class LabBody(BaseModel):
    """A question, the evidence that a chunk should hold, and the controls.

    `synonyms` are lines as in a file of them, by which the question is also searched.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"question": "How long is parental leave?", "evidence": "18 weeks"}
        },
    )

    question: Question
    evidence: Text = ""
    filter: Text | None = None
    unit: By = "words"
    size: Annotated[int, Field(ge=LEAST, le=MOST)] = 20
    overlap: Annotated[int, Field(ge=0, le=MOST)] = 5
    k: Annotated[int, Field(ge=1, le=100)] = 3
    retriever: LabRetriever = "tfidf"
    rerank: bool = False
    synonyms: Text = ""


@router.post("/v1/lab", responses=describe(LabReply))
def run_lab(
    body: LabBody, request: Request, caller: Annotated[Caller, need("search")]
) -> JSONResponse:
    """The chunks that the controls make of the documents that the caller sees, and what is found
    among them. Nothing is kept."""
    controls = body.model_dump(exclude={"question", "evidence", "filter", "synonyms"})
    words = parse_synonyms(body.synonyms, "synonyms").entries
    library = find_context(request).library
    lab = library.open_lab(caller.principals, filter=body.filter, synonyms=words)
    result = lab.run(body.question, body.evidence, LabOptions(**controls, expand=bool(words)))
    note(request, documents=[document.id for document in lab.documents], question=body.question)
    return JSONResponse(shape_lab(result))
