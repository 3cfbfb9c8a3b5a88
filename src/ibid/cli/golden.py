"""The verb for golden questions: golden add, check, draft, accept, list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ibid.cli.answers import LAST
from ibid.cli.call import Call, Outcome, Part, verb
from ibid.cli.words import count_words, make_table, shorten
from ibid.errors import BadSetting, UnknownAnswer
from ibid.openers import EXTRACTIVE

if TYPE_CHECKING:
    from ibid.evaluation.golden import GoldenCase
    from ibid.library import Library

FAILED: Final = 1


@verb
@click.argument("action", type=click.Choice(("add", "check", "draft", "accept", "list")))
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--file", type=click.Path(dir_okay=False, path_type=Path), help="The golden file.")
@click.option("--contains", multiple=True, metavar="TEXT", help="add: what must be found.")
@click.option("--document", multiple=True, metavar="ID", help="add: a document that answers it.")
@click.option("--unanswerable", is_flag=True, help="add: nothing answers it.")
@click.option("--answer", multiple=True, metavar="TEXT", help="add: a right answer.")
@click.option("-n", "most", type=click.IntRange(1), default=20, help="draft: how many (20).")
@click.option("--filter", metavar="EXPR", help="draft: out of these documents.")
@click.option("--by-model", is_flag=True, help="draft: have the generator write them.")
def golden_command(call: Call, action: str, ids: tuple[str, ...], **options: Any) -> Outcome:
    """Keep the questions that the library is measured by.

    `add ANSWER` makes one of an answer in the log, `last` being the newest; `check` tells what is
    expected and can't be found; `draft` makes drafts out of the documents, which count when
    `accept [ID]...` has let them; `list` shows all. Without --file it is golden.jsonl in the
    library's folder.
    """
    if ids and action not in ("add", "accept"):
        raise click.UsageError(f"golden {action} takes no ID")
    sends: tuple[Part, ...] = ("generator",) if options["by_model"] else ()
    with call.open_library(sends=sends) as library:
        return ACTIONS[action](library, call, ids, options)


def _add(library: Library, call: Call, ids: tuple[str, ...], options: Mapping[str, Any]) -> Outcome:
    from ibid.flows.golden import Expected
    from ibid.measuring.shapes import shape_cases

    if len(ids) != 1:
        raise click.UsageError("golden add takes one ANSWER")
    expected = Expected(
        contains=options["contains"],
        documents=options["document"],
        unanswerable=options["unanswerable"],
        answers=options["answer"],
    )
    id = ids[0] if ids[0] != LAST else _find_last(library, call)
    case = library.add_golden(id, expected, call.principals, file=options["file"])
    draft = ", a draft: `ibid golden accept` lets it count" if case.draft else ""
    return Outcome({"case": shape_cases([case])[0]}, f"case {case.id} added{draft}")


def _find_last(library: Library, call: Call) -> str:
    for kept in library.answers(call.principals, most=1):
        return kept.answer.id
    raise UnknownAnswer("no answer is kept", hint="ask something, without --no-log")


def _check(
    library: Library, call: Call, ids: tuple[str, ...], options: Mapping[str, Any]
) -> Outcome:
    from ibid.measuring.shapes import shape_problem

    cases = library.read_golden(options["file"])
    problems = library.check_golden(cases, call.principals)
    words = make_table(
        (one.lack, one.id, shorten(one.question, 40), shorten(one.expected, 40)) for one in problems
    )
    shape = {"cases": len(cases), "problems": [shape_problem(one) for one in problems]}
    fine = f"{count_words(len(cases), 'case')}: all that is expected is there"
    return Outcome(shape, words or fine, FAILED if problems else 0)


def _draft(
    library: Library, call: Call, ids: tuple[str, ...], options: Mapping[str, Any]
) -> Outcome:
    from ibid.measuring.shapes import shape_cases

    by_model = options["by_model"]
    if by_model and library.generator.name == EXTRACTIVE:
        raise BadSetting(
            "drafts by model need a language model, and the generator is extractive",
            hint="set generator.name and its endpoint, or leave --by-model out",
        )
    added = library.draft_golden(
        options["most"],
        call.principals,
        filter=options["filter"],
        by_model=by_model,
        file=options["file"],
    )
    told = f"{count_words(len(added), 'draft')} added; none counts until it is accepted"
    return Outcome({"drafts": shape_cases(added)}, f"{_tell_cases(added)}\n{told}".lstrip())


def _accept(
    library: Library, call: Call, ids: tuple[str, ...], options: Mapping[str, Any]
) -> Outcome:
    from ibid.measuring.shapes import shape_cases

    accepted = library.accept_golden(*ids, file=options["file"])
    words = f"{count_words(len(accepted), 'draft')} accepted"
    return Outcome({"accepted": shape_cases(accepted)}, words)


def _list(
    library: Library, call: Call, ids: tuple[str, ...], options: Mapping[str, Any]
) -> Outcome:
    from ibid.measuring.shapes import shape_cases

    file = options["file"]
    cases = library.list_golden(call.principals) if file is None else library.read_golden(file)
    return Outcome({"cases": shape_cases(cases)}, _tell_cases(cases) or "no cases")


def _tell_cases(cases: Iterable[GoldenCase]) -> str:
    return make_table(
        (
            case.id,
            "draft" if case.draft else "",
            shorten(case.question),
            shorten(", ".join(case.contains or case.documents) or "(no answer)", 40),
        )
        for case in cases
    )


ACTIONS: Final[Mapping[str, Callable[..., Outcome]]] = {
    "add": _add,
    "check": _check,
    "draft": _draft,
    "accept": _accept,
    "list": _list,
}
