"""Measuring in a browser: an answer becomes a golden case, cases are run, what was lost is found;
and the report that the command line writes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ibid.evaluation.report import Report, render_report
from ibid.records import Prompt
from ibid.testing.generators import ScriptedGenerator
from page_browser import (
    BOAT,
    DESK,
    MILL,
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

CASES: list[dict[str, Any]] = [
    {"id": "boat", "question": BOAT, "contains": "14 euros an hour", "answer": "14 euros"},
    {"id": "mill", "question": MILL, "document_id": "plan.pdf"},
    {"id": "deep", "question": "How deep is the harbour?", "contains": "nine fathoms"},
    {"id": "garden", "question": "متى يفتح البستان؟", "contains": "الساعة الثامنة"},
    {"id": "planet", "question": "Which planet has the most moons?", "unanswerable": True},
]
LONG = 60.0
"""Seconds after which what a test holds back goes on, for a test that fails must end."""

GOLDEN: FilePayload = {
    "name": "golden.jsonl",
    "mimeType": "application/jsonl",
    "buffer": "".join(json.dumps(case) + "\n" for case in CASES).encode(),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served library that the tests measure, and leave as it is."""
    with make_library(tmp_path_factory.mktemp("read")) as library, serve_page(library) as url:
        yield url


def evaluate(page: Page, url: str) -> None:
    """Send a file of golden questions, and wait for what comes of them."""
    page.goto(f"{url}#/evaluation")
    page.get_by_label("File of golden questions").set_input_files([GOLDEN])
    page.get_by_role("button", name="Evaluate").click()
    page.locator(".questions").wait_for()


def test_a_bad_answer_becomes_a_golden_case_that_is_measured(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        make_library(tmp_path) as library,
        serve_page(library) as url,
        visit(browser, url) as page,
    ):
        turn = ask(page, BOAT)
        turn.get_by_role("button", name="Bad").click()
        words = turn.get_by_label("The words, or the id of the document")
        turn.get_by_role("button", name="Make it a golden case").click()
        assert page.evaluate("document.activeElement.localName") == "textarea"
        words.fill("A canoe costs 9 euros")
        turn.get_by_role("button", name="Where was it lost?").click()
        turn.get_by_text("It was lost at read: in no document.").wait_for()
        words.fill("The deposit is 50 euros")
        turn.get_by_label("The right answer").fill("50 euros")
        turn.get_by_role("button", name="Make it a golden case").click()
        turn.get_by_text("Kept as a golden case").wait_for()
        assert "Kept as a golden case" in page.get_by_role("status").last.inner_text()
        turn.get_by_role("button", name="Make it a golden case").click()
        turn.locator(".failure").get_by_text("already").wait_for()
        [case] = library.read_golden()
        page.goto(f"{url}#/evaluation")
        page.get_by_role("button", name="Evaluate").click()
        page.locator(".questions").wait_for()
        assert page.locator(".asked").all_inner_texts() == [BOAT]
    assert (case.contains, case.answers) == (("The deposit is 50 euros",), ("50 euros",))
    assert not case.draft


