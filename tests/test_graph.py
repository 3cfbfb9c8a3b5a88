"""The graph: what is named, what joins two documents, and for whom."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from conftest import open_hashing
from ibid.index.graph import mention_entities
from ibid.language.entities import (
    MOST_ENTITIES,
    find_entities,
    find_title_entities,
    hash_entity,
)
from ibid.protocols import Mention, Role, Scored
from ibid.ranking.bridges import (
    LEAST,
    PLACE,
    link_rows,
    place_bridges,
    rank_bridges,
    weigh_origins,
)
from ibid.ranking.fusion import Fused
from ibid.records import Contribution, Query

HARBOUR: Final = [
    ibid.Document("regatta", "The regatta was opened by Marta Quill in rain.", title="Regatta"),
    ibid.Document(
        "quill", "She runs the office of tides and was born in Oslo.", title="Marta Quill"
    ),
    *(
        ibid.Document(f"noise{n}", f"The regatta was late by {n} hours and opened in rain.")
        for n in range(8)
    ),
]
"""Who the second document is about is said by the first alone."""

QUESTION: Final = "Where was she born who opened the regatta in rain?"


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("The letter came from Marta Quill of Oslo.", "en", ["marta quill of oslo"]),
        ("When Marta Quill's boat sank, NASA called.", "en", ["marta quill", "nasa"]),
        ("written by J. R. Quill and J.K. Moor", "en", ["j r quill and j k moor"]),
        ("see E-4012, read_rows and os.path", "en", ["e-4012", "read_rows", "os.path"]),
        ("Die Stadt Lübeck liegt im Norden.", "de", ["stadt lubeck", "norden"]),
        ("Её видел Пётр Ильин.", "ru", ["петр ильин"]),
        ("他读过《海的女儿》吗?", "zh", ["海的女儿"]),
        ("私はアントニオ・ロペスに会った", "ja", ["アントニオ・ロペス"]),
        ("they said “low water” and left", "en", ["low water"]),
        ("nothing here is named at all", "en", []),
        ("Where is it? When? The End.", "en", ["end"]),
        ("", None, []),
    ],
)
def test_names_are_found_by_how_they_are_written(
    text: str, language: str | None, names: list[str]
) -> None:
    assert find_entities(text, language) == names


def test_a_title_stands_for_itself_and_without_what_is_appended() -> None:
    assert find_title_entities("The Tide (film)") == ["tide (film)", "tide"]
    assert find_title_entities("Marta Quill") == ["marta quill"]


@given(st.text(max_size=300), st.sampled_from(["en", "de", "ja", None]))
def test_any_text_names_a_bounded_number_of_things(text: str, language: str | None) -> None:
    names = find_entities(text, language)
    assert len(names) == len(set(names)) <= MOST_ENTITIES
    assert all(0 <= hash_entity(name) < 2**48 for name in names)


def test_links_are_worked_out_by_hand() -> None:
    origins = weigh_origins([("a", [1, 2]), ("b", [2])], asked=[3])
    assert origins == {3: {"": 1.0}, 1: {"a": 1.0}, 2: {"a": 1.0, "b": pytest.approx(2**-0.5)}}
    mentions = [
        Mention(1, 10, Role.TITLE),
        Mention(2, 10, Role.TEXT),
        Mention(1, 11, Role.HEADING),
        Mention(3, 12, Role.TITLE),
    ]
    links = link_rows(mentions, origins, {10: "c", 11: "a", 12: "b"})
    rarity = 1 / (1 + 0.6931471805599453)  # two rows name entity 1
    assert links == {
        10: pytest.approx(1.0 * rarity + (1 + 2**-0.5) * 0.1),
        12: pytest.approx(1.0),  # row 11 is of the document that leads to it
    }
    ranked = rank_bridges(
        {10: 0.5, 12: 1.0, 13: 0.02, 14: 0.9},
        frozenset("xyzw"),
        {10: frozenset("xyzw"), 12: frozenset("x"), 13: frozenset("xyzw"), 14: frozenset()},
        {10: "c", 12: "b", 13: "d", 14: "b"},
    )
    assert [scored.row for scored in ranked] == [10, 12]
    assert [scored.score for scored in ranked] == pytest.approx([0.6, 0.45])
    assert all(scored.score >= LEAST for scored in ranked)


def make_ranking(scores: list[float]) -> list[Fused]:
    return [
        Fused(row, score, {"dense": Contribution(row + 1, score, score)})
        for row, score in enumerate(scores)
    ]


@given(
    st.lists(st.floats(-5, 5), max_size=12).map(lambda scores: sorted(scores, reverse=True)),
    st.lists(st.integers(0, 20), max_size=5, unique=True),
)
def test_bridges_move_none_of_the_first_hits(scores: list[float], rows: list[int]) -> None:
    fused = make_ranking(scores)
    placed = place_bridges(fused, [Scored(row, 1.0) for row in rows if row >= PLACE])
    first = [one.row for one in fused[:PLACE]]
    assert [one.row for one in placed[: len(first)]] == first
    found = [one.row for one in placed]
    assert len(found) == len(set(found))
    assert set(found) >= {one.row for one in fused}
    for before, after in pairwise(placed):
        assert before.score >= after.score - 1e-9
    for one in placed:
        assert one.score == pytest.approx(sum(c.share for c in one.contributions.values()))


@pytest.fixture
def harbour(library: ibid.Library) -> ibid.Library:
    library.ingest(HARBOUR)
    return library


def find(library: ibid.Library, *, graph: bool = True, k: int = 4, **options: object) -> list[str]:
    query = Query(QUESTION, **options)  # type: ignore[arg-type]  # the fields of a query
    found = library.run_search(query, k=k, mode="hybrid", graph=graph, candidates=6)
    return [hit.document_id for hit in found.hits]


def test_a_fact_that_two_documents_join_is_found_over_the_graph(harbour: ibid.Library) -> None:
    assert "regatta" in find(harbour, graph=False)[:PLACE]
    assert "quill" not in find(harbour, graph=False)
    assert "quill" in find(harbour)
    result = harbour.run_search(Query(QUESTION), k=4, candidates=6)
    (bridge,) = (hit for hit in result.hits if hit.document_id == "quill")
    assert bridge.contributions["graph"].rank == 1
    assert bridge.score == bridge.fused_score
    assert "graph" in [step.stage for step in result.trace]


def test_no_bridge_leads_to_what_is_hidden_or_from_it(library: ibid.Library) -> None:
    library.ingest(HARBOUR)
    before = harbour_trace(library)
    library.set("quill", allow=["group:office"])
    assert "quill" not in find(library)
    assert "quill" in find(library, principals=frozenset({"group:office"}))
    library.set("quill", public=True)
    library.set("regatta", allow=["group:office"])
    assert "quill" not in find(library)
    library.set("regatta", public=True)
    assert harbour_trace(library) == before


def harbour_trace(library: ibid.Library) -> list[object]:
    found = library.run_search(Query(QUESTION), k=4, candidates=6)
    return [(hit.document_id, hit.score) for hit in found.hits]


def test_the_graph_is_that_of_the_version(harbour: ibid.Library) -> None:
    version = harbour.status(ibid.OWNER).version
    harbour.remove("quill")
    assert "quill" not in find(harbour)
    assert "quill" in find(harbour, version=version)


def test_a_purge_leaves_nothing_in_the_graph(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest(HARBOUR)
        library.remove("quill", purge=True)
    connection = sqlite3.connect(place / "library.db")
    held = {entity for (entity,) in connection.execute("SELECT entity FROM mentions")}
    connection.close()
    assert hash_entity("marta quill") in held  # the regatta's document names her still
    assert hash_entity("oslo") not in held


def test_a_model_s_context_names_things_too() -> None:
    passage = ibid.Passage("p", "d", 0, 0, 20, "She was born at sea.", context="Of Marta Quill.")
    assert mention_entities(passage, None, "en") == {hash_entity("marta quill"): Role.TEXT}
    heading = replace(passage, headings=("Marta Quill",))
    assert mention_entities(heading, None, "en")[hash_entity("marta quill")] is Role.HEADING
    assert mention_entities(heading, "Marta Quill", "en")[hash_entity("marta quill")] is Role.TITLE


def test_a_search_by_words_alone_has_no_bridges(harbour: ibid.Library) -> None:
    found = harbour.run_search(Query(QUESTION), mode="lexical", k=10)
    assert {name for hit in found.hits for name in hit.contributions} == {"lexical"}
