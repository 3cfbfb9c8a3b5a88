"""The JSON of every face, from records: one function a shape, the same at each door.

The fields are a contract: more may come, none changes its name or meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ibid.errors import IbidError
from ibid.protocols import Problem, Revision, SourceInfo, Vacuumed
from ibid.records import (
    OWNER,
    Answer,
    Block,
    Box,
    Citation,
    CitedPlace,
    Document,
    DocumentInfo,
    Hit,
    IngestReport,
    KeptAnswer,
    Passage,
    Principals,
    SearchResult,
    TraceStep,
)

if TYPE_CHECKING:
    from ibid.flows.history import Difference
    from ibid.flows.reindex import Reindexed
    from ibid.flows.stale import StaleReport
    from ibid.flows.transfer import Transferred

SCHEMA_VERSION: Final = 1

Shape: TypeAlias = dict[str, Any]


def shape_report(report: IngestReport) -> Shape:
    """What a writing verb did."""
    return {
        "version": report.version,
        "added": list(report.added),
        "updated": list(report.updated),
        "metadata_changed": list(report.metadata_changed),
        "moved": [{"from": moved.old_id, "to": moved.new_id} for moved in report.moved],
        "removed": list(report.removed),
        "unchanged": report.unchanged,
        "skipped": [{"id": skipped.id, "reason": skipped.reason} for skipped in report.skipped],
        "failed": [
            {"id": failed.id, "error": failed.error, "message": failed.message}
            for failed in report.failed
        ],
        "passages": {
            "added": report.passages.added,
            "removed": report.passages.removed,
            "embedded": report.passages.embedded,
            "truncated": report.passages.truncated,
        },
        "context_tokens": report.context_tokens,
        "seconds": dict(report.seconds),
    }


def shape_result(result: SearchResult, *, explain: bool = False) -> Shape:
    """The hits of a search; with `explain`, each with its moves, and the steps beside them."""
    shape = {
        "query": result.query.text,
        "version": result.version,
        "mode": result.mode,
        "hits": [shape_hit(hit, explain=explain) for hit in result.hits],
        "timings_ms": dict(result.timings_ms),
        "warnings": list(result.warnings),
    }
    if result.versions:
        shape["versions"] = dict(result.versions)
    return {**shape, "trace": shape_trace(result.trace)} if explain else shape


def shape_trace(trace: Iterable[TraceStep]) -> list[Shape]:
    """The steps on the way of a question."""
    return [{"stage": step.stage, "detail": step.detail, "data": dict(step.data)} for step in trace]


def shape_hit(hit: Hit, *, explain: bool = False) -> Shape:
    """One hit with its place, its text and what each retriever gave it.

    With `explain`, also the score that fusion made of the shares, and each later move.
    """
    shape = _shape_found(hit)
    if explain:
        shape["fused_score"] = hit.fused_score
        shape["moves"] = [
            {
                "stage": move.stage,
                "before": move.before,
                "after": move.after,
                "score": move.score,
                "raw": move.raw,
            }
            for move in hit.moves
        ]
    return shape


def _shape_found(hit: Hit) -> Shape:
    return {
        "rank": hit.rank,
        "score": hit.score,
        **_shape_place(hit),
        "source": hit.document.source,
        "metadata": {**hit.document.metadata, **hit.document.tags},
        "modified_at": shape_time(hit.document.modified_at),
        "contributions": {
            name: {"rank": given.rank, "score": given.score, "share": given.share}
            for name, given in hit.contributions.items()
        },
    }


def _shape_place(hit: Hit) -> Shape:
    passage = hit.passage
    named = {} if hit.library is None else {"library": hit.library}
    return {
        **named,
        "document_id": hit.document_id,
        "passage_id": passage.id,
        "title": hit.document.title,
        "headings": list(passage.headings),
        "lead": passage.lead,
        "page": passage.page,
        "place": passage.place,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
    }


def shape_answer(answer: Answer, *, explain: bool = False) -> Shape:
    """An answer with its citations, its sources and all that it takes to repeat it.

    With `explain`, the steps that led to it are there too.
    """
    shape = _shape_proof(answer)
    return {**shape, "trace": shape_trace(answer.trace)} if explain else shape


def _shape_proof(answer: Answer) -> Shape:
    request = answer.request
    return {
        "answer_id": answer.id,
        "question": answer.question,
        "standalone": answer.standalone,
        "status": answer.status.value,
        "text": answer.text,
        "citations": [shape_citation(citation) for citation in answer.citations],
        "sources": [
            {
                "number": hit.rank,
                **_shape_place(hit),
                "modified_at": shape_time(hit.document.modified_at),
            }
            for hit in answer.sources
        ],
        "request": {
            "filter": request.filter,
            "principals": shape_principals(request.principals),
            "mode": request.mode,
            "k": request.k,
            "history": list(request.history),
            "whole": request.whole,
        },
        "version": answer.version,
        "embedder": answer.embedder,
        "generator": answer.generator,
        "settings_hash": answer.settings_hash,
        "prompt_hash": answer.prompt_hash,
        "warnings": list(answer.warnings),
        "timings_ms": dict(answer.timings_ms),
        "tokens": dict(answer.tokens),
        "nearest": [
            {"document_id": near.document_id, "title": near.title} for near in answer.nearest
        ],
    }


def shape_kept(kept: KeptAnswer) -> Shape:
    """An answer from the log: as it was given, with the hits of its search and what was said."""
    return {
        **shape_answer(kept.answer),
        "hits": [shape_hit(hit) for hit in kept.answer.found],
        **_shape_keeping(kept),
    }


def shape_entry(kept: KeptAnswer) -> Shape:
    """An answer as the log lists it."""
    answer = kept.answer
    return {
        "answer_id": answer.id,
        "question": answer.question,
        "status": answer.status.value,
        "text": answer.text,
        "documents": list(dict.fromkeys(c.document_id for c in answer.citations if c.document_id)),
        "principals": shape_principals(answer.request.principals),
        "version": answer.version,
        "generator": answer.generator,
        "settings_hash": answer.settings_hash,
        "prompt_hash": answer.prompt_hash,
        **_shape_keeping(kept),
    }


def _shape_keeping(kept: KeptAnswer) -> Shape:
    return {
        "asked_at": shape_time(kept.asked_at),
        "feedback": [
            {
                "rating": "good" if one.good else "bad",
                "comment": one.comment,
                "given_at": shape_time(one.given_at),
            }
            for one in kept.feedback
        ],
    }


def shape_cited_place(place: CitedPlace) -> Shape:
    """A cited place with the text around its quote."""
    citation = place.citation
    return {
        **shape_citation(citation),
        "quote": place.quote,
        "before": place.before,
        "after": place.after,
        "boxes": shape_boxes(place.boxes),
        "url": citation.url or place.source,
        "version": place.version,
    }


def shape_citation(citation: Citation) -> Shape:
    """One checked citation."""
    return {
        "marker": citation.marker,
        "claim": {"start": citation.claim.start, "end": citation.claim.end},
        "document_id": citation.document_id,
        "passage_id": citation.passage_id,
        "title": citation.title,
        "headings": list(citation.headings),
        "page": citation.page,
        "place": citation.place,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "verdict": citation.verdict.value,
        "reason": citation.reason,
        "url": citation.url,
        "modified_at": shape_time(citation.modified_at),
    }


def shape_info(info: DocumentInfo) -> Shape:
    """A document as it is listed."""
    return {
        "id": info.id,
        "title": info.title,
        "source": info.source,
        "media_type": info.media_type,
        "version": info.version,
        "modified_at": shape_time(info.modified_at),
        "archived": info.archived,
        "allow": None if info.allow is None else sorted(info.allow),
        "tags": dict(info.tags),
        "metadata": dict(info.metadata),
        "passages": info.passages,
        "characters": info.characters,
    }


def shape_document(document: Document) -> Shape:
    """A whole document that belongs to no library, as `convert` shows it."""
    return {
        "id": document.id,
        "title": document.title,
        "source": document.source,
        "media_type": document.media_type,
        "modified_at": shape_time(document.modified_at),
        "archived": document.archived,
        "allow": None if document.allow is None else sorted(document.allow),
        "tags": dict(document.tags),
        "metadata": dict(document.metadata),
        "text": document.text,
        "blocks": shape_blocks(document.blocks),
    }


def shape_blocks(blocks: Iterable[Block]) -> list[Shape]:
    """Blocks with their places in the text, in the file's lines, and on pages."""
    return [
        {
            "kind": block.kind.value,
            "level": block.level,
            "start": block.start,
            "end": block.end,
            "page": block.page,
            "place": block.place,
            "lines": list(block.lines) if block.lines else None,
            "boxes": shape_boxes(block.boxes),
        }
        for block in blocks
    ]


