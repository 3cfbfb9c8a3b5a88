"""The way of a diagnosis: one question through every stage, to the first that lost the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ibid.errors import AccessDenied
from ibid.flows.ask import answer_from
from ibid.flows.chat import recall_cited
from ibid.flows.compose import widen_search
from ibid.flows.diagnosis import STAGES, Diagnosis, Expected, Stage, Target, meet
from ibid.flows.evaluate import make_query
from ibid.flows.options import AskOptions
from ibid.flows.ranks import follow
from ibid.flows.search import walk_search
from ibid.flows.used import tell_answer
from ibid.flows.whereabouts import Whereabouts, check_access, check_expected
from ibid.language.detection import choose_query_language
from ibid.protocols import Embedder, Generator, Index, Reranker
from ibid.records import AnswerStatus, Principals, Query

if TYPE_CHECKING:
    from ibid.evaluation.golden import GoldenCase


@dataclass(frozen=True, slots=True)
class DiagnosedCase:
    """A golden case with the diagnosis of what it expects; of several pieces, the first lost."""

    case_id: str
    diagnosis: Diagnosis


@dataclass(slots=True)
class Diagnostician:
    """Walks questions through a library as `caller`, who is told of what they may see alone.

    Without a generator, questions are walked up to selection. Nothing is kept in the log.
    """

    index: Index
    embedder: Embedder
    options: AskOptions
    caller: Principals
    generator: Generator | None = None
    reranker: Reranker | None = None
    _places: dict[int, Whereabouts] = field(default_factory=dict)

    def diagnose(self, query: Query, expected: Expected) -> Diagnosis:
        """The stages that an expected text passes on the way of a question, to the one that loses
        it. `query.principals` are those whose question is examined.

        The stages after the filter are walked with the principals that asker and caller both hold:
        what stands above the text is told, and must be the caller's to see. Raises BadQuery,
        AccessDenied where these see nothing of it, and what searching and answering raise.
        """
        check_expected(expected)
        snapshot = self.index.snapshot(query.version)
        targets, stages = self._find_place(query).locate(expected)
        if targets and stages[-1].ok:
            targets, more = check_access(targets, query, snapshot)
            stages += more
        if targets and stages[-1].ok:
            stages += self._walk(query, targets, expected)
        return Diagnosis(query.text, str(expected), tuple(stages))

    def diagnose_case(self, case: GoldenCase, asker: Principals) -> DiagnosedCase:
        """The diagnosis of a golden case: of its expectations, the one that is lost first.

        Raises AccessDenied where the case is asked by others than the caller.
        """
        query = make_query(case, asker, self.caller)
        if case.unanswerable:
            return DiagnosedCase(case.id, self._check_abstaining(query))
        found = [self.diagnose(query, expected) for expected in _list_expected(case)]
        # Any of several documents will do; every piece of evidence is wanted.
        choose = min if case.contains else max
        return DiagnosedCase(case.id, choose(found, key=_count_passed))

    def _find_place(self, query: Query) -> Whereabouts:
        snapshot = self.index.snapshot(query.version)
        if snapshot.version not in self._places:
            self._places = {snapshot.version: Whereabouts(self.index, snapshot, self.caller)}
        return self._places[snapshot.version]

    def _walk(self, query: Query, targets: list[Target], expected: Expected) -> list[Stage]:
        """The stages from the retrievers on."""
        snapshot = self.index.snapshot(query.version)
        query = replace(query, principals=meet(query.principals, self.caller))
        seen, _ = check_access(targets, query, snapshot)
        if not seen:
            raise AccessDenied(
                "asker and caller may see this document by different principals, and what else the"
                " asker finds is not the caller's to be told",
                hint="examine it as the owner: --as '*'",
            )
        options = self.options
        if self.generator is not None:
            options = widen_search(options, self.generator)
        walked = walk_search(
            query,
            options.search,
            index=self.index,
            embedder=self.embedder,
            reranker=self.reranker,
        )
        languages = self.index.languages
        told = follow(walked, seen, options.search, snapshot=snapshot, languages=languages)
        if self.generator is None or not all(stage.ok for stage in told):
            return told
        result = recall_cited(walked.result, self.index) if query.cited else walked.result
        answer = answer_from(
            result,
            options,
            index=self.index,
            embedder=self.embedder,
            generator=self.generator,
        )
        language = choose_query_language(query.text, languages)
        return [*told, *tell_answer(answer, seen, expected, language=language)]

    def _check_abstaining(self, query: Query) -> Diagnosis:
        """The diagnosis of a question that nothing answers: it should be told so."""
        expected = "no answer"
        if self.generator is None:
            return Diagnosis(query.text, expected, ())
        query = replace(query, principals=meet(query.principals, self.caller))
        options = widen_search(self.options, self.generator)
        walked = walk_search(
            query,
            options.search,
            index=self.index,
            embedder=self.embedder,
            reranker=self.reranker,
        )
        answer = answer_from(
            walked.result,
            options,
            index=self.index,
            embedder=self.embedder,
            generator=self.generator,
        )
        if answer.status is AnswerStatus.ABSTAINED:
            return Diagnosis(query.text, expected, (Stage("answer", True, "abstained"),))
        advice = "lower ask.abstain, the probability of no answer from which none is given"
        stage = Stage("answer", False, f"answered, though nothing does: {answer.text}", advice)
        return Diagnosis(query.text, expected, (stage,))


def diagnose_golden(
    cases: Iterable[GoldenCase], diagnostician: Diagnostician, asker: Principals
) -> Iterator[DiagnosedCase]:
    """The cases that count, diagnosed one by one; drafts are left out.

    Without a generator so are those that nothing answers: to abstain is the answer's part.
    """
    for case in cases:
        if not case.draft and not (case.unanswerable and diagnostician.generator is None):
            yield diagnostician.diagnose_case(case, asker)


def count_causes(diagnosed: Iterable[DiagnosedCase]) -> dict[str, int]:
    """How many cases each stage lost, in the order of the stages; "none" counts those that came
    through."""
    counts = Counter(one.diagnosis.first_failure or "none" for one in diagnosed)
    return {stage: counts[stage] for stage in (*STAGES, "none") if counts[stage]}


def _list_expected(case: GoldenCase) -> list[Expected]:
    if case.contains:
        return [Expected(text=text) for text in case.contains]
    return [Expected(document_id=id) for id, grade in case.documents.items() if grade > 0]


def _count_passed(diagnosis: Diagnosis) -> int:
    """How far a text came: the place of the stage that lost it."""
    failure = diagnosis.first_failure
    return len(STAGES) if failure is None else STAGES.index(failure)
