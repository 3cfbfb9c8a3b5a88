"""What chat clients ask of a model for themselves: a chat's title, its tags, what to ask next.

They send it as a question like any other; the documents have nothing to do with it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ibid.openers import EXTRACTIVE
from ibid.protocols import Generator
from ibid.records import Message, Prompt

MARK: Final = "### Task:"
"""How Open WebUI and LibreChat begin such a question."""

TITLE_WORDS: Final = 6

_HISTORY: Final = re.compile(r"<chat_history>(.*?)</chat_history>", re.DOTALL)
_SPEAKER: Final = re.compile(r"^\s*user:\s*", re.IGNORECASE)


def is_task(question: str) -> bool:
    """Whether a client asks for itself."""
    return question.lstrip().startswith(MARK)


def run_task(generator: Generator, task: str) -> str:
    """What the model writes; without a language model, what can be told from the chat itself."""
    if generator.name == EXTRACTIVE:
        return json.dumps(_answer_plainly(task), ensure_ascii=False)
    prompt = Prompt((Message("user", task),), task, (), "task")
    return "".join(delta.text for delta in generator.generate(prompt))


def _answer_plainly(task: str) -> dict[str, Any]:
    """The fields that the task names: the title is the first question's beginning."""
    orders, history = _HISTORY.sub("", task), _HISTORY.search(task)
    first = _SPEAKER.sub("", history[1].strip()).splitlines()[:1] if history else []
    title = " ".join("".join(first).split()[:TITLE_WORDS])
    known = {"title": title or "Chat", "tags": ["General"], "follow_ups": [], "queries": []}
    return {name: value for name, value in known.items() if f'"{name}"' in orders} or {"text": ""}
