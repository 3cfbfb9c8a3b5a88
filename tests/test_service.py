"""The service: the same flows over HTTP, in our shapes, with our statuses; jobs that outlive it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

import ibid
from conftest import command_line, list_ids, open_hashing, write
from ibid.service.bodies import MOST_CHARACTERS
from ibid.service.carrying import write_documents
from ibid.service.jobs import Interrupted, Jobs
from ibid.service.store import Store
from ibid.uploads import Uploads
from pdf_making import make_pdf
from service_client import await_job, make_key, read_events, serving

AS_JSON = {"Content-Type": "application/json"}
LEAVE = "Parental leave lasts sixteen weeks. Notice is given eight weeks before."


@pytest.fixture
def client(library: ibid.Library) -> Iterator[TestClient]:
    library.ingest(ibid.Document("leave.md", LEAVE, title="Leave"))
    with serving(library) as client:
        yield client


def test_search_is_the_search_of_the_library(client: TestClient, library: ibid.Library) -> None:
    found = client.post("/v1/search", json={"query": "parental leave", "k": 3})
    assert found.status_code == 200
    hits = library.search("parental leave", k=3)
    assert [hit["passage_id"] for hit in found.json()["hits"]] == [h.passage.id for h in hits]
    assert "trace" not in found.json()
    explained = client.post("/v1/search", json={"query": "leave", "explain": True}).json()
    assert explained["trace"]


def test_an_answer_as_json_and_as_events(client: TestClient) -> None:
    body = {"question": "How long does parental leave last?"}
    plain = client.post("/v1/ask", json=body).json()
    assert plain["status"] == "answered"
    streamed = client.post("/v1/ask", json=body, headers={"Accept": "text/event-stream"})
    assert streamed.headers["content-type"].startswith("text/event-stream")
    events = read_events(streamed.text)
    names = [name for name, _ in events]
    assert names[0] == "sources"
    assert names[-1] == "answer"
    assert "token" in names
    assert "citation" in names
    final = events[-1][1]
    assert "".join(data["text"] for name, data in events if name == "token") == final["text"]
    assert [data for name, data in events if name == "citation"] == final["citations"]
    assert final["text"] == plain["text"]
    for citation in final["citations"]:
        assert LEAVE[citation["start"] : citation["end"]] == citation["quote"]


def test_an_abstention_is_an_answer(client: TestClient) -> None:
    told = client.post("/v1/ask", json={"question": "Which comet hit the moon?"})
    assert told.status_code == 200
    assert told.json()["status"] == "abstained"


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_an_error_before_the_first_event_has_its_status(client: TestClient, accept: str) -> None:
    body = {"question": "leave", "filter": "tag. ="}
    refused = client.post("/v1/ask", json=body, headers={"Accept": accept})
    assert refused.status_code == 400
    assert refused.json()["error"]["type"] == "BadQuery"
    assert refused.json()["error"]["hint"]


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("POST", "/v1/search", {"json": {}}, 422),
        ("POST", "/v1/search", {"json": {"query": "x", "kk": 3}}, 422),
        ("POST", "/v1/search", {"json": {"query": "x" * (MOST_CHARACTERS + 1)}}, 422),
        (
            "POST",
            "/v1/search",
            {"content": "{", "headers": {"Content-Type": "application/json"}},
            400,
        ),
        ("POST", "/v1/search", {"json": {"query": "x", "version": 999}}, 400),
        ("POST", "/v1/search", {"json": {"query": "x", "rerank": "no-such"}}, 400),
        ("GET", "/v1/documents?id=none", {}, 404),
        ("DELETE", "/v1/documents?id=none", {}, 404),
        ("PATCH", "/v1/documents?id=none", {"json": {"archived": True}}, 404),
        ("GET", "/v1/pages/1.png?id=leave.md", {}, 404),
        ("GET", "/v1/answers/none", {}, 404),
        ("POST", "/v1/answers/none/feedback", {"json": {"rating": "good"}}, 404),
        ("GET", "/v1/jobs/none", {}, 404),
        ("POST", "/v1/documents?id=leave.md", {"json": {"text": "x"}}, 409),
        (
            "POST",
            "/v1/documents?id=a",
            {"content": "x", "headers": {"Content-Type": "text/x"}},
            415,
        ),
        ("POST", "/v1/documents", {"json": {"text": "x"}}, 400),
        ("POST", "/v1/sources/sync?name=none", {}, 404),
        ("GET", "/nothing", {}, 404),
    ],
)
def test_errors_have_one_shape(
    client: TestClient, method: str, path: str, options: dict[str, Any], status: int
) -> None:
    told = client.request(method, path, **options)
    assert told.status_code == status, told.text
    assert set(told.json()["error"]) == {"type", "message", "hint"}


def test_a_request_that_is_too_large_is_refused(library: ibid.Library) -> None:
    body = json.dumps({"query": "x" * 5000}).encode()
    pieces = (body[at : at + 100] for at in range(0, len(body), 100))
    with serving(library, body_bytes=2000) as client:
        for content in (body, pieces):  # which says its length, and which does not
            told = client.post("/v1/search", content=content, headers=AS_JSON)
            assert told.status_code == 413
            assert told.json()["error"]["type"] == "BodyTooLarge"


def test_a_caller_who_asks_too_often_waits(library: ibid.Library) -> None:
    with serving(library, per_minute=3) as client:
        statuses = [client.get("/v1/documents").status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        assert client.get("/healthz").status_code == 200


def test_more_requests_than_are_worked_on_are_refused(library: ibid.Library) -> None:
    with serving(library, requests=0) as client:
        told = client.get("/v1/documents")
        assert told.status_code == 503
        assert told.headers["Retry-After"] == "1"
        assert client.get("/readyz").status_code == 200


def test_only_our_names_and_our_pages_are_answered(client: TestClient) -> None:
    assert client.get("/v1/documents", headers={"Host": "elsewhere.test"}).status_code == 400
    elsewhere = {"Origin": "http://elsewhere.test"}
    assert client.get("/v1/documents", headers=elsewhere).status_code == 400
    assert client.get("/v1/documents", headers={"Origin": "null"}).status_code == 400
    assert client.get("/v1/documents", headers={"Origin": "http://localhost"}).status_code == 200


def test_every_answer_has_an_id_and_a_policy(client: TestClient) -> None:
    for path in ("/healthz", "/v1/documents", "/nothing"):
        headers = client.get(path).headers
        assert len(headers["X-Request-ID"]) == 16
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")


# -- documents ------------------------------------------------------------------------------------


def test_a_document_is_created_overwritten_described_and_removed(client: TestClient) -> None:
    sent = client.post("/v1/documents?id=notes/gull.md", json={"text": "Gulls sleep on roofs."})
    assert sent.status_code == 202
    assert sent.headers["Location"] == f"/v1/jobs/{sent.json()['job_id']}"
    job = await_job(client, sent.json()["job_id"])
    assert job["state"] == "done"
    assert job["report"]["added"] == ["notes/gull.md"]
    shown = client.get("/v1/documents", params={"id": "notes/gull.md"}).json()
    assert shown["text"] == "Gulls sleep on roofs."
    again = client.put("/v1/documents?id=notes/gull.md", json={"text": "Gulls sleep on piers."})
    assert await_job(client, again.json()["job_id"])["report"]["updated"] == ["notes/gull.md"]
    said = client.patch("/v1/documents?id=notes/gull.md", json={"archived": True})
    assert said.json()["metadata_changed"] == ["notes/gull.md"]
    assert client.get("/v1/documents?id=notes/gull.md").json()["archived"] is True
    assert client.delete("/v1/documents?id=notes/gull.md").json()["removed"] == ["notes/gull.md"]
    assert client.get("/v1/documents?id=notes/gull.md").status_code == 404


def test_files_are_sent_as_a_form(client: TestClient) -> None:
    files = [
        ("file", ("roof.md", b"# Roofs\n\nA roof keeps the rain out.")),
        ("file", ("broken.pdf", b"%PDF-1.4 nothing")),
    ]
    said = {"said": json.dumps({"tags": {"kind": "house"}})}
    sent = client.post("/v1/documents", files=files, data=said)
    assert sent.json()["ids"] == ["roof.md", "broken.pdf"]
    job = await_job(client, sent.json()["job_id"])
    assert (job["state"], job["done"], job["total"]) == ("failed", 2, 2)
    assert job["report"]["added"] == ["roof.md"]
    (failed,) = job["report"]["failed"]
    assert failed["id"] == "broken.pdf"
    assert failed["message"]
    shown = client.get("/v1/documents?id=roof.md").json()
    assert shown["title"] == "Roofs"
    assert shown["tags"] == {"kind": "house"}


def test_a_purge_erases_the_file_that_was_sent(client: TestClient, library: ibid.Library) -> None:
    files = {"file": ("secret.md", b"The vault opens at noon.")}
    sent = client.post("/v1/documents?id=vault", files=files)
    await_job(client, sent.json()["job_id"])
    kept = [path for path in (Path(library.location) / "uploads").rglob("*") if path.is_file()]
    assert len(kept) == 1
    library.remove("vault", purge=True)
    assert not kept[0].exists()


def test_a_page_of_a_pdf_is_a_picture(client: TestClient) -> None:
    data = make_pdf([(12, 50, 700, "Keys are kept in the drawer.")])
    sent = client.post("/v1/documents?id=keys.pdf", files={"file": ("keys.pdf", data)})
    assert await_job(client, sent.json()["job_id"])["state"] == "done"
    picture = client.get("/v1/pages/1.png?id=keys.pdf")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    assert client.get("/v1/pages/2.png?id=keys.pdf").status_code == 404


def test_a_source_is_synced_again(client: TestClient, library: ibid.Library, folder: Path) -> None:
    write(folder, {"a.md": "Alpha is first."})
    library.sync(folder, prefix="book")
    write(folder, {"b.md": "Beta is second."})
    assert [one["name"] for one in client.get("/v1/sources").json()["sources"]] == ["handbook"]
    sent = client.post("/v1/sources/sync?name=handbook")
    assert await_job(client, sent.json()["job_id"])["report"]["added"] == ["book/b.md"]


# -- jobs -----------------------------------------------------------------------------------------


def test_a_stopped_job_goes_on_with_what_is_left(library: ibid.Library, tmp_path: Path) -> None:
    store = Store(tmp_path)
    parts = [
        {"id": f"n{number}", "text": f"Note {number}.", "title": None, "media_type": "text/plain"}
        for number in range(3)
    ]
    uploads = Uploads(tmp_path / "uploads")
    seen = []

    def carry_one(job: Any, advance: Any) -> None:
        def stop(done: int, total: int, part: Any) -> None:
            advance(done, total, part)
            seen.append(done)
            raise Interrupted

        write_documents(library, uploads, job, stop)

    first = Jobs(store, {"documents": carry_one}, folder=tmp_path)
    job = first.put("me", "documents", {"parts": parts, "said": {}, "overwrite": False}, 3)
    first._do(job)
    assert first.find(job.id, "me").state == "waiting"
    assert list_ids(library) == ["n0"]
    # As if it was killed after the second commit and before it was noted: created, yet not done.
    library.ingest(ibid.Document("n1", "Note 1."))
    second = Jobs(store, {"documents": partial(write_documents, library, uploads)}, folder=tmp_path)
    second._do(second.find(job.id, "me"))
    ended = second.find(job.id, "me")
    assert (ended.state, ended.done) == ("done", 3)
    assert ended.report["added"] == ["n0", "n1", "n2"]
    assert list_ids(library) == ["n0", "n1", "n2"]
    store.close()


def test_a_killed_server_goes_on_with_its_jobs(tmp_path: Path) -> None:
    place = tmp_path / "library"
    open_hashing(place).close()
    server, url = _start(place)
    texts = [f"Paragraph {number} of many. " * 400 for number in range(40)]
    ids = []
    for number, text in enumerate(texts):
        request = urllib.request.Request(
            f"{url}/v1/documents?id=d{number:02}",
            data=json.dumps({"text": text}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:
            ids.append(json.load(reply)["job_id"])
    server.send_signal(signal.SIGKILL)
    server.wait()
    server, url = _start(place)
    try:
        states = [_await(f"{url}/v1/jobs/{id}") for id in ids]
    finally:
        server.terminate()
        code = server.wait(timeout=60)
    assert code == 0
    assert states == ["done"] * len(ids)
    with open_hashing(place) as library:
        assert list_ids(library) == [f"d{number:02}" for number in range(40)]
        found = [library.document(f"d{number:02}", ibid.OWNER).text for number in range(40)]
        assert [text.strip() for text in found] == [text.strip() for text in texts]
        assert list(library.verify()) == []


def test_a_job_that_is_killed_in_its_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    place = tmp_path / "library"
    open_hashing(place).close()
    server, url = _start(place)
    files: Any = [
        ("file", (f"d{number:02}.md", f"# Note {number}\n\n" + "A line of it. " * 300))
        for number in range(30)
    ]
    id = httpx2.post(f"{url}/v1/documents", files=files).json()["job_id"]
    while not httpx2.get(f"{url}/v1/jobs/{id}").json()["done"]:
        time.sleep(0.005)
    server.send_signal(signal.SIGKILL)
    server.wait()
    server, url = _start(place)
    try:
        state = _await(f"{url}/v1/jobs/{id}")
        job = httpx2.get(f"{url}/v1/jobs/{id}").json()
    finally:
        server.terminate()
        assert server.wait(timeout=60) == 0
    assert (state, job["done"], job["total"]) == ("done", 30, 30)
    names = [f"d{number:02}.md" for number in range(30)]
    assert job["report"]["added"] == names
    with open_hashing(place) as library:
        assert list_ids(library) == names
        assert list(library.verify()) == []


def _start(place: Path) -> tuple[subprocess.Popen[str], str]:
    environ = {**os.environ, "IBID_LIBRARY": str(place), "IBID_EMBEDDER_NAME": "hashing"}
    server = subprocess.Popen(
        command_line(["serve", "--port", "0"]), env=environ, stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    line = server.stderr.readline()
    assert line.startswith("serving "), line

    threading.Thread(target=server.stderr.read, daemon=True).start()
    return server, line.split()[-1]


def _await(url: str) -> str:
    for _ in range(600):
        with urllib.request.urlopen(url) as reply:
            state: str = json.load(reply)["state"]
        if state in ("done", "failed"):
            return state
        time.sleep(0.05)
    return "late"


# -- answers --------------------------------------------------------------------------------------


def test_an_answer_is_kept_opened_replayed_and_rated(client: TestClient) -> None:
    asked = client.post("/v1/ask", json={"question": "How long does parental leave last?"}).json()
    id = asked["answer_id"]
    assert [one["answer_id"] for one in client.get("/v1/answers").json()["answers"]] == [id]
    assert client.get(f"/v1/answers/{id}").json()["text"] == asked["text"]
    places = client.get(f"/v1/answers/{id}/places").json()["places"]
    assert places[0]["quote"] in LEAVE
    assert client.post(f"/v1/answers/{id}/replay").json()["identical"] is True
    rated = client.post(f"/v1/answers/{id}/feedback", json={"rating": "good", "comment": "yes"})
    assert rated.status_code == 200
    assert len(client.get("/v1/answers?rated=good").json()["answers"]) == 1
    unlogged = client.post("/v1/ask", json={"question": "What of leave?", "log": False})
    assert unlogged.status_code == 200
    assert len(client.get("/v1/answers").json()["answers"]) == 1


def test_metrics_count_what_was_asked(library: ibid.Library) -> None:
    with serving(library, keys_needed=True) as client:
        admin = make_key(library, scopes=["admin"])
        asker = make_key(library, scopes=["ask"])
        client.post("/v1/ask", json={"question": "x"}, headers=asker)
        assert client.get("/metrics", headers=asker).status_code == 403
        text = client.get("/metrics", headers=admin).text
    assert 'ibid_answers_total{status="abstained"} 1.0' in text
    assert 'route="/v1/ask"' in text
