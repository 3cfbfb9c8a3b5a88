"""Asking a model for a short text on the way of a question: bounded in time and length."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from ibid.errors import ModelTimeout
from ibid.protocols import Generator
from ibid.records import Prompt

MOST_CHARACTERS: Final = 8_000
"""Of a reply; what is longer is no short text, and reading on would only cost."""

CHARACTERS_PER_TOKEN: Final = 4
"""For estimates, where a model does not count; English has a little more, others less."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote and what it cost; tokens are estimates where it gave no counts."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    milliseconds: float = 0.0


def consult(generator: Generator, prompt: Prompt, *, timeout_s: float) -> Reply:
    """The model's reply, at most MOST_CHARACTERS of it, within the time.

    A model that is not done by then is left behind and stopped at its next piece. Raises
    ModelTimeout, and what the generator raises.
    """
    start = time.perf_counter()
    stop = threading.Event()
    pool = ThreadPoolExecutor(1)
    try:
        reply = pool.submit(_read_reply, generator, prompt, stop).result(timeout_s)
    except TimeoutError:
        raise ModelTimeout(
            f"{generator.name} gave no reply within {timeout_s:g} s",
            hint="allow it more time, or use a faster model",
        ) from None
    finally:
        stop.set()
        pool.shutdown(wait=False)
    milliseconds = (time.perf_counter() - start) * 1000
    return Reply(reply.text, reply.prompt_tokens, reply.completion_tokens, milliseconds)


def estimate_prompt(prompt: Prompt) -> int:
    """About how many tokens a prompt has."""
    return _estimate(sum(len(message.content) for message in prompt.messages))


def _read_reply(generator: Generator, prompt: Prompt, stop: threading.Event) -> Reply:
    pieces: list[str] = []
    length = sent = received = 0
    for delta in generator.generate(prompt):
        pieces.append(delta.text)
        length += len(delta.text)
        sent += delta.prompt_tokens
        received += delta.completion_tokens
        if stop.is_set() or length >= MOST_CHARACTERS:
            break
    text = "".join(pieces)[:MOST_CHARACTERS]
    return Reply(text, sent or estimate_prompt(prompt), received or _estimate(len(text)))


def _estimate(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
