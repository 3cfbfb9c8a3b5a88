"""The way of a model that searches on its own: it searches, reads, searches again, and stops.

It is bounded in replies, tokens and time, and ends where it goes in circles or fails. Whatever it
searches for is searched for the caller, at one version; what its searches found then stands beside
what the question itself found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ibid.answering.injection import neutralise
from ibid.errors import MalformedOutput, ModelError, UnknownDocument
from ibid.flows.consult import Reply, consult, estimate_prompt
from ibid.flows.ground import Ground
from ibid.flows.options import REWRITES_WEIGHT, AgentOptions
from ibid.protocols import Generator
from ibid.ranking.agent_turns import (
    SHOWN,
    SHOWN_CHARACTERS,
    Choice,
    Finding,
    build_agent_prompt,
    parse_choice,
    show_hit,
)
from ibid.ranking.variants import Variant, share_weight
from ibid.records import JSON, Hit, TraceStep

MALFORMED: Final = 2
"""Replies without an action after which the model is not asked again."""

READ_CHARACTERS: Final = 4_000
"""Of a passage with its neighbours, when the model reads it."""

Find = Callable[[str], Sequence[Hit]]
"""Searches a text inside the caller's scope."""


@dataclass(frozen=True, slots=True)
class Explored:
    """What the model searched for beside the question, its steps, and what went wrong."""

    variants: tuple[Variant, ...] = ()
    steps: tuple[TraceStep, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Exploration:
    """What was done and spent so far."""

    question: str
    findings: list[Finding] = field(default_factory=list)
    hits: dict[str, tuple[int, Hit]] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    steps: list[TraceStep] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    tokens: int = 0
    malformed: int = 0

    def note_search(self, done: str, hits: Sequence[Hit]) -> int:
        """Remember what a search found; how much of it is new."""
        fresh = [hit for hit in hits if hit.passage.id not in self.hits]
        shown = []
        for hit in fresh[:SHOWN]:
            number = len(self.hits) + 1
            self.hits[hit.passage.id] = (number, hit)
            shown.append((number, _show(hit, hit.passage.text[:SHOWN_CHARACTERS])))
        self.findings.append(Finding(done, tuple(shown)))
        return len(shown)


def explore(
    question: str,
    options: AgentOptions,
    *,
    generator: Generator,
    find: Find,
    ground: Ground,
) -> Explored:
    """The searches that a model makes for a question, which is searched for first without it.

    It stops when the model says so, repeats a search, fails, or comes to a limit; a failure and a
    limit are warnings, and what was searched for so far stands.
    """
    deadline = time.monotonic() + options.seconds
    state = _Exploration(question)
    state.note_search(f"Searched for the question: {question}", find(question))
    warnings: list[str] = []
    for left in range(options.steps, 0, -1):
        prompt = build_agent_prompt(question, state.findings, left)
        seconds = deadline - time.monotonic()
        if seconds <= 0 or state.tokens + estimate_prompt(prompt) > options.tokens:
            limit = "time" if seconds <= 0 else "tokens"
            warnings.append(f"the model's search ended at its limit of {limit}")
            break
        try:
            reply = consult(generator, prompt, timeout_s=seconds)
        except ModelError as error:
            warnings.append(f"the model's search ended early: {error.message}")
            break
        state.tokens += reply.prompt_tokens + reply.completion_tokens
        if not _take_turn(state, reply, find=find, ground=ground):
            break
    if state.malformed >= MALFORMED:
        warnings.append("the model's search ended early: its replies held no action")
    searched = [
        Variant(f"search {number}", text, reserves=True)
        for number, text in enumerate(state.queries, start=2)
    ]
    return Explored(share_weight([searched], REWRITES_WEIGHT), tuple(state.steps), tuple(warnings))


def _take_turn(state: _Exploration, reply: Reply, *, find: Find, ground: Ground) -> bool:
    """Do what a reply asks for; whether the model is to be asked again."""
    try:
        choice = parse_choice(reply.text)
    except MalformedOutput:
        state.malformed += 1
        state.findings.append(Finding("Your reply was not one of the JSON objects."))
        _note(state, reply, "a reply without an action", {"action": None})
        return state.malformed < MALFORMED
    if choice.action == "search":
        return _search(state, reply, choice, find)
    if choice.action == "read":
        return _read(state, reply, choice, ground)
    _note(state, reply, "stop", {"action": "stop"})
    return False


def _search(state: _Exploration, reply: Reply, choice: Choice, find: Find) -> bool:
    known = {query.casefold() for query in (state.question, *state.queries)}
    if choice.query.casefold() in known:
        _note(state, reply, "stop: this was searched for", {"action": "stop"})
        return False
    state.queries.append(choice.query)
    fresh = state.note_search(f"Searched for: {choice.query}", find(choice.query))
    data: dict[str, JSON] = {"action": "search", "query": choice.query, "new": fresh}
    _note(state, reply, f"search: {choice.query}", data)
    return True


def _read(state: _Exploration, reply: Reply, choice: Choice, ground: Ground) -> bool:
    """Show a passage with its neighbours; a number that was read, or isn't there, ends nothing."""
    hit = next((hit for number, hit in state.hits.values() if number == choice.passage), None)
    data: dict[str, JSON] = {"action": "read", "passage": choice.passage}
    if hit is None or choice.passage in state.read:
        reason = "was read before" if hit is not None else "does not exist"
        state.findings.append(Finding(f"Passage {choice.passage} {reason}."))
        _note(state, reply, f"read: passage {choice.passage} {reason}", data)
        return True
    state.read.add(choice.passage)
    try:
        passages = ground.snapshot.document_passages(hit.document_id, ground.scope)
    except UnknownDocument:  # hidden from the caller since it was found
        return True
    place = hit.passage.ordinal
    text = "\n".join(p.text for p in passages if abs(p.ordinal - place) <= 1)[:READ_CHARACTERS]
    state.findings.append(
        Finding(f"Read passage {choice.passage}:", ((choice.passage, _show(hit, text)),))
    )
    _note(state, reply, f"read: {hit.document_id}", {**data, "document_id": hit.document_id})
    return True


def _show(hit: Hit, text: str) -> str:
    """A passage as a prompt may hold it: what speaks to a model in it is disarmed."""
    return neutralise(show_hit(hit, text))


def _note(state: _Exploration, reply: Reply, words: str, data: dict[str, JSON]) -> None:
    spent: dict[str, JSON] = {
        "milliseconds": reply.milliseconds,
        "calls": 1,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
    }
    state.steps.append(TraceStep("agent", words, {**data, **spent}))
