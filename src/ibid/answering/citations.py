"""Citations in an answer: the claims that its markers stand for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, TypedDict

from ibid.answering.evidence import Unit, split_units
from ibid.answering.markers import Marker, find_markers
from ibid.language.detection import detect_language
from ibid.record import record
from ibid.records import Claim

_BULLET: Final = re.compile(r"[ \t|*+•-]*(?:\d{1,3}[.)])?[ \t]*")
_GOES_ON: Final = re.compile(r"[^\S\n]*\S")
"""A line that is not blank from here on."""

_POINTER: Final = re.compile(
    r"(?:\w+ ){0,3}(?:in|to|by|from|per|source|sources|document|passage|laut|selon|según)\W*",
    re.IGNORECASE,
)
"""Words at the start of a sentence that a marker completes: "according to [1]", "source [2]"."""


class CitationCheck(TypedDict):
    """The numbers that an answer cites, in rising order, and those beyond the sources sent."""

    cited: list[int]
    invalid: list[int]
    uncited: bool


def check_citations(answer: str, sources: int) -> CitationCheck:
    """Which numbers an answer cites, and which of them point at no source that was sent."""
    cited = sorted({n for marker in find_markers(answer, sources) for n in marker.numbers})
    invalid = [number for number in cited if number > sources]
    return {"cited": cited, "invalid": invalid, "uncited": not cited}


def parse_claims(
    answer: str, sources: int, *, language: str | None = None
) -> tuple[str, tuple[Claim, ...]]:
    """The answer as it is shown, which keeps its markers, and its claims in their order.

    A claim is a sentence, list item or table row without its markers and what follows them; a
    sentence with markers within is one claim up to each of them. A marker covers what stands
    before it, back to the marker before, or else the line that it opens; the last marker of a
    sentence covers its rest as well. Headings, and lines without a marker or number that end in
    a colon, claim nothing. `language` is that of the answer; None is told from its words.

    What is a marker stands at `find_markers`.
    """
    bare = _Bare(answer, find_markers(answer, sources))
    units = split_units(bare.text, language=language or detect_language(bare.text))
    openings, cuts = _assign_marks(bare.marks, units)
    claims = [
        claim
        for index, unit in enumerate(units)
        for claim in _claims_of_unit(answer, bare, unit, openings[index], cuts[index])
    ]
    return answer, tuple(claims)


@record
class _Mark:
    """The place of a marker in the text without markers."""

    position: int
    numbers: tuple[int, ...]
    opens_line: bool


class _Bare:
    """An answer without its markers and the blanks before them, and the way back to it.

    A sentence can then be found as if there were no markers.
    """

    def __init__(self, answer: str, markers: Sequence[Marker]) -> None:
        self.marks: list[_Mark] = []
        self._positions: list[int] = []
        self._shifts = [0]
        pieces: list[str] = []
        done = line = length = 0
        for marker in markers:
            line = answer.rfind("\n", line, marker.start) + 1 or line
            opens = _BULLET.fullmatch(answer, line, marker.start) is not None
            kept = answer[done : marker.start]
            pieces.append(kept if opens else kept.rstrip(" \t"))  # a bullet needs its blank
            length += len(pieces[-1])
            done = marker.end
            opens = opens and _GOES_ON.match(answer, done) is not None
            self.marks.append(_Mark(length, marker.numbers, opens))
            self._positions.append(length)
            self._shifts.append(done - length)
        self.text = "".join([*pieces, answer[done:]])

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Where a range of the bare text lies in the answer; no marker stood within it."""
        shift = self._shifts[bisect_right(self._positions, start)]
        return start + shift, end + shift


_Cuts = dict[int, list[int]]


def _assign_marks(
    marks: Sequence[_Mark], units: Sequence[Unit]
) -> tuple[dict[int, list[int]], dict[int, _Cuts]]:
    """By unit: the numbers that open it, and the numbers at each place where they cut it."""
    openings: dict[int, list[int]] = defaultdict(list)
    cuts: dict[int, _Cuts] = defaultdict(dict)
    starts = [unit.start for unit in units]
    for mark in marks:
        before = bisect_left(starts, mark.position) - 1
        within = before >= 0 and mark.position < units[before].end
        if before < 0 or (mark.opens_line and not within):
            openings[before + 1] += mark.numbers
        else:
            position = min(mark.position, units[before].end)
            cuts[before].setdefault(position, []).extend(mark.numbers)
    return openings, cuts


def _claims_of_unit(
    answer: str, bare: _Bare, unit: Unit, opening: list[int], cuts: _Cuts
) -> Iterator[Claim]:
    """One claim for each stretch of a unit that ends in markers, and one for what is left."""
    left, pending, covering = unit.start, opening, opening
    for right, numbers in sorted(cuts.items()):
        pending = [*pending, *numbers]
        if left > unit.start or not _POINTER.fullmatch(bare.text, left, right):
            yield from _make_claim(answer, bare, left, right, pending)
            covering, pending = numbers, []
        left = right
    if not pending and not cuts and _claims_nothing(unit):
        return
    yield from _make_claim(answer, bare, left, unit.end, pending or covering)


def _make_claim(
    answer: str, bare: _Bare, start: int, end: int, numbers: Sequence[int]
) -> Iterator[Claim]:
    piece = bare.text[start:end]
    text = piece.lstrip(" \t\n,;.!?。、，；").rstrip()
    if not re.search(r"\w", text):
        return
    first = start + piece.index(text)
    begin, stop = bare.locate(first, first + len(text))
    yield Claim(answer[begin:stop], begin, stop, tuple(dict.fromkeys(numbers)))


def _claims_nothing(unit: Unit) -> bool:
    heading = unit.text.startswith("#")
    leads_in = unit.text.endswith((":", "：")) and not re.search(r"\d", unit.text)
    return heading or leads_in or (unit.kind == "row" and not unit.context)
