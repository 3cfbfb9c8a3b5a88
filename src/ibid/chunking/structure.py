"""Chunking along the structure of a document: sections, blocks, sentences, at the worst words.

Each block is tokenized once; after that pieces are counted by where they begin.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ibid.chunking.cuts import cut_sentences, cut_words, trim
from ibid.chunking.divide import Divider, Room
from ibid.chunking.leads import LeadMaker
from ibid.chunking.options import Chunking
from ibid.chunking.passages import Draft, make_passages
from ibid.chunking.pieces import PieceCounter, Span, find_pieces
from ibid.chunking.prefix import PREFIX_TOKENS, Prefix, make_prefixes
from ibid.chunking.sections import Section, find_sections, is_presentation
from ibid.chunking.units import Rule, Unit, pack_units
from ibid.errors import BadSetting
from ibid.protocols import Tokenizer
from ibid.records import Document, Passage

MAX_TOKENS: Final = 254
"""Word pieces that the default embedder reads of a text."""

MIN_TOKENS: Final = 16
"""The least that an embedder must read of a text, in word pieces."""

MARGIN: Final = 8
"""Pieces below the limit from which on a passage is counted again: a tokenizer that looks at the
space before a word can count a passage's first word in another way than within its block."""

_BLOCKS: Final = frozenset({Rule.PARAGRAPHS, Rule.LIST, Rule.TABLE, Rule.CODE})


def chunk_by_structure(
    document: Document,
    chunking: Chunking,
    *,
    tokenizer: Tokenizer,
    content_hash: str,
    max_tokens: int | None = MAX_TOKENS,
    language: str | None = None,
) -> list[Passage]:
    """Passages of about `size` pieces that never cross a section, in the document's order.

    Whole paragraphs, clauses and messages are packed up to the size, each with the rule that cut it
    and the lines further up that belong to it. A paragraph that is longer is split at sentences, a
    longer sentence at white space, a longer word anywhere. Lists, tables, code, questions with
    their answers, entries and clauses stay whole up to `max_tokens`, then they are split between
    items, rows, lines or blocks. `overlap` pieces of the passage before are repeated within a
    section, from a sentence where one begins there, else from a word; not where a lead stands.

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
    planner = _Planner(document, sections, tokenizer, chunking, max_tokens, language)
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
        document: Document,
        sections: Sequence[Section],
        tokenizer: Tokenizer,
        chunking: Chunking,
        max_tokens: int | None,
        language: str | None,
    ) -> None:
        self.text = text = document.text
        self.whole = Rule.SLIDE if is_presentation(document) else Rule.SECTION
        self.tokenizer = tokenizer
        self.chunking = chunking
        self.max_tokens = max_tokens
        self.language = language
        self.leads = LeadMaker(text, tokenizer)
        blocks = [block for section in sections for block in (*section.headings, *section.body)]
        found = find_pieces(tokenizer, [text[block.span] for block in blocks])
        self.pieces = PieceCounter(
            [
                block.start + start
                for block, starts in zip(blocks, found, strict=True)
                for start in starts
            ]
        )
        self.divider = Divider(text, self.pieces, language)
        self.seams = [block.start for block in blocks if not self._is_between_words(block.start)]

    def draft_section(self, section: Section, prefix: Prefix) -> Iterator[Draft]:
        """The passages of one section, its heading lines in the first."""
        size = self.chunking.size
        most = size if self.max_tokens is None else self.max_tokens - prefix.pieces
        overlap = self.chunking.overlap * min(size, most) // size
        room = Room(most, min(size, most) - overlap, self.leads)
        said = prefix.whole >= len(section.headings)
        body = section.body if said else (*section.headings, *section.body)
        heading = section.path[-1] if section.path else ""
        units = self.divider.divide(body, heading, room)
        packed = pack_units(units, self.pieces.count, room.beside)
        if len(packed) == 1 and packed[0].rule in _BLOCKS:
            packed = [replace(packed[0], rule=self.whole)]
        starts = [unit.start for unit in packed]
        if said and section.headings:
            first, last = trim(self.text, (section.headings[0].start, section.headings[-1].end))
            starts[:1] = [first]
            packed = packed or [Unit(last, last, self.whole)]
        before = (0, 0)
        for start, unit in zip(starts, packed, strict=True):
            planned = Draft(
                start,
                unit.start,
                unit.end,
                section.path,
                rule=unit.rule.value,
                prefix=prefix.text,
                lead=room.lead(unit.leads),
            )
            for draft in self._halve(planned, prefix):
                yield self._repeat(before, draft, overlap, prefix) if overlap else draft
                before = (draft.body, draft.end)

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
        hard = Rule.HARD.value
        yield from self._halve(replace(draft, end=left_end, rule=hard), prefix)
        yield from self._halve(replace(draft, start=right, body=right, rule=hard), prefix)

    def _repeat(self, before: Span, draft: Draft, overlap: int, prefix: Prefix) -> Draft:
        """The draft with some of the range before it, where it has room and no lead instead."""
        if draft.lead.text:
            return draft
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
        planned = prefix.pieces + draft.lead.pieces + self.pieces.count(*span)
        seams = bisect_right(self.seams, draft.end) - bisect_right(self.seams, draft.body)
        exact = not seams and all(map(self._is_between_words, span))
        if exact and planned <= self.max_tokens - MARGIN:
            return True
        text = "\n".join(filter(None, (draft.lead.text, self.text[slice(*span)])))
        [found] = self.tokenizer.spans([f"{draft.prefix}: {text}" if draft.prefix else text])
        return len(found) <= self.max_tokens

    def _is_between_words(self, position: int) -> bool:
        """Whether a cut here leaves the words on both sides what they are to any tokenizer."""
        if position in (0, len(self.text)):
            return True
        return not {" ", "\n"}.isdisjoint(self.text[position - 1 : position + 1])
