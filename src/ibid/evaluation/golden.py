"""Golden cases: questions with what should be found or answered, as lines of a file.

{"question": "How long is parental leave?", "contains": "18 weeks", "answer": "18 weeks"}
{"question": "Who approves trips abroad?", "document_id": "travel.md"}
{"question": "What does band B pay?", "contains": "41,000 euros", "as": ["group:people"]}
{"question": "Which airline does the company own?", "unanswerable": true}
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ibid.errors import EvaluationError
from ibid.records import JSON, OWNER, Principals

FIELDS: Final = (
    "id",
    "question",
    "contains",
    "document_id",
    "unanswerable",
    "answer",
    "as",
    "filter",
    "history",
    "draft",
    "note",
)

NEAR: Final = 0.75
"""Likeness from which an unknown field is taken for a slip of the pen."""


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One question and what is expected of it.

    `contains` are pieces of evidence, each word for word in one passage, all of them wanted;
    `documents` map the ids of the documents that answer it to their grade. One of the two is there,
    or the case is `unanswerable`. `answers` are right answers, any of which will do. `principals`
    and `filter` are those that it is asked with; None leaves the principals to the caller. A
    `draft` does not count until a person accepts it. `more` are fields of others, kept as they are.
    """

    id: str
    question: str
    contains: tuple[str, ...] = ()
    documents: Mapping[str, float] = field(default_factory=dict)
    unanswerable: bool = False
    answers: tuple[str, ...] = ()
    principals: Principals | None = None
    filter: str | None = None
    history: tuple[str, ...] = ()
    draft: bool = False
    note: str = ""
    more: Mapping[str, JSON] = field(default_factory=dict)


def parse_golden(lines: Iterable[str], where: str) -> list[GoldenCase]:
    """The cases of a JSON-lines file, in order; empty lines count for nothing.

    A case without an id gets the number of its line. Raises EvaluationError, naming `where` and the
    line, for one that can't be understood and for an id that stands twice.
    """
    cases: dict[str, GoldenCase] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        try:
            values = json.loads(line)
        except ValueError as error:
            raise EvaluationError(
                f"{place} is not JSON: {error}", hint="write one object on each line"
            ) from error
        case = parse_case(values, place, id=str(number))
        if case.id in cases:
            raise EvaluationError(f"{place}: the id {case.id!r} stands twice", hint="rename one")
        cases[case.id] = case
    return list(cases.values())


def parse_case(values: object, place: str, *, id: str) -> GoldenCase:
    """One case from its object; `id` is taken where it names none. Raises EvaluationError."""
    if not isinstance(values, dict):
        raise EvaluationError(f"{place} is no object", hint='write {"question": …, "contains": …}')
    _check_names(values, place)
    taken = _Taken(values, place)
    case = GoldenCase(
        id=taken.text("id") or id,
        question=taken.text("question"),
        contains=taken.texts("contains"),
        documents=_read_documents(taken, values.get("document_id")),
        unanswerable=taken.flag("unanswerable"),
        answers=taken.texts("answer"),
        principals=_read_principals(taken.texts("as")) if "as" in values else None,
        filter=taken.text("filter") or None,
        history=taken.texts("history"),
        draft=taken.flag("draft"),
        note=taken.text("note"),
        more={name: value for name, value in values.items() if name not in FIELDS},
    )
    if not case.question.strip():
        raise taken.refuse("question", "holds no question")
    expected = bool(case.contains or case.documents)
    if expected == case.unanswerable:
        raise EvaluationError(
            f"{place} says {'both' if expected else 'neither'} what answers the question"
            f" {'and' if expected else 'nor'} that nothing does",
            hint="give contains, document_id, or unanswerable: true",
        )
    return case


def _check_names(values: Mapping[str, object], place: str) -> None:
    for name in values:
        near = difflib.get_close_matches(name, FIELDS, n=1, cutoff=NEAR)
        if name not in FIELDS and near:
            raise EvaluationError(f"{place}: no field {name!r}", hint=f"did you mean {near[0]}?")


@dataclass(frozen=True, slots=True)
class _Taken:
    """The fields of an object, by the kind that they must be."""

    values: Mapping[str, Any]
    place: str

    def text(self, name: str) -> str:
        found = self.values.get(name)
        if isinstance(found, int) and not isinstance(found, bool) and name == "id":
            return str(found)
        if found is not None and not isinstance(found, str):
            raise self.refuse(name, "is no text")
        return found or ""

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.values.get(name)
        listed = [found] if isinstance(found, str) else found or []
        if not isinstance(listed, list) or not all(
            isinstance(one, str) and (one.strip() or name == "history") for one in listed
        ):
            raise self.refuse(name, "is neither a text nor a list of texts")
        return tuple(listed)

    def flag(self, name: str) -> bool:
        found = self.values.get(name, False)
        if not isinstance(found, bool):
            raise self.refuse(name, "is neither true nor false")
        return found

    def refuse(self, name: str, what: str) -> EvaluationError:
        return EvaluationError(f"{self.place}: {name} {what}", hint="docs/EVALUATION.md shows it")


def _read_documents(taken: _Taken, found: object) -> dict[str, float]:
    """Grades by id: of one id or several they are 1, or an object gives them."""
    if not isinstance(found, dict):
        return dict.fromkeys(taken.texts("document_id"), 1.0)
    if not all(type(grade) in (int, float) and grade >= 0 for grade in found.values()):
        raise taken.refuse("document_id", "has a grade that is no number from 0 on")
    return {id: float(grade) for id, grade in found.items()}


def _read_principals(names: tuple[str, ...]) -> Principals:
    return OWNER if OWNER.value in names else frozenset(names)


def dump_golden(cases: Iterable[GoldenCase]) -> Iterator[str]:
    """The lines of a file that holds the cases, each with its newline, as `parse_golden` reads."""
    for case in cases:
        yield json.dumps(describe_case(case), ensure_ascii=False) + "\n"


def describe_case(case: GoldenCase) -> dict[str, JSON]:
    """A case as the object that it is written as; what says nothing is left out."""
    principals = case.principals
    grades = dict(case.documents)
    plain = all(grade == 1 for grade in grades.values())
    said: dict[str, Any] = {
        "id": case.id,
        "question": case.question,
        "contains": _unwrap(case.contains),
        "document_id": _unwrap(tuple(grades)) if plain else grades,
        "unanswerable": case.unanswerable,
        "answer": _unwrap(case.answers),
        "as": [OWNER.value] if principals is OWNER else sorted(principals or ()),
        "filter": case.filter,
        "history": list(case.history),
        "draft": case.draft,
        "note": case.note,
        **case.more,
    }
    kept = {name: value for name, value in said.items() if value or name in case.more}
    if principals is not None and not principals:
        kept["as"] = []
    return kept


def _unwrap(texts: tuple[str, ...]) -> str | list[str]:
    """One text as it is, others as a list."""
    return texts[0] if len(texts) == 1 else list(texts)
