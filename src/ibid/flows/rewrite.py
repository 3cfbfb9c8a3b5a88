"""The way of a question before it is searched for: what it is also searched by.

A follow-up is made standalone first, and the other methods work on that. Where a language model is
to write them, its texts are kept for the same question asked again, and a model that fails leaves
the question as it is, with a warning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ibid.flows.options import RewriteOptions
from ibid.flows.rewriter import Made, Rewriter
from ibid.language.detection import choose_query_language
from ibid.ranking.follow_ups import make_standalone
from ibid.ranking.parts import split_question
from ibid.ranking.rewriting import Method
from ibid.ranking.variants import ORIGINAL, Rewritten, Variant, share_weight
from ibid.records import JSON, Query, TraceStep

FOLLOW_UP_WEIGHT: Final = 0.25
"""What a follow-up itself counts beside its standalone form, which says the same and more; 0.5 and
1 measured worse (docs/RETRIEVAL.md)."""


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
        steps += [_tell("synonyms", Made((said,), "the file"))] if said else []
    variants = (*_list_base(query.text, standalone), *share_weight(groups, options.weight))
    return Rewritten(variants, standalone, tuple(steps), tuple(warnings))


def _list_base(question: str, standalone: str | None) -> list[Variant]:
    """The question itself, and before all its rewrites what it asks when it stands alone."""
    if standalone is None:
        return [Variant(ORIGINAL, question)]
    return [Variant(ORIGINAL, question, FOLLOW_UP_WEIGHT), Variant("follow-up", standalone)]


def _make(
    method: Method, question: str, query: Query, language: str | None, rewriter: Rewriter | None
) -> Made:
    if rewriter is not None:
        return rewriter.write(method, question, query)
    if method == "follow-up":
        standalone = make_standalone(question, query.history, language)
        return Made((standalone,) if standalone else ())
    return Made(split_question(question, language) if method == "decompose" else ())


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


def _tell(method: str, made: Made) -> TraceStep:
    told = "; ".join(made.texts) or made.warning or "nothing to rewrite"
    data: dict[str, JSON] = {"method": method, "by": made.by, "texts": [*made.texts]}
    return TraceStep("rewrite", f"{method} by {made.by}: {told}", {**data, **(made.spent or {})})
