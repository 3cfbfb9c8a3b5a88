"""Pages asked for politely: robots.txt, pauses, few at once; redirects, sizes, times bounded."""

from __future__ import annotations

import itertools
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit, urlunsplit

from ibid.sources.web.addresses import PUBLIC, Resolve, admit, find_kinds, resolve_host
from ibid.version import VERSION
from ibid.wire import is_loopback

if TYPE_CHECKING:
    import httpx2
    from protego import Protego

AGENT: Final = "ibid"
"""The name by which robots.txt speaks of this visitor."""

REDIRECTS: Final = 5
AT_ONCE: Final = 2
"""Requests to one host that are under way together."""

TRIES: Final = 3
CONNECT_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 30.0
PAGE_SECONDS: Final = 120.0
"""The longest that a page may take to arrive whole."""

LONGEST_WAIT: Final = 60.0
"""Seconds that a busy server may ask for before it is asked again, and robots.txt for a pause."""

ROBOTS_BYTES: Final = 512 * 1024
"""What is read of a robots.txt: RFC 9309 asks for 500 kiB at least."""

_BUSY: Final = frozenset({429, 503})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class Unreachable(Exception):
    """A page that could not be asked for now; what is known of it stays as it is."""


class Forbidden(Exception):
    """A page that robots.txt keeps from visitors."""


@dataclass(slots=True)
class _Host:
    """What is kept of one host: its client, what robots.txt says, and when it may be asked next.

    `silent` says why its robots.txt can't be had.
    """

    client: httpx2.Client
    proxied: bool
    slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))
    turns: threading.Lock = field(default_factory=threading.Lock)
    asking: threading.Lock = field(default_factory=threading.Lock)
    robots: Protego | None = None
    silent: str = ""
    delay: float = 0.0
    next_at: float = 0.0


class Visitor:
    """Asks for pages, as one that is led there by the list at `home`.

    `pause` waits for so many seconds. Raises OSError where the host of `home` has no address,
    ValueError where it can't be the name of one.
    """

    def __init__(
        self,
        home: str,
        *,
        resolve: Resolve = resolve_host,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._resolve = resolve
        self._pause = pause
        self._kinds = (
            frozenset({PUBLIC}) if _is_proxied(home) else find_kinds(*_split_host(home), resolve)
        )
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()
        self._open = ExitStack()

    def close(self) -> None:
        """Let go of all connections."""
        self._open.close()

    @contextmanager
    def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        as_robot: bool = True,
    ) -> Iterator[httpx2.Response]:
        """The response of a page, redirects followed, for a `with`; its body is not read yet.

        `as_robot` asks robots.txt first. Raises Forbidden, and Unreachable for a server that can't
        be had, is too busy, or leads in circles or into a network.
        """
        import httpx2  # noqa: PLC0415 - only for those who sync a website

        try:
            for _ in range(REDIRECTS + 1):
                if as_robot:
                    self._ask_robots(url)
                with self._ask_once(method, url, headers or {}) as response:
                    location = response.headers.get("location", "")
                    if response.status_code not in _REDIRECTS or not location:
                        yield response
                        return
                url = urljoin(url, location)
                if urlsplit(url).scheme not in ("http", "https"):
                    raise Unreachable(f"it leads to {url[:200]}, which is no website")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise Unreachable(" ".join(str(error).split()) or type(error).__name__) from error
        raise Unreachable(f"it leads on more than {REDIRECTS} times")

    @contextmanager
    def _ask_once(
        self, method: str, url: str, headers: Mapping[str, str]
    ) -> Iterator[httpx2.Response]:
        """The response of this very address; one that is busy is asked again when it says so."""
        host = self._find_host(url)
        with host.slots, ExitStack() as stack:
            for attempt in itertools.count(1):
                self._wait_turn(host)
                response = stack.enter_context(self._send(host, method, url, headers))
                if response.status_code not in _BUSY or attempt == TRIES:
                    break
                response.close()
                self._pause(_read_wait(response, attempt))
            yield response

    @contextmanager
    def _send(
        self, host: _Host, method: str, url: str, headers: Mapping[str, str]
    ) -> Iterator[httpx2.Response]:
        import httpx2  # noqa: PLC0415 - only for those who sync a website

        addresses = [""] if host.proxied else admit(*_split_host(url), self._kinds, self._resolve)
        for address in addresses:
            request = _pin(host.client, method, url, headers, address)
            try:
                response = host.client.send(request, stream=True)
            except httpx2.ConnectError:
                if address == addresses[-1]:
                    raise
                continue
            try:
                yield response
            finally:
                response.close()
            return

    def _find_host(self, url: str) -> _Host:
        """The host of an address; each has a client of its own, as its certificate is its own."""
        import httpx2  # noqa: PLC0415 - only for those who sync a website

        origin = _tell_origin(url)
        with self._lock:
            if origin not in self._hosts:
                proxied = _is_proxied(url)
                client = httpx2.Client(
                    headers={"user-agent": f"{AGENT}/{VERSION}"},
                    timeout=httpx2.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
                    # Certificates of a user's own count, proxies only where one is asked for.
                    trust_env=proxied or not urllib.request.getproxies(),
                )
                self._open.enter_context(client)
                self._hosts[origin] = _Host(client, proxied)
            return self._hosts[origin]

    def _wait_turn(self, host: _Host) -> None:
        """Wait as long as robots.txt asks for between two requests."""
        with host.turns:
            now = time.monotonic()
            turn = max(now, host.next_at)
            host.next_at = turn + host.delay
        if turn > now:
            self._pause(turn - now)

    def _ask_robots(self, url: str) -> None:
        """Raise Forbidden for a page that robots.txt keeps from this visitor.

        A robots.txt that isn't there forbids nothing; one that can't be had forbids all for now
        (RFC 9309), and that is Unreachable.
        """
        host = self._find_host(url)
        with host.asking:
            if host.robots is None and not host.silent:
                try:
                    host.robots = self._read_robots(_tell_origin(url))
                except Unreachable as error:
                    host.silent = f"its robots.txt can't be had: {error}"
                else:
                    host.delay = float(host.robots.crawl_delay(AGENT) or 0.0)
        if host.delay > LONGEST_WAIT:
            raise Unreachable(f"its robots.txt asks for pauses of {host.delay:g} s")
        if host.robots is None:
            raise Unreachable(host.silent)
        if not host.robots.can_fetch(url, AGENT):
            raise Forbidden(f"robots.txt of {urlsplit(url).netloc} keeps it from visitors")

    def _read_robots(self, origin: str) -> Protego:
        from protego import Protego  # noqa: PLC0415 - only for those who sync a website

        with self.ask("GET", f"{origin}/robots.txt", as_robot=False) as response:
            status = response.status_code
            if status >= 500 or status == 429:
                raise Unreachable(f"the server answers with {status}")
            if not response.is_success:
                return Protego.parse("")
            data = b"".join(read_within(response, ROBOTS_BYTES, cut=True))
        return Protego.parse(data.decode("utf-8", "replace"))


