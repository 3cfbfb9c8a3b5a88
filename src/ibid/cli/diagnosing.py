"""The verb diagnose: which stage lost an expected text, for one question or a golden set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from ibid.cli.call import Call, Outcome, Part, read_principals, verb
from ibid.cli.words import join_words, make_table, shorten
from ibid.records import OWNER, Principals, Query, SearchMode
from ibid.shapes.inspection import shape_causes, shape_diagnosis

if TYPE_CHECKING:
    from ibid.evaluation.golden import GoldenCase
    from ibid.flows.diagnose import DiagnosedCase, Diagnostician
    from ibid.flows.diagnosis import Diagnosis

LOST = 1
"""The exit code where a text was lost."""


@verb
@click.argument("question", required=False)
@click.option("--expect", "text", metavar="TEXT", help="The words that should be found.")
@click.option("--expect-document", "document_id", metavar="ID", help="Or the document.")
@click.option(
    "--golden",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Diagnose the questions of a golden set instead.",
)
@click.option(
    "--for",
    "askers",
    multiple=True,
    metavar="PRINCIPAL",
    help="Whose question it is; else that of --as.",
)
@click.option("--retrieval", is_flag=True, help="Only up to the sources; nothing is written.")
@click.option("--mode", type=click.Choice(get_args(SearchMode)), help="The retrievers.")
@click.option("--sources", "k", type=click.IntRange(1), help="How many passages to answer from.")
@click.option("--min-score", type=float, help="Leave out hits below this score.")
@click.option("--rerank", metavar="NAME", help="What reads the hits again, or none.")
@click.option("--generator", metavar="NAME", help="What writes the answer.")
@click.option("--filter", metavar="EXPR", help="Such as: tag.department = 'hr'")
@click.option("--include-archived", is_flag=True, help="Search archived documents too.")
@click.option("--version", "version", type=int, help="Search a past version.")
def diagnose_command(
    call: Call,
    question: str | None,
    text: str | None,
    document_id: str | None,
    golden: Path | None,
    askers: tuple[str, ...],
    retrieval: bool,
    rerank: str | None,
    generator: str | None,
    filter: str | None,
    include_archived: bool,
    version: int | None,
    **changes: Any,
) -> Outcome:
    """Tell which stage lost the text that a question should find.

    The stages are those of the way of a document and of a question, up to the first that lost it,
    with what would change that. You are told of documents that you may see alone; --as '*' is the
    owner. The exit code is 1 where the text was lost.
    """
    if (golden is None) == (question is None):
        raise click.UsageError("give a question with --expect, or --golden FILE")
    asker = _choose_asker(call, askers, golden)
    flags = {"search.rerank": rerank, "generator.name": generator}
    sends: tuple[Part, ...] = ("embedder", "reranker", "rewriter")
    with call.open_library(sends=sends if retrieval else (*sends, "generator"), flags=flags) as lib:
        given = {name: value for name, value in changes.items() if value is not None}
        diagnostician = lib.open_diagnostician(call.principals, answering=not retrieval, **given)
        if golden is not None:
            from ibid.flows.golden import read_golden

            return _diagnose_golden(read_golden(golden), diagnostician, asker)
        from ibid.flows.diagnosis import Expected

        query = Query(
            question or "",
            asker,
            filter,
            include_archived=include_archived,
            version=version,
        )
        found = diagnostician.diagnose(query, Expected(text, document_id))
    code = 0 if found.first_failure is None else LOST
    return Outcome(shape_diagnosis(found), _tell_diagnosis(found), code)


def _choose_asker(call: Call, askers: tuple[str, ...], golden: Path | None) -> Principals:
    """Whose question it is; a golden case that names nobody is the public's, where the owner asks,
    as `ibid evaluate` has it."""
    if askers:
        return read_principals(askers)
    return frozenset() if golden is not None and call.principals is OWNER else call.principals


def _diagnose_golden(
    cases: list[GoldenCase], diagnostician: Diagnostician, asker: Principals
) -> Outcome:
    from ibid.flows.diagnose import count_causes, diagnose_golden

    diagnosed = list(diagnose_golden(cases, diagnostician, asker))
    causes = count_causes(diagnosed)
    lost = any(one.diagnosis.first_failure for one in diagnosed)
    words = join_words(_tell_causes(causes, len(diagnosed)), _tell_lost(diagnosed), by="\n\n")
    return Outcome(shape_causes(diagnosed, causes), words, LOST if lost else 0)


def _tell_diagnosis(diagnosis: Diagnosis) -> str:
    stages = make_table(
        ("ok" if one.ok else "LOST", one.stage, shorten(one.detail, 200))
        for one in diagnosis.stages
    )
    told = f"advice: {diagnosis.advice}" if diagnosis.advice else "nothing lost it"
    return join_words(stages, told, by="\n\n")


def _tell_causes(causes: dict[str, int], queries: int) -> str:
    return make_table(
        ("came through" if stage == "none" else f"lost by {stage}", f"{count} of {queries}")
        for stage, count in causes.items()
    )


def _tell_lost(diagnosed: list[DiagnosedCase]) -> str:
    return "\n\n".join(
        f"{one.case_id}. {shorten(one.diagnosis.question)}\n"
        f"    {failed.stage}: {shorten(failed.detail, 200)}\n    {failed.advice}"
        for one in diagnosed
        if (failed := one.diagnosis.failed) is not None
    )
