"""Markers: how an answer points at its sources, in the forms that models write."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from ibid.language.late import late
from ibid.record import record

HIGHEST_NUMBER: Final = 99
"""A bracketed number above this, and above the number of sources, is a year or a code."""

_LABELS: Final = (
    "sources", "source", "documents", "document", "docs", "doc", "ref", "refs",
    "quellen", "quelle", "fuentes", "fuente", "来源", "來源", "资料", "出典", "資料",
)  # fmt: skip
_LABEL: Final = rf"(?:\^|(?:{'|'.join(_LABELS)})[ \t]*[:#]?[ \t]*)?"
_NUMBERS: Final = rf"\d{{1,3}}(?:[ \t]*[-–—,;，、&][ \t]*{_LABEL}\d{{1,3}})*"
_MARKER: Final = re.compile(
    rf"[\[［]{_LABEL}{_NUMBERS}[\]］](?![(:])"
    rf"|【{_LABEL}{_NUMBERS}(?:†[^】\n]{{0,40}})?】"
    rf"|[(（](?!\d){_LABEL}{_NUMBERS}[)）]",
    re.IGNORECASE,
)
_ROUND_MARKER: Final = late(lambda: rf"(?<=[^\W\d_] )\({_NUMBERS}\)(?=[.,;!?]|\s*\Z|\s*\n)")
"""In round brackets, without a word: read only where nothing in the answer is a surer marker."""

_LABEL_START: Final = "|".join(
    sorted({re.escape(label[:end]) for label in _LABELS for end in range(1, len(label) + 1)})
)
_INSIDE_MARKER: Final = late(
    lambda: (
        rf"(?i)[\[［【](?:\^|{_LABEL_START})?[\d \t,;，、&:#–—-]*"
        rf"(?:(?<=[,;，、& ])(?:{_LABEL_START})"
        r"[\d \t,;，、&:#–—-]*)*(?:†[^】\n]{0,40})?\Z"
        rf"|[(（](?:(?:{_LABEL_START})[\d \t,;，、&:#–—-]*)?\Z"
    )
)
_SENTENCE_CLOSES: Final = re.compile(
    r"(?:[\[［][^\]］\n]*[\]］])*(?:[.,;:!?)]+(?=\s|\Z)|[ \t]*(?:\n|\Z))"
)
_VERBATIM: Final = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`"
    r"|(?<!\w)\"(?=\S)[^\"\n]*\"(?!\w)|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」",
    re.DOTALL,
)


@record
class Marker:
    """A marker at `answer[start:end]` and the source numbers that it names, each once."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_markers(answer: str, sources: int) -> list[Marker]:
    """The markers of an answer, in order.

    They are `[1]`, `[1][2]`, `[1, 3]`, `[1-3]`, `[^1]`, `[Source 1]`, `(source 1)`, in full width
    and in the brackets 【】 too, there also with what some models add: 【1†source】. Where none of
    these stands, numbers of sources in round brackets before a stop are read: "at dawn (1)." No
    marker is a number in code or in quoted words, one that opens a link or a footnote, one attached
    to a word in the midst of a sentence (`arr[1] is`), zero, or one above both 99 and the number
    of sources.
    """
    verbatim = [match.span() for match in _VERBATIM.finditer(answer)]
    highest = max(sources, HIGHEST_NUMBER)
    markers = list(_read_matches(answer, _MARKER, verbatim, highest))
    return markers or list(_read_matches(answer, _ROUND_MARKER(), verbatim, sources))


def hold_back_markers(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in other pieces, none of which ends inside a marker.

    What may be the start of a marker waits for the next piece; nothing else does.
    """
    held = ""
    for piece in pieces:
        held += piece
        opening = max(held.rfind(bracket) for bracket in "[［【(（")
        waits = opening >= 0 and _INSIDE_MARKER().match(held, opening)
        ready = opening if waits else len(held)
        if ready:
            yield held[:ready]
        held = held[ready:]
    if held:
        yield held


def _read_matches(
    answer: str, pattern: re.Pattern[str], verbatim: list[tuple[int, int]], highest: int
) -> Iterator[Marker]:
    starts = [start for start, _ in verbatim]
    for match in pattern.finditer(answer):
        place = bisect_left(starts, match.start()) - 1
        quoted = place >= 0 and match.start() < verbatim[place][1]
        numbers = _read_numbers(match[0], highest)
        if numbers and not quoted and not _is_subscript(answer, match):
            yield Marker(match.start(), match.end(), numbers)


def _read_numbers(marker: str, highest: int) -> tuple[int, ...]:
    """The numbers that a marker names, each once; none where it can't be a marker."""
    numbers: list[int] = []
    for part in re.split("[,;，、&]", marker.partition("†")[0]):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        if not ends or len(ends) > 2 or not 1 <= ends[0] <= ends[-1] <= highest:
            return ()
        numbers += range(ends[0], ends[-1] + 1)
    return tuple(dict.fromkeys(numbers))


def _is_subscript(answer: str, marker: re.Match[str]) -> bool:
    """Whether brackets are the index of the word that they touch: in the midst of a sentence."""
    before = answer[max(0, marker.start() - 1) : marker.start()]
    attached = before.isascii() and (before.isalnum() or before == "_")
    return attached and not _SENTENCE_CLOSES.match(answer, marker.end())