def read_within(response: httpx2.Response, max_bytes: int, *, cut: bool = False) -> Iterator[bytes]:
    """The body piece by piece, unpacked; what is more than `max_bytes` is cut off, or too much.

    Raises Unreachable after PAGE_SECONDS, and OverflowError for too much.
    """
    deadline = time.monotonic() + PAGE_SECONDS
    size = 0
    for piece in response.iter_bytes():
        size += len(piece)
        if size > max_bytes:
            if cut:
                yield piece[: len(piece) - (size - max_bytes)]
                return
            raise OverflowError(f"more than {max_bytes:,} bytes")
        if time.monotonic() > deadline:
            raise Unreachable(f"it took longer than {PAGE_SECONDS:g} s to arrive")
        yield piece


def _pin(
    client: httpx2.Client, method: str, url: str, headers: Mapping[str, str], address: str
) -> httpx2.Request:
    """The request for a page, sent to this address of its host and no other.

    What was admitted is what is connected to: a name may be given another address meanwhile. An
    empty address leaves that to the proxy.
    """
    if not address:
        return client.build_request(method, url, headers=dict(headers))
    parts, (host, port) = urlsplit(url), _split_host(url)
    pinned = urlunsplit(parts._replace(netloc=f"{_bracket(address)}:{port}", fragment=""))
    named = _bracket(host) if parts.port is None else f"{_bracket(host)}:{port}"
    extensions: dict[str, Any] = {"sni_hostname": host}
    return client.build_request(
        method, pinned, headers={**headers, "host": named}, extensions=extensions
    )


def _bracket(host: str) -> str:
    """A host as it stands in a URL: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def _split_host(url: str) -> tuple[str, int]:
    """The host of an address as resolvers want it, and its port."""
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
    return host, parts.port or (443 if parts.scheme == "https" else 80)


def _is_proxied(url: str) -> bool:
    """Whether a proxy is asked for a page: it resolves the name then, and guards the network."""
    host = urlsplit(url).hostname or ""
    if is_loopback(host) or urllib.request.proxy_bypass(host):
        return False
    return bool(urllib.request.getproxies().keys() & {urlsplit(url).scheme, "all"})


def _tell_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _read_wait(response: httpx2.Response, attempt: int) -> float:
    """The seconds that a busy server asks to be left alone; a growing pause where it says none."""
    said = response.headers.get("retry-after", "")
    try:
        asked = float(said)
    except ValueError:
        try:
            asked = parsedate_to_datetime(said).timestamp() - time.time()
        except ValueError:
            asked = float(2**attempt)
    if asked > LONGEST_WAIT:
        raise Unreachable(f"it is busy, and asks to be left alone for {asked:.0f} s")
    return max(0.0, asked)