def shape_boxes(boxes: Iterable[Box]) -> list[Shape]:
    """Rectangles on pages, in points from the page's top left corner."""
    return [
        {
            "page": box.page,
            "left": box.left,
            "top": box.top,
            "right": box.right,
            "bottom": box.bottom,
        }
        for box in boxes
    ]


def shape_passages(passages: Iterable[Passage]) -> list[Shape]:
    """Passages with their places and the text that is embedded for them."""
    return [
        {
            "passage_id": passage.id,
            "ordinal": passage.ordinal,
            "start": passage.start,
            "end": passage.end,
            "headings": list(passage.headings),
            "lead": passage.lead,
            "page": passage.page,
            "place": passage.place,
            "rule": passage.rule,
            "text": passage.text,
            "indexed_text": passage.indexed_text,
        }
        for passage in passages
    ]


def shape_source(source: SourceInfo) -> Shape:
    """A recorded source."""
    return {
        "name": source.name,
        "location": source.location,
        "prefix": source.prefix,
        "documents": source.documents,
        "synced_at": shape_time(source.synced_at),
    }


def shape_error(error: IbidError) -> Shape:
    """An error with what to do next."""
    return {"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}}


def shape_principals(principals: Principals) -> list[str]:
    """The principals in order; the owner is `*`."""
    return [OWNER.value] if principals is OWNER else sorted(principals)


def shape_time(moment: datetime | None) -> str | None:
    """A time in UTC, as RFC 3339 writes it."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


# -- upkeep ---------------------------------------------------------------------------------------


def shape_revision(revision: Revision) -> Shape:
    """What a document was from a version on."""
    return {
        **shape_info(revision.info),
        "written_at": shape_time(revision.written_at),
        "removed_in": revision.removed_in,
        "content_hash": revision.content_hash,
    }


def shape_difference(difference: Difference) -> Shape:
    """What differs between two versions."""
    return {
        "old": difference.old,
        "new": difference.new,
        "added": list(difference.added),
        "updated": list(difference.updated),
        "metadata_changed": list(difference.metadata_changed),
        "moved": [{"from": moved.old_id, "to": moved.new_id} for moved in difference.moved],
        "removed": list(difference.removed),
    }


def shape_stale(report: StaleReport) -> Shape:
    """The documents to look at, and the groups that are alike."""
    return {
        "documents": [
            {**shape_info(one.info), "reasons": list(one.reasons)} for one in report.documents
        ],
        "groups": [list(group) for group in report.groups],
    }


def shape_outcome(outcome: Problem | Reindexed | Transferred | Vacuumed) -> Shape:
    """What upkeep did or found: the fields of its record."""
    return asdict(outcome)
