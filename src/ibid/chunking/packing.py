"""Packs whole sentences into passages of a budget of words; never cuts a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ibid.chunking.windows import WORD, check_window


def sentence_spans(
    text: str, sentences: Sequence[tuple[int, int]], size: int, overlap: int = 0
) -> list[tuple[int, int]]:
    """Ranges of consecutive sentences with at most `size` words; a longer sentence stands alone.

    A range repeats the last whole sentences of the one before that have together at most `overlap`
    words, as far as its own next sentence still fits. Raises BadSetting as check_window.
    """
    check_window(size, overlap)
    words = [sum(1 for _ in WORD.finditer(text, *span)) for span in sentences]
    spans = []
    first = last = 0
    while last < len(sentences):
        last = _fill(words, first, last, size)
        spans.append((sentences[first][0], sentences[last - 1][1]))
        first = _step_back(words, first, last, size, overlap)
    return spans


def _fill(words: Sequence[int], first: int, last: int, size: int) -> int:
    """The end of the range that starts at `first` and takes at least the sentence at `last`."""
    total = sum(words[first : last + 1])
    last += 1
    while last < len(words) and total + words[last] <= size:
        total += words[last]
        last += 1
    return last


def _step_back(words: Sequence[int], first: int, last: int, size: int, overlap: int) -> int:
    """Where the range after [first, last) starts: at `last`, or earlier by the overlap."""
    if last == len(words):
        return last
    room = min(overlap, size - words[last])
    start = last
    while start - 1 > first and words[start - 1] <= room:
        start -= 1
        room -= words[start]
    return start
