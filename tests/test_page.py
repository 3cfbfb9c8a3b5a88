"""The page in a browser: what is asked, answered, opened, sent, changed and looked back at."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ibid
from conftest import write
from ibid.flows.lab import LabOptions
from ibid.records import Prompt
from ibid.testing.generators import Reply, ScriptedGenerator
from page_browser import (
    BOAT,
    FILES,
    MARKUP,
    MILL,
    MUSEUM,
    PHONE,
    QUAY,
    ask,
    find_barriers,
    make_key,
    make_library,
    read_marked,
    serve_page,
    start_browser,
    visit,
    wait_until,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FilePayload, Page

TEA = b"# Tea\n\nTea is served at four."


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served library that the tests read, and ask, but leave as it is."""
    with make_library(tmp_path_factory.mktemp("read")) as library, serve_page(library) as url:
        yield url


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[tuple[ibid.Library, str]]:
    """A served library of one test, and where it is."""
    with make_library(tmp_path) as library, serve_page(library) as url:
        yield library, url


# -- asking ---------------------------------------------------------------------------------------


def test_an_answer_shows_the_verdict_of_each_claim_in_words(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        turn = ask(page, BOAT)
        assert "costs 14 euros an hour" in turn.locator(".prose").inner_text()
        assert turn.locator(".status").inner_text().lower() == "answered: 1 claim supported"
        assert turn.locator(".notes .verdict").inner_text().lower() == "✓ supported"
        assert "costs 14 euros an hour" in page.get_by_role("status").last.inner_text()


def test_an_answer_is_shown_as_it_is_written_and_doubted_where_it_is_wrong(
    browser: Browser, tmp_path: Path
) -> None:
    go_on = threading.Event()

    class Slow(ScriptedGenerator):
        def generate(self, prompt: Prompt) -> Iterator[Any]:
            for piece in super().generate(prompt):
                yield piece
                go_on.wait()

    def reply(prompt: Prompt) -> Reply:
        return ["A rowing boat costs 41 euros an hour [1]. ", "Bring your own oars."]

    with (
        make_library(tmp_path, generator=Slow(reply)) as library,
        serve_page(library) as url,
        visit(browser, url) as page,
    ):
        page.get_by_label("Your question").fill(BOAT)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.locator(".draft").get_by_text("A rowing boat costs 41 euros an hour").wait_for()
        assert page.locator(".rating").count() == 0
        assert page.get_by_role("button", name="Stop", exact=True).is_visible()
        go_on.set()
        page.locator(".rating").wait_for()
        words = page.locator(".prose .verdict").all_inner_texts()
        assert [one.lower() for one in words] == ["✗ unsupported", "○ uncited"]
        assert "41" in page.locator(".reason").first.inner_text()


def test_an_answer_that_is_stopped_stops_the_model(browser: Browser, tmp_path: Path) -> None:
    go_on = threading.Event()

    class Endless(ScriptedGenerator):
        def generate(self, prompt: Prompt) -> Iterator[Any]:
            for piece in super().generate(prompt):
                yield piece
                go_on.wait(0.01)

    generator = Endless(lambda prompt: ["The boat costs 14 euros. "] * 100_000)
    with (
        make_library(tmp_path, generator=generator) as library,
        serve_page(library) as url,
        visit(browser, url) as page,
    ):
        page.get_by_label("Your question").fill(BOAT)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.locator(".draft").get_by_text("The boat costs").wait_for()
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_text("Stopped before the answer was checked").wait_for()
        wait_until(lambda: generator.closed == 1)
        assert library.answers() == []


def test_a_question_that_nothing_answers_says_so(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        turn = ask(page, "Which planet has the most moons?")
        assert turn.locator(".status").inner_text().lower() == "no answer in the documents"
        assert turn.locator(".claim").count() == 0


def test_a_question_that_can_not_be_asked_tells_why(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        page.get_by_text("Options").click()
        page.get_by_label("Filter").fill("tag.colour = ")
        page.get_by_label("Your question").fill(BOAT)
        page.keyboard.press("Enter")
        page.locator(".failure").get_by_text("tag.colour").wait_for()


def test_a_follow_up_knows_what_was_asked_before(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        ask(page, BOAT)
        with page.expect_request("**/v1/ask") as asked:
            ask(page, "And the deposit?")
        body = asked.value.post_data_json
        assert body is not None
        assert body["history"][0] == BOAT


def test_the_keyboard_is_enough(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.type(BOAT)
        page.keyboard.press("Enter")
        page.locator(".rating").wait_for()
        page.locator(".marker").focus()
        page.keyboard.press("Enter")
        assert "costs 14 euros an hour" in read_marked(page)
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        assert page.evaluate("document.activeElement.className") == "marker"


def test_the_keyboard_stays_where_it_was_after_a_change(
    browser: Browser, changing: tuple[ibid.Library, str]
) -> None:
    _, url = changing
    focus = "document.activeElement.ariaLabel"
    with visit(browser, f"{url}#/documents") as page:
        page.get_by_role("button", name="Archive The museum").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Unarchive The museum").wait_for()
        page.wait_for_function(f"{focus} === 'Unarchive The museum'")
        page.get_by_role("button", name="Access The museum").focus()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").wait_for()
        page.keyboard.press("Escape")
        page.wait_for_function(f"{focus} === 'Access The museum'")
        page.get_by_role("button", name="Delete The museum").focus()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        page.locator(".count").get_by_text("4 documents", exact=True).wait_for()
        page.wait_for_function("document.activeElement.querySelector(':scope > .shelf') !== null")


# -- the sources ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question", [BOAT, QUAY, MUSEUM, MILL], ids=["markdown", "table", "html", "pdf"]
)
def test_a_citation_opens_its_exact_characters(browser: Browser, url: str, question: str) -> None:
    with visit(browser, url) as page:
        turn = ask(page, question)
        kept = turn.get_by_role("link", name="Kept in the history").get_attribute("href")
        id = str(kept).partition("id=")[2]
        [citation] = page.request.get(f"{url}v1/answers/{id}").json()["citations"]
        turn.locator(".marker").click()
        assert read_marked(page) == citation["quote"]


def test_a_page_of_a_pdf_is_drawn_with_the_cited_place_marked(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        ask(page, MILL).locator(".marker").click()
        picture = page.get_by_alt_text("Page 2 of The archive, with the cited place marked")
        picture.wait_for()
        # The page is 600 x 800 points; the line stands 200 points below its top, 60 from its left.
        [mark] = page.locator(".page rect").all()
        box, whole = mark.bounding_box(), picture.bounding_box()
        assert box is not None
        assert whole is not None
        points = whole["width"] / 600
        assert 50 < (box["x"] - whole["x"]) / points < 62
        assert 180 < (box["y"] - whole["y"]) / points < 200
        assert 200 < (box["y"] + box["height"] - whole["y"]) / points < 210


def test_a_document_that_has_changed_says_so(
    browser: Browser, changing: tuple[ibid.Library, str]
) -> None:
    library, url = changing
    with visit(browser, url) as page:
        turn = ask(page, BOAT)
        moved = ibid.Document(id="boats.md", text=f"New.\n\n{FILES['boats.md'][23:]}")
        library.update(moved)
        turn.locator(".marker").click()
        page.get_by_text("these words have moved").wait_for()
        assert "costs 14 euros an hour" in read_marked(page)
        page.keyboard.press("Escape")
        library.update(ibid.Document(id="boats.md", text="All boats are sold."))
        turn.locator(".marker").click()
        page.get_by_text("it no longer holds these words").wait_for()
        assert "costs 14 euros" in page.locator(".sheet blockquote").inner_text()


def test_what_documents_hold_is_text_and_nothing_else(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        turn = ask(page, "What does the gardener write on every label of the greenhouse?")
        assert "onerror=" in turn.locator(".prose").inner_text()
        turn.locator(".marker").click()
        assert MARKUP in read_marked(page)
        assert page.locator("img").count() == 0
        assert page.title() == "Ask · ibid."


def test_why_these_sources_is_a_picture_and_a_table(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        turn = ask(page, BOAT)
        turn.get_by_text("Why these sources").click()
        page.locator(".picture svg").wait_for()
        heads = page.locator(".reasons thead th").all_inner_texts()
        assert heads[:3] == ["passage", "words", "meaning"]
        assert heads[-1] == "sent"
        assert page.locator(".way.cited").count() == 1
        cited = page.locator(".reasons tr.cited")
        assert cited.locator("th").inner_text() == "Boats › Hire"
        assert cited.locator("td").last.inner_text() == "1"


# -- the documents --------------------------------------------------------------------------------


def test_documents_are_listed_and_found_by_name(browser: Browser, url: str) -> None:
    with visit(browser, f"{url}#/documents") as page:
        page.locator(".count").get_by_text("5 documents", exact=True).wait_for()
        page.get_by_label("Find by name").fill("MUS")
        assert page.locator(".shelf .names a:visible").all_inner_texts() == ["The museum"]
        page.get_by_role("link", name="The museum").click()
        page.get_by_role("heading", name="The museum", level=1).wait_for()
        assert "opens at ten" in page.locator(".reading").inner_text()


def test_files_are_sent_and_a_failure_has_its_reason(
    browser: Browser, changing: tuple[ibid.Library, str]
) -> None:
    library, url = changing
    good: FilePayload = {"name": "tea.md", "mimeType": "text/markdown", "buffer": TEA}
    bad: FilePayload = {"name": "bad.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7\n"}
    with visit(browser, f"{url}#/documents") as page:
        page.locator(".upload summary").click()
        page.get_by_label("Folder").fill("kitchen")
        page.get_by_label("Add files").set_input_files([good, bad])
        row = page.locator(".sent li")
        row.filter(has_text="kitchen/tea.md").get_by_text("added").wait_for()
        row.filter(has_text="kitchen/bad.pdf").get_by_text("failed: ").wait_for()
        page.get_by_role("link", name="Tea").wait_for()
        page.get_by_label("Add files").set_input_files([good])
        row.get_by_text("the options above let it be overwritten").wait_for()
    assert library.document("kitchen/tea.md").text.endswith("Tea is served at four.")


def test_a_document_is_archived_restricted_and_deleted(
    browser: Browser, changing: tuple[ibid.Library, str]
) -> None:
    library, url = changing
    with visit(browser, f"{url}#/documents") as page:
        page.get_by_role("button", name="Archive Boats").click()
        page.get_by_role("button", name="Unarchive Boats").wait_for()
        assert library.describe("boats.md").archived
        page.get_by_role("button", name="Delete The museum").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        assert library.describe("museum.html").title == "The museum"
        page.get_by_role("button", name="Delete The museum").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        page.locator(".count").get_by_text("4 documents", exact=True).wait_for()
        page.get_by_role("link", name="Odd").click()
        page.get_by_role("button", name="Delete Odd").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        page.locator(".count").get_by_text("3 documents", exact=True).wait_for()
        page.get_by_role("button", name="Access Boats").click()
        page.get_by_label("Users and groups").fill("group:crew, user:ann")
        page.get_by_role("button", name="Set access").click()
        page.locator(".count").get_by_text("2 documents", exact=True).wait_for()
    assert library.describe("boats.md", ibid.OWNER).allow == frozenset({"group:crew", "user:ann"})


def test_a_folder_is_synced_again(
    browser: Browser, changing: tuple[ibid.Library, str], tmp_path: Path
) -> None:
    library, url = changing
    write(tmp_path / "files", {"new.md": "# The new ferry\n\nIt runs on Sundays."})
    with visit(browser, f"{url}#/documents") as page:
        page.get_by_text("1 synced folder").click()
        page.get_by_role("button", name="again").click()
        page.get_by_role("link", name="The new ferry").wait_for()
    assert len(library.documents()) == 6


# -- looking back ---------------------------------------------------------------------------------


def test_an_answer_is_kept_rated_answered_again_and_made_a_golden_case(
    browser: Browser, changing: tuple[ibid.Library, str]
) -> None:
    library, url = changing
    with visit(browser, url) as page:
        ask(page, BOAT)
        page.get_by_role("link", name="History", exact=True).click()
        page.get_by_role("link", name=BOAT).click()
        page.get_by_label("Why (optional)").fill("as on the sign")
        page.get_by_role("button", name="Good").click()
        page.locator(".rating").get_by_text("Noted as good.").wait_for()
        page.get_by_role("button", name="Answer again").click()
        page.locator(".replayed").get_by_text("The same, character").wait_for()
        page.get_by_role("button", name="Make it a golden case").click()
        page.locator(".golden").get_by_text("Kept as a golden case").wait_for()
        page.get_by_role("link", name="History", exact=True).click()
        page.get_by_label("Show").select_option("bad")
        page.get_by_text("None is rated bad.").wait_for()
        page.get_by_label("Show").select_option("good")
        page.get_by_role("link", name=BOAT).wait_for()
    [kept] = library.answers()
    assert [(one.good, one.comment) for one in kept.feedback] == [(True, "as on the sign")]
    [case] = library.read_golden()
    assert case.question == BOAT
    assert case.contains == (kept.answer.citations[0].quote,)
    assert list(case.documents) == ["boats.md"]
    assert not case.draft


# -- the lab --------------------------------------------------------------------------------------


def test_the_lab_tells_whether_the_prediction_was_right(
    browser: Browser, changing: tuple[ibid.Library, str]
) -> None:
    library, url = changing
    evidence = "14 euros an hour"
    with visit(browser, f"{url}#/lab") as page:
        page.get_by_label("Question", exact=True).fill(BOAT)
        page.get_by_label("Evidence").fill(evidence)
        page.get_by_label("Size of a chunk").fill("12")
        page.get_by_label("Search by").select_option("bm25")
        page.get_by_label("It comes first").check()
        page.get_by_role("button", name="See").click()
        told = page.locator(".outcome .display").inner_text()
        assert told == "You were right. The evidence is at rank 1."
        assert page.locator(".found mark").all_inner_texts() == [evidence]
        shown = page.locator(".found .chunk").all_inner_texts()
        page.get_by_label("It is not found").check()
        page.get_by_role("button", name="See").click()
        outcome = page.locator(".outcome .display")
        outcome.get_by_text("You said: it is not found. The evidence is at rank 1.").wait_for()
        page.get_by_label("Evidence").fill("costs 14 euros an hour. The deposit is 50 euros")
        page.get_by_label("Size of a chunk").fill("8")
        page.get_by_role("button", name="See").click()
        outcome.get_by_text("You were right. No chunk holds the evidence whole").wait_for()
        page.get_by_label("Size of a chunk").fill("12")
        page.get_by_label("Question", exact=True).fill("What does a canoe cost?")
        page.get_by_label("Evidence").fill(evidence)
        page.get_by_label("Documents, by a filter").fill("id = 'boats.md'")
        page.get_by_label("Rewrite by synonyms").fill("canoe, rowing boat")
        page.get_by_label("It comes first").check()
        page.get_by_role("button", name="See").click()
        page.locator(".outcome .facts").get_by_text("boat").first.wait_for()
        assert set(page.locator(".found .id").all_inner_texts()) == {"boats.md"}
        assert page.locator(".strip .hit.evidence").count() == 1
    options = LabOptions(size=12, retriever="bm25")
    result = library.open_lab().run(BOAT, evidence, options)
    assert shown == [" ".join(hit.chunk.text.split()) for hit in result.hits]


# -- who may --------------------------------------------------------------------------------------


def test_another_principal_sees_nothing_of_the_first(browser: Browser, tmp_path: Path) -> None:
    with make_library(tmp_path) as library:
        library.set("boats.md", allow=["user:ann"])
        keys = {who: make_key(library, who) for who in ("user:ann", "user:bob")}
        with serve_page(library, keys_needed=True) as url:
            with visit(browser, url) as page:
                enter(page, keys["user:ann"], BOAT)
                kept = page.get_by_role("link", name="Kept in the history").get_attribute("href")
            with visit(browser, url) as page:
                enter(page, keys["user:bob"], BOAT)
                turn = ask(page, BOAT)
                assert turn.locator(".status").inner_text().lower() == "no answer in the documents"
                for view in ("#/documents", "#/history"):
                    page.goto(f"{url}{view}")
                    page.locator(".count, .log").first.wait_for()
                    assert page.get_by_text("boats.md").count() == 0
                    assert page.get_by_text("14 euros").count() == 0
                for view in ("#/document?id=boats.md", str(kept)):
                    page.goto(f"{url}{view}")
                    page.locator(".failure").wait_for()
                    assert page.get_by_text("14 euros").count() == 0


def test_a_reader_is_asked_for_a_key_and_offered_only_what_it_lets(
    browser: Browser, tmp_path: Path
) -> None:
    with make_library(tmp_path) as library:
        key = make_key(library, "user:ann")
        with (
            serve_page(library, keys_needed=True) as url,
            visit(browser, f"{url}#/documents") as page,
        ):
            page.get_by_label("Key").fill(key)
            page.get_by_role("button", name="Go on").click()
            page.locator(".count").get_by_text("5 documents", exact=True).wait_for()
            assert page.get_by_label("Add files").count() == 0
            assert page.get_by_role("button", name="Delete").count() == 0
            page.get_by_role("button", name="Forget the key").click()
            page.get_by_label("Key").wait_for()
            assert page.get_by_text("boats.md").count() == 0


# -- without barriers -----------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 860), PHONE], ids=["desk", "phone"])
def test_no_view_has_a_barrier(
    browser: Browser, url: str, scheme: Any, size: tuple[int, int]
) -> None:
    with visit(browser, url, size, color_scheme=scheme, reduced_motion="reduce") as page:
        assert find_barriers(page) == []
        ask(page, "Which planet has the most moons?")
        turn = ask(page, MILL)
        turn.get_by_text("Why these sources").click()
        page.locator(".picture svg").wait_for()
        assert find_barriers(page) == []
        turn.locator(".marker").click()
        page.locator(".page img").wait_for()
        assert find_barriers(page) == []
        for view, shown in {
            "#/documents": ".count",
            "#/document?id=boats.md": ".reading",
            "#/document?id=nowhere": ".failure",
            "#/history": ".log",
            "#/lab": ".lab-form",
        }.items():
            page.goto(f"{url}{view}")
            page.locator(shown).first.wait_for()
            assert find_barriers(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        page.goto(f"{url}#/documents")
        for name in ("Access Boats", "Delete Boats"):
            page.get_by_role("button", name=name).click()
            assert find_barriers(page) == []
            page.keyboard.press("Escape")


def enter(page: Page, key: str, question: str) -> None:
    """Ask without a key, and give the one that is asked for."""
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Go on").click()
    page.locator(".rating").wait_for()
