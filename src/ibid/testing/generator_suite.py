"""What every generator must do: subclass GeneratorSuite and give its fixtures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from ibid.protocols import Generator
from ibid.records import Message, Prompt

Speaker: TypeAlias = Callable[[list[str]], Generator]
"""Makes the generator under test answer with these pieces."""

PIECES: Final = (
    "A full refund",
    " {within} 14 days [1]",
    ".\n\n",
    '“Ja” — 是 👩‍👧 \\n "x"',
    " end ",
)


def make_prompt(question: str = "How long?") -> Prompt:
    """A prompt with one system and one user message and no sources."""
    messages = (Message("system", "Answer."), Message("user", question))
    return Prompt(messages=messages, question=question, sources=(), template="t")


class GeneratorSuite:
    """Tests of the Generator protocol; a subclass gives the fixture `speak`, a Speaker."""

    def test_the_pieces_are_the_answer(self, speak: Speaker) -> None:
        """Braces, line ends, quotes and any script arrive as they were said."""
        deltas = list(speak(list(PIECES)).generate(make_prompt()))
        assert "".join(delta.text for delta in deltas) == "".join(PIECES)

    def test_an_answer_streams(self, speak: Speaker) -> None:
        """The first piece is there before the last one is asked for, and they come in order."""
        stream = iter(speak(list(PIECES)).generate(make_prompt()))
        assert next(stream).text == PIECES[0]
        assert next(stream).text == PIECES[1]

    def test_closing_early_ends_it(self, speak: Speaker) -> None:
        """Nothing follows a close, and the generator can be used again."""
        generator = speak(["one", "two", "three"])
        stream = generator.generate(make_prompt())
        assert next(iter(stream)).text == "one"
        close = getattr(stream, "close", None)
        assert close is not None
        close()
        assert list(stream) == []

    def test_asking_again_answers_again(self, speak: Speaker) -> None:
        """A generator keeps nothing of the question before."""
        generator = speak(["yes"])
        first = "".join(delta.text for delta in generator.generate(make_prompt("one?")))
        second = "".join(delta.text for delta in generator.generate(make_prompt("two?")))
        assert first == second == "yes"

    def test_it_says_what_it_is(self, speak: Speaker) -> None:
        """A generator has a name, and says where text goes or that it stays."""
        generator = speak(["yes"])
        assert generator.name
        assert generator.remote is None or "://" in generator.remote
