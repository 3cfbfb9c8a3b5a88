"""The page of a report: figures with their plots first, then every question, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Final

from ibid.evaluation.intervals import Difference, Estimate
from ibid.evaluation.outcomes import RETRIEVAL, Evaluation, count_tokens, time_stages
from ibid.evaluation.report.plots import draw_curves, render_measures, render_times
from ibid.evaluation.report.questions import render_questions

STYLES: Final = ("looks/tokens.css", "looks/report.css", "evaluation/report/style.css")
"""The style sheets of the page, within the package: the first two are those of the service's."""

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page may load: nothing."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a page is made of: the evaluation, facts to stand above it, and a second to compare.

    `costs` are sums of money by what they are for, where the generator has a price.
    """

    evaluation: Evaluation
    facts: Mapping[str, str]
    other: Evaluation | None = None
    other_name: str = ""
    differences: Mapping[str, Difference] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)


def render_report(report: Report) -> str:
    """The whole page; what comes from documents and questions is text in it, never markup."""
    evaluation = report.evaluation
    parts = [
        '<p class="wordmark">ibid<span>.</span></p><h1>Evaluation</h1>',
        _render_facts(report),
        _render_retrieval(report),
        _render_answers(evaluation),
        _render_comparison(report),
        render_questions(evaluation),
        _render_stages(report),
    ]
    style = "\n".join(files("ibid").joinpath(path).read_text("utf-8") for path in STYLES)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Evaluation of {escape(report.facts.get('library', 'a run'))}</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _render_facts(report: Report) -> str:
    evaluation = report.evaluation
    drafts = f", and {evaluation.drafts} drafts that do not count" if evaluation.drafts else ""
    facts = {**report.facts, "questions": f"{evaluation.queries}{drafts}"}
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()
    )
    return (
        f'<dl class="facts">{rows}</dl>'
        '<p class="lead">Intervals are 95%, by bootstrap over the questions; n is how many'
        " questions a measure is over. Retrieval and answers are measured apart: most failures of"
        " answers are failures of retrieval.</p>"
    )


def _render_retrieval(report: Report) -> str:
    evaluation = report.evaluation
    if not evaluation.retrieval:
        return ""
    deepest = max(evaluation.cuts)
    bars = {f"{name}@{deepest}": evaluation.retrieval[f"{name}@{deepest}"] for name in RETRIEVAL}
    curves = {report.facts.get("settings", "as it is"): _list_recall(evaluation)}
    if report.other is not None:
        curves[report.other_name] = _list_recall(report.other)
    head = ["", *(f"@{k}" for k in evaluation.cuts)]
    rows = [
        [name, *(_tell(evaluation.retrieval[f"{name}@{k}"]) for k in evaluation.cuts)]
        for name in RETRIEVAL
    ]
    return (
        '<div class="pair">'
        + render_measures(bars, "Retrieval")
        + "<figure><figcaption><h2>Recall by rank</h2></figcaption>"
        + draw_curves(curves, "Recall by rank, as in the table below")
        + "</figure></div>"
        + render_table(head, rows, "Retrieval by rank")
    )


def _list_recall(evaluation: Evaluation) -> dict[int, Estimate]:
    return {k: evaluation.retrieval[f"recall@{k}"] for k in evaluation.cuts}


def _render_answers(evaluation: Evaluation) -> str:
    if not evaluation.answers:
        return ""
    return render_measures(evaluation.answers, "Answers")


def _render_comparison(report: Report) -> str:
    if not report.differences:
        return ""
    head = ["", "difference", "95%", "p", "p after Holm", "n"]
    rows = [
        [
            name.replace("_", " "),
            f"{one.mean:+.3f}{' *' if one.significant else ''}",
            f"{one.low:+.3f} to {one.high:+.3f}",
            f"{one.p:.4f}",
            f"{one.p_holm:.4f}",
            str(one.n),
        ]
        for name, one in report.differences.items()
    ]
    return (
        f"<h2>Compared with {escape(report.other_name)}</h2>"
        "<p>What changes with these settings, question by question. p is of a paired randomisation"
        " test; with * it stays below 0.05 after Holm's correction.</p>"
        + render_table(head, rows, f"Compared with {report.other_name}")
    )


def _render_stages(report: Report) -> str:
    runs = report.evaluation.runs
    stages = time_stages(runs)
    tokens = count_tokens(runs)
    if not stages:
        return ""
    spent = ", ".join(f"{number:,} of the {kind}" for kind, number in tokens.items())
    costs = "".join(
        f"<dt>{escape(kind)}</dt><dd>{cost:.4f}</dd>" for kind, cost in report.costs.items()
    )
    return (
        render_times(stages, "Time and tokens")
        + f"<p>Tokens of all answers: {spent}.</p>"
        + (f'<dl class="facts">{costs}</dl>' if costs else "")
    )


def _tell(found: Estimate) -> str:
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def render_table(head: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """A table whose first column holds names, under an empty head, and the others numbers."""
    top = "".join(f'<th scope="col" class="number">{escape(cell)}</th>' for cell in head[1:])
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(label)}">'
        f"<table><thead><tr><td></td>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
