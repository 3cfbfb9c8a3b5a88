"""Thousands of requests that the OpenAPI document allows, or all but allows: each is answered with
a status that the document tells of, and by no fault of ours."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import jsonschema_rs
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from starlette.testclient import TestClient

import ibid
from service_client import await_job, serving

CASES: Final = 36
"""Requests to each route that are as they should be, and as many that are not."""

LEAST: Final = 2000
MOST_URL: Final = 60_000
"""Characters of an address; the client that stands for all sends no longer ones."""

QUESTION: Final = "How long does parental leave last?"


@pytest.fixture
def client(library: ibid.Library) -> Iterator[TestClient]:
    library.ingest(
        [
            ibid.Document("leave.md", "Parental leave lasts sixteen weeks.", title="Leave"),
            ibid.Document("pay.md", "Pay comes on the last day.", allow=frozenset({"user:ann"})),
        ]
    )
    with serving(library) as client:
        yield client


def find_real_ids(client: TestClient) -> dict[str, list[str]]:
    """What is there to be named, by the end of the route that names it."""
    answer = client.post("/v1/ask", json={"question": QUESTION}).json()["answer_id"]
    sent = client.put("/v1/documents?id=note", json={"text": "A note."}).json()["job_id"]
    await_job(client, sent)
    cases = {"cases": [{"question": QUESTION, "document_id": "leave.md"}]}
    evaluated = client.post("/v1/evaluate?wait=60", json=cases).json()["job_id"]
    return {"answers": [answer], "jobs": [sent, evaluated], "evaluate": [evaluated]}


def test_every_request_is_answered_as_the_document_says(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    real = find_real_ids(client)
    sent: Counter[str] = Counter()

    def try_one(case: Any, data: Any) -> None:
        parts = case.operation.path.split("/")
        ids = real.get(parts[2], []) if "{id}" in parts else []
        if ids and data.draw(st.booleans()):
            case.path_parameters["id"] = data.draw(st.sampled_from(ids))
        told = send(client, case)
        sent[case.operation.label] += 1
        check_reply(case, told, document)

    found: Any
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = found.ok()
        for mode in GenerationMode:
            if mode is GenerationMode.POSITIVE or operation.definition.raw.get("security"):
                given(operation.as_strategy(generation_mode=mode), st.data())(try_all(try_one))()
    assert sent.total() >= LEAST, sent


def try_all(test: Callable[..., None]) -> Callable[..., None]:
    """A test that is run on the same cases every time."""

    def run(case: Any, data: Any) -> None:
        test(case, data)

    chosen = settings(
        max_examples=CASES,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    return seed(20261130)(chosen(run))


def send(client: TestClient, case: Any) -> Any:
    """The reply to a generated request, which is written as any client of the web does."""
    prepared: Any = requests.Request(
        **case.as_transport_kwargs(base_url="http://localhost")
    ).prepare()
    assume(len(prepared.url) < MOST_URL)
    headers = dict(prepared.headers)
    return client.request(prepared.method, prepared.url, content=prepared.body, headers=headers)


def check_reply(case: Any, told: Any, document: dict[str, Any]) -> None:
    """A reply has a status, a type and a form that the document gives."""
    replies = case.operation.definition.raw["responses"]
    shown = json.dumps(case.as_transport_kwargs(), default=str)[:2000]
    assert str(told.status_code) in replies, f"{told.status_code} {told.text[:500]}\n{shown}"
    assert told.status_code < 500, f"{told.status_code} {told.text[:500]}\n{shown}"
    reply, kind = replies[str(told.status_code)], told.headers["content-type"].partition(";")[0]
    assert kind in reply["content"], kind
    if kind == "application/json":
        schema = {**reply["content"][kind]["schema"], "components": document["components"]}
        jsonschema_rs.validator_for(schema).validate(told.json())
