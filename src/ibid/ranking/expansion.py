"""Query expansion by a list of synonyms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def expand_terms(terms: Sequence[str], synonyms: Mapping[str, Collection[str]]) -> list[str]:
    """The terms of the query and then their synonyms, in order, each once."""
    added = [synonym for term in terms for synonym in synonyms.get(term, ())]
    return list(dict.fromkeys([*terms, *added]))


def group_terms(
    terms: Sequence[str], synonyms: Mapping[str, Collection[str]]
) -> list[frozenset[str]]:
    """For each different term of the query the words that stand for it, itself among them."""
    return [frozenset({term, *synonyms.get(term, ())}) for term in dict.fromkeys(terms)]