def test_what_nothing_answers_becomes_a_case_too(browser: Browser, tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        with serve_page(library) as url, visit(browser, url) as page:
            turn = ask(page, BOAT)
            turn.get_by_role("button", name="Bad").click()
            turn.get_by_label("nothing: the documents do not answer it").check()
            assert turn.get_by_label("The words").is_disabled()
            turn.get_by_role("button", name="Make it a golden case").click()
            turn.get_by_text("Kept as a golden case").wait_for()
        [case] = library.read_golden()
    assert case.unanswerable


def test_an_evaluation_shows_figures_causes_and_the_worst_first(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        evaluate(page, url)
        report = page.request.get(f"{url}v1/jobs?most=1").json()["jobs"][0]["report"]
        recall = page.locator(".figures tr").filter(has_text="recall at 10")
        shown = recall.locator(".number").all_inner_texts()
        wanted = report["retrieval"]["recall@10"]
        assert shown[0] == f"{wanted['mean']:.3f}"
        assert shown[1] == f"{wanted['low']:.3f} – {wanted['high']:.3f}"
        assert shown[2] == str(wanted["n"]) == "4"
        curve = page.get_by_role("img", name="Recall by rank").get_attribute("aria-label")
        assert curve == "Recall by rank: " + ", ".join(
            f"{report['retrieval'][f'recall@{k}']['mean']:.3f} at {k}" for k in (1, 3, 5, 10)
        )
        causes = page.locator(".figures").filter(has_text="Where it was lost").locator("tbody tr")
        first = causes.first.inner_text().split()
        assert first[0] == "read"
        assert page.locator(".asked").first.inner_text() == "How deep is the harbour?"
        assert page.locator(".asked").count() == len(CASES)


def test_a_question_shows_what_was_found_and_where_it_was_lost(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        evaluate(page, url)
        lost = page.locator(".questions > li").first
        lost.locator("summary").first.click()
        assert "It was lost at read" in lost.locator(".note").inner_text()
        assert "nine fathoms" in lost.locator(".wanted").first.inner_text()
        lost.get_by_role("button", name="Walk its stages").click()
        lost.get_by_text("no document that you may see holds these words").wait_for()
        right = page.locator(".questions > li").filter(has_text=BOAT)
        right.locator("summary").first.click()
        right.locator(".hits li.wanted").first.wait_for()
        assert "14 euros an hour" in right.locator(".hits li.wanted .words").first.inner_text()
        assert "14 euros an hour" in right.locator("blockquote").inner_text()
        right.get_by_role("link", name="Ask it").click()
        assert page.get_by_label("Your question").input_value() == BOAT


def test_an_evaluation_is_saved_as_a_page_and_found_again(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        evaluate(page, url)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as a page").click()
        saved = Path(download.value.path()).read_text(encoding="utf-8")
        assert saved.startswith("<!doctype html>")
        assert "How deep is the harbour?" in saved
        page.get_by_role("link", name="All evaluations").click()
        page.locator(".log a").first.click()
        page.locator(".questions").wait_for()


def test_progress_is_shown_until_an_evaluation_ends(browser: Browser, tmp_path: Path) -> None:
    go_on = threading.Event()

    class Slow(ScriptedGenerator):
        def generate(self, prompt: Prompt) -> Iterator[Any]:
            if "mill" in prompt.question:
                go_on.wait(LONG)
            yield from super().generate(prompt)

    generator = Slow(lambda prompt: ["A rowing boat costs 14 euros an hour [1]."])
    with (
        make_library(tmp_path, generator=generator) as library,
        serve_page(library) as url,
        visit(browser, url) as page,
    ):
        page.goto(f"{url}#/evaluation")
        page.get_by_label("File of golden questions").set_input_files([GOLDEN])
        page.get_by_role("button", name="Evaluate").click()
        page.get_by_text("1 of 5 questions …").wait_for()
        bar = page.get_by_role("progressbar", name="Questions done")
        assert (bar.get_attribute("value"), bar.get_attribute("max")) == ("1", "5")
        assert find_barriers(page) == []
        go_on.set()
        page.locator(".questions").wait_for()


def test_questions_go_when_the_service_stops_and_figures_stay(
    browser: Browser, tmp_path: Path
) -> None:
    with make_library(tmp_path) as library:
        with serve_page(library) as url, visit(browser, url) as page:
            evaluate(page, url)
        with serve_page(library) as url, visit(browser, f"{url}#/evaluation") as page:
            page.locator(".log a").first.click()
            page.locator(".figures").first.wait_for()
            page.locator(".failure").get_by_text("evaluate again").wait_for()


def test_what_can_not_be_evaluated_tells_why(browser: Browser, tmp_path: Path) -> None:
    broken: FilePayload = {"name": "broken.jsonl", "mimeType": "text/plain", "buffer": b"{"}
    with (
        make_library(tmp_path) as library,
        serve_page(library) as url,
        visit(browser, f"{url}#/evaluation") as page,
    ):
        page.get_by_label("File of golden questions").set_input_files([broken])
        page.get_by_role("button", name="Evaluate").click()
        page.locator(".failure").get_by_text("broken.jsonl, line 1 is not JSON").wait_for()
        page.get_by_label("of this library").check()
        page.get_by_role("button", name="Evaluate").click()
        page.locator(".failure").get_by_text("no golden set yet").wait_for()
        assert str(tmp_path) not in page.content()


def test_evaluating_is_for_those_who_keep_the_library(browser: Browser, tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        ann, bob = make_key(library, "user:ann", "admin"), make_key(library, "user:bob")
        with serve_page(library, keys_needed=True) as url:
            with visit(browser, f"{url}#/evaluation") as page:
                page.get_by_label("Key").fill(ann)
                page.get_by_role("button", name="Go on").click()
                page.locator(".evaluate-form").wait_for()
                evaluate(page, url)
                address = page.url
            with visit(browser, f"{url}#/evaluation") as page:
                page.get_by_label("Key").fill(bob)
                page.get_by_role("button", name="Go on").click()
                page.get_by_text("for those who keep this library").wait_for()
                page.goto(address)
                page.locator(".failure").wait_for()
                assert page.get_by_text("harbour").count() == 0


# -- without barriers -----------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_no_view_of_measures_has_a_barrier(
    browser: Browser, url: str, scheme: Any, size: tuple[int, int]
) -> None:
    with visit(browser, url, size, color_scheme=scheme, reduced_motion="reduce") as page:
        turn = ask(page, BOAT)
        turn.get_by_role("button", name="Bad").click()
        turn.get_by_label("The words, or the id").fill("A canoe costs 9 euros")
        turn.get_by_role("button", name="Where was it lost?").click()
        turn.locator(".stages").wait_for()
        again = ask(page, MILL)
        again.get_by_role("button", name="Bad").click()
        again.get_by_label("The words, or the id").fill("at the same time as the other")
        assert find_barriers(page) == []
        evaluate(page, url)
        for fold in page.locator(".questions > li > details > summary").all():
            fold.click()
        page.get_by_role("button", name="Walk its stages").first.click()
        page.locator(".stages").wait_for()
        assert find_barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        page.goto(f"{url}#/evaluation")
        page.locator(".log").wait_for()
        assert find_barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_report_of_the_command_line_has_no_barrier(
    browser: Browser, tmp_path: Path, scheme: Any, size: tuple[int, int]
) -> None:
    golden = tmp_path / "golden.jsonl"
    golden.write_bytes(GOLDEN["buffer"])
    with make_library(tmp_path) as library:
        evaluation = library.evaluate(golden)
    page_file = tmp_path / "report.html"
    page_file.write_text(render_report(Report(evaluation, {"library": "boats"})), encoding="utf-8")
    with visit(browser, page_file.as_uri(), size, color_scheme=scheme) as page:
        for fold in page.locator("summary").all():
            fold.click()
        assert page.get_by_text("nine fathoms").first.is_visible()
        assert find_barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
