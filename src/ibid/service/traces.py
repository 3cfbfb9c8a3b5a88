"""Spans of OpenTelemetry: one for a request, within it those of its stages, by their GenAI names.

The flows know nothing of them: they are made from the times that a search and an answer bring
along. Without the extra `otel`, or a place to send them to, none is made. They hold no text and no
id of a document.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from ibid.errors import BadSetting
from ibid.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

    from ibid.library import Library
    from ibid.records import Answer, SearchResult

Attributes: TypeAlias = "Mapping[str, Any]"

MILLISECOND: Final = 1_000_000
"""Nanoseconds, which spans are timed in."""

_WRITING: Final = ("weigh", "generate", "verify")
"""The stages of an answer that come after its search."""


def open_traces(url: str | None, library: Library) -> Traces | None:
    """Spans of a library's service that go to an address, as OTLP over HTTP; None without one.

    Raises BadSetting where the extra is missing.
    """
    if url is None:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - likewise
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - likewise
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise BadSetting(
            f"serve.traces is {url}, and what sends them is missing",
            hint="pip install 'ibid-rag[otel]'",
        ) from error
    resource = Resource.create({"service.name": "ibid", "service.version": VERSION})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    return Traces(provider, library)


class Traces:
    """Makes the spans of a library's service."""

    def __init__(self, provider: TracerProvider, library: Library) -> None:
        self._provider = provider
        self._retrieval = {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.data_source.id": name_source(library.location),
            "gen_ai.request.model": library.status(frozenset()).manifest.embedder,
        }
        self._tracer: Tracer = provider.get_tracer("ibid", VERSION)

    def begin_request(self, headers: Mapping[str, str], method: str) -> Span:
        """The span of a request, within the caller's own where its headers name that."""
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - for those who want spans
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - likewise
            TraceContextTextMapPropagator,
        )

        context = TraceContextTextMapPropagator().extract(dict(headers))
        return self._tracer.start_span(method, context=context, kind=SpanKind.SERVER)

    def end_request(self, span: Span, method: str, route: str, status: int, id: str) -> None:
        """Say what became of a request, and send its span."""
        span.update_name(f"{method} {route}")
        span.set_attributes(
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
                "ibid.request_id": id,
            }
        )
        if status >= 500:
            from opentelemetry.trace import StatusCode  # noqa: PLC0415 - as above

            span.set_status(StatusCode.ERROR)
        span.end()

    def add_search(self, request: Span, result: SearchResult) -> None:
        """The spans of a search that has just ended."""
        end = time.time_ns()
        said = {
            **self._retrieval,
            "gen_ai.retrieval.top_k": len(result.hits),
            "ibid.version": result.version,
        }
        start = end - _to_nanoseconds(result.timings_ms.get("total", 0.0))
        self._add_stages(request, "retrieval", said, result.timings_ms.items(), start)

    def add_answer(self, request: Span, answer: Answer) -> None:
        """The spans of an answer that has just ended: its search, then writing and checking."""
        end = time.time_ns()
        start = end - _to_nanoseconds(answer.timings_ms.get("total", 0.0))
        retrieving = [item for item in answer.timings_ms.items() if item[0] not in _WRITING]
        said = {
            **self._retrieval,
            "gen_ai.retrieval.top_k": answer.request.k,
            "ibid.version": answer.version,
            "ibid.answer_id": answer.id,
            "ibid.status": answer.status.value,
        }
        at = self._add_stages(request, "retrieval", said, retrieving, start)
        for stage in _WRITING:
            if (spent := answer.timings_ms.get(stage)) is None:
                continue
            name, more = stage, {}
            if stage == "generate":
                name = f"chat {answer.generator}"
                more = {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": answer.generator,
                    "gen_ai.usage.input_tokens": answer.tokens.get("prompt", 0),
                    "gen_ai.usage.output_tokens": answer.tokens.get("completion", 0),
                }
            at = self._add(request, name, more, at, spent)

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()

    def _add_stages(
        self,
        parent: Span,
        name: str,
        said: Attributes,
        stages: Iterable[tuple[str, float]],
        start: int,
    ) -> int:
        """A span with those of its stages in it, one after the other; when it ends."""
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - as above

        within = set_span_in_context(parent)
        span = self._tracer.start_span(name, within, attributes=dict(said), start_time=start)
        at = start
        for stage, spent in stages:
            if stage != "total" and spent:
                at = self._add(span, stage, {}, at, spent)
        span.end(at)
        return at

    def _add(self, parent: Span, name: str, said: Attributes, start: int, spent: float) -> int:
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - as above

        within = set_span_in_context(parent)
        span = self._tracer.start_span(name, within, attributes=dict(said), start_time=start)
        end = start + _to_nanoseconds(spent)
        span.end(end)
        return end


def name_source(location: str) -> str:
    """What a library is called in spans: the end of its address, without what leads there."""
    return urlsplit(location).path.rstrip("/").rpartition("/")[2] or "library"


def _to_nanoseconds(milliseconds: float) -> int:
    return int(milliseconds * MILLISECOND)
