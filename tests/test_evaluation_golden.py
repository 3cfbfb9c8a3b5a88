"""Golden cases and the files of others: what is read is what was written, and slips are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EvaluationError
from ibid.evaluation.golden import GoldenCase, dump_golden, parse_golden
from ibid.evaluation.trec import (
    read_collection,
    read_corpus,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)
from ibid.records import OWNER


def parse(*lines: str) -> list[GoldenCase]:
    return parse_golden(lines, "golden.jsonl")


def test_the_cases_of_the_contract() -> None:
    cases = parse(
        '{"question": "How long?", "contains": "14 days"}',
        "",
        '{"question": "Where?", "document_id": "a.md", "answer": ["here", "there"]}',
        '{"question": "Who?", "unanswerable": true, "as": "group:hr", "filter": "id = \\"a\\""}',
        '{"id": "x", "question": "All?", "document_id": {"a": 2, "b": 0.5}, "as": ["*"]}',
    )
    assert [case.id for case in cases] == ["1", "3", "4", "x"]
    assert cases[0].contains == ("14 days",)
    assert cases[0].principals is None
    assert cases[1].documents == {"a.md": 1}
    assert cases[1].answers == ("here", "there")
    assert cases[2].unanswerable
    assert cases[2].principals == frozenset({"group:hr"})
    assert cases[2].filter == 'id = "a"'
    assert cases[3].documents == {"a": 2, "b": 0.5}
    assert cases[3].principals is OWNER


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1 is not JSON"),
        ("[]", "line 1 is no object"),
        ('{"contains": "a"}', "question holds no question"),
        ('{"question": "a"}', "neither what answers the question nor that nothing does"),
        ('{"question": "a", "contains": "b", "unanswerable": true}', "both what answers"),
        ('{"question": "a", "contian": "b"}', "did you mean contains"),
        ('{"question": "a", "contains": 14}', "neither a text nor a list"),
        ('{"question": "a", "contains": [" "]}', "neither a text nor a list"),
        ('{"question": ["a"], "contains": "b"}', "question is no text"),
        ('{"question": "a", "unanswerable": "yes"}', "neither true nor false"),
        ('{"question": "a", "document_id": {"b": "much"}}', "grade"),
    ],
)
def test_a_line_that_cannot_be_understood_is_named(line: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        parse(line)


def test_an_id_stands_once() -> None:
    with pytest.raises(EvaluationError, match=r"line 2: the id 'a' stands twice"):
        parse(*['{"id": "a", "question": "b", "contains": "c"}'] * 2)


def test_fields_of_others_are_kept() -> None:
    [case] = parse('{"question": "a", "contains": "b", "author": "ann", "level": 3}')
    assert case.more == {"author": "ann", "level": 3}
    assert parse(*dump_golden([case])) == [case]


texts = st.text(min_size=1).filter(str.strip)
names = st.frozensets(st.sampled_from(["user:a", "group:b"]))


@given(
    st.lists(
        st.builds(
            GoldenCase,
            id=texts,
            question=texts,
            contains=st.lists(texts, min_size=1, max_size=3).map(tuple),
            documents=st.dictionaries(texts, st.integers(0, 3).map(float), max_size=3),
            answers=st.lists(texts, max_size=2).map(tuple),
            principals=st.none() | names | st.just(OWNER),
            filter=st.none() | texts,
            history=st.lists(st.text(), max_size=2).map(tuple),
            draft=st.booleans(),
            note=st.text(),
        ),
        unique_by=lambda case: case.id,
    )
)
def test_what_is_written_is_read_again(cases: list[GoldenCase]) -> None:
    assert parse(*dump_golden(cases)) == cases


# -- files of others ------------------------------------------------------------------------------


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_collection_in_the_shape_of_beir(tmp_path: Path) -> None:
    write_rows(tmp_path / "queries.jsonl", [
        {"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"}, {"_id": "q3", "text": "three"},
    ])  # fmt: skip
    write_rows(tmp_path / "corpus.jsonl", [
        {"_id": "d1", "title": "T", "text": "body"}, {"_id": "d2", "title": "", "text": " "},
    ])  # fmt: skip
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq3\td 9\t1\n"
    )
    first, third = read_collection(tmp_path)
    assert (first.id, first.question, first.documents) == ("q1", "one", {"d1": 2})
    assert (third.id, third.documents) == ("q3", {"d 9": 1})
    assert [document.id for document in read_corpus(tmp_path)] == ["d1"]


def test_a_collection_tells_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no judgements"):
        read_collection(tmp_path)
    (tmp_path / "qrels.tsv").write_text("q1\td1\t1\n")
    with pytest.raises(EvaluationError, match=r"queries\.jsonl can't be read"):
        read_collection(tmp_path)
    write_rows(tmp_path / "queries.jsonl", [{"id": "other", "text": "one"}])
    with pytest.raises(EvaluationError, match=r"no query of .* is judged"):
        read_collection(tmp_path)


def test_judgements_and_runs_come_back(tmp_path: Path) -> None:
    qrels = {"q1": {"a": 2.0, "b": 0.0}, "q2": {"c": 1.0}}
    runs = {"q1": ["b", "a"], "q2": ["z", "c", "a"]}
    (tmp_path / "qrels").write_text("".join(write_qrels(qrels)))
    (tmp_path / "run").write_text("".join(write_run(runs, "ibid")))
    assert read_qrels(tmp_path / "qrels") == qrels
    assert read_run(tmp_path / "run") == runs
    assert next(write_run({"q 1": ["a b.md"]}, "my run")) == "q%201 Q0 a%20b.md 1 1 my%20run\n"


def test_runs_are_ordered_as_trec_eval_orders_them(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 0.5 x\nq Q0 b 2 0.5 x\nq Q0 c 3 0.9 x\n")
    assert read_run(tmp_path / "run") == {"q": ["c", "b", "a"]}


@pytest.mark.parametrize("line", ["q a", "q 0 a much", "q Q0 a 1 high run", "q Q0 a 1"])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "file"
    path.write_text(f"q 0 a 1\n{line}\n")
    if len(line.split()) != 4 or "much" in line:
        with pytest.raises(EvaluationError, match="line 2 can't be read"):
            read_qrels(path)
    with pytest.raises(EvaluationError, match="line 1 can't be read"):
        read_run(path)
