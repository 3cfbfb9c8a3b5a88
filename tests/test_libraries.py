"""Several libraries in one question: each by its own embedder, each hit with its library's name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from command_line import call
from ibid.answering.abstention import write_abstention
from ibid.cli.proof import tell_sources
from ibid.errors import BadQuery
from ibid.flows.options import SearchOptions
from ibid.flows.several import Searched, merge_hits
from ibid.records import (
    Contribution,
    DocumentInfo,
    Hit,
    NearDocument,
    Passage,
    Query,
    SearchResult,
)
from ibid.shapes import shape_answer, shape_result
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

HARBOUR = {
    "tides": "The tide turns twice a day and boats leave at high water.",
    "keys": "The harbour keys lie with the guard.",
    "secret": "The smugglers' boats leave the harbour at midnight.",
}
FILLERS = {
    f"filler-{number}": f"Note {number} is about {thing} and about nothing else."
    for number, thing in enumerate(("lamps", "ropes", "paint", "salt", "weather", "tea", "rain"))
}
KITCHEN = {
    "bread": "Bread rises twice before it is baked.",
    "keys": "The kitchen keys hang behind the door.",
}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[dict[str, ibid.Library]]:
    with (
        ibid.open(tmp_path / "harbour", embedder=HashingEmbedder()) as harbour,
        ibid.open(tmp_path / "kitchen", embedder=HashingEmbedder()) as kitchen,
    ):
        for library, notes in ((harbour, HARBOUR), (kitchen, KITCHEN)):
            library.ingest(
                ibid.Document(id, text, allow=frozenset({"user:ann"}) if id == "secret" else None)
                for id, text in {**notes, **FILLERS}.items()
            )
        yield {"harbour": harbour, "kitchen": kitchen}


def test_the_best_of_all_libraries_each_with_its_name(pair: dict[str, ibid.Library]) -> None:
    both = ibid.Libraries(pair)
    hits = both.search("where are the kitchen keys", k=2)
    assert (hits[0].library, hits[0].document_id) == ("kitchen", "keys")
    assert [hit.rank for hit in hits] == [1, 2]
    assert both.search("when does the tide turn")[0].library == "harbour"
    result = both.run_search(Query("keys"))
    assert {(hit.library, hit.document_id) for hit in result.hits[:2]} == {
        ("harbour", "keys"),
        ("kitchen", "keys"),
    }
    for hit in result.hits:
        assert hit.fused_score == pytest.approx(hit.score)
    shape = shape_result(result, explain=True)
    assert shape["versions"] == {"harbour": 1, "kitchen": 1}
    assert {hit["library"] for hit in shape["hits"]} == {"harbour", "kitchen"}
    assert {step["data"].get("library") for step in shape["trace"]} == {
        "harbour", "kitchen", None,
    }  # fmt: skip
    assert "merge" in [step["stage"] for step in shape["trace"]]


def test_libraries_of_different_embedders_are_each_searched_by_their_own(tmp_path: Path) -> None:
    with (
        ibid.open(tmp_path / "a", embedder=HashingEmbedder()) as first,
        ibid.open(tmp_path / "b", embedder=HashingEmbedder(dimension=256)) as second,
    ):
        first.ingest(ibid.Document(id, text) for id, text in {**HARBOUR, **FILLERS}.items())
        second.ingest(ibid.Document(id, text) for id, text in {**KITCHEN, **FILLERS}.items())
        both = ibid.Libraries({"a": first, "b": second})
        result = both.run_search(Query("how often does bread rise"), mode="dense")
    assert (result.hits[0].library, result.hits[0].document_id) == ("b", "bread")
    (merge,) = [step for step in result.trace if step.stage == "merge"]
    assert merge.data["standardized"] is True


def test_one_library_among_several_is_as_if_asked_alone(pair: dict[str, ibid.Library]) -> None:
    alone = pair["harbour"].run_search(Query("boats at high water"))
    same = ibid.Libraries({"harbour": pair["harbour"]}).run_search(Query("boats at high water"))
    assert [(hit.document_id, hit.score, hit.contributions) for hit in same.hits] == [
        (hit.document_id, hit.score, hit.contributions) for hit in alone.hits
    ]
    shape = shape_result(alone)
    assert "versions" not in shape
    assert all("library" not in hit for hit in shape["hits"])


def test_access_holds_in_each_library(pair: dict[str, ibid.Library]) -> None:
    both = ibid.Libraries(pair)
    asked = "smugglers' boats at midnight"
    assert both.search(asked, principals={"user:ann"})[0].document_id == "secret"
    result = both.run_search(Query(asked))
    assert "secret" not in str(shape_result(result, explain=True))
    assert "secret" not in str(shape_answer(both.run_ask(Query(asked)), explain=True))


def test_rerankers_and_selection_see_the_hits_of_all(pair: dict[str, ibid.Library]) -> None:
    pair["kitchen"].ingest(ibid.Document("copy", HARBOUR["tides"]))
    both = ibid.Libraries(pair)
    reranked = both.run_search(Query("tide turns twice"), rerank="proximity", distinct=True)
    tides = [hit for hit in reranked.hits if "tide" in hit.passage.text]
    assert len(tides) == 1
    assert tides[0].moves[-1].stage == "rerank"
    assert "same text as" in str(reranked.trace[-1].data["dropped"])
    assert len(both.search("keys", k=1)) == 1


def test_an_answer_from_several_libraries_names_them(tmp_path: Path) -> None:
    model = ScriptedGenerator(["The kitchen keys hang behind the door [1]."])
    with (
        ibid.open(tmp_path / "a", embedder=HashingEmbedder(), generator=model) as first,
        ibid.open(tmp_path / "b", embedder=HashingEmbedder()) as second,
    ):
        first.ingest(ibid.Document("keys", HARBOUR["keys"]))
        second.ingest(ibid.Document("keys", KITCHEN["keys"]))
        answer = ibid.Libraries({"a": first, "b": second}).ask("Where are the kitchen keys?")
        assert first.answers(ibid.OWNER) == []
    assert answer.status is ibid.AnswerStatus.ANSWERED
    shape = shape_answer(answer)
    assert shape["sources"][0]["library"] == "b"
    assert shape["citations"][0]["verdict"] == "supported"
    assert shape["citations"][0]["library"] == "b"
    assert tell_sources(answer).startswith("[1] b, keys, ")


def test_documents_of_one_id_in_two_libraries_are_two(tmp_path: Path) -> None:
    """Each is cited with its own library and its own time."""
    times = [datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)]
    model = ScriptedGenerator(lambda prompt: f"{prompt.sources[0].passage.text} [1]")
    libraries = {}
    with ExitStack() as stack:
        for name, note, time in zip("ab", (HARBOUR, KITCHEN), times, strict=True):
            place = tmp_path / name
            library = ibid.open(place, embedder=HashingEmbedder(), generator=model)
            libraries[name] = stack.enter_context(library)
            library.ingest(ibid.Document("keys", note["keys"], modified_at=time))
        answer = ibid.Libraries(libraries).ask("Where are the kitchen keys?")
    (cited,) = answer.citations
    assert (cited.library, cited.document_id, cited.modified_at) == ("b", "keys", times[1])
    near = NearDocument("keys", "Keys", "b")
    assert "Keys (b: keys)" in write_abstention("Who is paid?", (near,), language="en")


def test_what_can_not_be_asked_of_several_is_refused(pair: dict[str, ibid.Library]) -> None:
    with pytest.raises(BadQuery, match="no library"):
        ibid.Libraries({})
    with pytest.raises(BadQuery, match="past version"):
        ibid.Libraries(pair).run_search(Query("keys", version=1))


def make_result(
    name: str, lexical: list[float], dense: list[float], worth: float = 1.0
) -> Searched:
    info = DocumentInfo(name, None, None, "text/plain", 1, None, False, None, {}, {}, 1, 1)
    hits = []
    for number, (words, cosine) in enumerate(zip(lexical, dense, strict=True)):
        passage = Passage(f"{name}{number}", name, number, 0, 1, "x")
        given = {
            "lexical": Contribution(number + 1, words, 0.0),
            "dense": Contribution(number + 1, cosine, 0.0),
        }
        hits.append(Hit(number + 1, 0.0, passage, info, given))
    return Searched(SearchResult(Query("x"), "hybrid", 1, tuple(hits), {}), worth)


def test_scores_of_words_are_parts_of_what_the_words_are_worth() -> None:
    """Half of what 2.0 is worth is less than nearly all of what 0.8 is."""
    found = {
        "large": make_result("large", [1.0], [0.5], worth=2.0),
        "small": make_result("small", [0.7], [0.5], worth=0.8),
    }
    merged = merge_hits(found, SearchOptions(weights={"dense": 0.0}), standardize=False)
    assert [(hit.library, hit.contributions["lexical"].score) for hit in merged] == [
        ("small", 0.7),
        ("large", 1.0),
    ]


def test_cosines_of_one_embedder_compare_and_those_of_two_are_standardized() -> None:
    """In `near` all cosines are high; in `far` one of them stands out."""
    found = {
        "near": make_result("near", [1.0, 1.0, 1.0], [0.80, 0.79, 0.78]),
        "far": make_result("far", [1.0, 1.0, 1.0], [0.50, 0.10, 0.10]),
    }
    options = SearchOptions(weights={"lexical": 0.0})
    as_found = merge_hits(found, options, standardize=False)
    assert [hit.library for hit in as_found] == ["near"] * 3 + ["far"] * 3
    standardized = merge_hits(found, options, standardize=True)
    assert standardized[0].library == "far"
    assert standardized[0].contributions["dense"].score == 0.50


scores = st.lists(st.floats(-1, 1), min_size=1, max_size=6)


@given(scores, scores, st.booleans())
def test_merging_loses_no_hit_and_its_shares_sum(
    one: list[float], other: list[float], standardize: bool
) -> None:
    found = {"a": make_result("a", one, one), "b": make_result("b", other, other)}
    merged = merge_hits(found, SearchOptions(), standardize=standardize)
    assert {hit.passage.id for hit in merged} == {
        hit.passage.id for one in found.values() for hit in one.result.hits
    }
    assert [hit.score for hit in merged] == sorted((hit.score for hit in merged), reverse=True)
    for hit in merged:
        assert hit.fused_score == pytest.approx(hit.score)
        assert {hit.library} == {hit.document_id}


def test_the_command_line_takes_several_libraries(tmp_path: Path) -> None:
    places = [str(tmp_path / name) for name in ("harbour", "kitchen")]
    for place, notes in zip(places, (HARBOUR, KITCHEN), strict=True):
        (tmp_path / "note.md").write_text(notes["keys"])
        call("add", str(tmp_path / "note.md"), "--id", "keys.md", "--library", place)
    both = ("--library", places[0], "--library", places[1])
    found = call("search", "kitchen keys", "--json", *both).json
    assert [hit["library"] for hit in found["hits"]] == [places[1], places[0]]
    assert set(found["versions"]) == set(places)
    said = call("search", "kitchen keys", *both).out
    assert said.startswith(f"1. {places[1]}, keys.md")
    answered = call("ask", "Where do the kitchen keys hang?", "--json", *both).json
    assert answered["sources"][0]["library"] == places[1]
    for refused in (
        ("list", *both),
        ("search", "x", "--library", places[0], "--library", places[0]),
        ("ask", "x", "--whole", *both),
        ("search", "x", "--version", "1", *both),
    ):
        assert call(*refused).code == 2
