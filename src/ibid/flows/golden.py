"""The golden set of a library: its file, cases out of answers and documents, and their check."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ibid.errors import EvaluationError
from ibid.evaluation.drafts import build_draft_prompt, draft_document, parse_draft, spread
from ibid.evaluation.folding import fold_space, strip_markers
from ibid.evaluation.golden import GoldenCase, dump_golden, parse_golden
from ibid.flows.consult import consult
from ibid.protocols import Generator, Index, Scope, Snapshot
from ibid.records import AnswerStatus, Document, KeptAnswer, Passage, Principals, Verdict

GOLDEN_FILE: Final = "golden.jsonl"
"""The golden set of a library, in its folder."""

LEAST_WORDS: Final = 12
"""Words of a passage that a model is asked to draft a question for."""

DRAFT_SECONDS: Final = 60.0
"""Longest wait for a model to draft one."""

Lack: TypeAlias = Literal["absent", "cut", "hidden", "no such document"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a person says should have been found or answered; all empty where they say nothing."""

    contains: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    unanswerable: bool = False
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldenProblem:
    """Something expected that can't be found: in no document that the asker may see ("absent"), in
    none of its passages whole ("cut"), or only where the asker may not look ("hidden")."""

    id: str
    question: str
    expected: str
    lack: Lack


# -- the file -------------------------------------------------------------------------------------


def find_golden(location: str) -> Path | None:
    """Where the golden set of a library lies, there or not; None for one in a database."""
    return None if "://" in location else Path(location) / GOLDEN_FILE


def read_golden(path: Path, name: str | None = None) -> list[GoldenCase]:
    """The cases of a file, which errors call by its path or by another name.

    Raises EvaluationError for one that can't be read.
    """
    name = name or str(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            return parse_golden(file, name)
    except FileNotFoundError as error:
        raise EvaluationError(
            f"no golden set at {name}", hint="make one with `ibid golden draft`, or name a file"
        ) from error
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise EvaluationError(f"{name} can't be read: {why}", hint="check the path") from error


def write_golden(path: Path, cases: Iterable[GoldenCase]) -> None:
    """Write a file of cases, whole or not at all, readable by its owner alone."""
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "w", encoding="utf-8", opener=_open_private) as file:
            file.writelines(dump_golden(cases))
        part.replace(path)
    except OSError as error:
        raise EvaluationError(f"{path} can't be written: {error}", hint="name another") from error
    finally:
        part.unlink(missing_ok=True)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lets one process at a time change a file: it holds the file's folder, which leaves no trace.

    A folder that can't be opened is told of by what writes into it.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def add_cases(path: Path, new: Iterable[GoldenCase]) -> tuple[list[GoldenCase], int]:
    """Add those cases whose ids and questions the file lacks; those added, and how many it holds.

    A file that is missing is made.
    """
    with _alone(path):
        held = read_golden(path) if path.exists() else []
        ids = {case.id for case in held}
        asked = {(case.question, case.principals) for case in held}
        added = []
        for case in new:
            if case.id not in ids and (case.question, case.principals) not in asked:
                added.append(case)
                ids.add(case.id)
                asked.add((case.question, case.principals))
        if added:
            write_golden(path, [*held, *added])
    return added, len(held) + len(added)


def accept_cases(path: Path, ids: Sequence[str]) -> list[GoldenCase]:
    """Let drafts count from now on, all of them where no id is named; those that were drafts.

    Raises EvaluationError, with nothing changed, for an id that is none.
    """
    with _alone(path):
        cases = read_golden(path)
        drafts = {case.id for case in cases if case.draft}
        if unknown := [id for id in ids if id not in drafts]:
            raise EvaluationError(
                f"{path} has no draft {unknown[0]!r}", hint="`ibid golden list` shows them"
            )
        accepted = set(ids) or drafts
        write_golden(path, [replace(c, draft=c.draft and c.id not in accepted) for c in cases])
    return [case for case in cases if case.id in accepted]


def forget_documents(path: Path, ids: Iterable[str]) -> int:
    """Drop the cases that were drawn from erased documents, which they quote; how many."""
    if not path.exists():
        return 0
    erased = set(ids)
    with _alone(path):
        cases = read_golden(path)
        kept = [case for case in cases if not (case.contains and erased & case.documents.keys())]
        if len(kept) < len(cases):
            write_golden(path, kept)
    return len(cases) - len(kept)


# -- out of answers and documents -----------------------------------------------------------------


def make_case(kept: KeptAnswer, expected: Expected) -> GoldenCase:
    """The case that an answer becomes: asked as it was asked, with what is expected of it.

    Where nothing is said, what the answer rests on is expected: its supported quotes, or that there
    is no answer. It is a draft then unless the answer was rated good. Raises EvaluationError where
    it was rated bad, is withheld, or rests on nothing.
    """
    answer, rated = kept.answer, kept.feedback[-1].good if kept.feedback else None
    said = expected != Expected(answers=expected.answers)
    if answer.status is AnswerStatus.WITHHELD:
        raise EvaluationError(f"answer {answer.id} is withheld", hint="it can't become a case")
    if not said:
        if rated is False:
            raise _refuse(answer.id, "was rated bad, and nothing says what is right")
        expected = _expect_same(kept, expected)
    return GoldenCase(
        id=f"answer-{answer.id}",
        question=answer.question,
        contains=expected.contains,
        documents=dict.fromkeys(expected.documents, 1.0),
        unanswerable=expected.unanswerable,
        answers=expected.answers,
        principals=answer.request.principals,
        filter=answer.request.filter,
        history=_keep_questions(answer.request.history),
        draft=not said and rated is None,
        note=kept.feedback[-1].comment if kept.feedback else "",
    )


