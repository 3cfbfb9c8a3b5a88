"""Repair: a model is told which of its sentences no source supports, and writes them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ibid.records import Citation, Message, Prompt

_REQUEST: Final = (
    "These sentences of your answer were held against the sources and not confirmed:\n"
    "{claims}\n\n"
    "Write the whole answer again. Change only these sentences: let each say what the sources say "
    "and end with the number of the source that says it, or leave it out where none does. Keep "
    "every other sentence as it is, word for word, with its numbers. Write nothing but the answer."
)


def ask_repair(prompt: Prompt, draft: str, lacking: Sequence[Citation]) -> Prompt:
    """The prompt that goes on from an answer and asks for its unsupported claims to be mended.

    It names each claim, what was cited for it, what differs, and the nearest words of the source.
    All that was sent before stands first and unchanged, sources and their fences among it.
    """
    claims = "\n".join(_name_claim(citation) for citation in lacking)
    request = _REQUEST.replace("{claims}", claims)
    return replace(
        prompt,
        messages=(*prompt.messages, Message("assistant", draft), Message("user", request)),
        question=request,
        history=(*prompt.history, prompt.question, draft),
    )


def _name_claim(citation: Citation) -> str:
    marks = "".join(f"[{number}]" for number in citation.claim.markers)
    told = f"- “{_one_line(citation.claim.text)}” {marks}".rstrip()
    if citation.reason:
        told += f": {citation.reason}"
    if citation.quote:
        told += f". Source {citation.marker} has “{_one_line(citation.quote)}”"
    return told


def _one_line(text: str) -> str:
    return " ".join(text.split())
