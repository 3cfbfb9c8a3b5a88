"""Follow-ups made standalone by rule: what a question leaves out is carried over from the last.

"What about monthly plans?" says nothing of refunds, "Does it expire?" nothing of what may expire.
Such a question is searched for together with the content words of the question before it. One that
stands on its own, "How are you today?" among them, is passed through as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ibid.language.analyzer import content_terms
from ibid.ranking.follow_up_words import ANSWER, OPENERS, POINTERS

TURNS: Final = 4
"""Questions back to which a chain of follow-ups is traced."""

MOST_CARRIED: Final = 12
"""Content words that are carried over; a longer question is a text, and would bury the new one."""

_WORD: Final = re.compile(r"[^\W_](?:[\w]|[-'’./](?=\w))*")

_ASKED_BACK: Final = re.compile(r"[^.!?。！？\n]+[?？؟]\s*$")


def make_standalone(
    question: str, history: Sequence[str], language: str | None = None
) -> str | None:
    """The question with what it leaves out, from the questions before it; None when it needs none.

    `history` holds questions and answers by turns, the first being a question. What is carried
    over stands first, in the words that were used; so a chain of follow-ups keeps its subject.
    """
    asked = history[::2][-TURNS:]
    if not asked or not is_follow_up(question, language):
        return None
    resolved = asked[0]
    for later in asked[1:]:
        resolved = (
            _carry_over(resolved, later, language) if is_follow_up(later, language) else later
        )
    back = _ASKED_BACK.search(history[-1].strip()) if len(history) % 2 == 0 else None
    if back is not None and ANSWER.fullmatch(question):
        resolved = f"{resolved} {back[0].strip()}"
    standalone = _carry_over(resolved, question, language)
    return None if standalone == question else standalone


def is_follow_up(question: str, language: str | None = None) -> bool:
    """Whether a question can't be understood alone: it points back, goes on, or is an answer."""
    text = question.strip().casefold()
    if ANSWER.fullmatch(text):
        return True
    opener = OPENERS.get(language or "")
    if opener is not None and opener.match(text):
        return True
    pointers = POINTERS.get(language or "", "").split()
    return any(word in pointers for word in _WORD.findall(text))


def _carry_over(before: str, question: str, language: str | None) -> str:
    """The question after the content words of the one before that it does not have itself."""
    known = set(content_terms(question, language))
    carried: list[str] = []
    for word in _WORD.findall(before):
        terms = set(content_terms(word, language))
        if terms and not terms & known:
            carried.append(word)
            known |= terms
    return " ".join([*carried[:MOST_CARRIED], question.strip()])
