"""Cuts a document into passages by the method asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ibid.chunking.cuts import trim
from ibid.chunking.options import By, Chunking
from ibid.chunking.packing import sentence_spans
from ibid.chunking.passages import Draft, make_passages
from ibid.chunking.pieces import Span
from ibid.chunking.sections import find_path, find_sections
from ibid.chunking.structure import MAX_TOKENS, chunk_by_structure
from ibid.chunking.windows import character_spans, word_spans
from ibid.language.sentences import split_sentences
from ibid.protocols import Tokenizer
from ibid.records import Document, Passage


def chunk(
    document: Document,
    chunking: Chunking,
    *,
    tokenizer: Tokenizer,
    content_hash: str,
    max_tokens: int | None = MAX_TOKENS,
    language: str | None = None,
) -> list[Passage]:
    """The passages of a document, in its order; `document.text[passage.span] == passage.text`.

    By structure they keep to the embedder's `max_tokens`. The windows of the other methods are
    what their numbers say, however many pieces that is, and carry no prefix; a window that holds
    nothing new once the white space at its ends is gone is left out.

    Raises BadSetting as chunk_by_structure does.
    """
    if chunking.by == "structure":
        return chunk_by_structure(
            document,
            chunking,
            tokenizer=tokenizer,
            content_hash=content_hash,
            max_tokens=max_tokens,
            language=language,
        )
    spans = _WINDOWS[chunking.by](document.text, chunking, language)
    return make_passages(document, content_hash, _draft_windows(document, spans, chunking.by))


def _draft_windows(document: Document, spans: Iterable[Span], rule: str) -> Iterator[Draft]:
    sections = find_sections(document)
    reached = 0
    for span in spans:
        start, end = trim(document.text, span)
        if start < end and end > reached:
            yield Draft(start, start, end, find_path(sections, start), rule)
            reached = end


def _cut_sentences(text: str, chunking: Chunking, language: str | None) -> list[Span]:
    sentences = split_sentences(text, language)
    return sentence_spans(text, sentences, chunking.size, chunking.overlap)


_WINDOWS: Final[dict[By, Callable[[str, Chunking, str | None], list[Span]]]] = {
    "sentences": _cut_sentences,
    "words": lambda text, chunking, _: word_spans(text, chunking.size, chunking.overlap),
    "characters": lambda text, chunking, _: character_spans(text, chunking.size, chunking.overlap),
}
