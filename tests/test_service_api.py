"""The service describes itself: each route with its replies, on the page of the documentation, in
the OpenAPI document and on the page that shows that one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from starlette.testclient import TestClient

import ibid
from api_page import PAGE, Exchange, collect_examples, run_page
from ibid.service.reference import PAGE as PAGE_FILES
from ibid.service.replies.examples import read_examples
from service_client import serving

WITHOUT_EXAMPLE = {
    "GET /v1/evaluate/{id}/report.html",
    "GET /v1/pages/{number}.png",
    "GET /metrics",
}
"""Routes whose reply is no JSON."""


@pytest.fixture(scope="module")
def exchanges(tmp_path_factory: pytest.TempPathFactory) -> list[Exchange]:
    return list(run_page(tmp_path_factory.mktemp("page")))


@pytest.fixture
def client(library: ibid.Library) -> Iterator[TestClient]:
    with serving(library) as client:
        yield client


def list_operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def test_every_request_of_the_page_gets_the_reply_that_it_says(exchanges: list[Exchange]) -> None:
    assert [one for one in exchanges if not one.matches] == []


def test_the_page_has_every_route(client: TestClient, exchanges: list[Exchange]) -> None:
    routes = list_operations(client.get("/openapi.json").json()).keys()
    assert {one.route for one in exchanges} == routes, "docs/API.md needs an example of each route"
    page = PAGE.read_text()
    assert [route for route in routes if f"### {route}\n" not in page] == []


def test_every_route_says_how_it_replies(client: TestClient) -> None:
    for route, operation in list_operations(client.get("/openapi.json").json()).items():
        assert operation["description"]
        status = min(operation["responses"])
        content = operation["responses"][status]["content"]
        if route not in WITHOUT_EXAMPLE:
            said = content["application/json"]
            assert said["schema"], route
            assert said["example"], f"`python tests/api_page.py` makes that of {route}"
        assert "400" in operation["responses"]
        guarded = operation.get("security") == [{"bearer": []}]
        assert guarded == (route not in ("GET /healthz", "GET /readyz"))


def test_replies_and_examples_are_what_the_document_says(
    client: TestClient, exchanges: list[Exchange]
) -> None:
    """No field is missing, and none is there that the document does not tell of."""
    document = client.get("/openapi.json").json()
    operations = list_operations(document)
    replies = [(one.route, str(one.status), one.reply) for one in exchanges]
    examples = [
        (route, min(operations[route]["responses"]), one) for route, one in read_examples().items()
    ]
    for route, status, reply in replies + examples:
        if isinstance(reply, str):
            continue
        schema = operations[route]["responses"][status]["content"]["application/json"]["schema"]
        closed = close_schemas({**schema, "components": document["components"]})
        jsonschema_rs.validator_for(closed).validate(reply)


def close_schemas(schema: Any) -> Any:
    """The same schema, in which no object may have a property that isn't named."""
    if isinstance(schema, list):
        return [close_schemas(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: close_schemas(part) for name, part in schema.items()}
    if isinstance(closed.get("properties"), dict) and closed.get("type") == "object":
        closed["additionalProperties"] = False
    return closed


def test_the_examples_are_of_today(exchanges: list[Exchange]) -> None:
    """Each has the fields of the reply that its route gives now."""
    examples = read_examples()
    told = collect_examples(exchanges)
    assert examples.keys() == told.keys()
    for route, example in examples.items():
        assert outline(example) == outline(told[route]), f"`python tests/api_page.py` for {route}"


def outline(reply: Any) -> Any:
    """What a reply is made of, without what differs from run to run."""
    if isinstance(reply, dict):
        return {name: outline(value) for name, value in reply.items() if name != "timings_ms"}
    if isinstance(reply, list):
        return [outline(value) for value in reply]
    return type(reply).__name__ if not isinstance(reply, int | float) else "number"


def test_the_reference_is_a_page_of_our_own(client: TestClient) -> None:
    page = client.get("/docs/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert client.get("/docs", follow_redirects=False).status_code in (302, 307)
    for path in PAGE_FILES.iterdir():
        text = path.read_text()
        assert client.get(f"/docs/{path.name}").text == text
        assert "//" not in text.replace("// ", ""), path.name  # nothing from elsewhere
        assert "innerHTML" not in text
        for name in re.findall(r'"\.\./([a-z]+\.(?:js|css))"', text):  # what the page lends it
            assert client.get(f"/{name}").status_code == 200, name


def test_the_document_is_json_that_stays_the_same(client: TestClient) -> None:
    first, second = (client.get("/openapi.json").text for _ in range(2))
    assert first == second
    assert json.loads(first)["openapi"].startswith("3.1")
