"""The verb that tells how good a library is: evaluate."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ibid.cli.call import Call, Outcome, Part, verb
from ibid.cli.words import count_words, join_words, make_table, shorten
from ibid.errors import BadSetting, EvaluationError

if TYPE_CHECKING:
    from ibid.evaluation.intervals import Difference, Estimate
    from ibid.evaluation.outcomes import Evaluation
    from ibid.flows.options import OnProgress
    from ibid.library import Library
    from ibid.protocols import Generator
    from ibid.shapes import Shape

FAILED: Final = 1

FAILURES_TOLD: Final = 10

_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_THERE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)

_FLOOR: Final = re.compile(r"([a-z_0-9]+(?:@[1-9]\d*)?)=(\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Floor:
    """The least value that a measure may have."""

    measure: str
    least: float


@verb
@click.argument("golden", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--beir", is_flag=True, help="GOLDEN is a folder in BEIR's shape.")
@click.option("--k", "cuts", metavar="N,N…", help="Ranks to measure at (1,3,5,10).")
@click.option(
    "--fail-under",
    "floors",
    multiple=True,
    metavar="MEASURE=VALUE",
    help="Exit with 1 below it, such as recall@5=0.9; may be repeated.",
)
@click.option("--compare", type=_THERE, help="A file of settings to compare with.")
@click.option(
    "--judge", type=_THERE, help="Have answers judged by the generator of this file of settings."
)
@click.option("--report", type=_FILE, help="Write an HTML page with plots and each question.")
@click.option("--no-answers", is_flag=True, help="Measure retrieval alone.")
@click.option("--timings", is_flag=True, help="Tell the time of each stage too.")
@click.option("--run", "run", type=_THERE, help="Score this TREC run; needs --qrels, no library.")
@click.option("--qrels", type=_THERE, help="The judgements of --run, as TREC or BEIR write them.")
@click.option("--save-run", type=_FILE, help="Write what was found as a TREC run.")
@click.option("--save-qrels", type=_FILE, help="Write what was wanted as TREC judgements.")
def evaluate_command(call: Call, golden: Path | None, **options: Any) -> Outcome:
    """Measure retrieval and answers by golden questions.

    GOLDEN is a file of them, or a folder with --beir; without it, the library's own set. Nothing
    that is asked is kept in the log.
    """
    floors = [_read_floor(text) for text in options["floors"]]
    cuts = _choose_cuts(options["cuts"], floors)
    if (options["run"] is None) != (options["qrels"] is None):
        raise click.UsageError("--run and --qrels go together")
    if options["run"] is not None:
        evaluation, facts, more = _score_files(options, cuts)
    else:
        evaluation, facts, more = _evaluate(call, golden, cuts, options)
    _save(evaluation, options)
    missed = [told for floor in floors if (told := _hold_floor(floor, evaluation))]
    errors = sum(failure.kind == "error" for failure in evaluation.failures)
    if floors and errors:  # which are in no mean
        missed.append(f"{count_words(errors, 'question')} could not be measured")
    shape, words = _tell_all(evaluation, more, timings=options["timings"])
    if floors:
        shape["below"] = missed
    if options["report"] is not None:
        _write_report(call, options["report"], evaluation, facts, more)
        words += f"\n\nreport in {options['report']}"
    words = join_words(words, *(f"BELOW: {told}" for told in missed), by="\n")
    return Outcome(shape, words, FAILED if missed else 0)


@dataclass(frozen=True, slots=True)
class Compared:
    """A second evaluation of the same cases with other settings, and how it differs."""

    name: str
    evaluation: Evaluation
    differences: Mapping[str, Difference]


# -- what is asked for ----------------------------------------------------------------------------


def _read_floor(text: str) -> Floor:
    """Raises UsageError for what is no measure with a value."""
    from ibid.evaluation.outcomes import ANSWERS, RETRIEVAL

    match = _FLOOR.fullmatch(text.strip())
    name, _, at = match[1].partition("@") if match else ("", "", "")
    if not match or (name not in RETRIEVAL if at else name not in ANSWERS):
        known = ", ".join([*(f"{name}@5" for name in RETRIEVAL), *ANSWERS])
        raise click.UsageError(f"--fail-under {text}: give MEASURE=VALUE, of {known}")
    return Floor(match[1], float(match[2]))


def _choose_cuts(text: str | None, floors: Iterable[Floor]) -> tuple[int, ...]:
    """The ranks asked for, and those that floors are for."""
    from ibid.evaluation.outcomes import CUTS

    cuts = {*CUTS}
    if text is not None:
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isdecimal() and 0 < int(part) <= 1000 for part in parts):
            raise click.UsageError(f"--k {text}: give ranks from 1 to 1000, such as 1,3,5,10")
        cuts = {int(part) for part in parts}
    cuts |= {int(floor.measure.split("@")[1]) for floor in floors if "@" in floor.measure}
    return tuple(sorted(cuts))


def _hold_floor(floor: Floor, evaluation: Evaluation) -> str | None:
    """What is below the floor, in words. Raises EvaluationError where nothing was measured."""
    found = {**evaluation.retrieval, **evaluation.answers}.get(floor.measure)
    if found is None:
        raise EvaluationError(
            f"no question measures {floor.measure}", hint="the golden set has none of its kind"
        )
    if found.mean >= floor.least:
        return None
    return f"{floor.measure} is {found.mean:.4f}, less than {floor.least:g}"


# -- how it is carried out ------------------------------------------------------------------------


def _score_files(
    options: Mapping[str, Any], cuts: tuple[int, ...]
) -> tuple[Evaluation, dict[str, str], Compared | None]:
    from ibid.evaluation.outcomes import score_runs
    from ibid.evaluation.trec import read_qrels, read_run

    found = score_runs(read_qrels(options["qrels"]), read_run(options["run"]), cuts)
    return found, {"run": str(options["run"]), "judgements": str(options["qrels"])}, None


def _evaluate(
    call: Call, golden: Path | None, cuts: tuple[int, ...], options: Mapping[str, Any]
) -> tuple[Evaluation, dict[str, str], Compared | None]:
    """The evaluation, what is known of its library, and the second one where one is asked for."""
    compare: Path | None = options["compare"]
    judge = _open_judge(call, options["judge"]) if options["judge"] is not None else None
    beir: bool = options["beir"]
    sends: tuple[Part, ...] = ("embedder", "reranker", "generator")

    def measure(library: Library) -> Evaluation:
        if beir and golden is not None:
            with _show_progress("documents") as on_progress:
                cases = library.take_in_collection(golden, on_progress=on_progress)
        else:
            cases = library.read_golden(golden)
        with _show_progress("questions") as on_progress:
            return library.evaluate(
                cases,
                cuts=cuts,
                answers=not options["no_answers"],
                principals=call.principals,
                judge=judge,
                on_progress=on_progress,
            )

    if beir and golden is None:
        raise click.UsageError("--beir needs the folder of a collection")
    with call.open_library(sends=sends, create=beir) as library:
        first = measure(library)
        facts = _describe(library)
    if compare is None:
        return first, facts, None
    from ibid.evaluation.outcomes import compare_evaluations

    with call.open_library(sends=sends, override=compare) as library:
        second = measure(library)
    return first, facts, Compared(compare.name, second, compare_evaluations(first, second))


def _open_judge(call: Call, path: Path) -> Generator:
    """The generator that a file of settings names. Raises BadSetting for one that is no model."""
    from ibid.openers import EXTRACTIVE, choose_embedder, choose_generator

    settings = call.load_settings(override=path)
    if settings.generator.name == EXTRACTIVE:
        raise BadSetting(
            f"{path}: the extractive generator can't judge",
            hint="set generator.name in it to a language model",
        )
    generator = choose_generator(None, settings, choose_embedder(None, settings))()
    if generator.remote is not None:
        click.echo(f"text may go to the judge at {generator.remote}", err=True)
    return generator


def _describe(library: Library) -> dict[str, str]:
    status = library.status()
    return {
        "library": Path(library.location).name,
        "version": str(status.version),
        "embedder": status.manifest.embedder,
        "chunking": status.manifest.chunking,
        "generator": library.generator.name,
    }


@contextmanager
def _show_progress(what: str) -> Iterator[OnProgress]:
    """A bar on a terminal; elsewhere nothing, as nothing is committed on the way."""
    from ibid.cli.writing import show_progress

    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    with show_progress(what, f"{what} done") as on_progress:
        yield on_progress


def _save(evaluation: Evaluation, options: Mapping[str, Any]) -> None:
    from ibid.evaluation.trec import write_qrels, write_run

    runs = evaluation.runs
    if options["save_run"] is not None:
        _write(options["save_run"], write_run({r.case.id: r.ranking for r in runs}, "ibid"))
    if options["save_qrels"] is not None:
        _write(options["save_qrels"], write_qrels({r.case.id: r.judgements for r in runs}))


def _write_report(
    call: Call,
    path: Path,
    evaluation: Evaluation,
    facts: dict[str, str],
    more: Compared | None,
) -> None:
    from ibid.evaluation.outcomes import count_tokens
    from ibid.evaluation.report import Report, render_report

    price = call.load_settings().prices.get(facts.get("generator", ""))
    tokens = count_tokens(evaluation.runs)
    costs = {}
    if price is not None:
        costs = {
            "cost of prompts": tokens["prompt"] * price.input / 1e6,
            "cost of completions": tokens["completion"] * price.output / 1e6,
        }
    report = Report(evaluation, facts, costs=costs)
    if more is not None:
        report = Report(evaluation, facts, more.evaluation, more.name, more.differences, costs)
    _write(path, [render_report(report)])


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write a file that others can't read: it holds what the library holds."""
    import os

    def open_private(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    try:
        with open(path, "w", encoding="utf-8", opener=open_private) as file:
            file.writelines(lines)
    except OSError as error:
        raise EvaluationError(f"{path} can't be written: {error}", hint="name another") from error


# -- what is told ---------------------------------------------------------------------------------


def _tell_all(evaluation: Evaluation, more: Compared | None, *, timings: bool) -> tuple[Shape, str]:
    from ibid.evaluation.outcomes import time_stages
    from ibid.measuring.shapes import shape_differences, shape_evaluation

    shape = shape_evaluation(evaluation, timings=timings)
    parts = [_tell_head(evaluation), _tell_retrieval(evaluation), _tell_answers(evaluation)]
    if timings:
        parts.append(
            "milliseconds: median, and what 19 of 20 stayed within\n"
            + make_table(
                (f"  {one.stage}", f"{one.median_ms:.1f}", f"{one.p95_ms:.1f}")
                for one in time_stages(evaluation.runs)
            )
        )
    if more is not None:
        shape["comparison"] = {
            "settings": more.name,
            **shape_evaluation(more.evaluation, timings=timings),
            "differences": shape_differences(more.differences),
        }
        parts.append(_tell_differences(more))
    parts.append(_tell_failures(evaluation))
    return shape, join_words(*parts, by="\n\n")


def _tell_head(evaluation: Evaluation) -> str:
    unanswerable = sum(run.case.unanswerable for run in evaluation.runs)
    without = f"{unanswerable} of them without an answer" if unanswerable else None
    drafts = f"{count_words(evaluation.drafts, 'draft')} left out" if evaluation.drafts else None
    return join_words(count_words(evaluation.queries, "question"), without, drafts)


def _tell_retrieval(evaluation: Evaluation) -> str | None:
    from ibid.evaluation.outcomes import RETRIEVAL

    found = evaluation.retrieval
    if not found:
        return None
    cuts = evaluation.cuts
    n = found[f"recall@{cuts[0]}"].n
    rows = [(f"  {name}", *(_tell(found[f"{name}@{k}"]) for k in cuts)) for name in RETRIEVAL]
    return make_table([(f"retrieval, n = {n}", *(f"at {k}" for k in cuts)), *rows])


def _tell_answers(evaluation: Evaluation) -> str | None:
    if not evaluation.answers:
        return None
    rows = [
        (f"  {name.replace('_', ' ')}", _tell(one), f"n = {one.n}")
        for name, one in evaluation.answers.items()
    ]
    return make_table([("answers", "", ""), *rows])


def _tell(found: Estimate) -> str:
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _tell_differences(more: Compared) -> str:
    rows = [
        (
            f"  {name.replace('_', ' ')}",
            f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]",
            f"p {one.p_holm:.3f}",
            "significant" if one.significant else "",
        )
        for name, one in more.differences.items()
    ]
    return f"what {more.name} changes\n{make_table(rows)}" if rows else f"{more.name}: no change"


def _tell_failures(evaluation: Evaluation) -> str:
    failures = evaluation.failures
    if not failures:
        return "no failures"
    rows = [
        (f"  {one.kind}", one.id, shorten(one.question), one.detail if one.kind == "error" else "")
        for one in failures[:FAILURES_TOLD]
    ]
    left = len(failures) - FAILURES_TOLD
    more = f"\n  and {left} more; --report shows every question" if left > 0 else ""
    return f"{count_words(len(failures), 'failure')}\n{make_table(rows)}{more}"
