"""Small libraries for trying an index: documents, changes and searches in one line each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import numpy as np

from ibid.protocols import (
    Change,
    Index,
    IndexedPassage,
    Manifest,
    PutDocument,
    Scope,
    Scored,
    Snapshot,
)
from ibid.records import JSON, OWNER, Document, Passage
from ibid.testing.embedders import HashingEmbedder

if TYPE_CHECKING:
    from datetime import datetime

    from ibid.protocols import Vectors

EMBEDDER: Final = HashingEmbedder(dimension=64)
MANIFEST: Final = Manifest(EMBEDDER.name, "", EMBEDDER.dimension, "words", "given")
PUBLIC: Final = Scope()
ALL: Final = Scope(principals=OWNER, include_archived=True)


class Traits(TypedDict, total=False):
    """What a document may have beside its text."""

    allow: frozenset[str] | None
    tags: Mapping[str, JSON]
    archived: bool
    title: str | None
    modified_at: datetime | None


def analyze_words(text: str, language: str | None = None) -> str:
    """The terms of a text: its words in lower case, joined by spaces."""
    return " ".join(text.lower().split())


def hash_text(text: str) -> bytes:
    """The key under which the vector of a text is kept."""
    return hashlib.sha256(text.encode()).digest()


def make_document(id: str, *texts: str, **traits: Unpack[Traits]) -> Document:
    """A document with these texts as its paragraphs."""
    return Document(id=id, text="\n\n".join(texts), **traits)


def put(id: str, *texts: str, **traits: Unpack[Traits]) -> PutDocument:
    """Write a document over any with its id, each of its texts one passage."""
    return put_document(make_document(id, *texts, **traits))


def put_document(
    document: Document,
    *,
    create: bool = False,
    source: str | None = None,
    language: str | None = None,
) -> PutDocument:
    """Write a document, each of its paragraphs one passage."""
    passages, start = [], 0
    for ordinal, text in enumerate(document.text.split("\n\n")):
        id = f"{document.id}#{ordinal}"
        passage = Passage(id, document.id, ordinal, start, start + len(text), text)
        passages.append(IndexedPassage(passage, analyze_words(text), hash_text(text)))
        start += len(text) + 2
    return PutDocument(
        document=document,
        content_hash=hash_text(document.text).hex(),
        passages=passages,
        language=language,
        source=source,
        create=create,
    )


def commit(index: Index, *changes: Change, turned: Mapping[str, float] | None = None) -> int:
    """The version that these changes made.

    The text of a passage gives its vector, or the angle in degrees that `turned` has for it.
    """
    texts = [
        indexed.passage.text
        for change in changes
        if isinstance(change, PutDocument)
        for indexed in change.passages
    ]
    vectors = dict(zip(map(hash_text, texts), EMBEDDER.embed(texts, kind="passage"), strict=True))
    vectors |= {hash_text(text): turn(degrees) for text, degrees in (turned or {}).items()}
    return index.commit(changes, vectors, manifest=MANIFEST)


def turn(degrees: float) -> Vectors:
    """A unit vector at this angle from the first axis: the cosine of two is that between them."""
    vector = np.zeros(EMBEDDER.dimension, dtype=np.float32)
    vector[:2] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return vector


def read_texts(snapshot: Snapshot, found: Sequence[Scored]) -> list[str]:
    """The texts of what was found, in its order."""
    passages = snapshot.passages([scored.row for scored in found])
    return [passages[scored.row][0].text for scored in found]


def find_lexical(snapshot: Snapshot, terms: str, k: int = 10, scope: Scope = PUBLIC) -> list[str]:
    """The texts that a keyword search finds, best first."""
    return read_texts(snapshot, snapshot.search_lexical(terms, k, scope))


def find_dense(
    snapshot: Snapshot, query: str | Vectors, k: int = 10, scope: Scope = PUBLIC
) -> list[str]:
    """The texts that a vector search finds for a text or a vector, best first."""
    vector = EMBEDDER.embed([query], kind="query")[0] if isinstance(query, str) else query
    return read_texts(snapshot, snapshot.search_dense(vector, k, scope))


def find_both(snapshot: Snapshot, text: str, scope: Scope = PUBLIC) -> set[str]:
    """The texts that either search finds, of all that there are."""
    lexical = find_lexical(snapshot, analyze_words(text), 1000, scope)
    return {*lexical, *find_dense(snapshot, text, 1000, scope)}


def list_ids(snapshot: Snapshot, scope: Scope = PUBLIC) -> list[str]:
    """The ids of the documents in a scope, in the order of insertion."""
    return [info.id for info in snapshot.documents(scope)]
