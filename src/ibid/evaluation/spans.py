"""Measures of chunking: which part of the evidence the ranges shown hold, and of them the evidence.

A range is `[start, end)` of one document, counted in tokens or characters: the measures are of
whichever unit its ends are in. Smith and Troynikov, Evaluating Chunking Strategies for Retrieval,
2024.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Range: TypeAlias = tuple[str, int, int]
"""A document's id, and where in it the range starts and ends."""


def token_recall(shown: Sequence[Range], evidence: Sequence[Range]) -> float:
    """The part of the evidence that is shown; 0 without any evidence."""
    asked = count_tokens(join_ranges(evidence))
    return _count_common(shown, evidence) / asked if asked else 0.0


def token_precision(shown: Sequence[Range], evidence: Sequence[Range]) -> float:
    """The part of what is shown that is evidence.

    What overlapping ranges show twice counts twice as shown, and once as evidence: it costs a
    prompt as much as any other text. 0 where nothing is shown.
    """
    spent = count_tokens(shown)
    return _count_common(shown, evidence) / spent if spent else 0.0


def token_iou(shown: Sequence[Range], evidence: Sequence[Range]) -> float:
    """The evidence shown, over all that is shown or evidence; repeats count as in precision."""
    common = _count_common(shown, evidence)
    union = count_tokens(shown) + count_tokens(join_ranges(evidence)) - common
    return common / union if union else 0.0


def count_tokens(ranges: Iterable[Range]) -> int:
    """The length of all ranges together."""
    return sum(end - start for _, start, end in ranges)


def join_ranges(ranges: Iterable[Range]) -> list[Range]:
    """The same places as ranges that do not overlap, in order."""
    joined: list[Range] = []
    for document, start, end in sorted(ranges):
        if joined and joined[-1][0] == document and start <= joined[-1][2]:
            joined[-1] = (document, joined[-1][1], max(end, joined[-1][2]))
        else:
            joined.append((document, start, end))
    return joined


def _count_common(shown: Sequence[Range], evidence: Sequence[Range]) -> int:
    asked = join_ranges(evidence)
    return sum(
        max(0, min(end, stop) - max(start, begin))
        for document, start, end in join_ranges(shown)
        for other, begin, stop in asked
        if document == other
    )
