"""A small website for the tests: pages with a state, answered as told, each request remembered."""

from __future__ import annotations

import hashlib
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Page:
    """What the site answers with: by default a page with an ETag of its text."""

    text: str | bytes = ""
    status: int = 200
    type: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)
    tagged: bool = True
    no_head: bool = False

    @property
    def body(self) -> bytes:
        return self.text if isinstance(self.text, bytes) else self.text.encode()

    @property
    def tag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:12]}"'

    def settle(self, asked: Message) -> int:
        """The status for a request with these headers."""
        since = self.headers.get("last-modified")
        same = self.tagged and asked["if-none-match"] == self.tag
        same = same or (since is not None and asked["if-modified-since"] == since)
        return 304 if same and self.status == 200 else self.status


@dataclass
class Site:
    """A website: its address, its pages by path, and what was asked of it."""

    url: str
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)

    def put(self, pages: Mapping[str, str | Page]) -> None:
        for path, page in pages.items():
            self.pages[path] = page if isinstance(page, Page) else Page(page)

    def list_all(self, *paths: str) -> None:
        """Make the list of pages, as a text."""
        text = "".join(f"{self.url}{path}\n" for path in paths)
        self.put({"/pages.txt": Page(text, type="text/plain")})

    def take_asked(self, method: str) -> list[tuple[str, int]]:
        """The pages that were asked for by this method, with the status; all are forgotten then."""
        found = [
            (path, status)
            for asked, path, status in self.asked
            if asked == method and path not in ("/robots.txt", "/pages.txt")
        ]
        self.asked.clear()
        return sorted(found)


@contextmanager
def serve_site(tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """A site on this machine, for a `with`; with `tls`, one that shows a certificate."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            page = site.pages.get(self.path, Page("nothing here", 404))
            status = 405 if page.no_head and not body else page.settle(self.headers)
            site.asked.append((self.command, self.path, status))
            site.agents.add(self.headers["user-agent"])
            self.send_response(status)
            if page.tagged and status in (200, 304):
                self.send_header("etag", page.tag)
            self.send_header("content-type", page.type)
            for name, value in page.headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("content-length", str(len(page.body)))
            self.end_headers()
            if body and status != 304:
                self.wfile.write(page.body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    if tls is not None:
        listener.socket = tls.wrap_socket(listener.socket, server_side=True)
    site = Site(f"http://127.0.0.1:{listener.server_port}")
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
