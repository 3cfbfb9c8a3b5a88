"""What stands before every route: names and origins, limits, the request's id, logs and headers."""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException

from ibid.service.failures import refuse
from ibid.service.options import LOOPBACK, ServeOptions, is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ibid.service.metrics import Metrics
    from ibid.service.traces import Traces

_requests = logging.getLogger("ibid.service.requests")
_audit = logging.getLogger("ibid.service.audit")

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing from elsewhere, nothing inline: what a document says is shown, never run."""

_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_ALWAYS: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that answer however busy the service is."""


class Guard:
    """Lets a request through to the app, or refuses it, and tells of it afterwards."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        options: ServeOptions,
        metrics: Metrics,
        traces: Traces | None = None,
    ) -> None:
        self._app = app
        self._options = options
        self._metrics = metrics
        self._traces = traces
        self._working = 0
        self._rate = (
            None if options.per_minute is None else RateLimitItemPerMinute(options.per_minute)
        )
        self._window = SlidingWindowCounterRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Work on one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        id, start, status = secrets.token_hex(8), time.perf_counter(), 500
        state = scope.setdefault("state", {})
        state["request_id"] = id
        if self._traces is not None and scope["path"] not in _ALWAYS:
            state["span"] = self._traces.begin_request(Headers(scope=scope), scope["method"])

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = id
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._check(scope)
        counted = scope["path"] not in _ALWAYS
        self._working += counted
        try:
            await (refusal or self._app)(scope, self._bound(receive), send_on)
        finally:
            self._working -= counted
            self._tell(scope, id, status, time.perf_counter() - start)

    def _check(self, scope: Scope) -> ASGIApp | None:
        """What answers instead of the app; None where it may."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return refuse(400, "this service has another name", "serve.hosts lists its names")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return refuse(400, "pages from elsewhere may not call this service")
        if scope["path"] in _ALWAYS:
            return None
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self._options.body_bytes:
            return refuse(413, self._tell_limit(), "serve.body_bytes is the limit")
        if self._working >= self._options.requests:
            return refuse(
                503, "too many requests at once", "try again in a moment", Retry_After="1"
            )
        if self._rate is not None and not self._window.hit(
            self._rate, _name_caller(scope, headers)
        ):
            hint = f"{self._options.per_minute} a minute are taken"
            return refuse(429, "too many requests", hint, Retry_After="60")
        return None

    def _bound(self, receive: Receive) -> Receive:
        """The same body, which ends with an error where it grows past the limit."""
        size = 0

        async def receive_on() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._options.body_bytes:
                raise HTTPException(413, self._tell_limit())
            return message

        return receive_on

    def _tell_limit(self) -> str:
        return f"more than {self._options.body_bytes:,} bytes in one request"

    def _is_ours(self, host: str) -> bool:
        """Whether a request's Host names this service, not another name that leads here."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name in self._options.hosts | LOOPBACK or name == self._options.host:
            return True
        return not is_loopback(self._options.host) and not self._options.hosts

    def _tell(self, scope: Scope, id: str, status: int, seconds: float) -> None:
        state = scope["state"]
        route = getattr(scope.get("route"), "path", "none")
        self._metrics.count_request(scope["method"], route, status, seconds)
        if self._traces is not None and (span := state.get("span")) is not None:
            self._traces.end_request(span, scope["method"], route, status, id)
        caller = state.get("caller")
        line: dict[str, Any] = {
            "request_id": id,
            "method": scope["method"],
            "route": route,
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
            "caller": getattr(caller, "name", None),
        }
        _requests.info("request", extra={"facts": line})
        if caller is not None:
            facts = dict(state.get("facts", {}))
            if not self._options.log_text:
                facts.pop("question", None)
            principals = sorted(caller.principals)
            _audit.info("audit", extra={"facts": {**line, "principals": principals, **facts}})


def _name_caller(scope: Scope, headers: Headers) -> str:
    """Whose requests are counted together: those with one key, or from one address."""
    if (key := headers.get("authorization")) is not None:
        return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    return str((scope.get("client") or ("unknown",))[0])
