"""The part of the index suite about change: commits, versions, removal, purging, reopening."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from ibid.errors import BadQuery, DuplicateDocument, UnknownDocument
from ibid.protocols import (
    Change,
    FileStat,
    FileState,
    Index,
    RemoveDocument,
    Scope,
    SetMetadata,
    SourceInfo,
)
from ibid.testing.index_parts import (
    ALL,
    EMBEDDER,
    PUBLIC,
    commit,
    find_both,
    find_dense,
    find_lexical,
    hash_text,
    list_ids,
    make_document,
    put,
    put_document,
)


class IndexVersionTests:
    """What a commit changes, what it leaves, and what the versions before it still hold."""

    def test_every_commit_is_one_version(self, index: Index) -> None:
        """Many changes make one version, none make none."""
        before = index.snapshot().version
        assert commit(index, put("a", "plan a"), put("b", "plan b")) == before + 1
        assert commit(index, put("c", "plan c"), RemoveDocument("a")) == before + 2
        assert commit(index) == before + 2
        assert index.snapshot().version == before + 2
        assert list_ids(index.snapshot()) == ["b", "c"]
        for version in (before + 3, -1):
            with pytest.raises(BadQuery):
                index.snapshot(version)

    @pytest.mark.parametrize(
        ("bad", "error"),
        [
            (put_document(make_document("a", "another a"), create=True), DuplicateDocument),
            (RemoveDocument("absent"), UnknownDocument),
            (SetMetadata("absent", make_document("absent", "x"), {}), UnknownDocument),
        ],
        ids=["create", "remove", "set"],
    )
    def test_a_commit_is_all_or_nothing(
        self, index: Index, bad: Change, error: type[Exception]
    ) -> None:
        """A change that is refused takes those before it along."""
        version = commit(index, put("a", "plan a"))
        with pytest.raises(error):
            commit(index, put("b", "plan b"), put("a", "changed a"), bad)
        snapshot = index.snapshot()
        assert snapshot.version == version
        assert find_both(snapshot, "plan changed another", ALL) == {"plan a"}
        assert commit(index, put("c", "plan c")) == version + 1
        assert find_both(index.snapshot(), "plan", ALL) == {"plan a", "plan c"}

    def test_a_removal_makes_room_for_a_create(self, index: Index) -> None:
        """The changes of one commit apply in their order."""
        commit(index, put("a", "old plan"))
        create = put_document(make_document("a", "new plan"), create=True)
        commit(index, RemoveDocument("a"), create)
        assert find_both(index.snapshot(), "plan") == {"new plan"}

    def test_an_update_replaces_every_passage(self, index: Index) -> None:
        """Nothing of the old text is found, in either search, however many passages it had."""
        old = commit(index, put("a", "plan one", "plan two", "plan three"), put("b", "plan b"))
        commit(index, put("a", "plan four"))
        snapshot = index.snapshot()
        assert find_both(snapshot, "plan one two three") == {"plan b", "plan four"}
        assert find_lexical(snapshot, "two") == []
        assert snapshot.document("a", PUBLIC).document.text == "plan four"
        assert find_lexical(index.snapshot(old), "two") == ["plan two"]
        assert len(find_dense(index.snapshot(old), "plan")) == 4

    def test_a_removed_document_is_gone_from_now_on(self, index: Index) -> None:
        """From lists and both searches; versions before still hold it, later ones never."""
        old = commit(index, put("a", "plan a"), put("b", "plan b"))
        commit(index, RemoveDocument("a"))
        snapshot = index.snapshot()
        assert find_both(snapshot, "plan a", ALL) == {"plan b"}
        assert list_ids(snapshot, ALL) == ["b"]
        with pytest.raises(UnknownDocument):
            snapshot.document("a", ALL)
        assert find_both(index.snapshot(old), "plan a") == {"plan a", "plan b"}
        commit(index, put_document(make_document("a", "plan again"), create=True))
        assert find_both(index.snapshot(), "plan") == {"plan b", "plan again"}

    def test_an_old_version_finds_nothing_newer(self, index: Index) -> None:
        """Also where all that it holds is in scope, and what came later lies nearer."""
        old = commit(index, put("a", "plan a"))
        commit(index, *(put(f"{n}", f"plan {n}") for n in range(5)))
        commit(index, put("secret", "plan", allow=frozenset()))
        assert find_dense(index.snapshot(old), "plan") == ["plan a"]
        assert find_lexical(index.snapshot(old), "plan") == ["plan a"]

    def test_a_snapshot_is_held_still(self, index: Index) -> None:
        """Later commits change nothing of what it finds, lists or reads."""
        commit(index, put("a", "plan a"), put("b", "plan b"), put("c", "plan c"))
        held = index.snapshot()
        before = (find_lexical(held, "plan"), find_dense(held, "plan"), held.documents(ALL))
        moved = make_document("moved", "plan c")
        commit(index, put("a", "other a"), RemoveDocument("b"), SetMetadata("c", moved, {}))
        commit(index, put("d", "plan d"))
        after = (find_lexical(held, "plan"), find_dense(held, "plan"), held.documents(ALL))
        assert after == before
        assert held.document("b", PUBLIC).document.text == "plan b"

    def test_access_is_always_of_today(self, index: Index) -> None:
        """What is hidden now is hidden at every version, also from a snapshot held before."""
        old = commit(index, put("a", "plan a"), put("b", "plan b"))
        held = index.snapshot()
        restricted = make_document("a", "plan a", allow=frozenset({"group:hr"}))
        hidden = commit(index, SetMetadata("a", restricted, {}))
        for snapshot in (held, index.snapshot(old), index.snapshot(hidden)):
            assert find_both(snapshot, "plan") == {"plan b"}
            assert list_ids(snapshot) == ["b"]
            with pytest.raises(UnknownDocument):
                snapshot.document("a", PUBLIC)
            members = Scope(principals=frozenset({"group:hr"}))
            assert find_both(snapshot, "plan", members) == {"plan a", "plan b"}
        commit(index, RemoveDocument("a"))
        assert find_both(index.snapshot(old), "plan") == {"plan b"}
        commit(index, put("a", "plan new"))
        assert find_both(index.snapshot(), "plan") == {"plan b"}, "it comes back for whom it was"
        commit(index, RemoveDocument("a"))
        commit(index, replace(put("a", "plan open"), opens=True))
        assert find_both(index.snapshot(), "plan") == {"plan b", "plan open"}
        assert find_both(index.snapshot(old), "plan") == {"plan b"}, "it opens nothing of the old"

    def test_an_update_that_restricts_hides_the_old_text(self, index: Index) -> None:
        """The rule said with the new text covers the text before it."""
        old = commit(index, put("a", "plan old"), put("b", "plan b"))
        commit(index, put("a", "plan new", allow=frozenset()))
        assert find_both(index.snapshot(old), "plan") == {"plan b"}
        assert find_both(index.snapshot(old), "plan", ALL) == {"plan b", "plan old"}

    def test_a_change_of_metadata_keeps_the_passages(self, index: Index) -> None:
        """The rows and their order stay, and what is known of the document is new."""
        old = commit(index, put("a", "plan a", tags={"team": "x"}), put("b", "plan b"))
        rows = index.snapshot().search_lexical("plan", 5, PUBLIC)
        changed = make_document("a", "plan a", title="A", tags={"team": "y"})
        version = commit(index, SetMetadata("a", changed, {"tags": {"team": "y"}}))
        snapshot = index.snapshot()
        assert version == old + 1
        assert snapshot.search_lexical("plan", 5, PUBLIC) == rows
        assert list_ids(snapshot) == ["a", "b"]
        assert find_both(snapshot, "plan", Scope(filter='tag.team = "y"')) == {"plan a"}
        assert find_both(snapshot, "plan", Scope(filter='tag.team = "x"')) == set()
        stored = snapshot.document("a", PUBLIC)
        assert stored.info.title == "A"
        assert stored.overrides == {"tags": {"team": "y"}}

    def test_a_moved_document_keeps_its_text(self, index: Index) -> None:
        """Its passages are the same rows under the new id; the old id is free again."""
        old = commit(index, put("a", "plan a"), put("b", "plan b"))
        rows = index.snapshot().search_lexical("plan", 5, PUBLIC)
        commit(index, SetMetadata("a", make_document("z", "plan a"), {}))
        snapshot = index.snapshot()
        assert snapshot.search_lexical("plan", 5, PUBLIC) == rows
        assert list_ids(snapshot) == ["z", "b"]
        (passage,) = snapshot.document_passages("z", PUBLIC)
        assert passage.document_id == "z"
        with pytest.raises(UnknownDocument):
            snapshot.document("a", PUBLIC)
        assert list_ids(index.snapshot(old)) == ["a", "b"]
        with pytest.raises(DuplicateDocument):
            commit(index, SetMetadata("z", make_document("b", "plan a"), {}))
        commit(index, put_document(make_document("a", "plan new"), create=True))
        assert list_ids(index.snapshot()) == ["z", "b", "a"]

    def test_purging_erases_every_version(self, index: Index) -> None:
        """No version, search, list or vector holds it any more; the rest is as it was."""
        shared = "a text of two documents"
        first = commit(index, put("a", "plan one", shared), put("b", "plan b", shared))
        commit(index, put("a", "plan two"))
        version = index.purge(["a"])
        assert index.snapshot().version == version
        for snapshot in (index.snapshot(), index.snapshot(first)):
            assert find_both(snapshot, "plan one two", ALL) == {"plan b", shared}
            assert find_lexical(snapshot, "plan", scope=ALL) == ["plan b"]
            assert find_dense(snapshot, shared, k=1) == [shared]
            assert list_ids(snapshot, ALL) == ["b"]
        held = index.find_vectors([hash_text(t) for t in ("plan one", "plan two", shared)])
        assert set(held) == {hash_text(shared)}
        expected = EMBEDDER.embed([shared], kind="passage")[0]
        np.testing.assert_allclose(held[hash_text(shared)], expected, atol=2e-3)
        with pytest.raises(UnknownDocument):
            index.purge(["b", "a"])
        assert list_ids(index.snapshot(), ALL) == ["b"]
        commit(index, put("a", "plan three"))
        assert find_both(index.snapshot(), "plan") == {"plan b", shared, "plan three"}

    @pytest.mark.parametrize("erase", ["purge", "vacuum"])
    def test_what_is_erased_and_comes_back_opens_to_nobody(self, index: Index, erase: str) -> None:
        """But to the owner, where it was not for everyone; what was public last is so again."""
        few = frozenset({"group:hr"})
        commit(index, put("a", "plan one", allow=few), put("b", "plan two", allow=few))
        commit(index, put("b", "plan two", allow=None))
        commit(index, SetMetadata("b", make_document("b", "plan two"), {}))
        if erase == "purge":
            index.purge(["a", "b"])
        else:
            commit(index, RemoveDocument("a"), RemoveDocument("b"))
            index.vacuum(datetime.now(UTC) + timedelta(days=1))
        commit(index, put("a", "plan three"), put("b", "plan four"))
        snapshot = index.snapshot()
        assert snapshot.document("a", ALL).document.allow == frozenset()
        assert list_ids(snapshot) == ["b"]

    def test_reopening_changes_nothing(
        self, index: Index, open_index: Callable[[Path], Index], tmp_path: Path
    ) -> None:
        """After a close every version finds, lists and reads what it did before."""
        private = frozenset({"group:hr"})
        when = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
        commit(index, put("a", "plan a", allow=private), put("b", "plan b", modified_at=when))
        commit(index, put("b", "plan b two", "plan b three", tags={"n": 1}), put("c", "plan c"))
        last = commit(index, RemoveDocument("c"))

        def look(opened: Index) -> list[object]:
            snapshots = [opened.snapshot(version) for version in range(last - 2, last + 1)]
            return [
                (s.search_lexical("plan", 9, ALL), find_dense(s, "plan"), s.documents(ALL))
                for s in snapshots
            ]

        before, manifest = look(index), index.manifest
        index.close()
        index.close()
        again = open_index(tmp_path / "library")
        assert again.manifest == manifest
        assert look(again) == before
        assert commit(again, put("d", "plan d")) == last + 1
        again.close()

    def test_two_openers_see_one_library(
        self, index: Index, open_index: Callable[[Path], Index], tmp_path: Path
    ) -> None:
        """What one commits the other finds at its next snapshot, not in the one it holds."""
        other = open_index(tmp_path / "library")
        commit(index, put("a", "plan a"))
        held = other.snapshot()
        commit(index, put("b", "plan b"), RemoveDocument("a"))
        assert find_both(held, "plan") == {"plan a"}
        assert find_both(other.snapshot(), "plan") == {"plan b"}
        commit(other, put("c", "plan c"))
        assert find_both(index.snapshot(), "plan") == {"plan b", "plan c"}
        other.close()

    def test_a_source_knows_its_files_and_documents(self, index: Index) -> None:
        """Files are remembered and forgotten with a commit, also with one without changes."""
        source = SourceInfo("handbook", "file:///handbook", "")
        index.put_source(source)
        index.put_source(SourceInfo("wiki", "file:///wiki", "wiki"))
        mine = put_document(make_document("a", "plan a"), source="handbook")
        read = FileState("a", FileStat(6, 1, 2**63 + 5), "read", "b" * 8, mine.content_hash)
        failed = FileState(
            "x", FileStat(9, 2, 7, 1, '"etag"'), "failed", error="UnreadableDocument", message="m"
        )
        vectors = dict(
            zip([hash_text("plan a")], EMBEDDER.embed(["plan a"], kind="passage"), strict=True)
        )
        version = index.commit([mine], vectors, source="handbook", files=[read, failed])
        assert index.files("handbook") == {"a": read, "x": failed}
        assert index.files("wiki") == {}
        assert index.commit([], {}, source="handbook", forgotten=["x"]) == version
        assert index.files("handbook") == {"a": read}
        commit(index, put("b", "plan b"))
        assert index.snapshot().content_hashes("handbook") == {"a": mine.content_hash}
        named = [(known.name, known.documents) for known in index.sources()]
        assert named == [("handbook", 1), ("wiki", 0)]
        index.put_source(replace(source, recipe="r", synced_at=datetime(2026, 1, 2, tzinfo=UTC)))
        assert [known.recipe for known in index.sources()] == ["r", ""]
        index.drop_source("handbook")
        assert [known.name for known in index.sources()] == ["wiki"]
        assert index.files("handbook") == {}
        assert list_ids(index.snapshot()) == ["a", "b"]

    def test_languages_are_counted(self, index: Index) -> None:
        """Of the last version's documents, those whose language is known."""
        puts = [
            put_document(make_document(id, f"plan {id}"), language=language)
            for id, language in (("a", "en"), ("b", "de"), ("c", "en"), ("d", None))
        ]
        commit(index, *puts)
        commit(index, RemoveDocument("c"))
        assert dict(index.languages) == {"en": 1, "de": 1}

    @pytest.mark.parametrize("seed", range(3))
    def test_random_changes_match_a_plain_model(self, index: Index, seed: int) -> None:
        """Forty commits of any changes: every version finds what a dictionary says it holds."""
        chance = random.Random(seed)
        # A document that comes back is another one of its name: what the earlier ones were
        # restricted to stays, and a restriction of the last one holds for all of them.
        history: dict[int, dict[str, tuple[str, int]]] = {index.snapshot().version: {}}
        restricted: set[tuple[str, int]] = set()
        lives = dict.fromkeys("abcdefgh", 0)
        for step in range(40):
            live = dict(history[max(history)])
            changes: list[Change] = []
            for id in chance.sample("abcdefgh", chance.randint(1, 3)):
                if id in live and chance.random() < 0.3:
                    changes.append(RemoveDocument(id))
                    del live[id]
                    continue
                lives[id] += id not in live
                hide = chance.random() < 0.3
                restricted.discard((id, lives[id]))
                if hide:
                    restricted.update((id, life) for life in range(1, lives[id] + 1))
                live.pop(id, None)
                live[id] = f"plan {id} {step}", lives[id]
                allow = frozenset({"group:hr"}) if hide else None
                changes.append(replace(put(id, live[id][0], allow=allow), opens=True))
            history[commit(index, *changes)] = live
            version = chance.choice(list(history))
            snapshot, held = index.snapshot(version), history[version]
            public = [text for id, (text, life) in held.items() if (id, life) not in restricted]
            assert find_lexical(snapshot, "plan", 50) == public
            assert sorted(find_dense(snapshot, "plan", 50)) == sorted(public)
            assert list_ids(snapshot, ALL) == list(held)
