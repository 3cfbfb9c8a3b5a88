"""When to abstain, and the words for it in the language of the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ibid.answering.evidence import find_language
from ibid.language.analyzer import content_terms
from ibid.records import Hit

LEAST_COSINE: Final = 0.35
"""Below this the nearest passage of the default embedder is about something else."""

NO_ANSWER: Final = "NO ANSWER IN THE SOURCES"
"""What a language model is asked to write, and nothing else, when the sources hold no answer."""

TOP_PASSAGES: Final = 5
"""Hits in which a word of the question is looked for."""

_ABSTENTIONS: Final = {
    "en": "The documents hold no answer to this question.",
    "de": "Die Dokumente enthalten keine Antwort auf diese Frage.",
    "fr": "Les documents ne contiennent pas de réponse à cette question.",
    "es": "Los documentos no contienen ninguna respuesta a esta pregunta.",
    "it": "I documenti non contengono una risposta a questa domanda.",
    "pt": "Os documentos não contêm nenhuma resposta a esta pergunta.",
    "nl": "De documenten bevatten geen antwoord op deze vraag.",
    "ru": "В документах нет ответа на этот вопрос.",
    "zh": "文档中没有这个问题的答案。",
    "ja": "文書にはこの質問への答えがありません。",
}


def should_abstain(
    question: str,
    hits: Sequence[Hit],
    *,
    best_cosine: float | None,
    min_cosine: float = LEAST_COSINE,
    language: str | None = None,
) -> str | None:
    """Why the hits can't answer the question, or None when they may.

    They can't when there are none; or when no content term of the question is in the first of
    them and the best cosine of any passage is below `min_cosine`. `best_cosine` is None where
    nothing was searched by meaning: the terms then decide alone.
    """
    if not hits:
        return "nothing was found"
    if best_cosine is not None and best_cosine >= min_cosine:
        return None
    language = language or find_language(hits)
    asked = set(content_terms(question, language))
    for hit in hits[:TOP_PASSAGES]:
        if asked & set(content_terms(hit.passage.indexed_text, language)):
            return None
    nearest = (
        "" if best_cosine is None else f", and the nearest passage has cosine {best_cosine:.2f}"
    )
    return f"no word of the question is in the passages found{nearest}"


def abstention_text(language: str | None = None) -> str:
    """The sentence that says so, in this language, else in English."""
    return _ABSTENTIONS.get(language or "en", _ABSTENTIONS["en"])


def says_no_answer(answer: str) -> bool:
    """Whether a model wrote that the sources hold no answer, in the words it was asked to use."""
    return answer.strip(" .!*\"'\n").upper() == NO_ANSWER
