"""What the jobs of documents do: write them part by part, sync a folder again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ibid.errors import UnknownDocument
from ibid.flows.prepare import clean_document
from ibid.library import Library
from ibid.records import OWNER, Document
from ibid.service.jobs import Advance, Job
from ibid.shapes import Shape, shape_report
from ibid.uploads import Uploads


def write_documents(library: Library, uploads: Uploads, job: Job, advance: Advance) -> None:
    """Write documents, one by one, from where it is. Raises what writing and `advance` do."""
    parts = job.work["parts"]
    for number in range(job.done, len(parts)):
        part = parts[number]
        report = _write(library, uploads, part, job)
        advance(number + 1, len(parts), report)


def _write(library: Library, uploads: Uploads, part: Mapping[str, Any], job: Job) -> Shape:
    """What writing one document did; one that an attempt before had created is found again."""
    id, said, overwrite = part["id"], job.work["said"], job.work["overwrite"]
    path = Path(part["path"]) if "path" in part else None
    if not overwrite and job.attempts and (version := _find_written(library, part)) is not None:
        report = {"version": version, "added": [id]}
    elif path is not None:
        written = library.add_files([path], id=id, overwrite=overwrite, flags=said, ruled=False)
        report = shape_report(written)
    else:
        write = library.update if overwrite else library.ingest
        report = shape_report(write(_make_document(part), flags=said))
    if not report.get("failed"):
        uploads.forget_others(id, path)
    return report


def _make_document(part: Mapping[str, Any]) -> Document:
    return Document(part["id"], part["text"], title=part["title"], media_type=part["media_type"])


def _find_written(library: Library, part: Mapping[str, Any]) -> int | None:
    """The version in which this very part was written; None where it was not."""
    try:
        found = library.describe(part["id"], OWNER)
        if "path" in part:
            same = found.source == Path(part["path"]).as_uri()
        else:
            stored = library.document(part["id"], OWNER)
            same = stored.text == clean_document(_make_document(part)).text
    except UnknownDocument:
        return None
    return found.version if same else None


def sync_folder(library: Library, job: Job, advance: Advance) -> None:
    """Sync a folder again, as it was first. Raises what syncing and `advance` do.

    How far it is comes in hundredths: a count of files would tell of those that are hidden.
    """
    seen = _list_seen(library, job)
    report = library.sync(
        job.work["location"],
        prefix=job.work["prefix"],
        on_progress=lambda now: advance(100 * now.done // max(now.total, 1), 100, None),
    )
    advance(100, 100, limit_report(shape_report(report), seen | _list_seen(library, job)))


def _list_seen(library: Library, job: Job) -> frozenset[str]:
    found = library.documents(frozenset(job.work["principals"]))
    return frozenset(info.id for info in found)


def limit_report(report: Shape, seen: frozenset[str]) -> Shape:
    """What a sync did with the documents that its caller saw before it, or sees now.

    What counts others too is left out.
    """
    limited: Shape = {"version": report["version"]}
    for name in ("added", "updated", "metadata_changed", "removed"):
        limited[name] = [id for id in report[name] if id in seen]
    limited["moved"] = [one for one in report["moved"] if {one["from"], one["to"]} <= seen]
    for name in ("skipped", "failed", "incomplete"):
        limited[name] = [one for one in report[name] if one["id"] in seen]
    return limited
