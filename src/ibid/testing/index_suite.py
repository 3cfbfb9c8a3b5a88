"""What every index must do: subclass IndexSuite and give a fixture `open_index`.

`open_index` takes a folder (or any name that stays the same) and opens the library there, an empty
one the first time; terms that the engine needs anew come from `index_parts.analyze_words`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from ibid.errors import BadQuery, UnknownDocument
from ibid.protocols import Index, Scope
from ibid.records import OWNER
from ibid.testing.index_access import IndexAccessTests
from ibid.testing.index_answers import IndexAnswerTests
from ibid.testing.index_graph import IndexGraphTests
from ibid.testing.index_parts import (
    ALL,
    EMBEDDER,
    MANIFEST,
    PUBLIC,
    commit,
    find_both,
    find_dense,
    find_lexical,
    hash_text,
    list_ids,
    put,
    turn,
)
from ibid.testing.index_versions import IndexVersionTests

IndexOpener: TypeAlias = Callable[[Path], Index]

HR = Scope(principals=frozenset({"group:hr"}))


class IndexSearchTests:
    """What a search finds, in which order, and what it never finds."""

    def test_an_empty_library_finds_nothing(self, index: Index) -> None:
        """Searching nothing is no error, and there is no manifest yet."""
        snapshot = index.snapshot()
        assert index.manifest is None
        assert snapshot.search_lexical("refund", 5, PUBLIC) == []
        assert snapshot.search_dense(turn(0), 5, PUBLIC) == []
        assert snapshot.documents(ALL) == []
        assert index.find_vectors([hash_text("refund")]) == {}

    def test_keyword_scores_are_bm25(self, index: Index) -> None:
        """Scores follow the formula with k1 1.2 and b 0.75; what shares no term isn't found."""
        texts = ["tax tax form", "tax and nothing else but tea", "tea", "form"]
        commit(index, *(put(f"{n}.md", text) for n, text in enumerate(texts)))
        found = index.snapshot().search_lexical("tax form", 10, PUBLIC)
        mean = sum(len(text.split()) for text in texts) / len(texts)

        def score(text: str) -> float:
            idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))  # two of four hold either term
            length = 1.2 * (1 - 0.75 + 0.75 * len(text.split()) / mean)
            counts = [text.split().count(term) for term in ("tax", "form")]
            return sum(idf * 2.2 * count / (count + length) for count in counts if count)

        expected = sorted((score(texts[n]) for n in (0, 1, 3)), reverse=True)
        np.testing.assert_allclose([hit.score for hit in found], expected, rtol=1e-3)
        assert find_lexical(index.snapshot(), "tax form") == [texts[0], texts[3], texts[1]]
        assert find_lexical(index.snapshot(), "absent") == []

    def test_rarity_is_the_idf_of_bm25(self, index: Index) -> None:
        """ln(1 + (N - df + 0.5) / (df + 0.5)) over all passages, whoever may see them."""
        hidden = put("c", "red fox", allow=frozenset({"u"}))
        commit(index, put("a", "red door", "blue door"), hidden)
        rarity = index.snapshot().measure_rarity(["red", "blue", "green", "red"])
        expected = {"red": 2, "blue": 1, "green": 0}
        assert rarity == {
            term: pytest.approx(math.log(1 + (3 - df + 0.5) / (df + 0.5)))
            for term, df in expected.items()
        }

    def test_terms_are_literal(self, index: Index) -> None:
        """No character of a term is syntax to the engine."""
        commit(index, put("a.md", "c++ e-4012 don't a/b (x) field:value"))
        snapshot = index.snapshot()
        for term in ("c++", "e-4012", "don't", "a/b", "(x)", "field:value"):
            assert len(find_lexical(snapshot, term)) == 1, term
        for term in ('"', "*", "c*", "-e", "AND OR NOT", "field:", "[a TO z]", "\\", ""):
            assert find_lexical(snapshot, term) == [], term

    def test_vectors_are_ranked_by_cosine(self, index: Index) -> None:
        """Nearest first, the score is the cosine, and also the far side is found."""
        angles = {"west": 180.0, "east": 0.0, "north": 90.0, "north-east": 45.0}
        commit(index, *(put(text, text) for text in angles), turned=angles)
        snapshot = index.snapshot()
        found = snapshot.search_dense(turn(10), 4, PUBLIC)
        cosines = [math.cos(math.radians(angle)) for angle in (10, 35, 80, 170)]
        np.testing.assert_allclose([hit.score for hit in found], cosines, atol=2e-3)
        assert find_dense(snapshot, turn(10)) == ["east", "north-east", "north", "west"]
        assert find_dense(snapshot, turn(10), k=2) == ["east", "north-east"]

    def test_ties_come_in_the_order_of_insertion(self, index: Index) -> None:
        """Equal scores at the cut are the first inserted, whatever was committed together."""
        texts = [f"same words {'abcdefghijklmnop'[n]}" for n in range(16)]
        angles = dict.fromkeys(texts, 30.0)
        for first in (0, 1, 9):
            last = {0: 1, 1: 9, 9: 16}[first]
            batch = [put(text, text) for text in reversed(texts[16 - last : 16 - first])]
            commit(index, *batch, turned=angles)
        snapshot = index.snapshot()
        inserted = list_ids(snapshot)
        assert inserted == texts[::-1]
        for k in (1, 5, 15, 16, 40):
            assert find_lexical(snapshot, "same words", k) == inserted[:k]
            assert find_dense(snapshot, turn(0), k) == inserted[:k]

    def test_same_text_twice_is_two_documents(self, index: Index) -> None:
        """They share a vector, not their access: hiding one leaves the other."""
        commit(index, put("a.md", "one text"), put("b.md", "one text", allow=frozenset({"u"})))
        snapshot = index.snapshot()
        assert find_lexical(snapshot, "text", scope=ALL) == ["one text"] * 2
        assert find_dense(snapshot, "one text", scope=ALL) == ["one text"] * 2
        assert find_dense(snapshot, "one text") == find_lexical(snapshot, "text") == ["one text"]

    def test_passages_come_with_their_documents(self, index: Index) -> None:
        """A row leads to the passage as it was put, and to what is known of its document."""
        change = put("a.md", "first part", "second part", title="A", tags={"team": "x"})
        commit(index, change)
        snapshot = index.snapshot()
        (found,) = snapshot.search_lexical("second", 5, PUBLIC)
        passage, info = snapshot.passages([found.row])[found.row]
        listed = snapshot.document_passages("a.md", PUBLIC)
        assert passage == listed[1]
        given = [indexed.passage for indexed in change.passages]
        # Ids are the engine's: they tell passages apart across documents and versions.
        assert [replace(each, id="") for each in listed] == [replace(each, id="") for each in given]
        assert len({each.id for each in listed}) == 2
        assert change.document.text[passage.span] == passage.text
        assert (info.id, info.title, dict(info.tags)) == ("a.md", "A", {"team": "x"})
        assert info.passages == 2
        assert info.characters == len(change.document.text)
        stored = snapshot.document("a.md", PUBLIC)
        assert stored.document == change.document
        assert stored.content_hash == change.content_hash

    def test_documents_are_found_by_what_their_passages_hold_together(self, index: Index) -> None:
        """BM25 with k1 1.2, b 0.75 over whole documents, each as the row of its first passage."""
        texts = {"a.md": ("tax", "tea form"), "b.md": ("tax tea", "tea"), "c.md": ("tea",)}
        commit(index, *(put(id, *passages) for id, passages in texts.items()))
        snapshot = index.snapshot()
        found = snapshot.search_documents("tax form", 5, PUBLIC)
        rows = snapshot.passages([scored.row for scored in found])
        assert [rows[one.row][0].document_id for one in found] == ["a.md", "b.md"]
        assert [rows[one.row][0].ordinal for one in found] == [0, 0]

        def weigh(holding: int, length: int) -> float:
            idf = math.log(1 + (3 - holding + 0.5) / (holding + 0.5))
            return idf * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * length / (7 / 3)))

        expected = [weigh(2, 3) + weigh(1, 3), weigh(2, 3)]
        np.testing.assert_allclose([one.score for one in found], expected, rtol=1e-3)
        (second,) = snapshot.search_lexical("form", 5, PUBLIC)
        assert snapshot.first_rows([second.row, found[1].row]) == [found[0].row, found[1].row]

    def test_a_hidden_document_is_not_found_as_a_whole(self, index: Index) -> None:
        """The scope is applied inside this search too, and k are found where k may be seen."""
        hidden = [put(f"{n}.md", "plan plan", allow=frozenset({"group:hr"})) for n in range(9)]
        commit(index, *hidden, put("open.md", "a plan", "for all"), put("z.md", "the plan of z"))
        snapshot = index.snapshot()
        assert len(snapshot.search_documents("plan", 2, PUBLIC)) == 2
        assert len(snapshot.search_documents("plan", 20, PUBLIC)) == 2
        assert len(snapshot.search_documents("plan", 20, HR)) == 11
        commit(index, put("open.md", "nothing left"))
        assert len(index.snapshot().search_documents("plan", 20, PUBLIC)) == 1

    def test_rows_lead_to_their_vectors(self, index: Index) -> None:
        """In the order that was asked for, one row as often as it was."""
        commit(index, put("a.md", "east", "north"), turned={"east": 0, "north": 90})
        snapshot = index.snapshot()
        east, north = (scored.row for scored in snapshot.search_dense(turn(1), 2, PUBLIC))
        expected = [turn(90), turn(0), turn(90)]
        np.testing.assert_allclose(snapshot.vectors([north, east, north]), expected, atol=2e-3)
        assert len(snapshot.vectors([])) == 0

    def test_vectors_are_held_for_texts(self, index: Index) -> None:
        """What was committed can be fetched, what was not is absent."""
        commit(index, put("a.md", "one", "two"))
        hashes = [hash_text(text) for text in ("two", "three", "one")]
        held = index.find_vectors(hashes)
        assert set(held) == {hashes[0], hashes[2]}
        expected = EMBEDDER.embed(["two"], kind="passage")[0]
        np.testing.assert_allclose(held[hashes[0]], expected, atol=2e-3)

    def test_the_manifest_stays(self, index: Index) -> None:
        """It is written with the first document."""
        commit(index, put("a.md", "one"))
        commit(index, put("b.md", "two"))
        assert index.manifest == MANIFEST


