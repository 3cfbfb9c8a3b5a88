"""The repair of a draft: one more request, and what is taken of its reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ibid.answering.budget import count_prompt
from ibid.answering.no_answer import says_no_answer
from ibid.answering.repair import ask_repair
from ibid.answering.strict import HOLDING, list_lacking
from ibid.errors import ModelError
from ibid.flows.drafts import Draft, check_draft, generate_draft
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Generator, Windowed
from ibid.records import Citation, Prompt, TraceStep

STAGE: Final = "repair"


@dataclass(frozen=True, slots=True)
class Repaired:
    """The draft that is left to show, with the cost of both, and what to tell of its making."""

    draft: Draft
    step: TraceStep


def repair_draft(
    prompt: Prompt,
    draft: Draft,
    citations: Sequence[Citation],
    generator: Generator,
    watch: Stopwatch,
) -> Repaired:
    """The draft, or what its model makes of it when told which claims no source supports.

    One request, within the limits of any other. Its reply is taken where fewer claims lack support
    and as many have it, and where it takes back an answer of which nothing has it. The draft stays
    where the reply is no better, where the request doesn't fit into the window, and, with a
    warning, where the model can't be reached or may not be paid.
    """
    lacking = list_lacking(citations)
    request = ask_repair(prompt, draft.text, lacking)
    window = generator.find_window() if isinstance(generator, Windowed) else None
    if window is not None and count_prompt(request) > window.room:
        return Repaired(draft, _tell(lacking, "no room in the model's window"))
    try:
        with watch.timing(STAGE):
            reply = generate_draft(request, generator)
    except ModelError as error:
        doubt = f"what no source supports could not be written again: {error.message}"
        kept = replace(draft, warnings=(*draft.warnings, doubt))
        return Repaired(kept, _tell(lacking, "the model failed"))
    with watch.timing("verify"):
        _, checked = check_draft(reply.text, prompt.sources, prompt.language)
    better = _is_better(reply.text, checked, citations)
    taken = _add_cost(reply, draft, reply.text if better else draft.text)
    result = f"{len(list_lacking(checked))} are left" if better else "no better, the first stands"
    return Repaired(taken, _tell(lacking, result, reply, watch.milliseconds()[STAGE]))


def _is_better(text: str, now: Sequence[Citation], before: Sequence[Citation]) -> bool:
    """Whether fewer claims lack support and as many as before have it, or none ever had."""
    held, had = (len({c.claim for c in ones if c.verdict in HOLDING}) for ones in (now, before))
    if says_no_answer(text):
        return not had
    return len(list_lacking(now)) < len(list_lacking(before)) and held >= max(had, 1)


def _add_cost(reply: Draft, draft: Draft, text: str) -> Draft:
    warnings = (*draft.warnings, *reply.warnings) if text == reply.text else draft.warnings
    return Draft(
        text,
        draft.prompt_tokens + reply.prompt_tokens,
        draft.completion_tokens + reply.completion_tokens,
        warnings,
    )


def _tell(
    lacking: Sequence[Citation], result: str, reply: Draft | None = None, milliseconds: float = 0.0
) -> TraceStep:
    """The step in words and numbers; no call was heard out without a reply."""
    cost = reply or Draft()
    return TraceStep(
        STAGE,
        f"asked to mend {len(lacking)} claims: {result}",
        {
            "milliseconds": milliseconds,
            "calls": int(reply is not None),
            "prompt_tokens": cost.prompt_tokens,
            "completion_tokens": cost.completion_tokens,
        },
    )
