"""A generator that says what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ibid.records import Delta, Prompt

Reply: TypeAlias = str | BaseException | Sequence[str | BaseException]
"""A whole answer, an error in place of one, or pieces as they arrive, errors among them."""


class ScriptedGenerator:
    """Gives the replies in turn, or those that a function makes of each prompt.

    `prompts` holds every prompt in order; `closed` counts the answers that were not heard out.
    """

    remote: str | None = None

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Prompt], Reply],
        *,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.prompts: list[Prompt] = []
        self.closed = 0
        self._reply = replies if callable(replies) else _take_in_turn(replies)

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The pieces of the next reply. Raises AssertionError when there is none left."""
        self.prompts.append(prompt)
        reply = self._reply(prompt)
        pieces = [reply] if isinstance(reply, str | BaseException) else reply
        try:
            for piece in pieces:
                if isinstance(piece, BaseException):
                    raise piece
                yield Delta(piece)
        except GeneratorExit:
            self.closed += 1
            raise


def _take_in_turn(
    replies: Sequence[Reply],
) -> Callable[[Prompt], Reply]:
    waiting = deque(replies)

    def take(prompt: Prompt) -> Reply:
        if not waiting:
            raise AssertionError(f"the script has no reply left for {prompt.question!r}")
        return waiting.popleft()

    return take
