"""The way over the graph: from the first hits, by what they name, to passages that join them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ibid.index.graph import mention_entities
from ibid.language.analyzer import content_terms
from ibid.language.entities import find_entities, hash_entity
from ibid.protocols import Scope, Scored, Snapshot
from ibid.ranking.bridges import LEAST, PLACE, UNASKED, link_rows, rank_bridges, weigh_origins

SEEDS: Final = 5
"""First hits whose entities are followed."""

COMMON: Final = 20
"""Passages in the caller's scope beyond which an entity is too common to join two of them."""

CANDIDATES: Final = 24
"""Passages, the most strongly linked ones, that are read and held against the question."""


def find_bridges(
    text: str, rows: Sequence[int], snapshot: Snapshot, scope: Scope, *, language: str
) -> list[Scored]:
    """The passages that the question and its first hits lead to, best first.

    `rows` are the hits, best first; the documents of the first PLACE of them need no bridge. What
    is found lies inside the scope, and so does all that leads to it.
    """
    found = snapshot.passages(rows[:SEEDS])
    first = [found[row] for row in rows[:SEEDS] if row in found]
    origins = weigh_origins(
        [(info.id, mention_entities(passage, info.title, language)) for passage, info in first],
        map(hash_entity, find_entities(text, language)),
    )
    mentions = snapshot.find_mentions(list(origins), COMMON, scope)
    roughly = link_rows(mentions, origins)
    strong = [row for row, link in roughly.items() if link * (1 + UNASKED) >= LEAST]
    nearest = sorted(strong, key=lambda row: (-roughly[row], row))[:CANDIDATES]
    read = snapshot.passages(nearest)
    known = {info.id for _, info in first[:PLACE]}
    documents = {row: info.id for row, (_, info) in read.items() if info.id not in known}
    links = link_rows(mentions, origins, documents)
    terms = {
        row: frozenset(content_terms(f"{info.title or ''}\n{passage.indexed_text}", language))
        for row, (passage, info) in read.items()
        if row in links
    }
    return rank_bridges(links, frozenset(content_terms(text, language)), terms, documents)
