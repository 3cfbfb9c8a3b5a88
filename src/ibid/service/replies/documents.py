"""Replies that tell of documents, sources and jobs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ibid.records import BlockKind
from ibid.service.jobs import Kind
from ibid.service.replies.model import Reply
from ibid.service.replies.questions import Moment


class OnPage(Reply):
    """A rectangle on a page, in points from its top left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


class _Described(Reply):
    """What is known of a document; `allow` null is public."""

    id: str
    title: str | None
    source: str | None
    media_type: str
    version: int
    modified_at: Moment | None
    archived: bool
    allow: list[str] | None
    tags: dict[str, Any]
    metadata: dict[str, Any]
    characters: int


class ListedDocument(_Described):
    """A document as it is listed."""

    passages: int


class DocumentsReply(Reply):
    """Some of the documents, and how many there are."""

    documents: list[ListedDocument]
    total: int


class ShownBlock(Reply):
    """A block of a document; the blocks tile its text."""

    kind: BlockKind
    level: int
    start: int
    end: int
    page: int | None
    place: str | None
    lines: list[int] | None
    boxes: list[OnPage]


class ShownPassage(Reply):
    """A passage of a document, and the text that is searched for it."""

    passage_id: str
    ordinal: int
    start: int
    end: int
    headings: list[str]
    lead: str
    page: int | None
    place: str | None
    rule: str
    text: str
    indexed_text: str


class DocumentReply(_Described):
    """A document, whole."""

    text: str
    blocks: list[ShownBlock]
    passages: list[ShownPassage]


class ListedSource(Reply):
    """A folder that was synced."""

    name: str
    location: str
    prefix: str
    documents: int
    synced_at: Moment | None


class SourcesReply(Reply):
    """The folders that were synced."""

    sources: list[ListedSource]


class MovedDocument(Reply):
    """A document whose file has moved."""

    old_id: str = Field(alias="from")
    new_id: str = Field(alias="to")


class Passed(Reply):
    """A file that is no document, or not read to its end, and why."""

    id: str
    reason: str


class Failed(Reply):
    """A file that can't be read, and why."""

    id: str
    error: str
    message: str


class PassageCounts(Reply):
    """What became of passages."""

    added: int
    removed: int
    embedded: int
    truncated: int


class ReportReply(Reply):
    """What a change did; `version` is the last one written."""

    version: int
    added: list[str]
    updated: list[str]
    metadata_changed: list[str]
    moved: list[MovedDocument]
    removed: list[str]
    unchanged: int
    skipped: list[Passed]
    failed: list[Failed]
    incomplete: list[Passed]
    passages: PassageCounts
    context_tokens: int
    seconds: dict[str, float]


class TakenReply(Reply):
    """The job that writes the documents, and their ids."""

    job_id: str
    ids: list[str]


class SyncingReply(Reply):
    """The job that syncs."""

    job_id: str


class Broken(Reply):
    """Why a job failed."""

    type: str
    message: str
    hint: str


class JobReply(Reply):
    """A job: `done` of `total` parts, and what they did so far, in the fields of a report."""

    job_id: str
    kind: Kind
    state: Literal["waiting", "running", "done", "failed"]
    done: int
    total: int
    created_at: Moment
    updated_at: Moment
    report: dict[str, Any]
    error: Broken | None


class JobsReply(Reply):
    """The caller's jobs, newest first."""

    jobs: list[JobReply]


class EmbedderReply(Reply):
    """What embeds passages."""

    name: str
    dimension: int


class CallerReply(Reply):
    """Who calls: what they see, what they may do, what begins the ids that they may write."""

    name: str
    principals: list[str]
    scopes: list[Literal["search", "ask", "ingest", "admin"]]
    prefix: str


class StatusReply(Reply):
    """What the library holds, as far as the caller sees it."""

    engine: str
    version: int
    documents: int
    passages: int
    embedder: EmbedderReply
    generator: str
    caller: CallerReply


class ReadyReply(Reply):
    """That it is so."""

    ok: Literal[True]
