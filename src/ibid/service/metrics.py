"""What the service counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

TYPE: Final = CONTENT_TYPE_LATEST


class Metrics:
    """The counters of one service. Nothing that a caller wrote becomes a label."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "ibid_requests",
            "Requests by route and status.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "ibid_request_seconds", "Seconds of a request.", ["route"], registry=self._registry
        )
        self._answers = Counter(
            "ibid_answers", "Answers by status.", ["status"], registry=self._registry
        )
        self._citations = Counter(
            "ibid_citations", "Citations by verdict.", ["verdict"], registry=self._registry
        )
        self._tokens = Counter(
            "ibid_tokens", "Tokens of models.", ["kind"], registry=self._registry
        )
        self._stages = Histogram(
            "ibid_stage_seconds", "Seconds of a stage.", ["stage"], registry=self._registry
        )

    def watch(self, name: str, help: str, read: Callable[[], float]) -> None:
        """Show a value as it is whenever it is asked for."""
        Gauge(name, help, registry=self._registry).set_function(read)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_answer(
        self, status: str, verdicts: list[str], tokens: Mapping[str, int], ms: Mapping[str, float]
    ) -> None:
        """Count an answer with what it cost."""
        self._answers.labels(status).inc()
        for verdict in verdicts:
            self._citations.labels(verdict).inc()
        for kind, count in tokens.items():
            self._tokens.labels(kind).inc(count)
        self.count_stages(ms)

    def count_stages(self, milliseconds: Mapping[str, float]) -> None:
        """Count where a search's or an answer's time went."""
        for stage, spent in milliseconds.items():
            self._stages.labels(stage).observe(spent / 1000)

    def write(self) -> bytes:
        """All of them, as Prometheus reads it."""
        return generate_latest(self._registry)


_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
