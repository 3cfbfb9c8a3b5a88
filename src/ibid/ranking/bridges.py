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
from ibid.ranking.fusion import Fused
from ibid.ranking.order import best_first
from ibid.records import Contribution

ROLES: Final[Mapping[Role, float]] = {Role.TITLE: 1.0, Role.HEADING: 0.5, Role.TEXT: 0.1}
"""What a link counts by where the entity is named: a document of that name tells most of it."""

UNASKED: Final = 0.2
"""What a bridge counts that shares no word with the question, against 1.2 for one that has all."""

LEAST: Final = 0.1
"""The score from which a bridge is one. Below it the first hits and it share a common name, and
little of the question: on questions about one document such bridges took a place from better hits.
"""

PLACE: Final = 3
"""Hits that stay before all bridges: what the question itself finds best is never moved."""

MOST_BRIDGES: Final = 2

RETRIEVER: Final = "graph"
"""What bridges are called among the contributions of a hit."""

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
    links: Mapping[int, float],
    asked: AbstractSet[str],
    terms: Mapping[int, AbstractSet[str]],
    documents: Mapping[int, str],
) -> list[Scored]:
    """The rows by link times (UNASKED + the share of the question's terms that they hold).

    Best first, equal ones in the order of insertion; the best of each document, and none below
    LEAST.
    """
    scores = {
        row: link * (UNASKED + len(asked & terms[row]) / max(1, len(asked)))
        for row, link in links.items()
    }
    best: dict[str, Scored] = {}
    for scored in best_first(scores):
        if scored.score >= LEAST:
            best.setdefault(documents[scored.row], scored)
    return list(best.values())


def place_bridges(fused: Sequence[Fused], bridges: Sequence[Scored]) -> list[Fused]:
    """The ranking with the first bridges behind its first PLACE rows, and none of them twice.

    A bridge's share lifts it to a score between those of the rows around it.
    """
    bridges = bridges[:MOST_BRIDGES]
    rows = {bridge.row for bridge in bridges}
    known = {one.row: one for one in fused if one.row in rows}
    before = [one for one in fused[:PLACE] if one.row not in rows]
    behind = [one for one in fused[PLACE:] if one.row not in rows]
    if not before:
        return list(fused)
    high = before[-1].score
    low = behind[0].score if behind else high - abs(high) / 2
    step = (high - low) / (len(bridges) + 1)
    lifted = [
        _lift(known.get(bridge.row), bridge, rank, high - rank * step)
        for rank, bridge in enumerate(bridges, start=1)
    ]
    return [*before, *lifted, *behind]


def _lift(known: Fused | None, bridge: Scored, rank: int, target: float) -> Fused:
    given = dict(known.contributions) if known is not None else {}
    share = target - math.fsum(one.share for one in given.values())
    given[RETRIEVER] = Contribution(rank, bridge.score, share)
    return Fused(bridge.row, math.fsum(one.share for one in given.values()), given)
