"""A plain function from text to text, as a generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ibid.errors import MalformedOutput
from ibid.records import Delta, Prompt


class FunctionGenerator:
    """Calls a function with the messages as one text; its name is the function's own.

    What the function does with the text is its own affair: `remote` is None.
    """

    remote: str | None = None

    def __init__(self, function: Callable[[str], str]) -> None:
        self._function = function
        qualified = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = f"{function.__module__}.{qualified}"

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The whole answer as one piece. Raises MalformedOutput when it isn't a text."""
        answer = self._function("\n\n".join(message.content for message in prompt.messages))
        if not isinstance(answer, str):
            raise MalformedOutput(
                f"{self.name} returned {type(answer).__name__}, not str",
                hint="a generator function takes the prompt and returns the answer",
            )
        yield Delta(answer)
