"""The way of a question before it is searched for: what it is also searched by.

A follow-up is made standalone first, and the other methods work on that. Where a language model is
to write them, its texts are kept for the same question asked again, and a model that fails leaves
the question as it is, with a warning.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ibid.errors import ModelError
from ibid.flows.consult import consult
from ibid.flows.options import RewriteOptions
from ibid.flows.variants import Rewritten
from ibid.language.detection import choose_query_language
from ibid.protocols import Generator
from ibid.ranking.follow_ups import make_standalone
from ibid.ranking.parts import split_question
from ibid.ranking.rewriting import Method, build_rewrite_prompt, parse_rewrites
from ibid.ranking.variants import ORIGINAL, Variant, share_weight
from ibid.records import JSON, Query, TraceStep

REWRITES_KEPT: Final = 1_024
"""Replies that a library keeps, the last used ones."""

FOLLOW_UP_WEIGHT: Final = 0.25
"""What a follow-up itself counts beside its standalone form, which says the same and more; 0.5 and
1 measured worse (docs/RETRIEVAL.md)."""


@dataclass(frozen=True, slots=True)
class _Made:
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

    def write(self, method: Method, question: str, query: Query) -> _Made:
        """What the model makes of a question; nothing, with a warning, where it fails."""
        name = self.generator.name
        prompt = build_rewrite_prompt(method, question, query.history)
        said = "\0".join(f"{message.role}\0{message.content}" for message in prompt.messages)
        digest = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        key = (name, prompt.template, digest, query.principals)
        with self._lock:
            if (known := self._texts.get(key)) is not None:
                self._texts.move_to_end(key)
                return _Made(known, f"{name}, kept from before", {"calls": 0})
        start = time.perf_counter()
        spent: dict[str, JSON] = {"calls": 1}
        try:
            reply = consult(self.generator, prompt, timeout_s=self._timeout_s)
            spent["prompt_tokens"] = reply.prompt_tokens
            spent["completion_tokens"] = reply.completion_tokens
            texts = parse_rewrites(method, reply.text, question)
        except ModelError as error:
            spent["milliseconds"] = (time.perf_counter() - start) * 1000
            return _Made((), name, spent, f"the question was not rewritten: {error.message}")
        spent["milliseconds"] = (time.perf_counter() - start) * 1000
        with self._lock:
            self._texts[key] = texts
            while len(self._texts) > self._kept:
                self._texts.popitem(last=False)
        return _Made(texts, name, spent)


def rewrite_query(
    query: Query,
    options: RewriteOptions,
    *,
    languages: Mapping[str, int],
    rewriter: Rewriter | None = None,
) -> Rewritten:
    """The question with its variants, by a model where a rewriter is given, else by rule.

    Of the methods, only follow-ups, parts and synonyms have rules; the others give nothing without
    a rewriter.
    """
    language = choose_query_language(query.text, languages)
    steps: list[TraceStep] = []
    warnings: list[str] = []

    def make(method: Method, question: str) -> tuple[str, ...]:
        made = _make(method, question, query, language, rewriter)
        warnings.extend([made.warning] if made.warning else [])
        if made.texts or made.spent:
            steps.append(_tell(method, made))
        return made.texts

    standalone = None
    if "follow-up" in options.methods and query.history:
        standalone = next(iter(make("follow-up", query.text)), None)
    question = standalone or query.text
    groups = [
        _label(method, make(method, question))
        for method in options.methods
        if method != "follow-up"
    ]
    if options.synonyms is not None:
        said = options.synonyms.rewrite(question, language)
        groups.append([Variant("synonyms", said)] if said else [])
        steps += [_tell("synonyms", _Made((said,), "the file"))] if said else []
    base = (
        (Variant(ORIGINAL, query.text),)
        if standalone is None
        else (Variant(ORIGINAL, query.text, FOLLOW_UP_WEIGHT), Variant("follow-up", standalone))
    )
    variants = (*base, *share_weight(groups, options.weight))
    return Rewritten(variants, standalone, tuple(steps), tuple(warnings))


def _make(
    method: Method, question: str, query: Query, language: str | None, rewriter: Rewriter | None
) -> _Made:
    if rewriter is not None:
        return rewriter.write(method, question, query)
    if method == "follow-up":
        standalone = make_standalone(question, query.history, language)
        return _Made((standalone,) if standalone else ())
    return _Made(split_question(question, language) if method == "decompose" else ())


def _label(method: Method, texts: Sequence[str]) -> list[Variant]:
    """The texts of a method as variants: of one text, the method's name, of several numbered."""
    labels = {"paraphrases": "paraphrase", "decompose": "part"}
    if method == "decompose" and len(texts) < 2:
        return []
    return [
        Variant(
            f"{labels[method]} {number}" if method in labels else method,
            text,
            lexical=method != "hyde",  # an invented passage has words that no document has
            reserves=method == "decompose",
        )
        for number, text in enumerate(texts, start=1)
    ]


def _tell(method: str, made: _Made) -> TraceStep:
    told = "; ".join(made.texts) or made.warning or "nothing to rewrite"
    data: dict[str, JSON] = {"method": method, "by": made.by, "texts": [*made.texts]}
    return TraceStep("rewrite", f"{method} by {made.by}: {told}", {**data, **(made.spent or {})})
