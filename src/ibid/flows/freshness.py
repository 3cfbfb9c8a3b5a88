"""Freshness of an answer: when what it cites was written, and whether that has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ibid.protocols import FileOrigin, Index
from ibid.records import Citation, Hit


def date_citations(citations: Iterable[Citation], sources: Iterable[Hit]) -> tuple[Citation, ...]:
    """The citations, each with the time of its document as it was read."""
    times = {(hit.library, hit.document_id): hit.document.modified_at for hit in sources}
    return tuple(
        replace(citation, modified_at=times.get((citation.library, citation.document_id)))
        if citation.document_id is not None
        else citation
        for citation in citations
    )


def list_changed(citations: Sequence[Citation], index: Index) -> tuple[str, ...]:
    """A warning for each cited document whose file was changed or removed after it was read.

    Only files of synced folders on this machine are looked at, each once and by size and time
    alone; nothing is read. A folder that is not there, such as an unmounted drive, says nothing.
    """
    ids = dict.fromkeys(c.document_id for c in citations if c.document_id is not None)
    if not ids:
        return ()
    origins = index.answers.find_origins(list(ids))
    told = ((id, _tell_change(origin)) for id, origin in origins.items())
    return tuple(f"{id} {change}" for id, change in told if change)


def _tell_change(origin: FileOrigin) -> str:
    url = urlsplit(origin.location)
    if url.scheme != "file":
        return ""
    folder = Path(unquote(url.path))
    try:
        found = (folder / origin.path).stat()
    except OSError:
        changed = "is gone from its folder" if folder.is_dir() else ""
    else:
        same = (found.st_size, found.st_mtime_ns) == (origin.stat.size, origin.stat.modified_ns)
        changed = "" if same else "was changed after it was read"
    return changed and f"{changed}: run `ibid sync {folder}`"
