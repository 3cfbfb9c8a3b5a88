"""Which texts a question is searched by: itself, its rewrites, and what a model searches for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ibid.errors import BadSetting
from ibid.flows.ground import Ground
from ibid.flows.options import SearchOptions
from ibid.ranking.variants import ORIGINAL, Rewritten, Variant
from ibid.records import Query

if TYPE_CHECKING:
    from ibid.flows.agent import Find


def find_variants(query: Query, options: SearchOptions, ground: Ground, *, find: Find) -> Rewritten:
    """The variants of a query as its options have it; the query alone where there is no more to do.

    `find` gives the hits of a text inside the caller's scope. Raises BadSetting where a model is
    needed and the options have no `rewriter`.
    """
    made = Rewritten((Variant(ORIGINAL, query.text),))
    rewriter = options.rewriter
    if rewriter is None and (options.rewrite.by_model or options.agent is not None):
        raise BadSetting(
            "rewriting by a model, and searching by one, need a language model",
            hint="set generator.name with its endpoint, and rewrite.by or search.agent",
        )
    if options.rewrite.has_work(query):
        from ibid.flows.rewrite import rewrite_query  # noqa: PLC0415 - seldom needed

        writer = rewriter if options.rewrite.by_model else None
        languages = ground.index.languages
        made = rewrite_query(query, options.rewrite, languages=languages, rewriter=writer)
    if options.agent is None or rewriter is None:
        return made
    from ibid.flows.agent import explore  # noqa: PLC0415 - likewise

    generator = rewriter.generator
    found = explore(made.question, options.agent, generator=generator, find=find, ground=ground)
    return replace(
        made,
        variants=(*made.variants, *found.variants),
        steps=(*made.steps, *found.steps),
        warnings=(*made.warnings, *found.warnings),
    )
