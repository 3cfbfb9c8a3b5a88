"""Selection: duplicates collapse to the newest, neighbours join, the budget drops the weakest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from command_line import call
from ibid.flows.options import SelectOptions
from ibid.openers import open_library
from ibid.ranking.neighbours import group_neighbours, order_by_document
from ibid.ranking.recency import prefer_recent
from ibid.ranking.select import Selection, fit_budget, select_hits
from ibid.ranking.twins import NearTwins
from ibid.records import DocumentInfo, Hit, Passage, Query
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

NOW = datetime(2030, 6, 1, tzinfo=UTC)

POLICY = (
    "The harbour office opens at seven in the morning and closes at six in the evening, and the "
    "guard hands out keys to anyone who signs the book and leaves a deposit of {} crowns for them."
)


def make_hit(
    document: str,
    text: str,
    score: float = 1.0,
    *,
    ordinal: int = 0,
    days: float | None = None,
    title: str | None = None,
    headings: tuple[str, ...] = (),
) -> Hit:
    passage = Passage(
        f"{document}-{ordinal}", document, ordinal, 0, len(text), text, headings=headings
    )
    modified = None if days is None else NOW - timedelta(days=days)
    info = DocumentInfo(
        document, title, None, "text/plain", 1, modified, False, None, {}, {}, 1, len(text)
    )
    return Hit(0, score, passage, info, {})


def keep(*hits: Hit, k: int = 10, threshold: float = 0.8) -> list[str]:
    chosen = select_hits(hits, k, distinct=True, find_twin=NearTwins(threshold))
    assert [hit.rank for hit in chosen.hits] == list(range(1, len(chosen.hits) + 1))
    assert len({hit.passage.id for hit in chosen.hits}) == len(chosen.hits)
    return [hit.document_id for hit in chosen.hits]


# -- near duplicates -------------------------------------------------------------------------


def test_a_slightly_other_wording_fills_one_place_that_of_the_newest() -> None:
    text = POLICY.format(20)
    other = text.replace("closes at six", "shuts at six")
    assert keep(make_hit("a", text), make_hit("b", other)) == ["a"]
    assert keep(make_hit("a", text, days=9), make_hit("b", other, days=1)) == ["b"]
    assert keep(make_hit("a", text, days=1), make_hit("b", other, days=9)) == ["a"]
    assert keep(make_hit("a", text), make_hit("c", "Boats sail."), make_hit("b", other)) == [
        "a",
        "c",
    ]


def test_other_numbers_or_names_are_another_passage() -> None:
    text = POLICY.format(20)
    assert keep(make_hit("a", text, days=9), make_hit("b", POLICY.format(30), days=1)) == ["a", "b"]
    falcon, eagle = text.replace("guard", "Falcon"), text.replace("guard", "Eagle")
    assert keep(make_hit("a", falcon), make_hit("b", eagle)) == ["a", "b"]


def test_of_versions_of_one_page_the_newest_is_shown_at_the_place_of_the_best() -> None:
    old = make_hit("2029/keys", POLICY.format(20), 0.9, days=400, title="Keys")
    new = make_hit("2030/keys", POLICY.format(30), 0.5, days=3, title="Keys")
    between = make_hit("x", "Boats sail.", 0.7)
    chosen = select_hits([old, between, new], 2, distinct=True, find_twin=NearTwins(0.8))
    assert [hit.document_id for hit in chosen.hits] == ["2030/keys", "x"]
    assert [hit.score for hit in chosen.hits] == [0.9, 0.7]
    (move,) = chosen.hits[0].moves
    assert (move.stage, move.score, move.raw) == ("newest", 0.9, 0.5)
    (gone,) = chosen.dropped
    assert gone.hit.document_id == "2029/keys"
    assert gone.reason == f"an older version of 2030/keys 0-{len(new.passage.text)}"


def test_without_dates_nobody_knows_which_version_holds() -> None:
    old = make_hit("a", POLICY.format(20), title="Keys")
    new = make_hit("b", POLICY.format(30), title="Keys")
    assert keep(old, new) == ["a", "b"]
    same_page = make_hit("a", POLICY.format(30), ordinal=1, days=1, title="Keys")
    assert keep(make_hit("a", POLICY.format(20), days=1, title="Keys"), same_page) == ["a", "a"]


def test_scripts_without_spaces_are_compared_too() -> None:
    text = "港の事務所は朝七時に開き夕方六時に閉まります。鍵は名簿に署名した人に渡されます。" * 2
    other = text.replace("渡されます。", "渡します。", 1)
    assert keep(make_hit("a", text), make_hit("b", other)) == ["a"]
    assert keep(make_hit("a", text), make_hit("b", text[::-1])) == ["a", "b"]


words = st.sampled_from(["boat", "tide", "harbour", "key", "guard", "lamp"])
texts = st.lists(words, min_size=1, max_size=6).map(" ".join)


@given(st.lists(texts, max_size=12), st.integers(1, 5), st.floats(0.3, 1.0))
def test_what_is_dropped_has_a_twin_among_those_kept(
    given_texts: list[str], k: int, threshold: float
) -> None:
    hits = [
        make_hit(f"d{number}", text, 1 / (number + 1)) for number, text in enumerate(given_texts)
    ]
    chosen = select_hits(hits, k, distinct=True, find_twin=NearTwins(threshold))
    assert len(chosen.hits) <= k
    if len(chosen.hits) < k:
        assert len(chosen.hits) + len(chosen.dropped) == len(hits)
    for gone in chosen.dropped:
        assert any(hit.document_id in gone.reason for hit in chosen.hits)
    folded = [hit.passage.text for hit in chosen.hits]
    assert len(set(folded)) == len(folded)


# -- recency ---------------------------------------------------------------------------------


def test_recency_by_hand() -> None:
    hits = [
        make_hit("old", "x", 1.0, days=100),
        make_hit("undated", "x", 0.9),
        make_hit("new", "x", 0.95, days=0),
        make_hit("future", "x", -1.0, days=-5),
        make_hit("low", "x", -1.0, days=100),
    ]
    aged = prefer_recent(hits, 100, weight=0.2, now=NOW)
    assert [(hit.document_id, round(hit.score, 6)) for hit in aged] == [
        ("new", 0.95),
        ("old", 0.9),
        ("undated", 0.72),
        ("future", -1.0),
        ("low", -1.1),
    ]
    assert [(move.before, move.after) for hit in aged for move in hit.moves] == [
        (3, 1), (1, 2), (2, 3), (4, 4), (5, 5),
    ]  # fmt: skip
    assert [hit.rank for hit in aged] == [1, 2, 3, 4, 5]


@given(
    st.lists(st.tuples(st.floats(-10, 10), st.floats(0, 1e4)), max_size=10),
    st.floats(0.001, 1e6),
    st.floats(0, 1),
)
def test_age_never_raises_a_score(
    pairs: list[tuple[float, float]], half_life: float, weight: float
) -> None:
    hits = [make_hit(f"d{n}", "x", score, days=days) for n, (score, days) in enumerate(pairs)]
    before = {hit.document_id: hit.score for hit in hits}
    aged = prefer_recent(hits, half_life, weight=weight, now=NOW)
    assert all(hit.score <= before[hit.document_id] for hit in aged)
    assert [hit.score for hit in aged] == sorted((hit.score for hit in aged), reverse=True)


# -- neighbours, budget, order ---------------------------------------------------------------


def test_neighbours_group_around_the_best_within_the_limit() -> None:
    hits = [
        make_hit("a", "x", ordinal=5),
        make_hit("b", "x", ordinal=6),
        make_hit("a", "x", ordinal=7),
        make_hit("a", "x", ordinal=6),
        make_hit("a", "x", ordinal=4),
        make_hit("a", "x", ordinal=8, headings=("Else",)),
    ]
    assert group_neighbours(hits, [10] * 6, 100) == [[0, 3, 2, 4], [1], [5]]
    assert group_neighbours(hits, [10] * 6, 30) == [[0, 3, 2], [1], [4], [5]]
    assert group_neighbours(hits, [10] * 6, 0) == [[n] for n in range(6)]


def test_the_budget_drops_from_the_end_and_never_the_best() -> None:
    hits = tuple(make_hit(f"d{n}", "x") for n in range(3))
    kept = fit_budget(Selection(hits), [10, 5, 1], 15)
    assert kept.hits == hits[:2]
    assert kept.dropped[0].reason == "beyond the budget of 15 pieces"
    assert fit_budget(Selection(hits), [10, 5, 1], 3).hits == hits[:1]
    assert fit_budget(Selection(hits), [10, 5, 1], 16).hits == hits
    assert fit_budget(Selection(()), [], 3).hits == ()


def test_for_reading_passages_stand_as_in_their_document() -> None:
    places = [("b", 1), ("a", 2), ("b", 0), ("a", 0)]
    hits = [
        replace(hit, passage=replace(hit.passage, start=ordinal, end=ordinal + 1))
        for document, ordinal in places
        for hit in [make_hit(document, "x", ordinal=ordinal)]
    ]
    ordered = [(hit.document_id, hit.passage.ordinal) for hit in order_by_document(hits)]
    assert ordered == [("b", 0), ("b", 1), ("a", 0), ("a", 2)]


# -- in a library ----------------------------------------------------------------------------

BOATS = """# Boats

