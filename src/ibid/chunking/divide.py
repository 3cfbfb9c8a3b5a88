"""Divides a section into units: parts of a kind of text, blocks, what long ones are cut into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ibid.chunking.cuts import CUTS, PROSE, Cuts, cut_words, trim, trim_code
from ibid.chunking.kinds import Group, find_groups
from ibid.chunking.leads import (
    Lead,
    LeadMaker,
    find_header,
    find_lead_in,
    find_scopes,
    is_table,
)
from ibid.chunking.pieces import PieceCounter, Span, Spans
from ibid.chunking.units import Rule, Unit
from ibid.records import Block, BlockKind

LEAD_SHARE: Final = 3
"""A lead takes at most a third of what the embedder reads beside the prefix."""


@dataclass(frozen=True, slots=True)
class Room:
    """What the passages of one section have room for beside their prefix, in pieces.

    `most` is all of it, `fill` what a passage is filled up to, so that an overlap still fits.
    """

    most: int
    fill: int
    leads: LeadMaker

    def lead(self, spans: Spans) -> Lead:
        """These lines as a passage of the section shows them."""
        return self.leads.make(spans, self.most // LEAD_SHARE)

    def around(self, leads: Spans) -> int:
        """What a unit that stays whole may have beside these leads."""
        return self.most - self.lead(leads).pieces

    def beside(self, leads: Spans) -> int:
        """What a passage is filled up to beside these leads."""
        return min(self.fill, self.around(leads))


@dataclass(frozen=True, slots=True)
class Divider:
    """Divides the sections of one document, whose pieces are counted."""

    text: str
    pieces: PieceCounter
    language: str | None

    def divide(self, blocks: Sequence[Block], heading: str, room: Room) -> list[Unit]:
        """The units of the blocks below a heading, in order."""
        return [
            unit
            for group in find_groups(self.text, blocks, heading)
            for unit in self._cut_group(group, room)
        ]

    def _cut_group(self, group: Group, room: Room) -> list[Unit]:
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
        room: Room,
    ) -> list[Unit]:
        """A block whole if it fits, else in parts, each with what it can't be read without."""
        kind = BlockKind.TABLE if is_table(self.text, block) else block.kind
        trim_block = trim_code if kind is BlockKind.CODE else trim
        span = trim_block(self.text, (block.start, block.end))
        rule, cuts = CUTS.get(kind, (rule, PROSE))
        above = leads + scopes.get(span[0], ())
        limit = room.around(above) if kind in CUTS else room.beside(above)
        if self.pieces.count(*span) <= limit:
            return [Unit(*span, rule, above)]
        if kind is BlockKind.TABLE:
            leads += find_header(self.text, span)
            limit = room.around(leads)
        elif kind is BlockKind.CODE:
            # Each line has leads of its own, which take a third at most.
            limit = room.most - room.most // LEAD_SHARE
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
