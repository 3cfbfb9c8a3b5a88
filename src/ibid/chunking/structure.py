"""Chunking along the structure of a document: sections, blocks, sentences, at the worst words.

Each block is tokenized once; after that pieces are counted by where they begin.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ibid.chunking.cuts import CUTS, PROSE, Cut, cut_sentences, cut_words, trim
from ibid.chunking.options import Chunking
from ibid.chunking.passages import Draft, make_passages
from ibid.chunking.pieces import PieceCounter, Span, find_pieces
from ibid.chunking.prefix import PREFIX_TOKENS, Prefix, make_prefixes
from ibid.chunking.sections import Section, find_sections
from ibid.errors import BadSetting
from ibid.protocols import Tokenizer
from ibid.records import Block, Document, Passage

MAX_TOKENS: Final = 254
"""Word pieces that the default embedder reads of a text."""

MIN_TOKENS: Final = 16
"""The least that an embedder must read of a text, in word pieces."""

MARGIN: Final = 8
"""Pieces below the limit from which on a passage is counted again: a tokenizer that looks at the
space before a word can count a passage's first word in another way than within its block."""


def chunk_by_structure(
    document: Document,
    chunking: Chunking,
    *,
    tokenizer: Tokenizer,
    content_hash: str,
    max_tokens: int | None = MAX_TOKENS,
    language: str | None = None,
) -> list[Passage]:
    """Passages of at most `size` pieces that never cross a section, in the document's order.

    Whole paragraphs are packed up to the size; one that is longer is split at sentences, a longer
    sentence at white space, a longer word anywhere. Lists, tables and code stay whole up to
    `max_tokens`, then they are split between items, rows or lines. `overlap` pieces of the passage
    before are repeated within a section, from a sentence where one begins there, else from a word.

    No passage is blank, no character but white space lies outside all of them, and the indexed
    text of each has at most `max_tokens` pieces (None: no limit but the size). A section's first
    passage begins at its heading; a heading that the prefix had no room for is part of the body.

    Raises BadSetting for max_tokens below 16.
    """
    if max_tokens is not None and max_tokens < MIN_TOKENS:
        raise BadSetting(
            f"passages of at most {max_tokens} pieces hold too little text",
            hint=f"use an embedder that reads {MIN_TOKENS} pieces or more",
        )
    sections = find_sections(document)
    prefixes = make_prefixes(
        document.title,
        [section.path for section in sections],
        tokenizer=tokenizer,
        limit=min(PREFIX_TOKENS, (max_tokens or MAX_TOKENS) // 3),
    )
    planner = _Planner(document.text, sections, tokenizer, chunking, max_tokens, language)
    drafts = (
        draft
        for section in sections
        for draft in planner.draft_section(section, prefixes[section.path])
    )
    return make_passages(document, content_hash, drafts)


class _Planner:
    """Plans the passages of one document; what all its steps look at, in one place."""

    def __init__(
        self,
        text: str,
        sections: Sequence[Section],
        tokenizer: Tokenizer,
        chunking: Chunking,
        max_tokens: int | None,
        language: str | None,
    ) -> None:
        self.text = text
        self.tokenizer = tokenizer
        self.chunking = chunking
        self.max_tokens = max_tokens
        self.language = language
        blocks = [block for section in sections for block in (*section.headings, *section.body)]
        found = find_pieces(tokenizer, [text[block.span] for block in blocks])
        self.pieces = PieceCounter(
            [
                block.start + start
                for block, starts in zip(blocks, found, strict=True)
                for start in starts
            ]
        )
        self.seams = [block.start for block in blocks if not self._is_between_words(block.start)]

    def draft_section(self, section: Section, prefix: Prefix) -> Iterator[Draft]:
        """The passages of one section, its heading lines in the first."""
        size = self.chunking.size
        room = size if self.max_tokens is None else self.max_tokens - prefix.pieces
        limit = min(size, room)
        overlap = self.chunking.overlap * limit // size
        said = prefix.whole >= len(section.headings)
        body = section.body if said else (*section.headings, *section.body)
        spans = self._cut_blocks(body, limit - overlap, room)
        starts = [start for start, _ in spans]
        if said and section.headings:
            first, last = trim(self.text, (section.headings[0].start, section.headings[-1].end))
            starts[:1] = [first]
            spans = spans or [(last, last)]
        before = (0, 0)
        for start, (body_start, end) in zip(starts, spans, strict=True):
            planned = Draft(start, body_start, end, section.path, prefix.text)
            for draft in self._halve(planned, prefix):
                yield self._repeat(before, draft, overlap, prefix) if overlap else draft
                before = (draft.body, draft.end)

    def _cut_blocks(self, blocks: Sequence[Block], limit: int, room: int) -> list[Span]:
        """The text of a section in ranges of at most `limit` pieces, or `room` for one block."""
        units = [
            unit
            for block in blocks
            for unit in self._cut_span(
                trim(self.text, (block.start, block.end)),
                CUTS.get(block.kind, PROSE),
                room if block.kind in CUTS else limit,
            )
        ]
        return self.pieces.pack(units, limit)

    def _cut_span(self, span: Span, cuts: Sequence[Cut], limit: int) -> list[Span]:
        """The range in parts of at most `limit` pieces, by the coarsest cuts that give them."""
        if self.pieces.count(*span) <= limit:
            return [span]
        if not cuts:
            return self.pieces.cut(span, limit)
        parts = [
            smaller
            for part in cuts[0](self.text, span, self.language)
            for smaller in self._cut_span(part, cuts[1:], limit)
        ]
        return self.pieces.pack(parts, limit)

    def _halve(self, draft: Draft, prefix: Prefix) -> Iterator[Draft]:
        """The draft itself, or its halves, as often as the tokenizer counts too many pieces."""
        start, end = trim(self.text, (draft.body, draft.end))
        if end - start <= 1 or self._fits(draft, prefix):
            yield draft
            return
        middle = (start + end) // 2
        space = self.text.rfind(" ", start + 1, middle)
        cut = middle if space < 0 else space
        _, left_end = trim(self.text, (start, cut))
        right, _ = trim(self.text, (cut, end))
        yield from self._halve(replace(draft, end=left_end), prefix)
        yield from self._halve(replace(draft, start=right, body=right), prefix)

    def _repeat(self, before: Span, draft: Draft, overlap: int, prefix: Prefix) -> Draft:
        """The draft with up to `overlap` pieces of the range before it, where it has room."""
        starts = (
            start
            for cut in (cut_sentences, cut_words)
            for start, _ in cut(self.text, before, self.language)[1:]
            if self.pieces.count(start, before[1]) <= overlap
        )
        start = next(starts, draft.start)
        longer = replace(draft, start=start, body=start)
        return longer if start < draft.start and self._fits(longer, prefix) else draft

    def _fits(self, draft: Draft, prefix: Prefix) -> bool:
        """Whether the embedder reads all of a draft; asks the tokenizer only where it must."""
        if self.max_tokens is None:
            return True
        span = (draft.body, draft.end)
        planned = prefix.pieces + self.pieces.count(*span)
        seams = bisect_right(self.seams, draft.end) - bisect_right(self.seams, draft.body)
        exact = not seams and all(map(self._is_between_words, span))
        if exact and planned <= self.max_tokens - MARGIN:
            return True
        text = self.text[slice(*span)]
        [found] = self.tokenizer.spans([f"{prefix.text}: {text}" if prefix.text else text])
        return len(found) <= self.max_tokens

    def _is_between_words(self, position: int) -> bool:
        """Whether a cut here leaves the words on both sides what they are to any tokenizer."""
        if position in (0, len(self.text)):
            return True
        return not {" ", "\n"}.isdisjoint(self.text[position - 1 : position + 1])
