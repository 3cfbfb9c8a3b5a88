"""The part of the index suite about the graph: which passages name which entities, and for whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ibid.protocols import Index, Mention, PutDocument, RemoveDocument, Role, Scope
from ibid.testing.index_parts import ALL, PUBLIC, Traits, commit, put


def put_naming(
    id: str, *named: Mapping[int, Role], allow: Iterable[str] | None = None
) -> PutDocument:
    """Write a document with one passage for each of these mappings of what it names."""
    traits: Traits = {"allow": None if allow is None else frozenset(allow)}
    change = put(id, *(f"{id} passage {number}" for number in range(len(named))), **traits)
    passages = [
        replace(indexed, entities=entities)
        for indexed, entities in zip(change.passages, named, strict=True)
    ]
    return replace(change, passages=passages)


def find(index: Index, *entities: int, most: int = 10, scope: Scope = PUBLIC) -> list[Mention]:
    """The mentions in the last version."""
    return index.snapshot().find_mentions(entities, most, scope)


class IndexGraphTests:
    """Mentions are found like passages: inside the scope, at a version, until they are erased."""

    def test_mentions_are_found_by_entity(self, index: Index) -> None:
        """Each row that names one, with its role, in the order of the rows."""
        first = put_naming("a", {7: Role.TITLE, 8: Role.TEXT}, {7: Role.TEXT})
        commit(index, first, put_naming("b", {8: Role.HEADING}, {}))
        rows = [mention.row for mention in find(index, 7, 8)]
        assert rows == sorted(rows)
        found = {(m.entity, m.row, m.role) for m in find(index, 7, 8, 8, 9)}
        assert found == {
            (7, 0, Role.TITLE),
            (8, 0, Role.TEXT),
            (7, 1, Role.TEXT),
            (8, 2, Role.HEADING),
        }
        assert find(index) == find(index, 9) == []

    def test_what_is_common_joins_nothing(self, index: Index) -> None:
        """An entity that more passages name than were asked for gives none of them."""
        commit(index, *(put_naming(f"{n}", {1: Role.TEXT}) for n in range(30)))
        assert len(find(index, 1, most=30)) == 30
        assert find(index, 1, most=29) == find(index, 1, most=1) == []

    def test_what_is_hidden_neither_shows_nor_counts(self, index: Index) -> None:
        """A caller finds the same whether hidden passages name the entity or not."""
        hidden = [put_naming(f"h{n}", {1: Role.TITLE}, allow={"group:hr"}) for n in range(9)]
        commit(index, *hidden[:4], put_naming("seen", {1: Role.TEXT}), *hidden[4:])
        (mention,) = find(index, 1, most=1)
        assert (mention.row, mention.role) == (4, Role.TEXT)
        assert len(find(index, 1, scope=Scope(frozenset({"group:hr"})))) == 10
        assert find(index, 1, most=1, scope=ALL) == []
        assert find(index, 1, scope=Scope(filter="id like 'h%'")) == []

    def test_the_graph_is_the_version_s(self, index: Index) -> None:
        """What was removed, or came later, is found at the versions that hold it."""
        first = commit(index, put_naming("a", {1: Role.TEXT}))
        second = commit(index, put_naming("a", {2: Role.TEXT}), put_naming("b", {1: Role.TITLE}))
        commit(index, RemoveDocument("b"))
        assert find(index, 1) == []
        assert [m.row for m in index.snapshot(first).find_mentions([1, 2], 9, PUBLIC)] == [0]
        assert [m.row for m in index.snapshot(second).find_mentions([1, 2], 9, PUBLIC)] == [1, 2]

    def test_purging_erases_a_document_s_part(self, index: Index) -> None:
        """Nothing of the purged document is left in any version, all of the others is."""
        first = commit(index, put_naming("a", {1: Role.TEXT}, {1: Role.TEXT}))
        commit(index, put_naming("b", {1: Role.TITLE}))
        index.purge(["a"])
        assert [mention.row for mention in find(index, 1)] == [2]
        assert index.snapshot(first).find_mentions([1], 9, ALL) == []
