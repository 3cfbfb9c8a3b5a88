"""Spans of the service: by the names that others know, and without a word of any document."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

import ibid
from ibid.errors import BadSetting
from ibid.service.app import make_app
from ibid.service.options import ServeOptions, choose_options
from ibid.service.traces import Traces, name_source, open_traces
from ibid.settings.sections import ServeSettings
from ibid.testing.embedders import HashingEmbedder

SECRET = "The ferry to the island leaves at noon."
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def sent() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def client(library: ibid.Library, sent: InMemorySpanExporter) -> Iterator[TestClient]:
    library.ingest(ibid.Document("ferry.md", SECRET, title="Ferry"))
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(sent))
    app = make_app(library, ServeOptions(), Traces(provider, library))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def find_tree(spans: tuple[ReadableSpan, ...]) -> dict[str, list[str]]:
    """The names of spans by the name of the one that they are in."""
    names = {span.context.span_id: span.name for span in spans if span.context}
    tree: dict[str, list[str]] = {}
    for span in spans:
        above = names.get(span.parent.span_id, "elsewhere") if span.parent else "none"
        tree.setdefault(above, []).append(span.name)
    return tree


def test_a_search_is_a_span_with_its_stages(client: TestClient, sent: InMemorySpanExporter) -> None:
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    told = client.post("/v1/search", json={"query": "ferry"}, headers=headers)
    spans = sent.get_finished_spans()
    tree = find_tree(spans)
    assert tree["elsewhere"] == ["POST /v1/search"]
    assert tree["POST /v1/search"] == ["retrieval"]
    assert {"embed", "lexical", "dense", "fuse"} <= set(tree["retrieval"])
    by_name = {span.name: span for span in spans}
    request, retrieval = by_name["POST /v1/search"], by_name["retrieval"]
    assert request.context is not None
    assert f"{request.context.trace_id:032x}" == TRACE
    assert request.attributes is not None
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["ibid.request_id"] == told.headers["X-Request-ID"]
    assert dict(retrieval.attributes or {}) == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "library",
        "gen_ai.request.model": HashingEmbedder().name,
        "gen_ai.retrieval.top_k": 1,
        "ibid.version": 1,
    }
    assert request.start_time is not None
    for span in spans:  # each lies within the one that it is in
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.start_time <= span.end_time


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/chat/completions"])
def test_an_answer_is_a_search_and_a_chat(
    client: TestClient, sent: InMemorySpanExporter, path: str
) -> None:
    question = "When does the ferry leave?"
    chat = {"model": "ibid", "messages": [{"role": "user", "content": question}]}
    client.post(path, json={"question": question} if path == "/v1/ask" else chat)
    spans = sent.get_finished_spans()
    assert find_tree(spans)[f"POST {path}"] == ["retrieval", "weigh", "chat extractive", "verify"]
    by_name = {span.name: dict(span.attributes or {}) for span in spans}
    assert by_name["chat extractive"] == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "extractive",
        "gen_ai.usage.input_tokens": 0,
        "gen_ai.usage.output_tokens": 0,
    }
    assert by_name["retrieval"]["ibid.status"] == "answered"
    assert client.get("/metrics").text.count('ibid_answers_total{status="answered"} 1.0') == 1


def test_no_span_holds_what_was_asked_or_read(
    client: TestClient, sent: InMemorySpanExporter
) -> None:
    client.get("/v1/documents", params={"id": "ferry.md", "filter": "id = 'ferry.md'"})
    client.post("/v1/ask", json={"question": "When does the ferry leave?"})
    client.get("/v1/answers/ferry")
    told = " ".join(span.to_json() for span in sent.get_finished_spans()).lower()
    assert "ferry" not in told
    assert "noon" not in told


def test_without_a_place_for_spans_none_is_made(
    library: ibid.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_traces(None, library) is None
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    with pytest.raises(BadSetting, match="otel"):
        open_traces("http://127.0.0.1:4318/v1/traces", library)


def test_spans_go_elsewhere_only_where_they_may() -> None:
    serve = ServeSettings(traces="https://traces.test/v1/traces")
    assert choose_options(serve, frozenset()).traces == serve.traces
    with pytest.raises(BadSetting, match="offline"):
        choose_options(serve, frozenset(), offline=True)
    near = ServeSettings(traces="http://127.0.0.1:4318/v1/traces")
    assert choose_options(near, frozenset(), offline=True).traces


def test_spans_are_sent_over_http(library: ibid.Library) -> None:
    came: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    traces = open_traces(f"http://127.0.0.1:{server.server_port}/v1/traces", library)
    assert traces is not None
    with TestClient(make_app(library, ServeOptions(), traces), base_url="http://localhost") as one:
        one.get("/v1/status")
    traces.close()
    server.shutdown()
    ((path, body),) = came
    assert path == "/v1/traces"
    assert b"GET /v1/status" in body


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("/srv/handbook.ibid", "handbook.ibid"),
        ("postgresql://ann@db.test/team?schema=x", "team"),
        ("/", "library"),
    ],
)
def test_a_library_is_named_by_its_end(location: str, name: str) -> None:
    assert name_source(location) == name
    assert name_source(str(Path(location))) == name or "://" in location
