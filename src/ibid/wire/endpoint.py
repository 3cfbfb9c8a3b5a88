"""One endpoint over HTTP: sent, tried again, read as JSON or as events, its failures named."""

from __future__ import annotations

import email.utils
import ipaddress
import itertools
import json
import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from ibid.errors import BadSetting, MalformedOutput, ModelError, ModelTimeout, ModelUnavailable
from ibid.records import JSON
from ibid.wire.line import Line, find_line
from ibid.wire.watchdog import Watchdog

if TYPE_CHECKING:
    import httpx2

MAX_RESPONSE_BYTES: Final = 256 * 1024 * 1024
"""A response beyond this is no answer of a model; reading on would only fill the memory."""

RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""The statuses that may be gone at the next try."""

FIRST_PAUSE: Final = 0.5
"""Seconds before the first retry; each later one waits twice as long, give or take a quarter."""

LONGEST_PAUSE: Final = 60.0
"""Seconds that an endpoint may ask for before a retry; nobody waits longer at a terminal."""

CONNECT_SECONDS: Final = 10.0

IDLE_CONNECTIONS: Final = 20
"""Connections that are kept for later calls."""

_Method: TypeAlias = Literal["GET", "POST"]

_HINTS: Final[dict[int, str]] = {
    400: "look at the name of the model and its settings",
    401: "set the key of this endpoint",
    403: "the key of this endpoint doesn't allow this",
    404: "look at the address and the name of the model",
    429: "wait, or use a key with a higher limit",
}


class Refused(ModelUnavailable):
    """The endpoint answered with a `status` that reports an error."""

    def __init__(self, message: str, *, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class PayloadTooLarge(Refused):
    """The endpoint takes less at a time than it was sent."""


def sign_bearer(key: str) -> dict[str, str]:
    """The headers that show a key, as most endpoints want it; none without a key."""
    return {"authorization": f"Bearer {key}"} if key else {}


class Wire:
    """A connection to one endpoint, opened at the first call and used again.

    `url` is the base, such as `http://127.0.0.1:8080/v1`; `sign` makes the headers that show the
    key. `timeout` bounds a whole call with its retries, `idle_timeout` the wait for the next piece,
    `first_timeout` that for the first piece of a stream (as `idle_timeout` unless given); all in
    seconds. A call is tried again at most `retries` times, and only as long as nothing of its
    answer has arrived.

    `remote` is where text goes, None for an address of this machine, which no proxy is asked for.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str = "",
        sign: Callable[[str], Mapping[str, str]] = sign_bearer,
        timeout: float = 120.0,
        idle_timeout: float = 30.0,
        first_timeout: float | None = None,
        retries: int = 4,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadSetting(
                "the address of a model is no http or https address",
                hint="give its base, such as http://127.0.0.1:8080/v1",
            )
        if not (key.isascii() and key.isprintable()):
            raise BadSetting(
                "the key of a model's endpoint holds a character that no header can carry",
                hint="copy the key again",
            )
        self.origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self.remote = None if is_loopback(parts.hostname) else self.origin
        self._url = url.rstrip("/")
        self._key = key
        self._sign = sign
        self._timeout = timeout
        self._wait = min(timeout, idle_timeout)
        self._first_wait = self._wait if first_timeout is None else min(timeout, first_timeout)
        self._retries = retries

    def get(self, path: str) -> JSON:
        """The JSON that the endpoint holds at a path. Raises as `post` does."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, JSON]) -> JSON:
        """The JSON that the endpoint answers with.

        Raises ModelUnavailable, ModelTimeout, MalformedOutput; Refused for a status that reports an
        error, PayloadTooLarge for 413.
        """
        return self._ask("POST", path, body)

    def _ask(self, method: _Method, path: str, body: Mapping[str, JSON] | None) -> JSON:
        deadline = time.monotonic() + self._timeout
        with self._send(method, path, body, deadline, self._wait) as response:
            return self._parse(self._read(response, deadline))

    def stream(self, path: str, body: Mapping[str, JSON]) -> Generator[str, None, None]:
        """The data of each server-sent event as it arrives; closing it early hangs up.

        An endpoint that doesn't stream answers with one JSON object, which counts as one event.
        The time that the caller takes between two events does not count against the endpoint.
        Raises as `post` does.
        """
        deadline = time.monotonic() + self._timeout
        with (
            self._send("POST", path, body, deadline, self._first_wait, find_line()) as response,
            Watchdog(response, deadline, self._describe_silence) as watchdog,
        ):
            watchdog.wait_for(self._first_wait)
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                for event in self._read_events(response):
                    watchdog.rest()
                    yield event
                    watchdog.wait_for(self._wait)
            else:
                whole = self._read(response, deadline).decode("utf-8", errors="replace")
                watchdog.rest()
                yield whole

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        for name in ("_client", "_streams"):
            client = self.__dict__.pop(name, None)
            if client is not None:
                client.close()

    @cached_property
    def _client(self) -> httpx2.Client:
        return self._open_client(idle=IDLE_CONNECTIONS)

    @cached_property
    def _streams(self) -> httpx2.Client:
        """For streams that may be hung up on: none has the connection of another."""
        return self._open_client(idle=0)

    def _open_client(self, *, idle: int) -> httpx2.Client:
        import httpx2  # noqa: PLC0415 - 100 ms that only a served model costs

        timeout = httpx2.Timeout(self._wait, connect=min(CONNECT_SECONDS, self._timeout))
        headers = dict(self._sign(self._key))
        if self.remote is None and self._url.startswith("http:"):
            # Without TLS no certificates need to be loaded, which takes half the time of starting.
            return httpx2.Client(
                headers=headers,
                timeout=timeout,
                limits=httpx2.Limits(max_keepalive_connections=idle),
                trust_env=False,
                verify=False,
            )
        return httpx2.Client(
            headers=headers,
            timeout=timeout,
            limits=httpx2.Limits(max_keepalive_connections=idle),
            trust_env=self.remote is not None,
        )

    @contextmanager
    def _send(
        self,
        method: _Method,
        path: str,
        body: Mapping[str, JSON] | None,
        deadline: float,
        wait: float,
        line: Line | None = None,
    ) -> Iterator[httpx2.Response]:
        """The response once its status is good; what fails while it is read is mapped too."""
        import httpx2  # noqa: PLC0415 - 100 ms that only a served model costs

        response: httpx2.Response | None = None
        try:
            client = self._client if line is None else self._streams
            request = client.build_request(method, f"{self._url}{path}", json=body)
            if line is not None:
                request.extensions["trace"] = line.watch
            response = self._try_until(client, request, deadline, wait, line)
            yield response
        except (httpx2.ReadTimeout, httpx2.WriteTimeout) as error:
            raise self._describe_silence(min(wait, self._timeout)) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            begun = "broke off its answer" if response is not None else "can't be reached"
            raise ModelUnavailable(
                f"{self.origin} {begun}: {self.hide_key(str(error))}",
                hint="look whether the server is running and the address is right",
            ) from error
        finally:
            if response is not None:
                response.close()

    def _try_until(
        self,
        client: httpx2.Client,
        request: httpx2.Request,
        deadline: float,
        wait: float,
        line: Line | None,
    ) -> httpx2.Response:
        import httpx2  # noqa: PLC0415 - 100 ms that only a served model costs

        for attempt in itertools.count():
            if line is not None and line.is_down:
                raise ModelUnavailable(f"nobody waits for {self.origin} any more")
            last = attempt == self._retries
            left = max(0.001, deadline - time.monotonic())
            request.extensions["timeout"]["read"] = min(wait, left)
            try:
                response = client.send(request, stream=True)
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                if last:
                    raise
                self._pause(attempt, None, deadline)
                continue
            if response.is_success:
                break
            if last or response.status_code not in RETRIED:
                raise self._describe(response, deadline)
            retry_after = response.headers.get("retry-after")
            response.close()
            self._pause(attempt, retry_after, deadline)
        return response

    def _pause(self, attempt: int, retry_after: str | None, deadline: float) -> None:
        """Wait before the next try: what the endpoint asks for, a growing pause otherwise."""
        asked = _parse_retry_after(retry_after)
        backoff = FIRST_PAUSE * 2**attempt * random.uniform(0.75, 1.25)
        seconds = backoff if asked is None else asked
        if seconds > LONGEST_PAUSE or time.monotonic() + seconds > deadline:
            raise ModelUnavailable(
                f"{self.origin} is busy and would be asked again in {seconds:.0f} s, "
                f"beyond the time limit of {min(LONGEST_PAUSE, self._timeout):g} s",
                hint="try later, or raise the timeout",
            )
        time.sleep(seconds)

    def _describe(self, response: httpx2.Response, deadline: float) -> ModelError:
        """The error of a response that reports one, in the words of the endpoint."""
        try:
            said = _find_message(self._read(response, deadline))
        finally:
            response.close()
        status = response.status_code
        kind = PayloadTooLarge if status == 413 else Refused
        return kind(
            f"{self.origin} refused with status {status}: {self.hide_key(said)}",
            hint=_HINTS.get(status, "look at the log of the server"),
            status=status,
        )

    def _read(self, response: httpx2.Response, deadline: float) -> bytes:
        read = bytearray()
        for piece in response.iter_bytes():
            self._check_deadline(deadline)
            read += piece
            if len(read) > MAX_RESPONSE_BYTES:
                raise self._describe_flood()
        return bytes(read)

    def _read_events(self, response: httpx2.Response) -> Iterator[str]:
        """The data of each event. Pieces are cut at line feeds, so that no character is split."""
        pending, data = b"", list[str]()
        for piece in itertools.chain(response.iter_bytes(), (b"\n\n",)):
            *lines, pending = (pending + piece).split(b"\n")
            if len(pending) > MAX_RESPONSE_BYTES:
                raise self._describe_flood()
            for line in lines:
                name, _, value = line.removesuffix(b"\r").partition(b":")
                if name == b"data":
                    data.append(value.removeprefix(b" ").decode("utf-8", errors="replace"))
                elif not name and not value and data:
                    yield "\n".join(data)
                    data = []

    def _parse(self, read: bytes) -> JSON:
        try:
            parsed: JSON = json.loads(read)
        except ValueError as error:
            raise MalformedOutput(
                f"{self.origin} answered with what is no JSON: {error}",
                hint="look whether the address is that of a model",
            ) from error
        return parsed

    def _check_deadline(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise self._describe_silence(None)

    def _describe_silence(self, seconds: float | None) -> ModelTimeout:
        """The error for an endpoint that sent nothing for so long; None: that took too long."""
        if seconds is None:
            return ModelTimeout(
                f"{self.origin} did not finish within {self._timeout:g} s",
                hint="raise the timeout, or use a faster model",
            )
        return ModelTimeout(
            f"{self.origin} sent nothing for {seconds:g} s",
            hint="raise the timeout, or look whether the model is loaded",
        )

    def _describe_flood(self) -> MalformedOutput:
        return MalformedOutput(
            f"{self.origin} answered with more than {MAX_RESPONSE_BYTES} bytes",
            hint="look whether the address is that of a model",
        )

    def hide_key(self, text: str) -> str:
        """A text of the endpoint, in which it may have repeated the key, without it."""
        return text.replace(self._key, "…") if self._key else text


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or number: localhost, 127.0.0.1, ::1."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parse_retry_after(value: str | None) -> float | None:
    """Seconds to wait: the header holds a number of them or a date; None for anything else."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _find_message(read: bytes) -> str:
    """What an error body says, in the shapes that endpoints use: error.message, error, message."""
    text = read.decode("utf-8", errors="replace")
    try:
        body = json.loads(text)
    except ValueError:
        return text[:300].strip() or "without a word"
    found = body
    for name in ("error", "message"):
        if isinstance(found, dict) and name in found:
            found = found[name]
    return found if isinstance(found, str) else text[:300]
