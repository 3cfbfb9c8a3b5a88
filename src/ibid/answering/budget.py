"""Token budgets: a prompt that fits the window of its model, the weakest sources left out first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from ibid.errors import BadQuery
from ibid.records import Hit, Prompt

BYTES_PER_TOKEN: Final = 3
"""Of UTF-8. English takes 4 to 5; a Chinese character is 3 bytes and at most about a token."""

MESSAGE_TOKENS: Final = 8
"""What a model's chat format puts around a message."""

_ALONE: Final = re.compile(r"[0-9!-/:-@\[-`{-~]")
"""Digits and marks: a token each in many models."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes at most, whatever the model: bytes / 3, and more where
    digits and marks stand.

    It is meant to be too high by a third rather than too low: no tokenizer is asked, since each
    model has its own.
    """
    alone = len(_ALONE.findall(text))
    size = len(text.encode("utf-8", "surrogatepass"))
    return alone + -(-(size - alone) // BYTES_PER_TOKEN)


def count_prompt(prompt: Prompt) -> int:
    """About how many tokens all messages of a prompt take at most."""
    return sum(estimate_tokens(m.content) + MESSAGE_TOKENS for m in prompt.messages)


def fit_prompt(
    build: Callable[[Sequence[Hit], Sequence[str]], Prompt],
    sources: Sequence[Hit],
    history: Sequence[str],
    *,
    room: int,
) -> Prompt:
    """The prompt with as many of the sources, which come best first, as fit into `room` tokens.

    One source is kept before any of the history is; of the history the oldest turns go first.
    Instructions and question are never cut. Raises BadQuery when they do not fit with one source.
    """
    said = history
    while (bare := count_prompt(build(sources[:1], said))) > room and said:
        said = said[2:]
    if bare > room:
        raise BadQuery(
            f"question, instructions and one source take about {bare:,} tokens, and the model has "
            f"room for {room:,}",
            hint="ask a shorter question, or set generator.context_tokens to what the model holds",
        )
    count = _count_fitting(
        len(sources), lambda count: count_prompt(build(sources[:count], said)) <= room
    )
    return build(sources[:count], said)


def _count_fitting(most: int, fits: Callable[[int], bool]) -> int:
    """The largest count up to `most` that fits, by halving; 1 is known to, or `most` is 0."""
    if most < 1 or fits(most):
        return most
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