def _keep_questions(history: Sequence[str]) -> tuple[str, ...]:
    """The turns before, their answers blank: these quote documents that the case does not name."""
    return tuple("" if number % 2 else turn for number, turn in enumerate(history))


def _expect_same(kept: KeptAnswer, expected: Expected) -> Expected:
    answer = kept.answer
    if answer.status is AnswerStatus.ABSTAINED:
        return replace(expected, unanswerable=True)
    cited = [
        citation
        for citation in answer.citations
        if citation.verdict is Verdict.SUPPORTED and citation.quote and citation.document_id
    ]
    if not cited:
        raise _refuse(answer.id, "rests on nothing that is supported")
    return Expected(
        contains=tuple(dict.fromkeys(str(citation.quote) for citation in cited)),
        documents=tuple(dict.fromkeys(str(citation.document_id) for citation in cited)),
        answers=expected.answers or (strip_markers(answer.text),),
    )


def _refuse(id: str, why: str) -> EvaluationError:
    return EvaluationError(
        f"answer {id} {why}", hint="say it with --contains, --document or --unanswerable"
    )


def draft_cases(
    scope: Scope, most: int, *, index: Index, generator: Generator | None = None
) -> list[GoldenCase]:
    """At most so many drafts out of the documents of a scope, spread over them; by rule, or by a
    model where one is given.

    What a model writes is dropped where it quotes what does not stand there, so there may be fewer.
    Raises what the model raises.
    """
    snapshot = index.snapshot()
    documents = (snapshot.document(info.id, scope).document for info in snapshot.documents(scope))
    cut = ((one, snapshot.document_passages(one.id, scope)) for one in documents)
    if generator is None:
        return spread((list(draft_document(*pair)) for pair in cut), most)
    pairs = (
        [(document, one) for one in passages if len(one.text.split()) >= LEAST_WORDS]
        for document, passages in cut
    )
    drafts = (_ask_draft(document, one, generator) for document, one in spread(pairs, most))
    return [draft for draft in drafts if draft is not None]


def _ask_draft(document: Document, passage: Passage, generator: Generator) -> GoldenCase | None:
    reply = consult(generator, build_draft_prompt(passage), timeout_s=DRAFT_SECONDS)
    return parse_draft(reply.text, document, passage)


# -- the check ------------------------------------------------------------------------------------


def check_cases(
    cases: Iterable[GoldenCase], principals: Principals, *, index: Index
) -> list[GoldenProblem]:
    """What cases expect that can't be found by whoever asks them, in the order of the cases.

    A case that names no principals is asked by the caller's, and only what the caller may see is
    told to be hidden from another asker. Unanswerable cases expect nothing.
    """
    snapshot = index.snapshot()
    caller = Scope(principals, include_archived=True)
    asked: dict[Scope, list[GoldenCase]] = {}
    order: dict[str, int] = {}
    for case in cases:
        order[case.id] = len(order)
        asker = principals if case.principals is None else case.principals
        asked.setdefault(Scope(asker, case.filter), []).append(case)
    problems = [
        problem
        for scope, ones in asked.items()
        for problem in _check_scope(ones, scope, caller, snapshot)
    ]
    return sorted(problems, key=lambda problem: order[problem.id])


def _check_scope(
    cases: Sequence[GoldenCase], scope: Scope, caller: Scope, snapshot: Snapshot
) -> Iterator[GoldenProblem]:
    pieces = {fold_space(piece) for case in cases for piece in case.contains}
    whole, split = find_pieces(pieces, scope, snapshot)
    missing = pieces - whole - split
    hidden = set[str]().union(*find_pieces(missing, caller, snapshot)) if missing else set()
    seen = {info.id for info in snapshot.documents(scope)}
    known = {info.id for info in snapshot.documents(caller)}
    for case in cases:
        for piece in case.contains:
            folded = fold_space(piece)
            if folded not in whole:
                lack: Lack = "cut" if folded in split else "absent"
                yield _tell(case, piece, "hidden" if folded in hidden else lack)
        for id in case.documents if not case.contains else ():
            if id not in seen:
                yield _tell(case, id, "hidden" if id in known else "no such document")


def _tell(case: GoldenCase, expected: str, lack: Lack) -> GoldenProblem:
    return GoldenProblem(case.id, case.question, expected, lack)


def find_pieces(pieces: set[str], scope: Scope, snapshot: Snapshot) -> tuple[set[str], set[str]]:
    """The pieces that a passage of the scope holds whole, and those that only a document does."""
    whole, split = set[str](), set[str]()
    for info in snapshot.documents(scope):
        text = fold_space(snapshot.document(info.id, scope).document.text)
        if not (held := {piece for piece in pieces - whole if piece in text}):
            continue
        texts = [fold_space(one.text) for one in snapshot.document_passages(info.id, scope)]
        found = {piece for piece in held if any(piece in text for text in texts)}
        whole |= found
        split |= held - found
    return whole, split - whole
