"""The report: a page that shows everything, asks for nothing, and holds no markup but its own."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ibid
from command_line import HANDBOOK, call
from conftest import open_hashing
from ibid.evaluation.golden import GoldenCase
from ibid.evaluation.intervals import Estimate
from ibid.evaluation.outcomes import (
    StageTime,
    compare_evaluations,
    count_tokens,
    score_runs,
    time_stages,
)
from ibid.evaluation.report import Report, render_report
from ibid.evaluation.report.plots import draw_curves, render_measures, render_times
from ibid.evaluation.report.questions import order_worst
from system import require

GOLDEN = HANDBOOK.parent / "golden.jsonl"
SVG = "{http://www.w3.org/2000/svg}"

HOSTILE = '<script>alert(1)</script><img src="https://elsewhere.example/x.png">'


@pytest.fixture
def small(tmp_path: Path) -> Iterator[ibid.Library]:
    with open_hashing(tmp_path / "library") as library:
        library.ingest(
            [
                ibid.Document("boat<b>", f"The ferry leaves at noon. {HOSTILE}"),
                ibid.Document("train", "The train leaves at seven."),
            ]
        )
        yield library


def parse_svg(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(
        picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    )


# -- pictures -------------------------------------------------------------------------------------


def test_bars_are_as_long_as_their_means() -> None:
    found = {"recall@5": Estimate(0.5, 0.25, 0.75, 8), "a < b": Estimate(1.0, 1.0, 1.0, 8)}
    drawn = parse_svg(render_measures(found, "title"))
    half, whole = (float(one.attrib["width"]) for one in drawn.iter(f"{SVG}rect"))
    assert (half, whole) == (50, 100)
    strokes = [
        one.attrib["d"] for one in drawn.iter(f"{SVG}path") if one.get("class") == "interval"
    ]
    assert strokes[0].startswith("M25 5H75")
    rows = [["".join(cell.itertext()) for cell in row] for row in drawn.iter("tr")]
    assert rows[1:] == [
        ["recall at 5", "", "0.500", "0.250 – 0.750", "8"],
        ["a < b", "", "1.000", "1.000 – 1.000", "8"],
    ]
    assert drawn.findtext("caption/h2") == "title"


def test_curves_rise_with_their_values() -> None:
    curve = {1: Estimate(0.2, 0.1, 0.3, 9), 10: Estimate(0.9, 0.8, 1.0, 9)}
    drawn = parse_svg(draw_curves({"now": curve, "other": curve}, "title"))
    dots = [
        (float(one.attrib["cx"]), float(one.attrib["cy"])) for one in drawn.iter(f"{SVG}circle")
    ]
    assert len(dots) == 4
    assert dots[0][0] < dots[1][0]
    assert dots[0][1] > dots[1][1]


def test_times_are_drawn_also_where_there_is_none() -> None:
    stages = [StageTime("a", 2.0, 4.0), StageTime("b", 0.0, 0.0)]
    drawn = parse_svg(render_times(stages, "title"))
    assert [float(one.attrib["width"]) for one in drawn.iter(f"{SVG}rect")] == [50, 0]
    assert len(list(parse_svg(render_times([], "title")).iter("tr"))) == 1


# -- the page -------------------------------------------------------------------------------------


def test_what_documents_say_is_text_in_the_page(small: ibid.Library) -> None:
    cases = [
        GoldenCase("1", f"When does the ferry leave? {HOSTILE}", contains=(HOSTILE,)),
        GoldenCase("2", "train", documents={"train": 1.0}, filter=f"{HOSTILE} ="),
    ]
    page = render_report(Report(small.evaluate(cases), {"library": HOSTILE}))
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert page.count("&lt;script&gt;") >= 4


def test_the_worst_stand_first(small: ibid.Library) -> None:
    cases = [
        GoldenCase("fine", "When does the train leave?", contains=("leaves at seven",)),
        GoldenCase("none", "Which comet passes?", unanswerable=True),
        GoldenCase("lost", "When does the train leave?", contains=("a whale",)),
        GoldenCase("error", "train", contains=("seven",), filter="= ="),
    ]
    runs = small.evaluate(cases).runs
    assert [run.case.id for run in order_worst(runs, 10)] == ["error", "lost", "fine", "none"]


def test_time_and_tokens_are_summed_up(small: ibid.Library) -> None:
    runs = small.evaluate([GoldenCase("1", "ferry", contains=("noon",))]).runs
    stages = time_stages(runs)
    assert stages[-1].stage == "total"
    assert {"lexical", "dense", "weigh"} <= {one.stage for one in stages}
    assert all(one.median_ms <= one.p95_ms for one in stages)
    assert count_tokens(runs) == {"prompt": 0, "completion": 0}
    assert time_stages([]) == []


def test_a_run_without_a_library_has_a_page_too() -> None:
    found = score_runs({"q": {"a": 1.0}}, {"q": ["b", "a"]}, (1, 2))
    page = render_report(
        Report(found, {"run": "file"}, found, "other", compare_evaluations(found, found))
    )
    assert "Compared with other" in page
    assert "Time and tokens" not in page


def test_the_page_opens_without_a_word_and_without_a_network(tmp_path: Path) -> None:
    """In a real browser: no message on the console, and nothing asked for but the file itself."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    require("chromium")
    place, page_file, settings = (tmp_path / name for name in ("library", "report.html", "s.toml"))
    settings.write_text('search.mode = "dense"\n')
    assert call("sync", HANDBOOK, "--library", place).code == 0
    done = call(
        "evaluate", GOLDEN, "--library", place, "--report", page_file, "--compare", settings
    )
    assert done.code == 0
    assert stat.S_IMODE(page_file.stat().st_mode) == 0o600
    said: list[str] = []
    asked: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        assert page.title() == "Evaluation of library"
        assert page.locator(".figures").count() == 3
        assert page.locator(".curve polyline").count() == 2
        questions = page.locator("details")
        assert questions.count() == len(GOLDEN.read_text().splitlines())
        questions.first.locator("summary").click()
        assert questions.first.locator("ol.hits").is_visible()
        wide = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.set_viewport_size({"width": 380, "height": 700})
        narrow = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        browser.close()
    assert said == []
    assert asked == [page_file.as_uri()]
    assert wide
    assert narrow, "on a phone the page is no wider than the screen"
