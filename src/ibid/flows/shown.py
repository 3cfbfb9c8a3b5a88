"""What of a measurement a caller may be shown: the library's own golden cases, and what became of
cases that were run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ibid.evaluation.folding import fold_space
from ibid.evaluation.golden import GoldenCase
from ibid.evaluation.outcomes import CaseRun
from ibid.flows.golden import find_pieces
from ibid.index.answers import list_drawn, withhold
from ibid.protocols import Index, Scope
from ibid.records import OWNER, Hit, Principals


def choose_shown(
    cases: Iterable[GoldenCase], principals: Principals, *, index: Index
) -> list[GoldenCase]:
    """Those cases of a library that a caller may be shown, as they may quote its documents.

    They are asked by nobody whose principals the caller does not hold, and all that they expect
    stands where the caller may look. What stands nowhere is left out with what is hidden, or a case
    would tell of any words whether a hidden document has them.
    """
    if principals is OWNER:
        return list(cases)
    held = [case for case in cases if case.principals is None or _holds(principals, case)]
    snapshot = index.snapshot()
    caller = Scope(principals, include_archived=True)
    seen = {info.id for info in snapshot.documents(caller)}
    pieces = {fold_space(piece) for case in held for piece in case.contains}
    found = set[str]().union(*find_pieces(pieces, caller, snapshot))
    return [
        case
        for case in held
        if seen.issuperset(case.documents) and found.issuperset(map(fold_space, case.contains))
    ]


def _holds(principals: Principals, case: GoldenCase) -> bool:
    asker = case.principals
    return (
        isinstance(asker, frozenset) and isinstance(principals, frozenset) and asker <= principals
    )


def show_runs(
    runs: Iterable[CaseRun], principals: Principals, *, index: Index
) -> tuple[CaseRun, ...]:
    """The runs as a caller may see them today.

    Hits of documents that the caller may not see, or that were written anew since, are left out,
    and an answer that was made of one is withheld.
    """
    scope = Scope(principals, include_archived=True)
    known = {info.id: info.version for info in index.snapshot().documents(scope)}

    def is_shown(hit: Hit) -> bool:
        return known.get(hit.document_id) == hit.document.version

    shown = []
    for run in runs:
        answer = run.answer
        if answer and not (
            list_drawn(answer) <= known.keys()
            and all(map(is_shown, (*answer.sources, *answer.found)))
        ):
            answer = withhold(answer)
        shown.append(replace(run, hits=tuple(filter(is_shown, run.hits)), answer=answer))
    return tuple(shown)
