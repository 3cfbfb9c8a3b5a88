"""Subtitles, SRT and WebVTT: cues joined into paragraphs, each at its time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import Final, NamedTuple

from ibid.reading.builder import DocumentBuilder, join_lines, join_words, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.reading.text import build_text
from ibid.records import BlockKind, Document

_CHARACTERS_A_PAGE: Final = 3000
_PAUSE_S: Final = 2.0  # silence after which something new begins
_SHORT: Final = 300  # characters; a shorter paragraph goes on at the end of a sentence
_LONG: Final = 1200  # characters, after which a paragraph ends wherever it is
_TIME: Final = r"((?:\d+:)?\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?"
_TIMING: Final = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}[^\n]*")
_NOT_CUES: Final = re.compile(r"(NOTE|STYLE|REGION|WEBVTT)\b")
_VOICE: Final = re.compile(r"<v(?:\.[\w.]+)?\s+([^<>]+)>")
_MARKUP: Final = re.compile(r"</?[a-zA-Z][^<>]*>|<[\d:.]+>|\{\\[^{}]*\}")
_SENTENCE_ENDS: Final = tuple(".!?…。！？")
_CLOSERS: Final = """"')]»”’"""


class _Cue(NamedTuple):
    """One cue: when it is shown, in seconds, its text and its lines in the file."""

    start: float
    end: float
    text: str
    lines: tuple[int, int]


def read_subtitles(data: bytes, name: str) -> Document:
    """What is said, in paragraphs that end with a pause or a sentence, each with its time.

    A cue that repeats the text of the one before it is left out, as are styles and notes.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for no words.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    cues = list(_parse(source))
    if not cues:
        return build_text(source)
    builder = DocumentBuilder()
    for group in _group(cues):
        builder.place = _format_time(group[0].start)
        builder.append(
            BlockKind.PARAGRAPH,
            join_lines(cue.text for cue in group),
            lines=(group[0].lines[0], group[-1].lines[1]),
        )
    return builder.build()


def _parse(source: str) -> Iterator[_Cue]:
    """The cues that show any text, in the order of the file."""
    lines = list(map(str.rstrip, source.split("\n")))
    timings = [
        (i, match)
        for i, line in enumerate(lines)
        if "-->" in line and (match := _TIMING.fullmatch(line))
    ]
    starts = [*(i for i, _ in timings), len(lines)]
    before = ""
    for (i, timing), end in zip(timings, starts[1:], strict=True):
        shown = _take_text(lines[i + 1 : end], last=end == len(lines))
        text = _clean(shown)
        if text and text != before:
            start, over = _read_times(timing)
            yield _Cue(start, over, text, (i + 1, i + 1 + len(shown)))
        before = text


def _take_text(lines: list[str], *, last: bool) -> list[str]:
    """The lines of a cue: not the name of the next one, nor a note or a style after it.

    A blank line ends a cue of WebVTT, but in SRT it may stand within one.
    """
    if len(lines) == 3 and not last and lines[0] and not lines[1] and lines[2]:
        return lines[:1]  # as of nearly all: one line, a blank one, the name of the next
    if not last and lines[-1:] != [""] and lines[-2:-1] == [""]:
        lines = lines[:-1]
    for i, line in enumerate(lines):
        if i and not lines[i - 1] and _NOT_CUES.match(line):
            lines = lines[:i]
            break
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def _clean(lines: list[str]) -> str:
    """The text of a cue in one line, who speaks before what is said."""
    if len(lines) == 1:
        text = join_words(lines[0])
    else:
        text = join_lines(filter(None, map(join_words, lines)))
    if "<" in text or "{" in text:
        text = _MARKUP.sub("", _VOICE.sub(r"\1: ", text))
    return unescape(text).strip() if "&" in text else text.strip()


def _read_times(timing: re.Match[str]) -> tuple[float, float]:
    """The seconds from which and up to which a cue is shown."""
    minutes, seconds, fraction, end_minutes, end_seconds, end_fraction = timing.groups()
    start = 60 * _as_minutes(minutes) + int(seconds) + _as_fraction(fraction)
    return start, 60 * _as_minutes(end_minutes) + int(end_seconds) + _as_fraction(end_fraction)


@lru_cache(maxsize=1024)
def _as_minutes(clock: str) -> int:
    hours, _, minutes = clock.rpartition(":")
    return 60 * int(hours or 0) + int(minutes)


@lru_cache(maxsize=1024)
def _as_fraction(digits: str | None) -> float:
    return float(f"0.{digits or 0}")


def _group(cues: list[_Cue]) -> Iterator[list[_Cue]]:
    """The cues that make one paragraph together."""
    group: list[_Cue] = []
    length = 0
    for cue in cues:
        if group and _ends(group[-1], cue, length):
            yield group
            group, length = [], 0
        group.append(cue)
        length += len(cue.text)
    yield group


def _ends(last: _Cue, cue: _Cue, length: int) -> bool:
    if cue.start - last.end >= _PAUSE_S or length >= _LONG:
        return True
    return length >= _SHORT and last.text.rstrip(_CLOSERS).endswith(_SENTENCE_ENDS)


def _format_time(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
