"""What a question asks for: its parts, its terms, and what a sentence that tells it looks like."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ibid.language.analyzer import content_terms
from ibid.language.stop_words import FUNCTION_CHARACTERS

ASKING: Final = {
    "en": "many much long often far old mean means meaning happen happens called tell explain list"
    " describe",
    "de": "viel viele lange oft weit alt hoch groß bedeutet heißt passiert nennt erkläre",
    "fr": "signifie appelle passe expliquez long longtemps fois",
    "es": "significa llama pasa explica largo tiempo veces",
    "it": "significa chiama succede spiega lungo volte",
    "pt": "significa chama acontece explica longo vezes",
    "nl": "veel lang vaak ver oud betekent heet gebeurt",
}
"""Words of a question that say what kind of answer is wanted and stand in none, by language."""

LEAST_TERMS: Final = 2
"""Content terms from which a part of a question stands for itself."""

_JOINT: Final = re.compile(
    r"""
    [,;]?\s+(?:and|und|et|y|e|en)\s+(?:if\s+so,?\s+|also\s+)?
    (?=(?:who|whom|whose|what|when|where|why|how|which|is|are|does|do|can
        |wer|wen|was|wann|wo|warum|wie|welche\w*
        |qui|que|quand|où|pourquoi|comment|combien|quel\w*
        |quién|qué|cuándo|dónde|cómo|cuánt\w*|cuál\w*)\b)
    | [?？]\s*(?=\S) | [，,]?\s*(?:以及|还有|並且)(?=.)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What joins two questions: an "and" before a question word, or a question mark."""


def split_question(question: str) -> list[str]:
    """The questions that one line asks, in order; the whole alone where it asks one.

    A later part may leave out what the first one named: "Who found it, and when?".
    """
    parts = [part.strip() for part in _JOINT.split(question) if part and part.strip()]
    return parts if len(parts) > 1 else [question]


def list_askings(question: str, language: str | None) -> list[str]:
    """The question whole, then those of its parts that stand for themselves by their terms."""
    parts = [
        part
        for part in split_question(question)
        if part != question and len(ask_terms(part, language)) >= LEAST_TERMS
    ]
    return [question, *parts]


def ask_terms(question: str, language: str | None) -> frozenset[str]:
    """The content terms of a question without what only asks; all of them if none stay.

    Of scripts without spaces no pair counts that is half a function character: it is a seam.
    """
    terms = frozenset(content_terms(question, language))
    telling = {term for term in terms if FUNCTION_CHARACTERS.isdisjoint(term)}
    return frozenset(telling - _asking_terms(language)) or terms


@lru_cache
def _asking_terms(language: str | None) -> frozenset[str]:
    return frozenset(content_terms(ASKING.get(language or "", ""), language))