class IndexScopeTests:
    """Access, filters and archived documents, applied inside both searches."""

    def test_nobody_finds_what_is_hidden(self, index: Index) -> None:
        """A restricted document shows to a member and to the owner, nowhere to the rest."""
        nobody = put("nobody.md", "secret plan nobody", allow=frozenset())
        hr = put("hr.md", "secret plan hr", allow=frozenset({"group:hr", "user:ann"}))
        commit(index, nobody, hr, put("all.md", "open plan"))
        snapshot = index.snapshot()
        seen = {
            PUBLIC: {"open plan"},
            Scope(principals=frozenset({"group:it", "*", "OWNER"})): {"open plan"},
            HR: {"open plan", "secret plan hr"},
            Scope(principals=frozenset({"user:ann", "x"})): {"open plan", "secret plan hr"},
            Scope(principals=OWNER): {"open plan", "secret plan hr", "secret plan nobody"},
        }
        for scope, texts in seen.items():
            assert find_both(snapshot, "secret plan", scope) == texts
            assert len(snapshot.documents(scope)) == len(texts)
        for scope, id in ((PUBLIC, "hr.md"), (HR, "nobody.md"), (PUBLIC, "absent.md")):
            with pytest.raises(UnknownDocument):
                snapshot.document(id, scope)
            with pytest.raises(UnknownDocument):
                snapshot.document_passages(id, scope)
        assert snapshot.document("hr.md", HR).document.id == "hr.md"

    @pytest.mark.parametrize(
        "scope", [HR, Scope(filter='tag.kind = "rare"'), Scope(filter='id like "few/%"')]
    )
    def test_k_are_found_where_k_exist(self, index: Index, scope: Scope) -> None:
        """Better passages out of the scope never take the place of worse ones inside it."""
        many = [put(f"many/{n}", f"plan plan plan {n}", tags={"kind": "common"}) for n in range(60)]
        if scope is HR:
            many = [
                put(f"many/{n}", f"plan plan plan {n}", allow=frozenset({"user:x"}))
                for n in range(60)
            ]
        few = [f"a plan among many other words number {n}" for n in range(4)]
        angles = {f"plan plan plan {n}": 0.0 for n in range(60)} | dict.fromkeys(few, 80.0)
        commit(index, *many[:30], turned=angles)
        puts = [put(f"few/{n}", text, tags={"kind": "rare"}) for n, text in enumerate(few)]
        commit(index, *puts, *many[30:], turned=angles)
        snapshot = index.snapshot()
        assert find_lexical(snapshot, "plan", 3, scope) == few[:3]
        assert find_dense(snapshot, turn(0), 3, scope) == few[:3]
        assert find_dense(snapshot, turn(0), 9, scope) == few

    def test_filter_and_access_both_hold(self, index: Index) -> None:
        """A filter never widens what the caller may see."""
        hidden = put("a", "plan a", tags={"team": "x"}, allow=frozenset({"group:hr"}))
        commit(index, hidden, put("b", "plan b", tags={"team": "x"}), put("c", "plan c"))
        snapshot = index.snapshot()
        expression = 'tag.team = "x" or archived = false'
        assert find_both(snapshot, "plan", Scope(filter=expression)) == {"plan b", "plan c"}
        members = Scope(principals=frozenset({"group:hr"}), filter='tag.team = "x"')
        assert find_both(snapshot, "plan", members) == {"plan a", "plan b"}
        assert list_ids(snapshot, members) == ["a", "b"]

    def test_a_bad_filter_is_a_bad_query(self, index: Index) -> None:
        """In every call that takes a scope."""
        commit(index, put("a", "plan"))
        snapshot, scope = index.snapshot(), Scope(filter="tag.team = ")
        with pytest.raises(BadQuery):
            snapshot.search_lexical("plan", 5, scope)
        with pytest.raises(BadQuery):
            snapshot.search_dense(turn(0), 5, scope)
        with pytest.raises(BadQuery):
            snapshot.documents(scope)

    def test_an_excluded_word_is_in_no_title_either(self, index: Index) -> None:
        """A document is left out whose title holds it, as a word or a phrase."""
        pier = put("a", "plan a", title="The closed pier")
        commit(index, pier, put("b", "plan b", title="Piers"), put("c", "plan c", title="A dock"))
        snapshot = index.snapshot()
        for excluded, left in (
            (("pier",), {"plan b", "plan c"}),
            (("closed pier",), {"plan b", "plan c"}),
            (("dock", "closed"), {"plan b"}),
            (("lamp",), {"plan a", "plan b", "plan c"}),
        ):
            assert find_both(snapshot, "plan", Scope(excluded=excluded)) == left
        assert find_both(snapshot, "plan", Scope(phrases=("plan",), excluded=("dock",))) == {
            "plan a",
            "plan b",
        }

    def test_archived_documents_are_left_out(self, index: Index) -> None:
        """They are found only where they are asked for."""
        commit(index, put("old", "plan old", archived=True), put("new", "plan new"))
        snapshot = index.snapshot()
        assert find_both(snapshot, "plan") == {"plan new"}
        assert list_ids(snapshot) == ["new"]
        assert find_both(snapshot, "plan", Scope(include_archived=True)) == {"plan new", "plan old"}


class IndexSuite(
    IndexSearchTests,
    IndexScopeTests,
    IndexAccessTests,
    IndexGraphTests,
    IndexVersionTests,
    IndexAnswerTests,
):
    """All tests of the Index protocol; a subclass gives the fixture `open_index`."""

    @pytest.fixture
    def index(self, open_index: IndexOpener, tmp_path: Path) -> Iterator[Index]:
        """An empty library."""
        index = open_index(tmp_path / "library")
        yield index
        index.close()
