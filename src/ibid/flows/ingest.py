"""The way of documents handed over one by one, not found by a sync: one version for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import quote

from ibid.errors import DuplicateDocument, UnknownDocument
from ibid.flows.batch import Batch
from ibid.flows.options import EVERYTHING, IngestOptions
from ibid.flows.prepare import clean_document
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.tally import Tally
from ibid.protocols import (
    Embedder,
    Index,
    RemoveDocument,
    SetMetadata,
    Snapshot,
    StoredDocument,
)
from ibid.records import JSON, Document, IngestReport
from ibid.sources.layers import apply_overrides, layer_metadata, merge_overrides
from ibid.sources.rules import RuleSet


def write_documents(
    documents: Iterable[Document],
    *,
    index: Index,
    embedder: Embedder,
    options: IngestOptions,
    create: bool,
    flags: Mapping[str, JSON] | None = None,
) -> IngestReport:
    """Write all documents as one version, or nothing; with `create`, only ones that don't exist.

    `flags` is what this call says of every document, kept for later updates.
    Raises DuplicateDocument, EmptyDocument, and what the embedder raises.
    """
    watch, tally = Stopwatch(), Tally()
    with watch.timing("total"), index.writing():
        cleaned = [clean_document(document) for document in documents]
        snapshot = index.snapshot()
        stored = find_stored(snapshot, [document.id for document in cleaned])
        refuse_repeated(document.id for document in cleaned)
        if create and stored:
            raise DuplicateDocument(
                f"{enumerate_ids(stored)} in the library already",
                hint="nothing was changed; to overwrite on purpose, use update",
            )
        batch = Batch(index=index, embedder=embedder, options=options, tally=tally, watch=watch)
        for document in cleaned:
            known = stored.get(document.id)
            layered, overrides = layer_over(document, known, flags or {})
            batch.write(
                layered, known, overrides=overrides, create=create, opens="allow" in (flags or {})
            )
        batch.commit()
    return tally.report(index.snapshot().version, watch.seconds)


def remove_documents(ids: Sequence[str], *, index: Index, purge: bool = False) -> IngestReport:
    """Hide documents from now on, or with `purge` erase them from every version; attachments too.

    Raises UnknownDocument, with nothing changed, for an id that isn't there.
    """
    watch, tally = Stopwatch(), Tally()
    with watch.timing("total"), index.writing():
        ids = include_attachments(ids, index.snapshot())
        stored = find_stored(index.snapshot(), ids)
        if not purge and (missing := [id for id in ids if id not in stored]):
            raise UnknownDocument(
                f"no document {', '.join(map(repr, missing))}",
                hint="nothing was changed; `ibid list` shows the ids",
            )
        with watch.timing("writing"):
            if purge:
                index.purge(ids)
            else:
                index.commit([RemoveDocument(id) for id in ids], {})
        tally.removed.extend(ids)
        tally.count(removed=sum(document.info.passages for document in stored.values()))
    return tally.report(index.snapshot().version, watch.seconds)


def set_metadata(ids: Sequence[str], said: Mapping[str, JSON], *, index: Index) -> IngestReport:
    """Set what is said of documents, any of allow, tags, archived and title; nothing is embedded.

    Raises UnknownDocument or BadSetting, with nothing changed.
    """
    watch, tally = Stopwatch(), Tally()
    with watch.timing("total"), index.writing():
        snapshot = index.snapshot()
        changes = []
        for id in include_attachments(ids, snapshot):
            stored = snapshot.document(id, EVERYTHING)
            document = apply_overrides(stored.document, said)
            overrides = merge_overrides(stored.overrides, said)
            if document == stored.document and overrides == stored.overrides:
                tally.unchanged += 1
            else:
                changes.append(SetMetadata(id, document, overrides))
                tally.metadata_changed.append(id)
        with watch.timing("writing"):
            index.commit(changes, {})
    return tally.report(index.snapshot().version, watch.seconds)


def layer_over(
    document: Document,
    stored: StoredDocument | None,
    flags: Mapping[str, JSON],
    *,
    rules: RuleSet | None = None,
    inherited: frozenset[str] | None = None,
) -> tuple[Document, dict[str, JSON]]:
    """The document with what rules say, what was set before and what flags say now; what to keep
    of the last two.

    A new document of which nothing is said is for those who are `inherited`; None: for everyone.
    """
    kept = stored.overrides if stored is not None else {}
    allow = stored.info.allow if stored is not None else inherited
    layered = layer_metadata(document, rules, kept=kept, flags=flags, previous_allow=allow)
    return layered, merge_overrides(kept, flags)


def include_attachments(ids: Sequence[str], snapshot: Snapshot) -> list[str]:
    """The ids, each once, and those of the documents that came inside one of them."""
    found = dict.fromkeys(ids)
    for info in snapshot.documents(EVERYTHING):
        container, _, attached = (info.source or "").partition("#")
        if attached and any(
            info.id.startswith(f"{id}/") and container.endswith(quote(id.rpartition("/")[2]))
            for id in ids
        ):
            found[info.id] = None
    return list(found)


def find_stored(snapshot: Snapshot, ids: Iterable[str]) -> dict[str, StoredDocument]:
    """What the library holds under these ids; one that it doesn't hold is absent."""
    found = {}
    for id in ids:
        with suppress(UnknownDocument):
            found[id] = snapshot.document(id, EVERYTHING)
    return found


def refuse_repeated(ids: Iterable[str]) -> None:
    """Raise DuplicateDocument for an id that stands more than once in one call."""
    counts = Counter(ids)
    if repeated := [id for id, count in counts.items() if count > 1]:
        raise DuplicateDocument(
            f"{enumerate_ids(repeated)} more than once in one call", hint="nothing was changed"
        )


def enumerate_ids(ids: Iterable[str], most: int = 5) -> str:
    """The first few ids with the number of the others."""
    names = [repr(id) for id in ids]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
