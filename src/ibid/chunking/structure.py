"""Chunking along the structure of a document: sections, blocks, sentences, at the worst words.

Each block is tokenized once; after that pieces are counted by where they begin.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ibid.chunking.cuts import CUTS, PROSE, Cuts, cut_sentences, cut_words, trim, trim_code
from ibid.chunking.kinds import Group, find_groups
from ibid.chunking.leads import (
    Lead,
    LeadMaker,
    find_header,
    find_lead_in,
    find_scopes,
    is_table,
)
from ibid.chunking.options import Chunking
from ibid.chunking.passages import Draft, make_passages
from ibid.chunking.pieces import PieceCounter, Span, Spans, find_pieces
from ibid.chunking.prefix import PREFIX_TOKENS, Prefix, make_prefixes
from ibid.chunking.sections import Section, find_sections, is_presentation
from ibid.chunking.units import Rule, Unit, pack_units
from ibid.errors import BadSetting
from ibid.protocols import Tokenizer
from ibid.records import Block, BlockKind, Document, Passage

MAX_TOKENS: Final = 254
"""Word pieces that the default embedder reads of a text."""

MIN_TOKENS: Final = 16
"""The least that an embedder must read of a text, in word pieces."""

LEAD_SHARE: Final = 3
"""A lead takes at most a third of what the embedder reads beside the prefix."""

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
        self.seams = [block.start for block in blocks if not self._is_between_words(block.start)]

    def draft_section(self, section: Section, prefix: Prefix) -> Iterator[Draft]:
        """The passages of one section, its heading lines in the first."""
        room = _Room(self, prefix)
        said = prefix.whole >= len(section.headings)
        body = section.body if said else (*section.headings, *section.body)
        heading = section.path[-1] if section.path else ""
        units = [
            unit
            for group in find_groups(self.text, body, heading)
            for unit in self._cut_group(group, room)
        ]
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
            for draft in self._halve(planned, room):
                yield self._repeat(before, draft, room) if room.overlap else draft
                before = (draft.body, draft.end)

    def _cut_group(self, group: Group, room: _Room) -> list[Unit]:
        """A part of a kind of text whole if it fits, else the units of its blocks."""
        span = trim(self.text, (group.blocks[0].start, group.blocks[-1].end))
        if group.rule and self.pieces.count(*span) <= room.around(group.leads):
            return [Unit(*span, group.rule, group.leads, alone=group.rule is Rule.QUESTION)]
        scopes = find_scopes(self.text, group.blocks)
        units: list[Unit] = []
        for before, block in zip((None, *group.blocks), group.blocks, strict=False):
            lead_in = find_lead_in(self.text, before, self.language) if block.kind in CUTS else ()
            leads = (*group.leads, *group.label, *lead_in)
            found = self._cut_block(block, group.rule or Rule.PARAGRAPHS, leads, scopes, room)
            if lead_in and units[-1].start == lead_in[0][0]:
                joined = replace(found[0], start=units[-1].start, leads=leads)
                if self.pieces.count(joined.start, joined.end) <= room.around(leads):
                    units.pop()
                    found[0] = joined
            units += found
        return units

    def _cut_block(
        self,
        block: Block,
        rule: Rule,
        leads: Spans,
        scopes: Mapping[int, Spans],
        room: _Room,
    ) -> list[Unit]:
        """A block whole if it fits, else in parts, each with what it can't be read without."""
        kind = BlockKind.TABLE if is_table(self.text, block) else block.kind
        rule, cuts = CUTS.get(kind, (rule, PROSE))
        span = trim(self.text, (block.start, block.end))
        limit = room.around(leads) if kind in CUTS else room.beside(leads)
        if kind is BlockKind.CODE:
            span = trim_code(self.text, (block.start, block.end))
            limit = room.least
        elif kind is BlockKind.TABLE and self.pieces.count(*span) > limit:
            leads += find_header(self.text, span)
            limit = room.around(leads)
        return [
            Unit(start, end, found, leads + scopes.get(start, ()))
            for start, end, found in self._cut_span(span, rule, cuts, limit)
        ]

    def _cut_span(
        self, span: Span, rule: Rule, cuts: Cuts, limit: int
    ) -> Iterator[tuple[int, int, Rule]]:
        """The range in parts of at most `limit` pieces, by the coarsest cuts that give them."""
        if self.pieces.count(*span) <= limit:
            yield *span, rule
        elif cuts:
            cut, found = cuts[0]
            for part in cut(self.text, span, self.language):
                yield from self._cut_span(part, found, cuts[1:], limit)
        else:
            yield from ((*part, Rule.HARD) for part in self._cut_hard(span, limit))

    def _cut_hard(self, span: Span, limit: int) -> Iterator[Span]:
        """The range cut at white space where possible, each part as long as it may be."""
        start = end = span[0]
        for word in cut_words(self.text, span, self.language):
            if self.pieces.count(start, word[1]) <= limit:
                end = word[1]
                continue
            if start < end:
                yield start, end
            *parts, (start, end) = self.pieces.cut((word[0], word[1]), limit)
            yield from parts
        yield start, end

    def _halve(self, draft: Draft, room: _Room) -> Iterator[Draft]:
        """The draft itself, or its halves, as often as the tokenizer counts too many pieces."""
        start, end = trim(self.text, (draft.body, draft.end))
        if end - start <= 1 or self._fits(draft, room):
            yield draft
            return
        middle = (start + end) // 2
        space = self.text.rfind(" ", start + 1, middle)
        cut = middle if space < 0 else space
        _, left_end = trim(self.text, (start, cut))
        right, _ = trim(self.text, (cut, end))
        yield from self._halve(replace(draft, end=left_end), room)
        yield from self._halve(replace(draft, start=right, body=right), room)

    def _repeat(self, before: Span, draft: Draft, room: _Room) -> Draft:
        """The draft with some of the range before it, where it has room and no lead instead."""
        if draft.lead.text:
            return draft
        starts = (
            start
            for cut in (cut_sentences, cut_words)
            for start, _ in cut(self.text, before, self.language)[1:]
            if self.pieces.count(start, before[1]) <= room.overlap
        )
        start = next(starts, draft.start)
        longer = replace(draft, start=start, body=start)
        return longer if start < draft.start and self._fits(longer, room) else draft

    def _fits(self, draft: Draft, room: _Room) -> bool:
        """Whether the embedder reads all of a draft; asks the tokenizer only where it must."""
        if self.max_tokens is None:
            return True
        span = (draft.body, draft.end)
        planned = room.prefix.pieces + draft.lead.pieces + self.pieces.count(*span)
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


class _Room:
    """What the passages of one section have room for beside their prefix, in pieces."""

    def __init__(self, planner: _Planner, prefix: Prefix) -> None:
        size = planner.chunking.size
        self.prefix = prefix
        self._leads = planner.leads
        self._all = size if planner.max_tokens is None else planner.max_tokens - prefix.pieces
        limit = min(size, self._all)
        self.overlap = planner.chunking.overlap * limit // size
        self._limit = limit - self.overlap
        self._longest = self._all // LEAD_SHARE
        self.least = self._all - self._longest

    def lead(self, spans: Spans) -> Lead:
        """These lines as a passage of the section shows them."""
        return self._leads.make(spans, self._longest)

    def around(self, leads: Spans) -> int:
        """What a unit that stays whole may have beside these leads."""
        return self._all - self.lead(leads).pieces

    def beside(self, leads: Spans) -> int:
        """What a passage is filled up to beside these leads."""
        return min(self._limit, self.around(leads))
