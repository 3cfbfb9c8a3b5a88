"""From a document to what an index takes: its passages, their terms, and vectors for new texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from blake3 import blake3

from ibid.chunking.chunk import chunk
from ibid.chunking.options import Chunking
from ibid.embedding.vectors import count_truncated
from ibid.errors import EmptyDocument
from ibid.flows.contextual import CONTEXT_PIECES
from ibid.language.analyzer import analyze
from ibid.language.detection import choose_document_language
from ibid.plain import pack_blocks
from ibid.protocols import Embedder, Index, IndexedPassage, PutDocument
from ibid.reading.text import find_blocks
from ibid.records import Document, Passage

if TYPE_CHECKING:
    from ibid.protocols import Vectors

HASH_BYTES: Final = 16
"""Length of a text's hash: 128 bits, at which no two texts of any library are taken for one."""

LANGUAGE_SAMPLE: Final = 2_000
"""Characters of a document from which its language is told."""

Contextualize: TypeAlias = Callable[[Document, Sequence[Passage]], list[Passage]]
"""Gives the passages of a document their contexts."""

_UNSTORABLE: Final = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
"""NUL and lone surrogates can't be stored as text: one replacement character for each."""


def clean_document(document: Document) -> Document:
    """The document as it is kept: line feeds only, nothing that can't be stored, blocks found.

    Blocks given with a text that had to be changed would point elsewhere, so they are found anew.
    Raises EmptyDocument for one without an id or without any text.
    """
    text = document.text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    text = text.translate(_UNSTORABLE)
    if not document.id.strip():
        raise EmptyDocument("a document needs an id that is not blank", hint="give it one")
    if not text.strip():
        raise EmptyDocument(
            f"document {document.id!r} has no text", hint="leave it out, or give it its text"
        )
    if text == document.text and document.blocks:
        return document
    return replace(document, text=text, blocks=find_blocks(text))


def hash_content(document: Document, recipe: str) -> str:
    """A hash of all that a document's passages depend on: title, text, blocks and recipe.

    Where a block lies in the file's lines is left out: it moves with every line put above it.
    """
    blocks = json.dumps(pack_blocks(replace(block, lines=None) for block in document.blocks))
    parts = (document.title or "", document.text, blocks, recipe)
    return blake3("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest(HASH_BYTES)


def put_document(
    document: Document,
    *,
    content_hash: str,
    chunking: Chunking,
    embedder: Embedder,
    languages: Mapping[str, int],
    contextualize: Contextualize | None = None,
) -> PutDocument:
    """The change that writes a cleaned document, cut into passages and analysed.

    `languages` counts the library's documents by language, for one whose own isn't sure.
    `contextualize` gives each passage its context, for which the chunker leaves room.
    """
    language = choose_document_language(document.text[:LANGUAGE_SAMPLE], languages)
    passages = chunk(
        document,
        chunking,
        tokenizer=embedder.tokenizer,
        content_hash=content_hash,
        max_tokens=_leave_room(embedder.max_tokens) if contextualize else embedder.max_tokens,
        language=language,
    )
    if contextualize is not None:
        passages = contextualize(document, passages)
    return PutDocument(
        document=document,
        content_hash=content_hash,
        passages=[_index_passage(passage, language) for passage in passages],
        language=language,
    )


def _leave_room(max_tokens: int | None) -> int | None:
    return None if max_tokens is None else max_tokens - CONTEXT_PIECES


def analyze_passage(text: str, language: str | None) -> str:
    """The terms of an indexed text, joined by spaces."""
    return " ".join(analyze(text, language))


def _index_passage(passage: Passage, language: str | None) -> IndexedPassage:
    text = passage.indexed_text
    text_hash = blake3(text.encode()).digest(HASH_BYTES)
    return IndexedPassage(passage, analyze_passage(text, language), text_hash)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors by text hash; how many texts were embedded for them, and how many were too long."""

    vectors: Mapping[bytes, Vectors]
    embedded: int
    truncated: int


def embed_passages(puts: Sequence[PutDocument], *, index: Index, embedder: Embedder) -> Embedded:
    """A vector for every passage; a text that the library holds a vector of is not embedded."""
    texts = {
        indexed.text_hash: indexed.passage.indexed_text for put in puts for indexed in put.passages
    }
    vectors = index.find_vectors(list(texts))
    missing = [text_hash for text_hash in texts if text_hash not in vectors]
    if not missing:
        return Embedded(vectors, 0, 0)
    new = embedder.embed([texts[text_hash] for text_hash in missing], kind="passage")
    vectors |= dict(zip(missing, new, strict=True))
    too_long = count_truncated(embedder, [texts[text_hash] for text_hash in missing])
    return Embedded(vectors, len(missing), too_long)
