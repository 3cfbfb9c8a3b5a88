"""Evaluations of real libraries: what is scored, what fails, who may ask, and that runs repeat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ibid
from command_line import HANDBOOK, call
from conftest import open_hashing
from ibid.errors import AccessDenied, EvaluationError, ModelTimeout, ModelUnavailable
from ibid.evaluation.golden import GoldenCase
from ibid.evaluation.outcomes import compare_evaluations, rank_expected, score_runs
from ibid.flows.golden import Expected, add_cases, read_golden
from ibid.measuring.shapes import shape_evaluation
from ibid.records import OWNER, Answer, Hit
from ibid.testing.generators import ScriptedGenerator

GOLDEN = HANDBOOK.parent / "golden.jsonl"


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ibid.Library]:
    """The sample handbook with the default embedder."""
    with ibid.open(tmp_path_factory.mktemp("handbook") / "library") as library:
        library.sync(HANDBOOK)
        yield library


@pytest.fixture
def small(tmp_path: Path) -> Iterator[ibid.Library]:
    """Three documents, one of them for a group."""
    with open_hashing(tmp_path / "library") as library:
        library.ingest(
            [
                ibid.Document("boat", "The ferry leaves at noon. Dogs travel free."),
                ibid.Document("train", "The train leaves at seven. Bicycles need a ticket."),
                ibid.Document("pay", "The captain earns 5,000 crowns.", allow=frozenset({"crew"})),
            ]
        )
        yield library


def find_hits(library: ibid.Library, text: str) -> list[Hit]:
    return library.search(text, principals=OWNER)


# -- what is scored -------------------------------------------------------------------------------


def test_the_handbook_is_found_and_answered(handbook: ibid.Library) -> None:
    found = handbook.evaluate(GOLDEN)
    assert found.queries == len(read_golden(GOLDEN)) >= 12
    assert found.retrieval["recall@5"].mean >= 0.9
    assert found.retrieval["recall@5"].n == sum(not r.case.unanswerable for r in found.runs)
    assert found.answers["abstention_recall"].n == found.queries
    assert found.answers["faithfulness"].mean == 1
    assert 0 <= found.answers["contains"].low <= found.answers["contains"].mean
    assert handbook.answers(OWNER) == [], "what an evaluation asks is not kept"


def test_two_evaluations_are_the_same(handbook: ibid.Library) -> None:
    first, second = (shape_evaluation(handbook.evaluate(GOLDEN)) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_evidence_counts_once_and_where_a_passage_holds_it_whole(small: ibid.Library) -> None:
    hits = find_hits(small, "ferry train leaves")
    case = GoldenCase("1", "q", contains=("leaves at noon", "Dogs travel", "at noon. A whale"))
    ranking, judgements = rank_expected(case, hits)
    assert len(ranking) == len(hits)
    [boat] = [hit.passage.id for hit in hits if hit.document_id == "boat"]
    assert judgements == {boat: 1, "not found: at noon. A whale": 1}
    evaluation = small.evaluate([case], answers=False)
    assert evaluation.retrieval["recall@10"].mean == pytest.approx(2 / 3)
    assert evaluation.retrieval["hit@10"].mean == 1


def test_documents_count_by_their_best_passage(small: ibid.Library) -> None:
    hits = find_hits(small, "train")
    case = GoldenCase("1", "train", documents={"train": 2.0, "gone": 1.0})
    ranking, judgements = rank_expected(case, [*hits, *hits])
    assert ranking == list(dict.fromkeys(hit.document_id for hit in hits))
    assert judgements == {"train": 2, "gone": 1}
    assert small.evaluate([case], answers=False).retrieval["recall@5"].mean == 1 / 2


def test_a_case_is_asked_by_whom_it_names(small: ibid.Library) -> None:
    cases = [
        GoldenCase("crew", "captain", contains=("5,000",), principals=frozenset({"crew"})),
        GoldenCase("open", "captain", contains=("5,000",)),
    ]
    crew, public = small.evaluate(cases, answers=False).runs
    assert crew.retrieval["hit@10"] == 1
    assert public.retrieval["hit@10"] == 0
    assert all(hit.document_id != "pay" for hit in public.hits)


def test_nobody_has_cases_asked_by_others_than_they_hold(small: ibid.Library) -> None:
    for asked in (frozenset({"crew"}), OWNER):
        case = GoldenCase("1", "captain", contains=("5,000",), principals=asked)
        with pytest.raises(AccessDenied, match="golden case 1"):
            small.evaluate([case], within={"group:guests"})
    own = GoldenCase("1", "captain", contains=("5,000",), principals=frozenset({"crew"}))
    assert small.evaluate([own], within={"crew", "x"}).retrieval["hit@1"].mean == 1


# -- what fails -----------------------------------------------------------------------------------


def test_each_kind_of_failure_is_told(small: ibid.Library) -> None:
    cases = [
        GoldenCase("filter", "ferry", contains=("noon",), filter="colour ="),
        GoldenCase("lost", "ferry", contains=("whale",)),
        GoldenCase("fine", "When does the ferry leave?", contains=("leaves at noon",)),
        GoldenCase("free", "Do dogs travel free?", unanswerable=True),
        GoldenCase("draft", "ferry", contains=("noon",), draft=True),
    ]
    found = small.evaluate(cases)
    kinds = {(failure.id, failure.kind) for failure in found.failures}
    assert ("filter", "error") in kinds
    assert ("lost", "retrieval") in kinds
    assert ("free", "answered") in kinds
    assert not [id for id, _ in kinds if id in ("fine", "draft")]
    assert (found.queries, found.drafts) == (4, 1)
    assert found.retrieval["recall@1"].n == 2, "an error is counted and in no mean"


def test_a_model_that_times_out_is_a_failure_and_one_that_is_gone_ends_it(
    tmp_path: Path,
) -> None:
    said: list[str | BaseException] = ["The ferry leaves at noon [1]."]
    with ibid.open(
        tmp_path,
        embedder=lambda texts: [[1.0, 0.0]] * len(texts),
        generator=ScriptedGenerator(lambda prompt: said[0]),
    ) as library:
        library.ingest(ibid.Document("boat", "The ferry leaves at noon."))
        case = GoldenCase("1", "When does the ferry leave?", contains=("noon",))
        assert library.evaluate([case]).answers["evidence_cited"].mean == 1
        said[0] = ModelTimeout("too slow")
        [failure] = library.evaluate([case]).failures
        assert (failure.kind, failure.detail) == ("error", "ModelTimeout: too slow")
        said[0] = ModelUnavailable("gone")
        with pytest.raises(ModelUnavailable):
            library.evaluate([case])


def test_no_case_is_no_evaluation(small: ibid.Library) -> None:
    with pytest.raises(EvaluationError, match="no golden case"):
        small.evaluate([])
    with pytest.raises(EvaluationError, match="only 1 drafts"):
        small.evaluate([GoldenCase("1", "q", contains=("a",), draft=True)])
    with pytest.raises(EvaluationError, match="no golden set at"):
        small.evaluate()
    with pytest.raises(EvaluationError, match="ranks from 1"):
        small.evaluate([GoldenCase("1", "q", contains=("a",))], cuts=(0, 5))


def test_a_difference_is_over_the_questions_that_both_have(handbook: ibid.Library) -> None:
    both = handbook.evaluate(GOLDEN, cuts=(1, 5))
    same = compare_evaluations(both, both)
    assert {"recall@1", "recall@5", "mrr@5", "ndcg@5", "contains"} <= same.keys()
    assert all(one.mean == 0 and one.p == 1 for one in same.values())


def test_a_run_from_elsewhere_is_scored_over_all_judged_queries() -> None:
    qrels = {"q1": {"a": 1.0}, "q2": {"b": 1.0, "c": 1.0}, "q3": {"d": 1.0}}
    found = score_runs(qrels, {"q1": ["a"], "q2": ["x", "b"], "other": ["z"]}, (1, 2))
    assert found.queries == 3
    assert found.retrieval["recall@2"].mean == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found.retrieval["mrr@2"].mean == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert [failure.id for failure in found.failures] == ["q3"]


# -- golden sets of a library ---------------------------------------------------------------------


def ask(library: ibid.Library, text: str, **options: Any) -> Answer:
    return library.ask(text, **options)


def test_an_answer_becomes_a_case_that_expects_what_it_cites(small: ibid.Library) -> None:
    answer = ask(small, "When does the ferry leave?")
    case = small.add_golden(answer.id)
    assert case.draft, "nobody has said that it was right"
    assert case.contains == ("The ferry leaves at noon.",)
    assert case.principals == frozenset()
    assert list(small.read_golden()) == [case]
    with pytest.raises(EvaluationError, match="holds this question already"):
        small.add_golden(answer.id)


def test_feedback_makes_the_case(small: ibid.Library) -> None:
    good = ask(small, "When does the ferry leave?")
    small.feedback(good.id, "good", "helped")
    case = small.add_golden(good.id)
    assert not case.draft
    assert case.note == "helped"
    bad = ask(small, "When does the train leave?")
    small.feedback(bad.id, "bad")
    with pytest.raises(EvaluationError, match="rated bad, and nothing says what is right"):
        small.add_golden(bad.id)
    said = small.add_golden(bad.id, Expected(contains=("at seven",), answers=("seven",)))
    assert (said.contains, said.answers, said.draft) == (("at seven",), ("seven",), False)


def test_an_abstention_becomes_an_unanswerable_case(small: ibid.Library) -> None:
    answer = ask(small, "Which wizard owns the lighthouse?")
    case = small.add_golden(answer.id)
    assert case.unanswerable
    assert case.draft


def test_only_who_sees_an_answer_makes_a_case_of_it(small: ibid.Library) -> None:
    answer = ask(small, "What does the captain earn?", principals={"crew"})
    with pytest.raises(ibid.UnknownAnswer):
        small.add_golden(answer.id)
    case = small.add_golden(answer.id, principals={"crew"})
    assert case.principals == frozenset({"crew"})


def test_cases_that_come_at_once_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    cases = [GoldenCase(str(number), f"q{number}", contains=("a",)) for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda case: add_cases(path, [case]), cases))
    assert {case.id for case in read_golden(path)} == {case.id for case in cases}
    assert [one.name for one in tmp_path.iterdir()] == ["golden.jsonl"]


def test_what_is_purged_leaves_the_golden_set(small: ibid.Library) -> None:
    small.add_golden(ask(small, "When does the ferry leave?").id)
    small.add_golden(ask(small, "When does the train leave?").id)
    small.remove("boat", purge=True)
    assert small.golden_file is not None
    text = small.golden_file.read_text("utf-8")
    assert "ferry" not in text
    assert "train" in text


def test_the_check_tells_what_can_not_be_found(small: ibid.Library) -> None:
    long = " ".join(f"Bell {number} rings." for number in range(300))
    small.ingest(ibid.Document("bells", long))
    cases = [
        GoldenCase("fine", "q", contains=("leaves  at\nnoon",)),
        GoldenCase("absent", "q", contains=("a whale",)),
        GoldenCase("cut", "q", contains=(long[100:4000],)),
        GoldenCase("hidden", "q", contains=("5,000 crowns",), principals=frozenset({"guest"})),
        GoldenCase("document", "q", documents={"boat": 1, "ship": 1}),
        GoldenCase("none", "q", unanswerable=True),
    ]
    lacks = {one.id: one.lack for one in small.check_golden(cases, OWNER)}
    assert lacks == {
        "absent": "absent", "cut": "cut", "hidden": "hidden", "document": "no such document"
    }  # fmt: skip
    public = {one.id: one.lack for one in small.check_golden(cases)}
    assert public["hidden"] == "absent", "what the caller may not see shows nowhere"


def test_drafts_do_not_count_until_a_person_accepts_them(
    handbook: ibid.Library, tmp_path: Path
) -> None:
    file = tmp_path / "drafts.jsonl"
    drafts = handbook.draft_golden(5, file=file)
    assert len(drafts) == 5
    assert len({next(iter(case.documents)) for case in drafts}) == 5, "spread over the documents"
    assert handbook.check_golden(file) == []
    assert not [case for case in drafts if "pay" in case.id], "the caller sees no pay bands"
    with pytest.raises(EvaluationError, match="only 5 drafts"):
        handbook.evaluate(file)
    with pytest.raises(EvaluationError, match="no draft 'other'"):
        handbook.accept_golden("other", file=file)
    handbook.accept_golden(drafts[0].id, file=file)
    assert handbook.evaluate(file, answers=False).queries == 1
    assert handbook.draft_golden(5, file=file) == [], "what is there is not drafted again"
    assert len(handbook.accept_golden(file=file)) == 4


def test_a_golden_set_goes_with_an_export(small: ibid.Library, tmp_path: Path) -> None:
    case = small.add_golden(ask(small, "When does the ferry leave?").id)
    assert small.export(tmp_path / "out.zip").golden == 1
    with open_hashing(tmp_path / "other") as other:
        assert other.import_file(tmp_path / "out.zip").golden == 1
        assert list(other.read_golden()) == [case]
        assert other.import_file(tmp_path / "out.zip").golden == 0


# -- collections ----------------------------------------------------------------------------------


def write_collection(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    rows = [
        {"_id": f"d{n}", "title": "", "text": text}
        for n, text in enumerate(
            ("Owls hunt at night.", "Larks sing at dawn.", "Herons stand still.")
        )
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries = [{"_id": "q0", "text": "What hunts at night?"}, {"_id": "q1", "text": "dawn song"}]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\n")
    return folder


def test_a_collection_is_taken_in_and_measured(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "birds")
    with open_hashing(tmp_path / "library") as library:
        cases = library.take_in_collection(folder)
        assert library.status().documents == 3
        assert library.evaluate(cases, answers=False).retrieval["recall@3"].mean == 1
        version = library.status().version
        library.take_in_collection(folder)
        assert library.status().version == version
        library.ingest(ibid.Document("other", "An otter."))
        with pytest.raises(EvaluationError, match="1 documents that are not of"):
            library.take_in_collection(folder)


# -- the command line -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("evaluate") / "library"
    assert call("sync", HANDBOOK, "--library", place).code == 0
    return str(place)


def test_floors_decide_the_exit_code(place: str) -> None:
    done = call("evaluate", GOLDEN, "--library", place, "--json", "--k", "1",
                "--fail-under", "recall@4=0.5", "--fail-under", "abstention_f1=0.5")  # fmt: skip
    assert done.code == 0
    assert done.json["k"] == [1, 4]
    assert set(done.json["retrieval"]["recall@4"]) == {"mean", "low", "high", "n"}
    assert done.json["below"] == []
    done = call("evaluate", GOLDEN, "--library", place, "--fail-under", "f1=0.99", "--no-answers")
    assert done.code == 1
    assert "no question measures f1" in done.err
    done = call("evaluate", GOLDEN, "--library", place, "--fail-under", "f1=0.99")
    assert done.code == 1
    assert "BELOW: f1 is 0." in done.out


def test_no_floor_holds_where_questions_could_not_be_measured(place: str, tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(
        '{"question": "What do we pay for a hotel night?", "contains": "140 euros"}\n'
        '{"question": "hotel", "contains": "140 euros", "filter": "colour ="}\n'
    )
    floor = ("evaluate", file, "--library", place, "--fail-under", "recall@5=0.9", "--no-answers")
    done = call(*floor, "--json")
    assert done.code == 1
    assert done.json["retrieval"]["recall@5"]["mean"] == 1
    assert done.json["below"] == ["1 question could not be measured"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fail-under", "recall=0.9"),
        ("--fail-under", "wit@5=0.9"),
        ("--fail-under", "recall@5"),
        ("--k", "0,3"),
        ("--k", "three"),
        ("--beir",),
        ("--run", str(GOLDEN)),
    ],
)
def test_what_can_not_be_is_a_usage_error(place: str, arguments: tuple[str, ...]) -> None:
    assert call("evaluate", "--library", place, *arguments).code == 2


def test_settings_are_compared(place: str, tmp_path: Path) -> None:
    settings = tmp_path / "dense.toml"
    settings.write_text('[search]\nmode = "dense"\nfeedback = "none"\n')
    done = call(
        "evaluate", GOLDEN, "--library", place, "--compare", settings, "--no-answers", "--json"
    )
    assert done.code == 0
    compared = done.json["comparison"]
    assert compared["settings"] == "dense.toml"
    assert compared["differences"]["mrr@10"]["mean"] == pytest.approx(
        compared["retrieval"]["mrr@10"]["mean"] - done.json["retrieval"]["mrr@10"]["mean"]
    )
    assert {"p", "p_holm", "low", "high", "n"} <= compared["differences"]["recall@5"].keys()
    settings.write_text("[search]\nmoed = 1\n")
    done = call("evaluate", GOLDEN, "--library", place, "--compare", settings)
    assert done.code == 2
    assert "dense.toml" in done.err


def test_what_is_found_goes_out_and_comes_back_as_trec_has_it(place: str, tmp_path: Path) -> None:
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    done = call("evaluate", GOLDEN, "--library", place, "--no-answers", "--json",
                "--save-run", run, "--save-qrels", qrels)  # fmt: skip
    again = call("evaluate", "--run", run, "--qrels", qrels, "--json")
    assert again.code == 0
    for measure in ("mrr@10", "ndcg@10", "precision@3"):
        assert again.json["retrieval"][measure] == done.json["retrieval"][measure]


def test_golden_verbs(place: str, tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    answer = call("ask", "What do we pay for a hotel night?", "--library", place, "--json").json
    done = call("golden", "add", "last", "--library", place, "--file", file, "--json")
    assert done.json["case"]["id"] == f"answer-{answer['answer_id']}"
    assert done.json["case"]["draft"] is True
    assert call("golden", "draft", "-n", "2", "--library", place, "--file", file).code == 0
    assert call("golden", "check", "--library", place, "--file", file).code == 0
    done = call("golden", "accept", "--library", place, "--file", file, "--json")
    assert len(done.json["accepted"]) == 3
    done = call("golden", "list", "--library", place, "--file", file, "--json")
    assert not any(case.get("draft") for case in done.json["cases"])
    file.write_text('{"question": "q", "contains": "no such words"}\n')
    done = call("golden", "check", "--library", place, "--file", file, "--json")
    assert done.code == 1
    assert done.json["problems"][0]["lack"] == "absent"
    assert call("golden", "check", "x", "--library", place).code == 2
    assert call("golden", "add", "--library", place).code == 2
    assert call("golden", "draft", "--by-model", "--library", place, "--file", file).code == 2
