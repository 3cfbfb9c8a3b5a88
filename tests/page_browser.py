"""A served library and a real browser in front of it, for the tests of the page."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

import pytest
import uvicorn

import ibid
from conftest import write
from ibid.service.app import make_app
from ibid.service.keys import create_key
from ibid.service.options import ServeOptions
from ibid.service.store import Store, find_folder
from ibid.testing.embedders import HashingEmbedder
from pdf_making import make_pdf
from system import miss, require

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE: Final = "axe-core@4"
"""What looks for barriers; it comes from npm, and only into the tests."""

DESK, PHONE = (1280, 860), (390, 800)

SHORT: Final = 10_000
"""Milliseconds that the browser waits for what must come."""


MARKUP = '<img src="x" onerror="document.title = 0"> <script>document.title = 0</script>'

FILES = {
    "boats.md": "---\ntitle: Boats\n---\n# Hire\n\n"
    "A rowing boat \U0001f6a3\U0001f6a3 costs 14 euros an hour. The deposit is 50 euros.\n\n"
    "## Weather\n\nFrom a wind of force 6 on, no sailing boat leaves the harbour.\n\n"
    "## Moorings\n\n| Berth | Fee |\n|---|---|\n| Northern quay | 31 coins |\n",
    "museum.html": "<html><head><title>The museum</title></head><body><h1>Opening</h1>"
    "<p>The lighthouse museum <b>opens at ten</b> and closes at half past five.</p>"
    "<p>Dogs wait at the ticket office.</p></body></html>",
    "odd.md": f"# Odd\n\nThe gardener writes `{MARKUP}` on every label of the greenhouse.\n",
    "بستان.md": "# البستان\n\nيفتح البستان أبوابه للزوار في الساعة الثامنة صباحا.\n",
}
PLAN = (
    [(20, 60, 700, "The archive"), (13, 60, 650, "The cellar holds the maps of the old canal.")],
    [(20, 60, 700, "Repairs"), (13, 60, 600, "The roof of the mill is repaired in October.")],
)

BOAT = "What does a rowing boat cost an hour?"
MUSEUM = "When does the lighthouse museum open and close?"
QUAY = "What fee has the northern quay?"
MILL = "When is the roof of the mill repaired?"


def make_library(place: Path, **options: Any) -> ibid.Library:
    """A library of small files in their formats."""
    folder = place / "files"
    folder.mkdir()
    write(folder, FILES)
    (folder / "plan.pdf").write_bytes(make_pdf(*PLAN))
    library = ibid.open(place / "library", embedder=HashingEmbedder(), **options)
    library.sync(folder)
    return library


def make_key(library: ibid.Library, principal: str, *scopes: str) -> str:
    """A key that lets its bearer search and ask, and what else is named."""
    store = Store(find_folder(library.location))
    try:
        _, text = create_key(
            store, name="", principals=[principal], scopes=["search", "ask", *scopes]
        )
    finally:
        store.close()
    return text


@contextmanager
def serve_page(library: ibid.Library, **options: Any) -> Iterator[str]:
    """The address at which a library is served from a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app = make_app(library, ServeOptions(port=port, **options))
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Debian's chromium; the test is skipped where there is none."""
    require("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@contextmanager
def visit(
    browser: Browser, url: str, size: tuple[int, int] = DESK, **options: Any
) -> Iterator[Page]:
    """A page at an address; afterwards, that it ran without a fault and asked nobody else."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, accept_downloads=True, **options
    )
    page = context.new_page()
    page.set_default_timeout(SHORT)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if _is_fault(said) else None)
    page.on("request", lambda sent: faults.append(sent.url) if _is_foreign(sent.url, url) else None)
    page.goto(url)
    yield page
    context.close()
    assert faults == []


def _is_fault(said: Any) -> bool:
    # A refusal of the service is an answer, of which the browser complains all the same.
    return said.type == "error" and not said.text.startswith("Failed to load resource")


def _is_foreign(asked: str, url: str) -> bool:
    return not asked.startswith((url.partition("#")[0], "data:"))


def ask(page: Page, question: str) -> Any:
    """Ask, and give the turn with its answer."""
    turns = page.locator(".turn")
    before = turns.count()
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    turn = turns.nth(before)
    turn.locator(".rating").wait_for()
    return turn


def read_marked(page: Page) -> str:
    """The characters that are marked, of all that is on the page."""
    page.locator(".reading .cited").first.wait_for()
    marked: str = page.evaluate("[...CSS.highlights.get('cited')].map(String).join('')")
    return marked


def find_barriers(page: Page) -> list[str]:
    """What axe finds: the rule and the elements that break it."""
    page.evaluate(read_axe())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found["violations"]
    ]


@cache
def read_axe() -> str:
    """The code of axe; the test is skipped where npm can't give it."""
    require("npm")
    folder = Path(mkdtemp(prefix="ibid-axe-"))
    command = ["npm", "install", "--silent", "--fetch-retries=0", "--prefix", str(folder), AXE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        miss(f"npm can't give {AXE}: {done.stderr.strip()[-200:]}")
    code = (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
    shutil.rmtree(folder)
    return code


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what a thread brings about."""
    waited = threading.Event()
    for _ in range(SHORT // 20):
        if holds():
            return
        waited.wait(0.02)
    pytest.fail("it never came about")
