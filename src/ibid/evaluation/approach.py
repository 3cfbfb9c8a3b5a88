"""Whether to search, to send everything, or to fine-tune: what a collection and prices say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Way: TypeAlias = Literal["search", "whole"]

WINDOW: Final = 200_000
"""Tokens that a model is taken to hold where nobody says: the common size of a large window."""

WHOLE_SHARE: Final = 0.5
"""Part of a window that documents may fill: answers get worse long before it is full."""

ASKING_TOKENS: Final = 300
"""Tokens of instructions, question and marks around the sources."""

CHARACTERS_PER_TOKEN: Final = 4
"""Of English prose; other languages take more tokens, up to one for each character."""

MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """What the tokens sent for a thousand questions cost by a model's price, in its currency."""

    model: str
    searched: float
    whole: float


@dataclass(frozen=True, slots=True)
class Approach:
    """The way to go, with the tokens it was chosen by; `reasons` are whole sentences."""

    way: Way
    tokens: int
    tokens_searched: int
    window: int
    reasons: tuple[str, ...]
    costs: tuple[Cost, ...] = ()


def choose_approach(
    tokens: int,
    *,
    sent: int,
    window: int | None = None,
    restricted: bool = False,
    changing: bool = False,
    input_prices: Mapping[str, float] | None = None,
) -> Approach:
    """Search, or send everything: the way for so many tokens, of which a search sends `sent`.

    `window` is what the model holds (None: WINDOW), `restricted` whether some may see less than
    others, `changing` whether the documents change. `input_prices` are those of a million tokens
    sent, by model. Fine-tuning is never the way by which facts get into answers; a reason says
    what it is for.
    """
    holds = window or WINDOW
    searched = min(sent, tokens) + ASKING_TOKENS
    fits = tokens <= holds * WHOLE_SHARE
    way: Way = "whole" if fits and not restricted and not changing else "search"
    costs = tuple(
        Cost(model, _price(searched, price), _price(tokens + ASKING_TOKENS, price))
        for model, price in (input_prices or {}).items()
    )
    reasons = (
        _tell_window(tokens, holds, fits),
        *(["Some may see less than others: each question is searched within what its asker sees."]
          if restricted else []),
        *(["The documents change, and what changed is cheaper to index again than to send again."]
          if changing else []),
        f"A search sends about {searched:,} tokens for a question, everything {tokens:,}.",
        "Fine-tuning teaches a form, not facts: it needs some 500 examples of a task that stays"
        " the same, can't cite, can't forget and can't keep from one what another may see.",
    )  # fmt: skip
    return Approach(way, tokens, searched, holds, reasons, costs)


def _price(tokens: int, price: float) -> float:
    """What a thousand questions of so many tokens cost."""
    return tokens * price * 1000 / MILLION


def _tell_window(tokens: int, window: int, fits: bool) -> str:
    part = tokens / window
    told = f"The documents have about {tokens:,} tokens, {part:.0%} of a window of {window:,}"
    if fits:
        return f"{told}: a model can read all of them for each question."
    if tokens <= window:
        return f"{told}: they fit, but answers get worse as a window fills."
    return f"{told}: they do not fit."
