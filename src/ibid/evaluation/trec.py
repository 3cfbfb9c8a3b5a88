"""The files of others: collections in BEIR's shape, judgements and runs in TREC's.

A line of judgements is `query 0 document grade` (TREC) or `query document grade` (BEIR, with tabs);
a line of a run is `query Q0 document rank score name`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from ibid.errors import EvaluationError
from ibid.evaluation.golden import GoldenCase

Qrels: TypeAlias = dict[str, dict[str, float]]
Runs: TypeAlias = dict[str, list[str]]

QUERIES: Final = "queries.jsonl"
CORPUS: Final = "corpus.jsonl"
QRELS: Final = ("qrels/test.tsv", "qrels.tsv", "qrels/dev.tsv", "qrels/train.tsv")
"""Where a collection has its judgements: the first of these that is there."""

_SPACE: Final = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """A document of a collection."""

    id: str
    title: str
    text: str


# -- BEIR -----------------------------------------------------------------------------------------


def read_collection(folder: Path) -> list[GoldenCase]:
    """The judged queries of a collection as cases, in the order of its queries.

    A query is unanswerable where it says `"answerable": false`. Raises EvaluationError.
    """
    qrels = read_qrels(_find_qrels(folder))
    cases = []
    for row in _read_rows(folder / QUERIES):
        id = _read_id(row)
        grades = {document: grade for document, grade in qrels.get(id, {}).items() if grade > 0}
        unanswerable = row.get("answerable") is False
        if not grades and not unanswerable:
            continue
        cases.append(
            GoldenCase(
                id=id,
                question=str(row["text"]),
                documents={} if unanswerable else grades,
                unanswerable=unanswerable,
                answers=tuple(str(answer) for answer in row.get("answers", ())),
            )
        )
    if not cases:
        raise EvaluationError(
            f"no query of {folder / QUERIES} is judged", hint="the ids of queries and qrels differ"
        )
    return cases


def read_corpus(folder: Path) -> Iterator[CorpusDocument]:
    """The documents of a collection that hold any text, in its order. Raises EvaluationError."""
    for row in _read_rows(folder / CORPUS):
        title, text = str(row.get("title") or ""), str(row.get("text") or "")
        if title.strip() or text.strip():
            yield CorpusDocument(_read_id(row), title, text)


def _find_qrels(folder: Path) -> Path:
    for name in QRELS:
        if (folder / name).is_file():
            return folder / name
    raise EvaluationError(
        f"{folder} has no judgements", hint=f"a BEIR folder has {QUERIES} and {QRELS[0]}"
    )


def _read_rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise EvaluationError(
                f"{path}, line {number} is no object with a text", hint="see BEIR's format"
            )
        yield row


def _read_id(row: Mapping[str, Any]) -> str:
    """Some write `_id`, others `id`."""
    return str(row["_id"] if "_id" in row else row.get("id", ""))


def _read_lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from file
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path} can't be read: {error}", hint="check the path") from error


# -- TREC -----------------------------------------------------------------------------------------


def read_qrels(path: Path) -> Qrels:
    """Grades by query and document, in the order of the file. Raises EvaluationError."""
    qrels: Qrels = {}
    for number, line in enumerate(_read_lines(path), start=1):
        fields = line.rstrip("\n").split("\t") if line.count("\t") == 2 else line.split()
        if not fields or (number == 1 and not _is_number(fields[-1])):  # a head, as BEIR has one
            continue
        if len(fields) not in (3, 4) or not _is_number(fields[-1]):
            raise _refuse(path, number, "query 0 document grade")
        qrels.setdefault(fields[0], {})[fields[-2]] = float(fields[-1])
    return qrels


def read_run(path: Path) -> Runs:
    """Rankings of documents by query, each document once, best first. Raises EvaluationError.

    As trec_eval has it, scores make the order and the ranks of the file count for nothing; of equal
    scores the later id stands first.
    """
    scored: dict[str, dict[str, float]] = {}
    for number, line in enumerate(_read_lines(path), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 6 or not _is_number(fields[4]):
            raise _refuse(path, number, "query Q0 document rank score name")
        scored.setdefault(fields[0], {})[fields[2]] = float(fields[4])
    return {
        query: sorted(found, key=lambda id: (found[id], id), reverse=True)
        for query, found in scored.items()
    }


def write_qrels(qrels: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Lines of judgements. White space in an id is written as %20: the format has no other way."""
    for query, grades in qrels.items():
        for document, grade in grades.items():
            yield f"{_bare(query)} 0 {_bare(document)} {grade:g}\n"


def write_run(runs: Mapping[str, Sequence[str]], name: str) -> Iterator[str]:
    """Lines of a run, scored by place so that the order is kept; ids as in `write_qrels`."""
    for query, ranking in runs.items():
        for rank, document in enumerate(ranking, start=1):
            score = len(ranking) - rank + 1
            yield f"{_bare(query)} Q0 {_bare(document)} {rank} {score} {_bare(name)}\n"


def _bare(id: str) -> str:
    return _SPACE.sub("%20", id)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse(path: Path, number: int, form: str) -> EvaluationError:
    return EvaluationError(f"{path}, line {number} can't be read", hint=f"a line is: {form}")