The walrus rows on Mondays and never tires of it.

The seal rows on Tuesdays when the walrus sleeps.

The gull sails alone on any other day of the week.

# Bread

The walrus bakes.
"""


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ibid.Library]:
    settings = load_settings({"chunking.size": 20}, environ={}, user_dir=tmp_path)
    (tmp_path / "boats.md").write_text(BOATS)
    with open_library(
        tmp_path / "library", embedder=HashingEmbedder(), settings=settings
    ) as opened:
        opened.add_files([tmp_path / "boats.md"], folder=tmp_path)
        yield opened


def test_neighbours_that_were_found_become_one_source(library: ibid.Library) -> None:
    text = library.document("boats.md").text
    apart = library.run_search(Query("walrus seal rows"), mode="lexical")
    joined = library.run_search(
        Query("walrus seal rows"), mode="lexical", select=SelectOptions(join_pieces=100)
    )
    assert len(apart.hits) == 3
    assert len(joined.hits) == 2
    for hit in joined.hits:
        assert text[hit.passage.span] == hit.passage.text
    best = joined.hits[0].passage
    assert "Mondays" in best.text
    assert "Tuesdays" in best.text
    assert best.id == apart.hits[0].passage.id
    assert "shown as part of boats.md" in str(joined.trace[-1].data["dropped"])


def test_a_budget_and_a_half_life_are_told_in_the_trace(library: ibid.Library) -> None:
    select = SelectOptions(budget_pieces=1, half_life_days=30.0)
    result = library.run_search(Query("walrus"), select=select)
    assert len(result.hits) == 1
    assert [step.stage for step in result.trace][-2:] == ["recency", "select"]
    assert "beyond the budget" in str(result.trace[-1].data["dropped"])
    assert result.hits[0].moves[0].stage == "recency"


def test_sources_are_put_in_the_order_of_the_text(tmp_path: Path) -> None:
    flags = {"ask.by_document": True, "chunking.size": 20}
    settings = load_settings(flags, environ={}, user_dir=tmp_path)
    (tmp_path / "boats.md").write_text(BOATS)
    model = ScriptedGenerator(["The seal rows on Tuesdays [2]."])
    with open_library(
        tmp_path / "library", embedder=HashingEmbedder(), generator=model, settings=settings
    ) as library:
        library.add_files([tmp_path / "boats.md"], folder=tmp_path)
        answer = library.ask("On which day does the seal row, Tuesdays?")
    starts = [hit.passage.start for hit in answer.sources]
    assert starts == sorted(starts)
    assert [hit.rank for hit in answer.sources] == list(range(1, len(starts) + 1))
    assert answer.citations[0].verdict is ibid.Verdict.SUPPORTED


def test_a_half_life_is_read_from_the_command_line(tmp_path: Path) -> None:
    here = ("--library", str(tmp_path / "library"))
    (tmp_path / "a.md").write_text("A boat leaves.")
    call("add", str(tmp_path / "a.md"), "--id", "a", *here)
    for written in ("12h", "180d", "1.5y"):
        found = call("search", "boat", "--recency", written, "--explain", "--json", *here).json
        assert "recency" in [step["stage"] for step in found["trace"]]
    for wrong in ("soon", "0d", "-1d", "180"):
        assert call("search", "boat", "--recency", wrong, *here).code == 2
