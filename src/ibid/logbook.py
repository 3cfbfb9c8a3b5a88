"""The Python face of what was asked: answers listed, read, given again, rated; conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from ibid.flows.options import hold_principals
from ibid.parts import Parts
from ibid.protocols import Generator, Index
from ibid.records import Answer, CitedPlace, KeptAnswer, Owner, Query

if TYPE_CHECKING:
    from ibid.flows.chat import Chat

MOST_LISTED = 20
"""Answers that are listed unless more are asked for."""


class Logbook:
    """The part of a library that is about its answers.

    `principals` is the set that the caller holds: they see the answers that were asked by exactly
    this set, `ibid.OWNER` all. What stands on documents that are hidden from the caller today is
    `withheld`.
    """

    _parts: Parts
    _index: Index
    run_ask: Callable[..., Answer]

    @cached_property
    def generator(self) -> Generator:
        """What writes the answers; opened when it is first needed."""
        return self._parts.open_generator()

    def answers(
        self,
        principals: Iterable[str] | Owner = (),
        *,
        most: int = MOST_LISTED,
        rated: Literal["good", "bad"] | None = None,
    ) -> list[KeptAnswer]:
        """The newest answers in the log, newest first; with `rated`, those last rated so."""
        good = None if rated is None else rated == "good"
        return self._index.answers.newest(hold_principals(principals), most=most, good=good)

    def answer(self, id: str, principals: Iterable[str] | Owner = ()) -> KeptAnswer:
        """One answer. Raises UnknownAnswer, also for one that the caller does not see."""
        return self._index.answers.find(id, hold_principals(principals))

    def replay(self, id: str, principals: Iterable[str] | Owner = ()) -> tuple[Answer, bool]:
        """The question answered again from the sources and options kept with an answer, and
        whether that gave the same; a withheld answer comes back as it is.

        The new answer is not kept. Raises UnknownAnswer.
        """
        from ibid.flows.answers import replay_answer

        return replay_answer(
            self.answer(id, principals),
            self._parts.ask,
            index=self._index,
            embedder=self._parts.embedder,
            generator=self.generator,
        )

    def feedback(
        self,
        id: str,
        rating: Literal["good", "bad"],
        comment: str = "",
        principals: Iterable[str] | Owner = (),
    ) -> None:
        """Say whether an answer was good. Raises UnknownAnswer, BadQuery for another rating."""
        from ibid.flows.answers import rate_answer

        rate_answer(id, rating, comment, hold_principals(principals), index=self._index)

    def cited(
        self, id: str, marker: int | None = None, principals: Iterable[str] | Owner = ()
    ) -> list[CitedPlace]:
        """The places that an answer cites, in its order, with the text around them.

        With `marker`, those that it stands for. Raises UnknownAnswer, and BadQuery for a marker
        that cites nothing.
        """
        from ibid.flows.cited import find_places

        held = hold_principals(principals)
        return find_places(self.answer(id, held), marker, held, index=self._index)

    def chat(
        self,
        principals: Iterable[str] | Owner = (),
        *,
        filter: str | None = None,
        **options: Any,
    ) -> Chat:
        """A conversation: each `ask` of it knows the questions and answers before.

        `options` are those of `run_ask`.
        """
        from ibid.flows.chat import Chat

        query = Query("", hold_principals(principals), filter)
        return Chat(query, partial(self.run_ask, **options))
