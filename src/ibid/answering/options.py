"""How a language model is asked, light enough to be made before any adapter is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OUTPUT_TOKENS: Final = 1024
"""Tokens of an answer: some 700 words, where most answers take 50."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is asked.

    `temperature` 0 gives the same answer to the same prompt, as far as the endpoint can; None
    leaves it to the endpoint. An answer may take `output_tokens`; `context_tokens` is what the
    model holds of prompt and answer together, None where its endpoint is to be asked.
    """

    temperature: float | None = 0.0
    output_tokens: int = OUTPUT_TOKENS
    context_tokens: int | None = None
