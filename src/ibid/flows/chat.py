"""A conversation: each question with those before it, and what was cited stays at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ibid.errors import UnknownDocument
from ibid.protocols import Index, Scope, Snapshot
from ibid.ranking.select import select_hits
from ibid.records import Answer, AnswerStatus, Hit, Query, SearchResult, TraceStep, Verdict

MOST_CITED: Final = 3
"""Passages of earlier answers that a question is given beside those found for it."""

TURNS: Final = 6
"""Questions, with their answers, that a question is asked after; older ones are forgotten."""

AskOnce: TypeAlias = Callable[[Query], Answer]


@dataclass(slots=True)
class Chat:
    """Questions that follow one another; `query` holds what is the same for all of them.

    `answers` are in their order. History never opens anything: each question is searched, and
    what was cited before is looked up again, with the caller's access of that moment.
    """

    query: Query
    ask_once: AskOnce
    answers: list[Answer] = field(default_factory=list)

    def ask(self, question: str) -> Answer:
        """The answer to a question in the light of those before. Raises what asking does."""
        recent = self.answers[-TURNS:]
        answer = self.ask_once(
            replace(
                self.query,
                text=question,
                history=(
                    *self.query.history,
                    *(text for turn in recent for text in (turn.question, turn.text)),
                ),
                cited=list_cited(recent),
            )
        )
        self.answers.append(answer)
        return answer

    def forget(self) -> None:
        """Start over: what was said is no part of what comes."""
        self.answers.clear()


def list_cited(answers: Sequence[Answer]) -> tuple[Hit, ...]:
    """The passages that these answers cite rightly, those of the last answer first."""
    found: dict[str, Hit] = {}
    for answer in reversed(answers):
        if answer.status is not AnswerStatus.ANSWERED:
            continue
        cited = {c.passage_id for c in answer.citations if c.verdict is Verdict.SUPPORTED}
        for hit in answer.sources:
            if hit.passage.id in cited:
                found.setdefault(hit.passage.id, hit)
    return tuple(found.values())[:MOST_CITED]


def recall_cited(found: SearchResult, index: Index) -> SearchResult:
    """What was found, then what earlier answers cited, where the version and the caller have it.

    These have no score: nothing was found in them for this question.
    """
    query = found.query
    snapshot = index.snapshot(found.version)
    scope = Scope(query.principals, query.filter, query.include_archived)
    recalled = [fresh for hit in query.cited if (fresh := _look_up(hit, snapshot, scope))]
    hits = (*found.hits, *recalled)
    chosen = select_hits(hits, max(len(hits), 1), distinct=True).hits
    more = len(chosen) - len(found.hits)
    step = TraceStep("recall", f"{more} more of what was cited before", {"hits": more})
    return replace(found, hits=chosen, trace=(*found.trace, step))


def _look_up(hit: Hit, snapshot: Snapshot, scope: Scope) -> Hit | None:
    """The same passage as it is in a snapshot; None where it, or the right to see it, is gone."""
    with suppress(UnknownDocument):
        stored = snapshot.document(hit.document_id, scope)
        if stored.document.text[hit.passage.span] == hit.passage.text:
            return Hit(0, 0.0, hit.passage, stored.info, {})
    return None
