"""The shapes of what a library holds: documents, passages, sources, and reports of writing."""

from __future__ import annotations

from collections.abc import Iterable

from ibid.protocols import SourceInfo
from ibid.records import Block, Box, Document, DocumentInfo, IngestReport, Passage
from ibid.shapes.plain import Shape, shape_time


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
        "incomplete": [{"id": one.id, "reason": one.reason} for one in report.incomplete],
        "passages": {
            "added": report.passages.added,
            "removed": report.passages.removed,
            "embedded": report.passages.embedded,
            "truncated": report.passages.truncated,
        },
        "context_tokens": report.context_tokens,
        "seconds": dict(report.seconds),
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
