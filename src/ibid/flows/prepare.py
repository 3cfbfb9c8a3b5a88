"""From a document to what an index takes: its passages, their terms, and vectors for new texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from blake3 import blake3

from ibid.chunking.chunk import chunk
from ibid.chunking.options import Chunking
from ibid.embedding.vectors import count_truncated
from ibid.errors import EmptyDocument, InputError
from ibid.flows.contextual import CONTEXT_PIECES
from ibid.flows.hashing import HASH_BYTES, hash_text
from ibid.flows.options import check_allow
from ibid.index.graph import mention_entities
from ibid.language.analyzer import analyze, content_terms
from ibid.language.detection import choose_document_language
from ibid.protocols import Embedder, IndexedPassage, PutDocument
from ibid.reading.text import find_blocks
from ibid.records import JSON, Block, Blocks, Document, Passage

if TYPE_CHECKING:
    from ibid.protocols import Vectors

LANGUAGE_SAMPLE: Final = 2_000
"""Characters of a document from which its language is told."""

Contextualize: TypeAlias = Callable[[Document, Sequence[Passage]], list[Passage]]
"""Gives the passages of a document their contexts."""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
"""What would let an id look like another one, or like two, wherever it is printed."""

_UNSTORABLE: Final = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
"""NUL and lone surrogates can't be stored as text: one replacement character for each."""


def clean_document(document: Document) -> Document:
    """The document as it is kept: line feeds only, nothing that can't be stored, blocks found.

    Blocks given with a text that had to be changed would point elsewhere, so they are found anew.
    Raises EmptyDocument for one without an id or without any text, InputError for an id with
    control characters, for blocks that don't tile the text, for access that isn't a set of
    principals, and for what can't be kept as JSON.
    """
    text = document.text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    text = text.translate(_UNSTORABLE)
    if not document.id.strip():
        raise EmptyDocument("a document needs an id that is not blank", hint="give it one")
    if _CONTROL.search(document.id):
        raise InputError(
            f"the id {document.id!r} holds a line end or another control character",
            hint="give it one that can be printed",
        )
    if not text.strip():
        raise EmptyDocument(
            f"document {document.id!r} has no text", hint="leave it out, or give it its text"
        )
    blocks = document.blocks if text == document.text else ()
    _check_tiling(document, blocks)
    return replace(
        document,
        id=_clean_id(document.id),
        text=text,
        blocks=blocks or find_blocks(text),
        title=document.title and document.title.translate(_UNSTORABLE),
        metadata=_clean_json(document, document.metadata),
        tags=_clean_json(document, document.tags),
        allow=None if document.allow is None else check_allow(document.allow),
        modified_at=_check_time(document),
    )


def _check_tiling(document: Document, blocks: Sequence[Block]) -> None:
    ends = [0, *(block.end for block in blocks)]
    tiled = all(b.start == end < b.end for b, end in zip(blocks, ends, strict=False))
    if blocks and not (tiled and ends[-1] == len(document.text)):
        raise InputError(
            f"the blocks of {document.id!r} don't tile its text",
            hint="each starts where the one before ends, the last with the text; or give none",
        )


def _clean_id(id: str) -> str:
    if id != id.translate(_UNSTORABLE):
        raise InputError(f"the id {id!r} holds what isn't text", hint="give it another id")
    return id


def _clean_json(document: Document, values: Mapping[str, JSON]) -> dict[str, JSON]:
    try:
        written = json.dumps(dict(values), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"tags or metadata of {document.id!r} can't be kept: {error}",
            hint="texts, finite numbers, true, false, null, lists and mappings can",
        ) from error
    cleaned: dict[str, JSON] = json.loads(written.translate(_UNSTORABLE))
    return cleaned


def _check_time(document: Document) -> datetime | None:
    moment = document.modified_at
    if moment is None:
        return None
    try:
        return datetime.fromtimestamp(round(moment.timestamp(), 6), UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise InputError(
            f"modified_at of {document.id!r} is {moment}, which can't be kept",
            hint="give a time between the years 1 and 9999",
        ) from error


def hash_content(document: Document, recipe: str) -> str:
    """A hash of all that a document's passages depend on: title, text, blocks and recipe.

    Where a block lies in the file's lines is left out: it moves with every line put above it.
    """
    rows = [(*row[:6], None, row[7]) for row in Blocks.of(document.blocks).rows]
    parts = (document.title or "", document.text, json.dumps(rows), recipe)
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
        passages=[index_passage(passage, document.title, language) for passage in passages],
        language=language,
    )


def _leave_room(max_tokens: int | None) -> int | None:
    return None if max_tokens is None else max_tokens - CONTEXT_PIECES


def analyze_passage(text: str, language: str | None) -> str:
    """The terms of an indexed text: a line of those that carry meaning, and one of the rest."""
    terms, content = analyze(text, language), content_terms(text, language)
    rest = Counter(terms) - Counter(content)
    return f"{' '.join(content)}\n{' '.join(rest.elements())}"


def index_passage(passage: Passage, title: str | None, language: str | None) -> IndexedPassage:
    """A passage with its terms, the hash of its indexed text, and what it names."""
    text = passage.indexed_text
    return IndexedPassage(
        passage,
        analyze_passage(text, language),
        hash_text(text),
        mention_entities(passage, title, language),
    )


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors by text hash; how many texts were embedded for them, and how many were too long."""

    vectors: Mapping[bytes, Vectors]
    embedded: int
    truncated: int


FindVectors: TypeAlias = "Callable[[Sequence[bytes]], dict[bytes, Vectors]]"
"""The vectors that are held for texts, by their hashes; others are absent."""


def embed_passages(
    puts: Sequence[PutDocument], *, find_vectors: FindVectors, embedder: Embedder
) -> Embedded:
    """A vector for every passage; a text that a vector is found for is not embedded."""
    texts = {
        indexed.text_hash: indexed.passage.indexed_text for put in puts for indexed in put.passages
    }
    vectors = find_vectors(list(texts))
    missing = [text_hash for text_hash in texts if text_hash not in vectors]
    if not missing:
        return Embedded(vectors, 0, 0)
    new = embedder.embed([texts[text_hash] for text_hash in missing], kind="passage")
    vectors |= dict(zip(missing, new, strict=True))
    too_long = count_truncated(embedder, [texts[text_hash] for text_hash in missing])
    return Embedded(vectors, len(missing), too_long)
