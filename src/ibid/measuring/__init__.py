"""The Python face of evaluation: a library measured by golden cases, and its set of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ibid.errors import EvaluationError
from ibid.flows.options import OnProgress, hold_principals
from ibid.parts import Parts
from ibid.protocols import Generator, Scope
from ibid.records import OWNER, Answer, IngestReport, KeptAnswer, Owner, SearchResult

if TYPE_CHECKING:
    from ibid.evaluation.golden import GoldenCase
    from ibid.evaluation.outcomes import Evaluation
    from ibid.flows.golden import Expected, GoldenProblem
    from ibid.flows.judge import Judge

MOST_DRAFTS = 20
"""Drafts that are made unless more are asked for."""


class Measuring:
    """The part of a library that tells how good it is."""

    location: str
    _parts: Parts
    run_search: Callable[..., SearchResult]
    run_ask: Callable[..., Answer]
    answer: Callable[..., KeptAnswer]
    ingest: Callable[..., IngestReport]

    @property
    def golden_file(self) -> Path | None:
        """Where the library's own golden set lies, whether it is there yet or not; None for a
        library that is no folder."""
        from ibid.flows.golden import find_golden

        return find_golden(self.location)

    def evaluate(
        self,
        golden: Path | str | Sequence[GoldenCase] | None = None,
        *,
        cuts: Sequence[int] | None = None,
        answers: bool = True,
        principals: Iterable[str] | Owner = (),
        within: Iterable[str] | Owner = OWNER,
        judge: Generator | None = None,
        on_progress: OnProgress | None = None,
    ) -> Evaluation:
        """How well golden cases are found and answered, with the settings of this library.

        `golden` is a file or the cases themselves, None the library's own set. Retrieval is
        measured at the ranks of `cuts`. `principals` ask a case that names none; where cases come
        from somebody who may not ask for others, `within` is what that caller holds. A `judge` is a
        language model that judges each answer; its judgements are kept beside the library. Nothing
        that is asked is kept in the log. Raises EvaluationError, AccessDenied.
        """
        from ibid.evaluation.outcomes import CUTS
        from ibid.flows.evaluate import Asked, EvaluateOptions, evaluate

        options = EvaluateOptions(
            cuts=tuple(sorted({*cuts})) if cuts else CUTS,
            answers=answers,
            principals=hold_principals(principals),
            within=hold_principals(within),
        )
        asked = Asked(
            search=lambda query, k: self.run_search(query, k=k),
            ask=partial(self.run_ask, log=False),
            embedder=self._parts.embedder,
            judge=None if judge is None else self._open_judge(judge),
        )
        return evaluate(self.read_golden(golden), options, asked, on_progress=on_progress)

    def show_evaluation(
        self, evaluation: Evaluation, principals: Iterable[str] | Owner = ()
    ) -> Evaluation:
        """An evaluation as a caller may see it today; see `show_runs`. Its measures stay."""
        from ibid.flows.shown import show_runs

        held = hold_principals(principals)
        return replace(evaluation, runs=show_runs(evaluation.runs, held, index=self._parts.index))

    def take_in_collection(
        self, folder: Path | str, *, on_progress: OnProgress | None = None
    ) -> Sequence[GoldenCase]:
        """The judged queries of a folder in BEIR's shape, whose documents this library then holds.

        Those it lacks are taken in, so it may be new. Raises EvaluationError for one that holds
        other documents.
        """
        from ibid.flows.collection import take_in_collection

        return take_in_collection(
            Path(folder), index=self._parts.index, ingest=self.ingest, on_progress=on_progress
        )

    def read_golden(
        self, golden: Path | str | Sequence[GoldenCase] | None = None
    ) -> Sequence[GoldenCase]:
        """The cases of a file, or those given; None is the library's own set.

        Raises EvaluationError.
        """
        from ibid.flows.golden import read_golden

        if golden is None or isinstance(golden, str | Path):
            return read_golden(self._find_golden(golden))
        return golden

    def list_golden(self, principals: Iterable[str] | Owner = ()) -> list[GoldenCase]:
        """The cases of the library's own set that the caller may be shown; see `choose_shown`.

        Raises EvaluationError where there is no set, or one that can't be read; the words of it do
        not tell where it lies.
        """
        from ibid.flows.golden import read_golden
        from ibid.flows.shown import choose_shown

        path = self.golden_file
        if path is None or not path.exists():
            raise EvaluationError(
                "this library has no golden set yet", hint="make cases of answers, or send a file"
            )
        cases = read_golden(path, "the golden set")
        return choose_shown(cases, hold_principals(principals), index=self._parts.index)

    def add_golden(
        self,
        id: str,
        expected: Expected | None = None,
        principals: Iterable[str] | Owner = (),
        *,
        file: Path | str | None = None,
        draft: bool = False,
    ) -> GoldenCase:
        """Make a case of an answer in the log, and keep it; `make_case` tells what of it is
        expected. With `draft` it does not count until it is accepted, whatever is said of it.

        Raises UnknownAnswer, and EvaluationError where nothing can be expected of it or its
        question stands in the file already.
        """
        from ibid.flows.golden import Expected, add_cases, make_case

        path = self._find_golden(file)
        case = make_case(self.answer(id, principals), expected or Expected())
        case = replace(case, draft=case.draft or draft)
        if not add_cases(path, [case])[0]:
            raise EvaluationError(
                f"{path.name} holds this question already", hint="edit its line in the file"
            )
        return case

    def check_golden(
        self,
        golden: Path | str | Sequence[GoldenCase] | None = None,
        principals: Iterable[str] | Owner = (),
    ) -> list[GoldenProblem]:
        """What cases expect that their askers can't find in the documents at all."""
        from ibid.flows.golden import check_cases

        held = hold_principals(principals)
        return check_cases(self.read_golden(golden), held, index=self._parts.index)

    def draft_golden(
        self,
        most: int = MOST_DRAFTS,
        principals: Iterable[str] | Owner = (),
        *,
        filter: str | None = None,
        by_model: bool = False,
        file: Path | str | None = None,
    ) -> list[GoldenCase]:
        """Add drafts of cases out of the documents that the caller sees, at most so many.

        They are made by rule, or by the generator. They do not count until a person accepts them
        (`accept_golden`).
        """
        from ibid.flows.golden import add_cases, draft_cases

        scope = Scope(hold_principals(principals), filter)
        path = self._find_golden(file)
        writer = self._parts.open_generator() if by_model else None
        drafts = draft_cases(scope, most, index=self._parts.index, generator=writer)
        return add_cases(path, drafts)[0]

    def accept_golden(self, *ids: str, file: Path | str | None = None) -> list[GoldenCase]:
        """Let drafts count from now on; without an id all of them. Raises EvaluationError."""
        from ibid.flows.golden import accept_cases

        return accept_cases(self._find_golden(file), ids)

    def forget_golden(self, ids: Iterable[str]) -> int:
        """Drop the cases of the library's own set that were drawn from these documents; how many.

        A case that a person wrote is theirs: it stays.
        """
        from ibid.flows.golden import forget_documents

        return 0 if self.golden_file is None else forget_documents(self.golden_file, ids)

    def _open_judge(self, generator: Generator) -> Judge:
        from ibid.flows.judge import JUDGEMENTS_FILE, Judge

        own = self.golden_file
        return Judge(generator, cache=None if own is None else own.with_name(JUDGEMENTS_FILE))

    def _find_golden(self, file: Path | str | None) -> Path:
        found = self.golden_file if file is None else Path(file)
        if found is None:
            raise EvaluationError(
                "a library in a database has no golden set of its own", hint="name a file"
            )
        return found
