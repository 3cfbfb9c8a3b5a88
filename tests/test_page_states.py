"""Every state that a reader brings about has no barrier and fits on its screen: where nothing is,
where something failed, where something is opened or asked back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ibid
from ibid.testing.embedders import HashingEmbedder
from page_browser import (
    BOAT,
    DESK,
    PHONE,
    ask,
    find_barriers,
    make_key,
    make_library,
    serve_page,
    start_browser,
    visit,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FilePayload, Page

BAD: FilePayload = {"name": "bad.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7\n"}
LONG = "a-folder-whose-name-nobody-thought-about-when-screens-were-small/" * 3 + "minutes_v3.md"

SCREENS = pytest.mark.parametrize(
    ("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"]
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


def check(page: Page) -> None:
    """That there is no barrier, and nothing that is wider than the screen."""
    assert find_barriers(page) == []
    wide, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= screen


# -- each brings a state about --------------------------------------------------------------------


def open_kept_answer(page: Page) -> None:
    ask(page, BOAT)
    page.get_by_role("link", name="Kept in the history").click()
    page.get_by_role("button", name="Answer again").click()
    page.locator(".replayed .note").wait_for()
    page.get_by_role("button", name="Good").click()
    page.get_by_role("button", name="Make it a golden case").wait_for()


def send_what_fails(page: Page) -> None:
    page.get_by_role("link", name="Documents").click()
    page.locator(".upload summary").click()
    page.get_by_label("Add files").set_input_files([BAD])
    page.locator(".sent .failed").wait_for()
    page.get_by_text("1 synced folder").click()


def open_a_long_name(page: Page) -> None:
    page.get_by_role("link", name="Documents").click()
    page.get_by_label("Find by name").fill("minutes")
    page.get_by_role("button", name="Delete").locator("visible=true").click()
    page.get_by_role("dialog").wait_for()


def open_a_table(page: Page) -> None:
    page.get_by_role("link", name="Documents").click()
    page.get_by_role("link", name="Boats").click()
    page.locator(".reading table").wait_for()


def see_in_the_lab(page: Page) -> None:
    page.get_by_role("link", name="Lab").click()
    page.get_by_label("Question", exact=True).fill(BOAT)
    page.get_by_label("Evidence").fill("14 euros an hour")
    page.get_by_label("It comes first").check()
    page.get_by_role("button", name="See").click()
    page.locator(".outcome .strip").wait_for()


def ask_what_can_not_be_asked(page: Page) -> None:
    page.get_by_text("Options").click()
    page.get_by_label("Filter").fill("tag.colour = ")
    page.get_by_label("Your question").fill(BOAT)
    page.keyboard.press("Enter")
    page.locator(".failure").wait_for()


STATES: list[Callable[[Page], None]] = [
    open_kept_answer,
    send_what_fails,
    open_a_long_name,
    open_a_table,
    see_in_the_lab,
    ask_what_can_not_be_asked,
]


@SCREENS
def test_what_a_reader_brings_about_has_no_barrier(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: Any
) -> None:
    with make_library(tmp_path) as library:
        library.ingest(ibid.Document(LONG, "The minutes of the northern harbour."))
        with serve_page(library) as url:
            for bring_about in STATES:
                with visit(browser, url, size, color_scheme=scheme) as page:
                    bring_about(page)
                    check(page)


@SCREENS
def test_an_empty_library_has_no_barrier(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: Any
) -> None:
    with (
        ibid.open(tmp_path / "library", embedder=HashingEmbedder()) as library,
        serve_page(library) as url,
        visit(browser, url, size, color_scheme=scheme) as page,
    ):
        for view, words in {
            "documents": "No documents here yet.",
            "history": "Nothing was asked yet.",
            "evaluation": "of this library",
        }.items():
            page.goto(f"{url}#/{view}")
            page.get_by_text(words).first.wait_for()
            check(page)
        page.get_by_role("button", name="Evaluate").click()
        page.locator(".failure").get_by_text("no golden set yet").wait_for()
        check(page)


@SCREENS
def test_a_library_that_asks_for_a_key_has_no_barrier(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: Any
) -> None:
    with make_library(tmp_path) as library:
        key = make_key(library, "user:ann")
        with (
            serve_page(library, keys_needed=True) as url,
            visit(browser, f"{url}#/history", size, color_scheme=scheme) as page,
        ):
            page.get_by_text("This library asks who you are.").wait_for()
            check(page)
            page.get_by_label("Key").fill("nonsense")
            page.get_by_role("button", name="Go on").click()
            page.get_by_text("this key is not known").wait_for()
            check(page)
            page.get_by_label("Key").fill(key)
            page.keyboard.press("Enter")
            page.get_by_text("Nothing was asked yet.").wait_for()
            check(page)


def test_what_waits_has_no_barrier(browser: Browser, tmp_path: Path) -> None:
    """The service holds its answers back, and the page is looked at meanwhile."""
    with (
        make_library(tmp_path) as library,
        serve_page(library) as url,
        visit(browser, url) as page,
    ):
        page.route("**/v1/answers*", lambda route: None)
        page.goto(f"{url}#/history")
        page.get_by_text("Fetching the history …").wait_for()
        check(page)
        page.unroute_all(behavior="ignoreErrors")
