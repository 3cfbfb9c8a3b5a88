"""Measuring over HTTP: golden cases run as a job, answers that become cases, texts looked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import ibid
from command_line import HANDBOOK
from conftest import open_hashing, run_ibid
from ibid.evaluation.golden import parse_golden
from ibid.service.evaluating import KEPT
from ibid.service.store import Store
from service_client import await_job, make_key, serving

FERRY = "When does the ferry to the island leave?"
CASES: list[dict[str, Any]] = [
    {"id": "ferry", "question": FERRY, "contains": "leaves at noon", "answer": "at noon"},
    {"id": "lost", "question": "How deep is the harbour?", "contains": "nine fathoms"},
    {"id": "none", "question": "Which planet has most moons?", "unanswerable": True},
    {"id": "later", "question": "Who bakes?", "document_id": "bread", "draft": True},
]
LINES = "".join(json.dumps(case) + "\n" for case in CASES)
SECRET = "The merger with Quagga is signed in May."


@pytest.fixture
def filled(library: ibid.Library) -> ibid.Library:
    library.ingest(
        [
            ibid.Document("ferry", "The ferry to the island leaves at noon. It takes an hour."),
            ibid.Document("bread", "The baker bakes bread at night, and rolls in the morning."),
        ]
    )
    return library


@pytest.fixture
def client(filled: ibid.Library) -> Iterator[TestClient]:
    with serving(filled) as client:
        yield client


@pytest.mark.parametrize("form", ["json", "lines", "file"])
def test_an_evaluation_tells_what_the_verb_tells(client: TestClient, form: str) -> None:
    sent: dict[str, dict[str, Any]] = {
        "json": {"json": {"cases": CASES}},
        "lines": {"content": LINES, "headers": {"Content-Type": "application/x-ndjson"}},
        "file": {"files": {"file": ("golden.jsonl", LINES)}},
    }
    told = client.post("/v1/evaluate?wait=60&k=1&k=5", **sent[form])
    assert told.status_code == 200
    shape = told.json()
    assert (shape["queries"], shape["drafts"], shape["k"]) == (3, 1, [1, 5])
    assert shape["retrieval"]["recall@5"]["mean"] == 0.5
    assert shape["retrieval"]["recall@5"]["n"] == 2
    assert shape["causes"] == {"read": 1}
    assert {one["id"] for one in shape["failures"]} == {"lost"}


def test_the_numbers_are_those_of_the_command_line(tmp_path: Path) -> None:
    place, golden = tmp_path / "handbook.ibid", HANDBOOK.parent / "golden.jsonl"
    with open_hashing(place) as library:
        library.sync(HANDBOOK)
        with serving(library, principals=frozenset({"group:people"})) as client:
            sent = client.post("/v1/evaluate?wait=60", files={"file": golden.read_bytes()})
    called = run_ibid("evaluate", golden, "--as", "group:people", library=place)
    for name in ("queries", "drafts", "k", "retrieval", "answers", "failures", "tokens"):
        assert sent.json()[name] == called[name]


def test_what_takes_longer_goes_on_as_a_job(client: TestClient) -> None:
    told = client.post("/v1/evaluate?wait=0&answers=false", json={"cases": CASES})
    assert told.status_code == 202
    job = await_job(client, told.json()["job_id"])
    assert told.headers["Location"] == f"/v1/jobs/{job['job_id']}"
    assert (job["kind"], job["state"], job["report"]["queries"]) == ("evaluate", "done", 3)
    assert job["report"]["answers"] == {}
    sent = client.post("/v1/documents?id=note", json={"text": "A note."}).json()["job_id"]
    await_job(client, sent)
    listed = client.get("/v1/jobs?kind=evaluate").json()["jobs"]
    assert [one["job_id"] for one in listed] == [job["job_id"]]


def test_questions_come_the_worst_first_with_what_was_found(client: TestClient) -> None:
    id = client.post("/v1/evaluate?wait=60", json={"cases": CASES}).json()["job_id"]
    found = client.get(f"/v1/evaluate/{id}").json()
    assert found["total"] == 3
    lost, ferry, none = found["questions"]
    assert [one["id"] for one in (lost, ferry, none)] == ["lost", "ferry", "none"]
    assert lost["cause"]["stage"] == "read"
    assert lost["expected"]["contains"] == ["nine fathoms"]
    assert {one["kind"] for one in lost["failures"]} >= {"retrieval"}
    first = ferry["hits"][0]
    assert (first["document_id"], first["rank"], first["wanted"]) == ("ferry", 1, True)
    assert "leaves at noon" in first["text"]
    assert ferry["cause"] is None
    assert none["status"] == "abstained"
    paged = client.get(f"/v1/evaluate/{id}?most=1&offset=1").json()
    assert [one["id"] for one in paged["questions"]] == ["ferry"]
    report = client.get(f"/v1/evaluate/{id}/report.html")
    assert report.headers["content-type"].startswith("text/html")
    assert "leaves at noon" in report.text


def test_only_the_last_evaluations_are_held(client: TestClient) -> None:
    ids = [
        client.post("/v1/evaluate?wait=60&answers=false", json={"cases": CASES[:1]}).json()[
            "job_id"
        ]
        for _ in range(KEPT + 1)
    ]
    held = [client.get(f"/v1/evaluate/{id}").status_code for id in ids]
    assert held == [404, *[200] * KEPT]
    assert client.get(f"/v1/jobs/{ids[0]}").json()["report"]["queries"] == 1


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ({}, 422, "golden set"),
        ({"json": {"cases": []}}, 422, "no golden case"),
        ({"json": {"cases": [{"question": "x"}]}}, 422, "line 1"),
        ({"json": {"cases": [{**CASES[0], "as": ["user:ann"]}]}}, 403, "others than you"),
        ({"json": {"cases": [{**CASES[0], "as": ["*"]}]}}, 403, "others than you"),
        ({"json": {"sets": []}}, 422, "sets"),
        ({"content": "{", "headers": {"Content-Type": "application/jsonl"}}, 422, "not JSON"),
        ({"content": b"\xff", "headers": {"Content-Type": "text/plain"}}, 422, "not UTF-8"),
        ({"content": "x", "headers": {"Content-Type": "image/png"}}, 415, "image/png"),
        ({"data": {"file": "x"}, "files": {"other": b"x"}}, 400, "file"),
        ({"params": {"k": 0}}, 422, "k"),
    ],
)
def test_what_can_not_be_evaluated_tells_why(
    client: TestClient, options: dict[str, Any], status: int, words: str
) -> None:
    told = client.post("/v1/evaluate?wait=60", **options)
    assert told.status_code == status, told.text
    assert words in told.json()["error"]["message"]


# -- answers that become cases --------------------------------------------------------------------


def test_an_answer_becomes_a_case_of_the_librarys_own_set(
    client: TestClient, filled: ibid.Library
) -> None:
    id = client.post("/v1/ask", json={"question": FERRY}).json()["answer_id"]
    body = {"contains": "It takes an hour", "answer": ["an hour", "60 minutes"]}
    added = client.post(f"/v1/answers/{id}/golden", json=body)
    assert added.status_code == 201
    [case] = filled.read_golden()
    assert added.json()["case"]["id"] == case.id == f"answer-{id}"
    assert (case.question, case.contains, case.draft) == (FERRY, ("It takes an hour",), False)
    assert case.answers == ("an hour", "60 minutes")
    again = client.post(f"/v1/answers/{id}/golden", json=body)
    assert again.status_code == 422
    assert "already" in again.json()["error"]["message"]
    assert str(filled.golden_file) not in again.text
    told = client.post("/v1/evaluate?wait=60").json()
    assert told["queries"] == 1


def test_a_bad_answer_needs_words_of_what_is_right(client: TestClient) -> None:
    id = client.post("/v1/ask", json={"question": FERRY}).json()["answer_id"]
    client.post(f"/v1/answers/{id}/feedback", json={"rating": "bad"})
    told = client.post(f"/v1/answers/{id}/golden", json={})
    assert told.status_code == 422
    assert "nothing says what is right" in told.json()["error"]["message"]
    assert client.post("/v1/answers/x/golden", json={}).status_code == 404


def test_a_text_is_followed_to_the_stage_that_lost_it(client: TestClient) -> None:
    body = {"question": FERRY, "text": "leaves at noon"}
    assert client.post("/v1/diagnose", json=body).json()["first_failure"] is None
    told = client.post("/v1/diagnose", json={**body, "text": "nine fathoms"}).json()
    assert (told["first_failure"], told["stages"][0]["stage"]) == ("read", "read")
    assert client.post("/v1/diagnose", json={"question": FERRY}).status_code == 400


# -- who may --------------------------------------------------------------------------------------


def test_a_case_of_a_reader_waits_for_someone_to_accept_it(filled: ibid.Library) -> None:
    reader = make_key(filled, scopes=["ask"])
    with serving(filled, keys_needed=True) as client:
        id = client.post("/v1/ask", json={"question": FERRY}, headers=reader).json()["answer_id"]
        path = f"/v1/answers/{id}/golden"
        case = client.post(path, json={"contains": "at noon"}, headers=reader).json()["case"]
        assert client.post("/v1/evaluate?wait=60", headers=reader).status_code == 403
    assert case["draft"] is True


def test_what_is_hidden_from_a_caller_is_in_no_set_and_no_evaluation(
    filled: ibid.Library,
) -> None:
    ann, bob = frozenset({"user:ann"}), frozenset({"user:bob"})
    filled.ingest(ibid.Document("quagga", SECRET, title="Quagga", allow=ann))
    lines = [
        {"id": "ferry", "question": FERRY, "contains": "leaves at noon"},
        {"id": "lost", "question": "How deep is it?", "contains": "nine fathoms"},
        {"id": "quote", "question": "When is it signed?", "contains": "is  signed in May"},
        {"id": "name", "question": "When is it signed then?", "document_id": "quagga"},
        {"id": "ann", "question": "And when?", "unanswerable": True, "as": ["user:ann"]},
        {"id": "owner", "question": "Then when?", "unanswerable": True, "as": ["*"]},
    ]
    assert filled.golden_file is not None
    filled.golden_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = {who: [case.id for case in filled.list_golden(who)] for who in (ann, bob)}
    # What stands nowhere is as hidden as what stands elsewhere: a case tells of neither.
    assert shown == {ann: ["ferry", "quote", "name", "ann"], bob: ["ferry"]}
    assert len(filled.list_golden(ibid.OWNER)) == len(lines)
    keys = [make_key(filled, *who, scopes=["ask", "admin"]) for who in (ann, bob)]
    with serving(filled, keys_needed=True) as client:
        anns, bobs = (client.post("/v1/evaluate?wait=60", headers=key).json() for key in keys)
        assert (anns["queries"], bobs["queries"]) == (4, 1)
        place = f"/v1/evaluate/{anns['job_id']}"
        assert client.get(place, headers=keys[0]).json()["total"] == 4
        for path in (place, f"{place}/report.html", f"/v1/jobs/{anns['job_id']}"):
            assert client.get(path, headers=keys[1]).status_code == 404


def test_an_evaluation_shows_what_may_be_seen_today(filled: ibid.Library) -> None:
    ann = frozenset({"user:ann"})
    filled.ingest(ibid.Document("quagga", SECRET, title="Quagga", allow=ann))
    cases = [{"question": "When is the merger with Quagga signed?", "contains": "on 9 June"}]
    key = make_key(filled, *ann, scopes=["admin"])
    with serving(filled, keys_needed=True) as client:
        id = client.post("/v1/evaluate?wait=60", json={"cases": cases}, headers=key).json()[
            "job_id"
        ]
        paths = (f"/v1/evaluate/{id}", f"/v1/evaluate/{id}/report.html")
        assert all(SECRET in client.get(path, headers=key).text for path in paths)
        advice = client.get(paths[0], headers=key).json()["questions"][0]["cause"]["advice"]
        assert advice
        filled.set("quagga", allow=["user:bob"])
        cause = client.get(paths[0], headers=key).json()["questions"][0]["cause"]
        assert cause["advice"] == ""
        for path in paths:
            told = client.get(path, headers=key)
            assert told.status_code == 200
            assert "in May" not in told.text
        filled.set("quagga", allow=ann)
        filled.update(ibid.Document("quagga", "Written anew.", allow=ann))
        assert all("in May" not in client.get(path, headers=key).text for path in paths)


def test_what_a_job_was_to_do_is_dropped_when_it_ends(
    client: TestClient, filled: ibid.Library
) -> None:
    sent = client.post("/v1/documents?id=note", json={"text": SECRET})
    await_job(client, sent.json()["job_id"])
    client.post("/v1/evaluate?wait=60", json={"cases": [{**CASES[0], "contains": SECRET}]})
    client.delete("/v1/documents?id=note&purge=true")
    store = Store(Path(filled.location))
    try:
        assert {row["work"] for row in store.read("SELECT work FROM jobs")} == {"{}"}
    finally:
        store.close()


def test_the_golden_lines_read_back(client: TestClient) -> None:
    id = client.post("/v1/ask", json={"question": FERRY}).json()["answer_id"]
    case = client.post(f"/v1/answers/{id}/golden", json={}).json()["case"]
    [read] = parse_golden([json.dumps(case)], "case")
    assert read.documents == {"ferry": 1.0}
