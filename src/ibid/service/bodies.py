"""The bodies that requests bring, each with its limits and an example."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from ibid.records import AskContext, SearchMode

MOST_CHARACTERS: Final = 20_000
"""Characters of a question."""

MOST_CASES: Final = 2000
"""Golden cases of one evaluation; more are for the command line."""

Question = Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS)]
Version = Annotated[int, Field(ge=0, le=2**63 - 1)]


Body = TypeVar("Body", bound=BaseModel)


def parse_body(kind: type[Body], body: bytes) -> Body:
    """A body of JSON that a route reads itself. Raises RequestValidationError."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Searching(_Body):
    mode: SearchMode | None = None
    filter: Annotated[str, StringConstraints(max_length=MOST_CHARACTERS)] | None = None
    rerank: Annotated[str, StringConstraints(max_length=200)] | None = None
    version: Version | None = None
    include_archived: bool = False
    explain: bool = False


class SearchBody(_Searching):
    """A search."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"query": "parental leave", "k": 5}}
    )

    query: Question
    k: Annotated[int, Field(ge=1, le=1000)] | None = None
    min_score: Annotated[float, Field(allow_inf_nan=False)] | None = None


class AskBody(_Searching):
    """A question; `history` holds the questions and answers before, in turns."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"question": "How long is parental leave?"}}
    )

    question: Question
    k: Annotated[int, Field(ge=1, le=100)] | None = None
    strict: bool | None = None
    context: AskContext | None = None
    history: Annotated[
        list[Annotated[str, StringConstraints(max_length=100_000)]], Field(max_length=100)
    ] = []
    log: bool | None = None


Principal = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Values = dict[str, Any]


class SaidBody(_Body):
    """What is said of a document; `allow` null makes it public."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"archived": True, "tags": {"department": "hr"}}},
    )

    allow: Annotated[list[Principal], Field(max_length=1000)] | None = None
    tags: dict[str, str | int | float | bool | None] = {}
    archived: bool | None = None


class DocumentBody(SaidBody):
    """A document whose text is given."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"title": "Visitors", "text": "Visitors sign in."}},
    )

    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000_000)]
    title: Annotated[str, StringConstraints(max_length=2000)] | None = None
    media_type: Literal["text/plain", "text/markdown"] = "text/plain"


class FeedbackBody(_Body):
    """What is thought of an answer."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"rating": "good"}})

    rating: Literal["good", "bad"]
    comment: Annotated[str, StringConstraints(max_length=MOST_CHARACTERS)] = ""


Text = Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS)]
Texts = Text | Annotated[list[Text], Field(max_length=100)]
"""One text, or several."""


class GoldenBody(_Body):
    """What should have been found or answered; all left out, what the answer rests on."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"contains": "18 weeks of fully paid"}}
    )

    contains: Texts = []
    document_id: Texts = []
    unanswerable: bool = False
    answer: Texts = []


class EvaluateBody(_Body):
    """Golden cases; null for the library's own set."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"cases": [{"question": "What does a hotel night cost?", "contains": "140"}]}
        },
    )

    cases: Annotated[list[dict[str, Any]], Field(max_length=MOST_CASES)] | None = None


class DiagnoseBody(_Body):
    """A question, and the words or the document that it should have found."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"question": "How long is leave?", "text": "18 weeks"}},
    )

    question: Question
    text: Text | None = None
    document_id: Annotated[str, StringConstraints(min_length=1, max_length=1000)] | None = None
    filter: Annotated[str, StringConstraints(max_length=MOST_CHARACTERS)] | None = None
    include_archived: bool = False
    version: Version | None = None


# -- chat clients, whose other fields are ignored -------------------------------------------------


class ChatPart(BaseModel):
    """A part of a message; only text is read."""

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """A message of a chat."""

    role: Annotated[str, StringConstraints(max_length=50)]
    content: str | list[ChatPart] | None = None

    def read_text(self) -> str:
        """What it says."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text or "" for part in self.content if part.type == "text")


class StreamOptions(BaseModel):
    """Whether the last chunk counts tokens."""

    include_usage: bool | None = None


class ChatBody(BaseModel):
    """A chat to go on with."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "model": "ibid",
                "messages": [{"role": "user", "content": "How long is parental leave?"}],
            }
        }
    )

    model: Annotated[str, StringConstraints(max_length=200)]
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=1000)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None


class EmbeddingsBody(BaseModel):
    """Texts to embed."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"model": "ibid", "input": ["parental leave"]}}
    )

    model: Annotated[str, StringConstraints(max_length=200)]
    input: Question | Annotated[list[Question], Field(min_length=1, max_length=256)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1, le=100_000)] | None = None
