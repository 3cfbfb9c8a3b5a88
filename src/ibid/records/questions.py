"""A question and its hits: what is asked, what was found, and each step on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from ibid.record import record
from ibid.records.documents import JSON, DocumentInfo, Passage, Principals

SearchMode: TypeAlias = Literal["hybrid", "lexical", "dense"]

AskContext: TypeAlias = Literal["search", "auto", "whole"]
"""What a model is sent: what a search found, all where it fits, or all that the asker may see."""


@record
class Query:
    """One question and what may be searched for it.

    `filter` is an expression of the filter language; `version` is a library version, None for
    the last one; `history` holds the earlier questions and answers of a conversation, in order, and
    `cited` what those answers cited: it may be cited again, by those who may still see it.
    """

    text: str
    principals: Principals = frozenset()
    filter: str | None = None
    include_archived: bool = False
    version: int | None = None
    history: tuple[str, ...] = ()
    cited: tuple[Hit, ...] = ()


@record
class Contribution:
    """What one retriever gave a hit: its rank from 1, its own score, its share of the final one."""

    rank: int
    score: float
    share: float


@record
class Move:
    """What a stage after fusion made of a hit: its rank before and after, from 1, and its score.

    `score` is the one shown from then on, `raw` the stage's own number that it was made from.
    """

    stage: str
    before: int
    after: int
    score: float
    raw: float


@record
class Hit:
    """A passage found for a query. The shares of `contributions` sum to the fused score.

    `score` is the one that the last stage gave: that of fusion where nothing came after it, else
    that of the last of `moves`. `library` names the one it comes from, where several were asked.
    """

    rank: int
    score: float
    passage: Passage
    document: DocumentInfo
    contributions: Mapping[str, Contribution]
    moves: tuple[Move, ...] = ()
    library: str | None = None

    @property
    def document_id(self) -> str:
        """The id of the document that the passage comes from."""
        return self.document.id

    @property
    def fused_score(self) -> float:
        """The exact sum of the shares: the score before any move."""
        return math.fsum(given.share for given in self.contributions.values())


@record
class TraceStep:
    """One step on the way of a question: its stage, what it did in words, and the same as data.

    `data` is JSON. Where a step costs something it says so under these names: `milliseconds`,
    `calls`, `prompt_tokens`, `completion_tokens`. Neither words nor data hold anything of a
    document that the caller may not see, not even a count.
    """

    stage: str
    detail: str
    data: Mapping[str, JSON] = field(default_factory=dict)


@record
class SearchResult:
    """The hits of one search, the version that answered it, and where its time went.

    `trace` holds the steps in their order; `warnings` what did not go as it was asked for. Where
    several libraries were asked, `versions` has that of each by its name, the first's is `version`.
    `standalone` is a follow-up as it can be understood alone, None for what needs nothing more.
    """

    query: Query
    mode: SearchMode
    version: int
    hits: tuple[Hit, ...]
    timings_ms: Mapping[str, float]
    trace: tuple[TraceStep, ...] = ()
    warnings: tuple[str, ...] = ()
    standalone: str | None = None
    versions: Mapping[str, int] = field(default_factory=dict)
