"""The questions of a report: what was wanted, found and answered, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from ibid.evaluation.outcomes import CaseRun, Evaluation, find_failures, is_wanted
from ibid.records import Hit

EXCERPT: Final = 220
"""Characters of a passage that are shown."""

MOST_OPEN: Final = 500
"""Questions shown; of more, the worst: a page of thousands is no longer read."""


def render_questions(evaluation: Evaluation) -> str:
    """Each question as a part that opens, ordered by what went wrong."""
    deepest = max(evaluation.cuts)
    runs = order_worst(evaluation.runs, deepest)
    shown = "".join(f"<li>{_render_run(run, deepest)}</li>" for run in runs[:MOST_OPEN])
    left = len(runs) - MOST_OPEN
    more = f'<p class="lead">{left:,} more, none of them worse.</p>' if left > 0 else ""
    return f'<h2>Questions, the worst first</h2><ol class="questions">{shown}</ol>{more}'


def order_worst(runs: Sequence[CaseRun], deepest: int) -> list[CaseRun]:
    """Errors, then the least recall, then the least rank, then wrong answers; else as they came."""

    def weigh(run: CaseRun) -> tuple[float, ...]:
        failures = len(find_failures(run, deepest))
        return (
            run.error is None,
            run.retrieval.get(f"recall@{deepest}", 1.0),
            run.retrieval.get(f"mrr@{deepest}", 1.0) if failures == 0 else 0.0,
            -failures,
            run.answers.get("contains", run.answers.get("evidence_cited", 1.0)),
        )

    return sorted(runs, key=weigh)


def _render_run(run: CaseRun, deepest: int) -> str:
    failures = find_failures(run, deepest)
    told = "".join(f'<p class="grave">{escape(one.detail)}</p>' for one in failures)
    kind, sign, word = ("wrong", "✗", "wrong: ") if failures else ("right", "✓", "right: ")
    return (
        f'<details><summary><span class="mark {kind}"><span aria-hidden="true">{sign}</span>'
        f'<span class="unseen">{word}</span></span>'
        f'<span class="asked" dir="auto">{escape(run.case.question)}</span>'
        f'<span class="scores">{escape(_tell_scores(run, deepest))}</span></summary>'
        f'<div class="case">{told}{_render_wanted(run)}{_render_hits(run)}{_render_answer(run)}'
        "</div></details>"
    )


def _tell_scores(run: CaseRun, deepest: int) -> str:
    names = (f"recall@{deepest}", f"mrr@{deepest}")
    scores = [f"{name} {run.retrieval[name]:.2f}" for name in names if name in run.retrieval]
    if run.abstained is not None:
        scores.append("abstained" if run.abstained else "answered")
    return " · ".join(scores)


def _render_wanted(run: CaseRun) -> str:
    case = run.case
    if case.unanswerable:
        return '<p class="soft">Nothing answers it.</p>'
    wanted = [f"“{piece}”" for piece in case.contains] or list(case.documents)
    answers = f" Answer: {' or '.join(case.answers)}." if case.answers else ""
    told = escape(f"{', '.join(wanted)}.{answers}")
    return f'<p dir="auto"><span class="soft">Wanted:</span> {told}</p>'


def _render_hits(run: CaseRun) -> str:
    if not run.hits:
        return '<p class="soft">Nothing was found.</p>' if run.error is None else ""
    return f'<ol class="hits">{"".join(_render_hit(run, hit) for hit in run.hits)}</ol>'


def _render_hit(run: CaseRun, hit: Hit) -> str:
    wanted = is_wanted(run.case, hit)
    mark = ' <span class="mark right">✓ wanted</span>' if wanted else ""
    place = " › ".join((hit.document_id, *hit.passage.headings))
    text = " ".join(hit.passage.text.split())
    excerpt = text if len(text) <= EXCERPT else f"{text[:EXCERPT].rstrip()}…"
    return (
        f'<li value="{hit.rank}"><span class="soft">{escape(place)}</span>{mark}'
        f'<p class="words" dir="auto">{escape(excerpt)}</p></li>'
    )


def _render_answer(run: CaseRun) -> str:
    answer = run.answer
    if answer is None:
        return ""
    scores = ", ".join(
        f"{name.replace('_', ' ')} {value:.2f}" for name, value in run.answers.items()
    )
    doubts = [
        f"{citation.verdict.value}: {citation.reason}"
        for citation in answer.citations
        if citation.reason
    ]
    told = "".join(f'<p class="soft">{escape(doubt)}</p>' for doubt in doubts)
    return (
        f'<blockquote class="words" dir="auto">{escape(answer.text)}</blockquote>{told}'
        f'<p class="soft">{escape(scores)}</p>'
    )
