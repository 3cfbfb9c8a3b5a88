"""Tuning: what is tried and what wins, resumed and repeated alike, and what is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from command_line import HANDBOOK, call
from ibid.errors import BadSetting, EvaluationError
from ibid.evaluation.golden import GoldenCase, parse_golden
from ibid.evaluation.tuning import (
    CUT_CASES,
    Candidate,
    Choice,
    Trial,
    Value,
    choose_cut,
    draw_candidates,
    halve,
    plan_rungs,
    split_cases,
)
from ibid.flows.scratch import SavingEmbedder
from ibid.flows.tune import Tuned, TuneOptions
from ibid.inspection.workshop import find_scratch
from ibid.settings import load_settings
from ibid.settings.writing import write_settings
from ibid.shapes.inspection import shape_tuned
from ibid.testing.embedders import HashingEmbedder

SPACE: dict[str, tuple[Value, ...]] = {
    "search.fusion": ("best", "rrf"),
    "search.weights.lexical": (1.0, 2.0),
}
TOPICS = ("harbour", "lamp", "bakery", "ferry", "orchard", "quarry", "mill", "chapel")


def make_trial(*held: bool, scores: Sequence[float] = (), wanted: int = 1) -> Trial:
    return Trial(tuple(scores) or (1.0,) * len(held), (100,) * len(held), held, wanted)


# -- the search, by hand --------------------------------------------------------------------


def test_a_trial_counts_what_it_found_among_what_was_wanted() -> None:
    trial = make_trial(True, False, True, wanted=3)
    assert trial.recall == 2 / 3
    assert trial.quality == pytest.approx((1 + 1 / 2) / (1 + 1 / 1.5849625 + 1 / 2))
    assert trial.cut(2, None).recall == 1 / 3
    assert make_trial(False, True, scores=(0.9, 0.2)).cut(2, 0.5).recall == 0


@given(st.sets(st.text(min_size=1, max_size=3), min_size=2), st.integers())
def test_questions_are_split_in_two_halves_whatever_their_order(ids: set[str], seed: int) -> None:
    train, held = split_cases(sorted(ids), seed)
    assert (train, held) == split_cases(sorted(ids, reverse=True), seed)
    assert {*train} | {*held} == ids
    assert 0 <= len(train) - len(held) <= 1


def test_what_is_in_force_is_drawn_first_then_each_way_alone() -> None:
    drawn = draw_candidates(["a/1/0", "b/2/0"], SPACE, count=6, seed=3)
    assert drawn[:4] == [
        Candidate("a/1/0"),
        Candidate("b/2/0"),
        Candidate("a/1/0", (("search.fusion", "rrf"),)),
        Candidate("a/1/0", (("search.weights.lexical", 2.0),)),
    ]
    assert len(drawn) == len(set(drawn)) == 6
    assert drawn == draw_candidates(["a/1/0", "b/2/0"], SPACE, count=6, seed=3)
    assert len(draw_candidates(["a/1/0", "b/2/0"], SPACE, count=99, seed=3)) == 8


@given(st.integers(1, 10_000))
def test_rungs_grow_to_all_questions(questions: int) -> None:
    rungs = plan_rungs(questions)
    assert rungs[-1] == questions
    assert all(low < high < 3 * low for low, high in pairwise(rungs))


def test_the_better_half_goes_on_and_what_is_in_force_always() -> None:
    names = [Candidate(f"c/{number}/0") for number in range(8)]
    good = {candidate: number for number, candidate in enumerate(names)}
    asked: list[tuple[Candidate, str]] = []

    def attempt(candidate: Candidate, id: str) -> Trial:
        asked.append((candidate, id))
        return make_trial(*(False for _ in range(7 - good[candidate])), True)

    rungs = list(halve(names, [str(n) for n in range(40)], 6, attempt))
    assert [len(rows) for rows in rungs] == [8, 5, 4]
    assert all(names[0] in {row.candidate for row in rows} for rows in rungs)
    assert rungs[-1][0].candidate == names[-1]
    assert len(asked) == 8 * 10 + 5 * 20 + 4 * 40


def test_equal_candidates_change_nothing() -> None:
    names = [Candidate("a/1/0"), Candidate("b/1/0"), Candidate("c/1/0")]
    *_, last = halve(names, ["1", "2"], 6, lambda candidate, id: make_trial(True))
    assert last[0].candidate == names[0]


def test_fewer_sources_and_a_least_score_are_chosen_where_nothing_is_lost() -> None:
    default = Choice(Candidate("a/1/0"), 6)
    found = [make_trial(False, True, False, False, scores=(0.9, 0.6, 0.2, 0.1))] * CUT_CASES
    assert choose_cut(default, default.candidate, found) == Choice(default.candidate, 2, 0.5)
    deep = [make_trial(False, False, False, True, scores=(0.9, 0.6, 0.2, 0.15))] * CUT_CASES
    assert choose_cut(default, default.candidate, deep) == Choice(default.candidate, 4, 0.1)
    assert choose_cut(default, default.candidate, found[1:]) == default


# -- a library -------------------------------------------------------------------------------


def make_cases() -> list[GoldenCase]:
    lines = (
        json.dumps({"question": f"Who keeps the {topic}?", "contains": f"keeper of the {topic} is"})
        for topic in TOPICS
    )
    return parse_golden(lines, "golden")


def write_documents(library: ibid.Library) -> None:
    library.ingest(
        ibid.Document(
            id=topic,
            text=f"The {topic} lies by the bay. It is old and was built of grey stone. "
            f"The keeper of the {topic} is Ann. Whoever comes rings a bell, and waits. "
            + "The path is steep and wet in spring. "
            * 4,
        )
        for topic in TOPICS
    )


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ibid.Library]:
    with open_hashing(tmp_path) as opened:
        write_documents(opened)
        yield opened


def open_hashing(place: Path, embedder: Any = None) -> ibid.Library:
    return ibid.open(place / "library", embedder=embedder or HashingEmbedder())


OPTIONS = TuneOptions(
    candidates=6,
    chunkings=("sentences/12/0", "words/20/5"),
    space={**SPACE, "search.rerank": ("none", "proximity")},
)


def freeze(tuned: Tuned) -> Mapping[str, Any]:
    """What a run found, without its times."""
    shape = shape_tuned(tuned, applied=False)
    rows = [*shape["table"], shape["before"], shape["after"]]
    for row in [*rows, shape["tried"]]:
        del row["milliseconds"]
    del shape["embedded"]
    return shape


def test_two_runs_are_alike_and_leave_nothing(library: ibid.Library) -> None:
    before = library.status(ibid.OWNER)
    first, second = (library.tune(make_cases(), OPTIONS) for _ in range(2))
    assert freeze(first) == freeze(second)
    assert first.worth.quality.mean >= first.default.quality.mean
    assert first.default.quality.n == len(TOPICS) // 2
    assert library.status(ibid.OWNER) == before
    assert list(library.verify()) == []
    assert not find_scratch(library.location).exists()


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    class Stopping(HashingEmbedder):
        left = 10_000
        embedded = 0

        def embed(self, texts: Any, *, kind: Any) -> Any:
            if kind == "passage":
                self.embedded += len(texts)
            elif not self.left:
                raise KeyboardInterrupt
            else:
                self.left -= 1
            return super().embed(texts, kind=kind)

    embedder = Stopping()
    with open_hashing(tmp_path, embedder) as library:
        write_documents(library)
        whole = library.tune(make_cases(), OPTIONS)
        embedder.left, embedder.embedded = 3, 0
        with pytest.raises(KeyboardInterrupt):
            library.tune(make_cases(), OPTIONS)
        scratch = find_scratch(library.location)
        trials = scratch / "trials.jsonl"
        done = len(trials.read_text().splitlines())
        assert done > 0
        assert scratch.stat().st_mode & 0o777 == 0o700
        with trials.open("a") as file:
            file.write('{"key": "torn')
        embedder.left = 10_000
        assert freeze(library.tune(make_cases(), OPTIONS)) == freeze(whole)
        assert embedder.embedded == whole.embedded
        assert not scratch.exists()


def test_what_a_stopped_run_left_is_purged_with_a_document(library: ibid.Library) -> None:
    scratch = find_scratch(library.location)
    scratch.mkdir()
    (scratch / "trials.jsonl").write_text("")
    library.remove("lamp", purge=True)
    assert not scratch.exists()


def test_texts_that_are_held_are_not_embedded_again(library: ibid.Library) -> None:
    class Refusing(HashingEmbedder):
        def embed(self, texts: Any, *, kind: Any) -> Any:
            assert not texts or kind == "query"
            return super().embed(texts, kind=kind)

    index = library._parts.index
    saving = SavingEmbedder(Refusing(), [index])
    held = [passage.indexed_text for passage in library.passages("lamp")]
    assert saving.embed(held, kind="passage").shape == (len(held), saving.dimension)
    assert saving.embedded == 0


def test_access_holds_in_scratch_libraries(library: ibid.Library) -> None:
    library.set(*TOPICS, allow={"user:ann"})
    hidden = library.tune(make_cases(), OPTIONS)
    assert hidden.worth.quality.mean == hidden.default.quality.mean == 0
    asker = replace(OPTIONS, principals=frozenset({"user:ann"}))
    assert library.tune(make_cases(), asker).default.quality.mean > 0


def test_what_is_no_better_and_no_cheaper_is_not_taken(library: ibid.Library) -> None:
    only = replace(OPTIONS, chunkings=(), space={"search.rerank": ("none",)})
    found = library.tune(make_cases(), only)
    assert found.kept
    assert found.worth == found.default
    assert found.difference.mean == 0


def test_a_reranker_that_is_not_there_stops_before_anything_is_asked(
    library: ibid.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ibid.flows.tune.search", None)
    wrong = replace(OPTIONS, space={"search.rerank": ("none", "nobody")})
    with pytest.raises(ibid.BadSetting, match="nobody"):
        library.tune(make_cases(), wrong)


def test_too_few_cases_are_refused(library: ibid.Library) -> None:
    with pytest.raises(EvaluationError, match="too few"):
        library.tune(make_cases()[:5], OPTIONS)


# -- settings are written --------------------------------------------------------------------


def test_settings_are_written_among_what_people_wrote(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        "offline = true  # mine\n\n[search]\n# how many\nk = 5   # five\n\n[ask]\nstrict = true\n"
    )
    values: dict[str, Value] = {
        "search.k": 7,
        "search.fusion": "rrf",
        "search.weights.lexical": 2.0,
        "search.min_score": None,
        "chunking.size": 120,
        "ask.sources": 4,
    }
    write_settings(path, values)
    written = path.read_text()
    for line in ("offline = true  # mine", "# how many", "k = 7   # five", "strict = true"):
        assert line in written.splitlines()
    settings = load_settings(library=str(tmp_path))
    assert (settings.search.k, settings.search.fusion) == (7, "rrf")
    assert (settings.search.weights.lexical, settings.search.min_score) == (2.0, None)
    assert (settings.chunking.size, settings.ask.sources, settings.offline) == (120, 4, True)
    write_settings(path, values)
    assert path.read_text() == written


@pytest.mark.parametrize(
    "text",
    ["", "search.k = 5\n", "[search.weights]\ndense = 2\n", "[search]\nweights.dense = 2.0\n"],
)
def test_settings_find_a_place_in_any_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    write_settings(path, {"search.fusion": "rrf", "search.weights.lexical": 0.5})
    settings = load_settings(library=str(tmp_path))
    assert (settings.search.fusion, settings.search.weights.lexical) == ("rrf", 0.5)


def test_settings_without_a_plain_place_are_refused_and_the_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("search = { k = 5 }\n")
    with pytest.raises(BadSetting, match="by hand"):
        write_settings(path, {"search.fusion": "rrf"})
    assert path.read_text() == "search = { k = 5 }\n"
    with pytest.raises(BadSetting, match="no setting"):
        write_settings(path, {"search.colour": "red"})


def test_the_verb_keeps_or_improves_the_sample(tmp_path: Path) -> None:
    place = ("--library", tmp_path / "library")
    assert call("sync", HANDBOOK, *place).code == 0
    tune = ("tune", HANDBOOK.parent / "golden.jsonl", "--chunking", "words/60/10", *place)
    shape = call(*tune, "--candidates", "4", "--json").json
    assert shape["after"]["mean"] >= shape["before"]["mean"]
    assert shape["after"]["n"] == shape["before"]["n"] > 0
    assert not shape["applied"]
    assert not (tmp_path / "library" / "config.toml").exists()
    assert "held out" in call(*tune, "--candidates", "4").out


def test_the_winner_is_written_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "library"
    with ibid.open(place) as library:
        write_documents(library)
    golden = tmp_path / "golden.jsonl"
    golden.write_text(
        "".join(
            json.dumps({"question": f"Who keeps the {t}?", "contains": f"The {t} lies by the bay"})
            + "\n"
            for t in TOPICS
        )
    )
    monkeypatch.setenv("IBID_SEARCH_WEIGHTS_LEXICAL", "0")
    done = call("tune", golden, "--library", place, "--chunking", "none", "--apply", "--json")
    shape = done.json
    assert shape["applied"] == bool(shape["settings"]) == (place / "config.toml").exists()
