"""A language model that rewrites questions, within its time, its replies kept for who asked."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ibid.errors import ModelError
from ibid.flows.consult import consult
from ibid.protocols import Generator
from ibid.ranking.rewriting import Method, build_rewrite_prompt, parse_rewrites
from ibid.records import JSON, Query

REWRITES_KEPT: Final = 1_024
"""Replies that a library keeps, the last used ones."""


@dataclass(frozen=True, slots=True)
class Made:
    """What one method made of a question: texts, how that came, and what went wrong."""

    texts: tuple[str, ...] = ()
    by: str = "rule"
    spent: dict[str, JSON] | None = None
    warning: str | None = None


class Rewriter:
    """Asks a model for rewrites, each at most `timeout_s` long, and keeps the last replies.

    What is kept is found again only by who asked: nobody learns from a fast reply that somebody
    else asked the same.
    """

    def __init__(
        self,
        open_generator: Callable[[], Generator],
        *,
        timeout_s: float,
        kept: int = REWRITES_KEPT,
    ) -> None:
        """Ask what `open_generator` gives, which is called when a model is first needed."""
        self._open_generator = open_generator
        self._timeout_s = timeout_s
        self._kept = kept
        self._texts: OrderedDict[tuple[object, ...], tuple[str, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Rewriter({self.generator.name!r})"

    @property
    def generator(self) -> Generator:
        """The model that is asked."""
        return self._open_generator()

    def write(self, method: Method, question: str, query: Query) -> Made:
        """What the model makes of a question; nothing, with a warning, where it fails."""
        name = self.generator.name
        prompt = build_rewrite_prompt(method, question, query.history)
        said = "\0".join(f"{message.role}\0{message.content}" for message in prompt.messages)
        digest = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        key = (name, prompt.template, digest, query.principals)
        with self._lock:
            if (known := self._texts.get(key)) is not None:
                self._texts.move_to_end(key)
                return Made(known, f"{name}, kept from before", {"calls": 0})
        start = time.perf_counter()
        spent: dict[str, JSON] = {"calls": 1}
        try:
            reply = consult(self.generator, prompt, timeout_s=self._timeout_s)
            spent["prompt_tokens"] = reply.prompt_tokens
            spent["completion_tokens"] = reply.completion_tokens
            texts = parse_rewrites(method, reply.text, question)
        except ModelError as error:
            spent["milliseconds"] = (time.perf_counter() - start) * 1000
            return Made((), name, spent, f"the question was not rewritten: {error.message}")
        spent["milliseconds"] = (time.perf_counter() - start) * 1000
        with self._lock:
            self._texts[key] = texts
            while len(self._texts) > self._kept:
                self._texts.popitem(last=False)
        return Made(texts, name, spent)
