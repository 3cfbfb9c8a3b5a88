"""`"exact phrase"` and `-term` in a query: what is read as such, and what a search makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import ibid
from conftest import open_hashing
from ibid.language.phrases import ReadQuery, holds_phrase, read_query
from ibid.records import Query, SearchMode


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('the "north pier" at night', ReadQuery("the north pier at night", ("north pier",))),
        ("“north pier”?", ReadQuery("north pier ?", ("north pier",))),
        ("pier -closed", ReadQuery("pier", (), ("closed",))),
        ('pier -"closed for repair"', ReadQuery("pier", (), ("closed for repair",))),
        ('"a" -b "c d"', ReadQuery("a c d", ("a", "c d"), ("b",))),
    ],
)
def test_what_is_read_as_said(text: str, read: ReadQuery) -> None:
    assert read_query(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "--error-on-warnings", "multi-agent", "a/b", "don't", "it is -5 degrees", "E-4012", "a - b",
        'a 5" pipe and a 6" pipe', 'an open "quote', '""', "-closed", 'NOT a AND (b OR c*)',
        "field:value", "x -", "tide – ebb",
    ],
)  # fmt: skip
def test_all_else_is_literal(text: str) -> None:
    assert read_query(text) == ReadQuery(text)


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("The North\n Pier is open", "north pier", True),
        ("The pier north of it", "north pier", False),
        ("The north piers", "north pier", False),
        ("Error E-4012 again", "e-4012", True),
        ("東京都の港", "京都", True),
        ("ＦＵＬＬ ｗｉｄｔｈ", "full width", True),
        ("they don’t sail", "don't sail", True),
        ("cafe\u0301 noir", "café noir", True),
        ("a cafe noir", "café noir", False),
        ("C++ (draft)", "c++", True),
    ],
)
def test_a_phrase_is_held_in_its_order(text: str, phrase: str, held: bool) -> None:
    assert holds_phrase(text, phrase) is held


PIERS = {
    "north": "The north pier is open at night, and boats may lie there.",
    "closed": "The north pier was closed at night when boats were there.",
    "turned": "The pier north of the boats has no lamp at night.",
    "south": "The south pier closes at night; boats leave before.",
    "deutsch": "Der Nordpier ist nachts geschlossen, und die Boote müssen ihn vorher verlassen.",
}


@pytest.fixture
def harbour(tmp_path: Path) -> ibid.Library:
    library = open_hashing(tmp_path)
    library.ingest([ibid.Document(id, text) for id, text in PIERS.items()])
    library.ingest([ibid.Document(f"{n}", f"Boats at night, page {n}.") for n in range(60)])
    library.ingest(ibid.Document("secret", "The north pier is for smugglers.", allow=frozenset()))
    return library


@pytest.mark.parametrize("mode", get_args(SearchMode))
def test_a_search_holds_to_it_in_every_mode(harbour: ibid.Library, mode: SearchMode) -> None:
    def find(text: str, k: int = 50) -> set[str]:
        hits = harbour.run_search(Query(text), mode=mode, k=k).hits
        return {hit.document_id for hit in hits}

    assert find('boats at night "north pier"') == {"north", "closed"}
    assert find('"north pier" boats -closed') == {"north"}
    # one word is left out in all its forms, in the language of each document
    assert find('"pier" night -close') == {"north", "turned"}
    assert find('boats -"north pier" -page', 3) <= {"turned", "south", "deutsch"}
    assert "secret" not in find('"north pier"')
    # exactly k where k exist, also where what would come first is left out
    assert len(find("boats at night -pier", 60)) == 60
    harbour.close()


def test_an_excluded_word_of_the_title_leaves_the_document_out(harbour: ibid.Library) -> None:
    titled = [
        ibid.Document("a", "Boats lie there at night.", title="Closing the harbour"),
        ibid.Document("b", "Boats lie there by day.", title="Opening hours"),
    ]
    harbour.update(titled)

    def find(text: str) -> set[str]:
        return {hit.document_id for hit in harbour.search(text, 100)} & {"a", "b"}

    assert find("boats there") == {"a", "b"}
    assert find("boats there -closed") == {"b"}
    assert find('boats there -"opening hours"') == {"a"}
    assert find('boats there -"hours opening"') == {"a", "b"}
    (step,) = [
        stage
        for stage in harbour.diagnose("boats there -closing", document_id="a").stages
        if not stage.ok
    ]
    assert step.stage == "filter"


def test_a_phrase_that_nothing_holds_is_given_up_with_a_warning(harbour: ibid.Library) -> None:
    found = harbour.run_search(Query('Where is the "southern pier" of the boats?'), k=3)
    assert len(found.hits) == 3
    assert found.warnings == ('no passage holds "southern pier": its words were searched instead',)
    hidden = harbour.run_search(Query('"pier is for smugglers"'), mode="lexical")
    absent = harbour.run_search(Query('"pier is for rabbits"'), mode="lexical")
    assert [hit.document_id for hit in hidden.hits] == [hit.document_id for hit in absent.hits]
    assert len(hidden.warnings) == len(absent.warnings) == 1
    assert harbour.run_search(Query('"zebra crossing"'), mode="lexical").warnings == ()
    harbour.close()
