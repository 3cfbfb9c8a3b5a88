"""Replies to a search and to a question."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ibid.records import AnswerStatus, SearchMode, Verdict
from ibid.service.replies.model import Reply

Milliseconds = Annotated[dict[str, float], Field(description="Milliseconds by stage.")]
Moment = Annotated[str, Field(description="A time in UTC, as RFC 3339 writes it.")]


class Given(Reply):
    """What one retriever gave a hit; the shares sum to its fused score."""

    rank: int
    score: float
    share: float


class Move(Reply):
    """What a stage after fusion made of a hit's rank."""

    stage: str
    before: int
    after: int
    score: float
    raw: float


class Step(Reply):
    """A step on the way of a question."""

    stage: str
    detail: str
    data: dict[str, Any]


class Place(Reply):
    """A passage, and where it stands: `start` and `end` count characters of the document's text."""

    library: str | None = None
    document_id: str
    passage_id: str
    title: str | None
    headings: list[str]
    lead: str
    page: int | None
    place: str | None
    start: int
    end: int
    text: str
    modified_at: Moment | None


class FoundPassage(Place):
    """A hit of a search."""

    rank: int
    score: float
    source: str | None
    metadata: dict[str, Any]
    contributions: dict[str, Given]
    fused_score: float | None = None
    moves: list[Move] | None = None


class SearchReply(Reply):
    """What was found, best first; `trace` is there where it was asked to explain."""

    query: str
    version: int
    mode: SearchMode
    hits: list[FoundPassage]
    timings_ms: Milliseconds
    warnings: list[str]
    versions: dict[str, int] | None = None
    trace: list[Step] | None = None


class SourcePassage(Place):
    """A passage that an answer is made from, by its number in the text."""

    number: int


class Span(Reply):
    """Characters of a text, the last one left out."""

    start: int
    end: int


class CheckedCitation(Reply):
    """A claim of the answer and what it cites: `quote` is `text[start:end]` of the document."""

    marker: int | None
    claim: Span
    document_id: str | None
    passage_id: str | None
    title: str | None
    headings: list[str]
    page: int | None
    place: str | None
    start: int | None
    end: int | None
    quote: str | None
    verdict: Verdict
    reason: str | None
    url: str | None
    modified_at: Moment | None


class Asked(Reply):
    """What was asked for beside the question."""

    filter: str | None
    principals: list[str]
    mode: SearchMode
    k: int
    history: list[str]
    whole: bool


class Near(Reply):
    """A document that comes near a question that was not answered."""

    document_id: str
    title: str | None


class AnswerReply(Reply):
    """An answer, every sentence cited and checked, or an abstention."""

    answer_id: str
    question: str
    standalone: str | None
    status: AnswerStatus
    text: str
    citations: list[CheckedCitation]
    sources: list[SourcePassage]
    request: Asked
    version: int
    embedder: str
    generator: str
    settings_hash: str
    prompt_hash: str
    warnings: list[str]
    timings_ms: Milliseconds
    tokens: dict[str, int]
    nearest: list[Near]
    trace: list[Step] | None = None


class LabHit(Reply):
    """A chunk that the lab found; `before` is its rank before reranking."""

    rank: int
    score: float
    before: int
    chunk: int
    document_id: str
    evidence: bool


class LabChunk(Reply):
    """A chunk that the controls of the lab made."""

    number: int
    document_id: str
    start: int
    end: int
    text: str
    evidence: bool


class LabReply(Reply):
    """What the controls of the lab made of the documents, and what is found among that."""

    question: str
    evidence: str
    controls: dict[str, Any]
    terms: list[str]
    evidence_rank: int | None
    split: bool
    hits: list[LabHit]
    chunks: list[LabChunk]


Rating = Literal["good", "bad"]
