"""Bridges: passages that the first hits lead to by what they name, scored for the question.

Who asks for the position held by the actress of a film needs the film's document and then hers, of
which only the first shares words with the question. The first hits name her; a document that is
called so, or speaks of her and of what is asked, is a bridge.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from ibid.protocols import Mention, Role, Scored
from ibid.ranking.order import best_first

ROLES: Final[Mapping[Role, float]] = {Role.TITLE: 1.0, Role.HEADING: 0.5, Role.TEXT: 0.1}
"""What a link counts by where the entity is named: a document of that name tells most of it."""

UNASKED: Final = 0.2
"""What a bridge counts that shares no word with the question, against 1.2 for one that has all."""

QUESTION: Final = ""
"""The origin of what the question itself names; no document has this id."""

Origins = Mapping[int, Mapping[str, float]]
"""For each entity the documents that name it, each with what their hit counts."""


def weigh_origins(seeds: Iterable[tuple[str, Iterable[int]]], asked: Iterable[int]) -> Origins:
    """What leads to each entity: the question, which counts 1, and the first hits.

    `seeds` are documents with the entities that their passages name, best first; the one at rank
    r counts 1 / sqrt(r), a document once.
    """
    origins: dict[int, dict[str, float]] = defaultdict(dict)
    for entity in asked:
        origins[entity][QUESTION] = 1.0
    for rank, (document, entities) in enumerate(seeds, start=1):
        for entity in entities:
            origins[entity].setdefault(document, 1 / math.sqrt(rank))
    return origins


def link_rows(
    mentions: Sequence[Mention], origins: Origins, documents: Mapping[int, str] | None = None
) -> dict[int, float]:
    """How strongly each row is linked to what the question and the first hits name.

    An entity counts what leads to it, times its role, and the less the more rows name it:
    1 / (1 + log n). `documents` gives the document of a row, and leaves out the others: no document
    leads to itself.
    """
    counts = Counter(mention.entity for mention in mentions)
    links: dict[int, float] = defaultdict(float)
    for mention in mentions:
        document = None if documents is None else documents.get(mention.row)
        if documents is not None and document is None:
            continue
        weight = sum(w for origin, w in origins[mention.entity].items() if origin != document)
        if weight:
            rarity = 1 / (1 + math.log(counts[mention.entity]))
            links[mention.row] += weight * ROLES[mention.role] * rarity
    return dict(links)


def rank_bridges(
    links: Mapping[int, float], asked: AbstractSet[str], terms: Mapping[int, AbstractSet[str]]
) -> list[Scored]:
    """The rows by link times (UNASKED + the share of the question's terms that they hold).

    Best first, equal ones in the order of insertion.
    """
    return best_first(
        {
            row: link * (UNASKED + len(asked & terms[row]) / max(1, len(asked)))
            for row, link in links.items()
        }
    )
