"""Questions of two parts taken apart by rule: "What is X and how long is Y?" asks for both."""

from __future__ import annotations

import re
from typing import Final

from ibid.language.analyzer import content_terms

MOST_PARTS: Final = 4

_ASKING: Final = {
    "en": "who whom whose which what when where why how is are was were do does did can could may"
    " must should will would has have",
    "de": "wer wen wem wessen was wann wo warum wieso weshalb wie wohin woher welche welcher"
    " welches",
    "fr": "qui que quoi quel quelle quels quelles quand où pourquoi comment combien",
    "es": "quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas por",
    "it": "chi che cosa quale quali quando dove perché come quanto quanta quanti quante",
    "pt": "quem que qual quais quando onde como quanto quanta quantos quantas por",
    "nl": "wie wat wanneer waar waarom hoe welk welke hoeveel",
    "ru": "кто что когда где почему зачем как какой какая какое какие сколько",
}  # fmt: skip
"""Words by language that begin a question."""

_AND: Final = {
    "en": "and", "de": "und", "fr": "et", "es": "y", "it": "e", "pt": "e", "nl": "en", "ru": "и",
}  # fmt: skip

_MARK: Final = re.compile(r"(?<=[?？؟])\s*")


def split_question(question: str, language: str | None = None) -> tuple[str, ...]:
    """The parts of a question that ask for different things; empty where it asks for one.

    A part begins with a question word, after a question mark or after a comma or "and"; each has a
    content word of its own. More than MOST_PARTS parts are a text, and are not taken apart.
    """
    asking = _ASKING.get(language or "")
    pieces = [piece for piece in _MARK.split(question) if piece.strip(" \t\n.,;?¿")]
    if asking is not None:
        words = "|".join(asking.split())
        joint = rf"(?:\s*[,;]\s*(?:{_AND[language or '']}\s+)?|\s+{_AND[language or '']}\s+)"
        cut = re.compile(
            rf"{joint}(?=¿?(?:(?:in|for|at|to|by|from|für|à|de)\s)?(?:{words})\b)", re.I
        )
        pieces = [part for piece in pieces for part in cut.split(piece)]
    parts = [piece.strip(" \t\n,;") for piece in pieces]
    seen: set[str] = set()
    for part in parts:
        terms = set(content_terms(part, language))
        if not terms - seen:
            return ()
        seen |= terms
    return tuple(parts) if 2 <= len(parts) <= MOST_PARTS else ()
