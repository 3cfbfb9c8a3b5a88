"""The past of a library as its readers ask for it: what a document was, what versions differ in."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from ibid.errors import UnknownDocument
from ibid.protocols import Index, Revision, Scope
from ibid.records import Moved


@dataclass(frozen=True, slots=True)
class Difference:
    """How one version's documents became another's, by id, in the order of insertion."""

    old: int
    new: int
    added: tuple[str, ...]
    updated: tuple[str, ...]
    metadata_changed: tuple[str, ...]
    moved: tuple[Moved, ...]
    removed: tuple[str, ...]


def compare_versions(old: int, new: int, *, index: Index, scope: Scope) -> Difference:
    """What differs between two versions, as far as the caller sees it.

    A document that was removed and came back under its id counts as updated. Raises BadQuery for a
    version that isn't held.
    """
    before = {one.identity: one for one in index.snapshot(old).revisions(scope)}
    after = {one.identity: one for one in index.snapshot(new).revisions(scope)}
    gone = {one.info.id: one for identity, one in before.items() if identity not in after}
    kept = [(before[identity], one) for identity, one in after.items() if identity in before]
    came = [one.info.id for identity, one in after.items() if identity not in before]
    replaced = [id for id in came if id in gone]
    edited = [now.info.id for then, now in kept if then.content_hash != now.content_hash]
    return Difference(
        old=old,
        new=new,
        added=tuple(id for id in came if id not in gone),
        updated=(*edited, *replaced),
        metadata_changed=tuple(
            now.info.id for then, now in kept if _describe(then) != _describe(now)
        ),
        moved=tuple(
            Moved(then.info.id, now.info.id) for then, now in kept if then.info.id != now.info.id
        ),
        removed=tuple(id for id in gone if id not in set(came)),
    )


def _describe(revision: Revision) -> tuple[object, ...]:
    """What is said of a document beside its text and id; access is the same at all versions."""
    info = revision.info
    return info.title, info.tags, info.metadata, info.archived


def compare_texts(id: str, old: int, new: int, *, index: Index, scope: Scope) -> list[str]:
    """The lines of a unified diff of one document's text; none where nothing differs.

    A version that doesn't hold it counts as an empty text. Raises UnknownDocument when neither
    does, BadQuery for a version that isn't held.
    """
    texts: Mapping[int, str] = {
        version: text
        for version in (old, new)
        if (text := _read_text(id, version, index, scope)) is not None
    }
    if not texts:
        raise UnknownDocument(
            f"neither version {old} nor {new} holds {id!r}", hint="`ibid history ID` tells which do"
        )
    return list(
        difflib.unified_diff(
            texts.get(old, "").splitlines(),
            texts.get(new, "").splitlines(),
            f"{id} at version {old}",
            f"{id} at version {new}",
            lineterm="",
        )
    )


def _read_text(id: str, version: int, index: Index, scope: Scope) -> str | None:
    with suppress(UnknownDocument):
        return index.snapshot(version).document(id, scope).document.text
    return None
