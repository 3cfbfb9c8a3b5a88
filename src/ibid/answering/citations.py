"""Citations in an answer: the markers, the claims they stand for, and never half a marker."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from ibid.answering.evidence import Unit, split_units
from ibid.language.detection import detect_language
from ibid.records import Claim

HIGHEST_NUMBER: Final = 99
"""A bracketed number above this, and above the number of sources, is a year or a code."""

_NUMBERS: Final = r"\d{1,3}(?:[ \t]*[-–—,;][ \t]*\d{1,3})*"
_MARKER: Final = re.compile(rf"\[{_NUMBERS}\](?![(:])|【{_NUMBERS}】")
_INSIDE_MARKER: Final = re.compile(r"[\[【][\d \t,;–—-]*\Z")
_SENTENCE_CLOSES: Final = re.compile(r"(?:\[[^\]\n]*\])*(?:[.,;:!?)]+(?=\s|\Z)|[ \t]*(?:\n|\Z))")
_BULLET: Final = re.compile(r"[ \t|*+•-]*(?:\d{1,3}[.)])?[ \t]*")
_VERBATIM: Final = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`"
    r"|(?<!\w)\"(?=\S)[^\"\n]*\"(?!\w)|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」",
    re.DOTALL,
)
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
    cited = sorted({n for marker in _find_markers(answer, sources) for n in marker.numbers})
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

    Markers are `[1]`, `[1][2]`, `[1, 3]` and `[1-3]`, in the brackets 【】 too. No marker is a
    number in code or in quoted words, one that opens a link, one attached to a word in the midst
    of a sentence (`arr[1] is`), zero, or one above both 99 and the number of sources.
    """
    bare = _Bare(answer, _find_markers(answer, sources))
    units = split_units(bare.text, language=language or detect_language(bare.text))
    openings, cuts = _assign_marks(bare.marks, units)
    claims = [
        claim
        for index, unit in enumerate(units)
        for claim in _claims_of_unit(answer, bare, unit, openings[index], cuts[index])
    ]
    return answer, tuple(claims)


def hold_back_markers(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in other pieces, none of which ends inside a marker.

    What may be the start of a marker waits for the next piece; nothing else does.
    """
    held = ""
    for piece in pieces:
        held += piece
        opening = max(held.rfind("["), held.rfind("【"))
        waits = opening >= 0 and _INSIDE_MARKER.match(held, opening)
        ready = opening if waits else len(held)
        if ready:
            yield held[:ready]
        held = held[ready:]
    if held:
        yield held


@dataclass(frozen=True, slots=True)
class _Marker:
    start: int
    end: int
    numbers: tuple[int, ...]


def _find_markers(answer: str, sources: int) -> list[_Marker]:
    verbatim = [match.span() for match in _VERBATIM.finditer(answer)]
    starts = [start for start, _ in verbatim]
    markers = []
    for match in _MARKER.finditer(answer):
        place = bisect_left(starts, match.start()) - 1
        quoted = place >= 0 and match.start() < verbatim[place][1]
        numbers = _read_numbers(match[0], max(sources, HIGHEST_NUMBER))
        if numbers and not quoted and not _is_subscript(answer, match):
            markers.append(_Marker(match.start(), match.end(), numbers))
    return markers


def _read_numbers(marker: str, highest: int) -> tuple[int, ...]:
    """The numbers that a marker names, each once; none where it can't be a marker."""
    numbers: list[int] = []
    for part in re.split("[,;]", marker[1:-1]):
        ends = [int(number) for number in re.split("[-–—]", part)]
        if len(ends) > 2 or not 1 <= ends[0] <= ends[-1] <= highest:
            return ()
        numbers += range(ends[0], ends[-1] + 1)
    return tuple(dict.fromkeys(numbers))


def _is_subscript(answer: str, marker: re.Match[str]) -> bool:
    """Whether brackets are the index of the word that they touch: in the midst of a sentence."""
    before = answer[max(0, marker.start() - 1) : marker.start()]
    attached = before.isascii() and (before.isalnum() or before == "_")
    return attached and not _SENTENCE_CLOSES.match(answer, marker.end())


@dataclass(frozen=True, slots=True)
class _Mark:
    """The place of a marker in the text without markers."""

    position: int
    numbers: tuple[int, ...]
    opens_line: bool


class _Bare:
    """An answer without its markers and the blanks before them, and the way back to it.

    A sentence can then be found as if there were no markers.
    """

    def __init__(self, answer: str, markers: Sequence[_Marker]) -> None:
        self.text = ""
        self.marks: list[_Mark] = []
        self._shifts: list[int] = []
        done = 0
        for marker in markers:
            line = answer[answer.rfind("\n", 0, marker.start) + 1 : marker.start]
            opens = _BULLET.fullmatch(line) is not None
            kept = answer[done : marker.start]
            self.text += kept if opens else kept.rstrip(" \t")  # a bullet needs its blank
            rest = answer[marker.end :].split("\n", 1)[0]
            done = marker.end
            self.marks.append(_Mark(len(self.text), marker.numbers, opens and bool(rest.strip())))
            self._shifts.append(done - len(self.text))
        self.text += answer[done:]

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Where a range of the bare text lies in the answer; no marker stood within it."""
        positions = [mark.position for mark in self.marks]
        shifts = [0, *self._shifts]
        after = len([position for position in positions if position <= start])
        return start + shifts[after], end + shifts[after]


_Cuts = dict[int, tuple[int, ...]]


def _assign_marks(
    marks: Sequence[_Mark], units: Sequence[Unit]
) -> tuple[dict[int, tuple[int, ...]], dict[int, _Cuts]]:
    """By unit: the numbers that open it, and the numbers at each place where they cut it."""
    openings: dict[int, tuple[int, ...]] = defaultdict(tuple)
    cuts: dict[int, _Cuts] = defaultdict(dict)
    starts = [unit.start for unit in units]
    for mark in marks:
        before = bisect_left(starts, mark.position) - 1
        within = before >= 0 and mark.position < units[before].end
        if before < 0 or (mark.opens_line and not within):
            openings[before + 1] += mark.numbers
        else:
            position = min(mark.position, units[before].end)
            cuts[before][position] = cuts[before].get(position, ()) + mark.numbers
    return openings, cuts


def _claims_of_unit(
    answer: str, bare: _Bare, unit: Unit, opening: tuple[int, ...], cuts: _Cuts
) -> Iterator[Claim]:
    """One claim for each stretch of a unit that ends in markers, and one for what is left."""
    left, pending, covering = unit.start, opening, opening
    for right, numbers in sorted(cuts.items()):
        pending += numbers
        if left > unit.start or not _POINTER.fullmatch(bare.text, left, right):
            yield from _make_claim(answer, bare, left, right, pending)
            covering, pending = numbers, ()
        left = right
    if not pending and not cuts and _claims_nothing(unit):
        return
    yield from _make_claim(answer, bare, left, unit.end, pending or covering)


def _make_claim(
    answer: str, bare: _Bare, start: int, end: int, numbers: tuple[int, ...]
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
