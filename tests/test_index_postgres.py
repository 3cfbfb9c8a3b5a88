"""The PostgreSQL engine: the suite that every engine passes, and what only this one promises."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
import pytest

from ibid.errors import (
    BadSetting,
    EmbedderMismatch,
    FormatTooNew,
    LibraryError,
    LibraryLocked,
    LibraryNotFound,
    UnknownDocument,
)
from ibid.index.embedded.engine import EmbeddedIndex
from ibid.index.options import Approximation
from ibid.index.postgres.postings import BUCKET
from ibid.protocols import (
    Index,
    Manifest,
    PutDocument,
    RemoveDocument,
    Scope,
    Scored,
    Snapshot,
)
from ibid.records import OWNER
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.index_answers import check_withheld, draw_answer, keep
from ibid.testing.index_parts import (
    ALL,
    EMBEDDER,
    MANIFEST,
    PUBLIC,
    analyze_words,
    commit,
    find_both,
    find_dense,
    find_lexical,
    hash_text,
    list_ids,
    make_document,
    put,
    put_document,
    turn,
)
from ibid.testing.index_suite import IndexSuite
from postgres_server import locate, open_postgres

HR = Scope(frozenset({"group:hr"}))


class TestPostgres(IndexSuite):
    @pytest.fixture
    def open_index(self, postgres: str) -> Callable[[Path], Index]:
        return lambda folder: open_postgres(locate(postgres, folder), analyze=analyze_words)


@pytest.fixture
def address(postgres: str, tmp_path: Path) -> str:
    return locate(postgres, tmp_path)


@pytest.fixture
def index(address: str) -> Iterator[Index]:
    index = open_postgres(address, analyze=analyze_words)
    yield index
    index.close()


def run(address: str, *statements: str) -> list[tuple[Any, ...]]:
    """Statements in the library's schema, past the engine; the rows of the last one."""
    import psycopg

    from ibid.index.postgres.database import split_address

    url, schema = split_address(address)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}, public")
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


# -- addresses and tables -----------------------------------------------------------------------


def test_an_address_names_its_schema() -> None:
    pytest.importorskip("psycopg_pool", reason="needs the extra postgres")
    from ibid.index.postgres.database import split_address, tell_address

    url, schema = split_address("postgresql://ann:x@host/db?schema=team_a&sslmode=require")
    assert schema == "team_a"
    assert url == "postgresql://ann:x@host/db?sslmode=require&connect_timeout=10"
    assert split_address("postgresql:///db")[1] == "ibid"
    assert tell_address("postgresql://ann:x@host/db?password=x") == "postgresql://host/db"
    for bad in ("A", "a-b", "", "x;drop", "pg_own", "9a"):
        with pytest.raises(BadSetting):
            split_address(f"postgresql://host/db?schema={bad}")


def test_a_library_is_made_only_where_that_is_allowed(address: str) -> None:
    with pytest.raises(LibraryNotFound):
        open_postgres(address, analyze=analyze_words, create=False)
    open_postgres(address, analyze=analyze_words).close()
    open_postgres(address, analyze=analyze_words, create=False).close()
    run(address, "UPDATE library SET format = 99")
    with pytest.raises(FormatTooNew):
        open_postgres(address, analyze=analyze_words)


def test_openers_at_once_make_one_library(address: str) -> None:
    opened: list[Index] = []
    threads = [
        threading.Thread(
            target=lambda: opened.append(open_postgres(address, analyze=analyze_words))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [index.snapshot().version for index in opened] == [0] * 4
    for index in opened:
        index.close()
    with pytest.raises(LibraryError, match="closed"):
        opened[0].snapshot()


# -- access -------------------------------------------------------------------------------------


def test_the_role_of_readers_sees_what_the_caller_may_see(address: str, index: Index) -> None:
    """The second fence holds without any condition, in every table that tells of documents."""
    hidden = put("hr", "plan hr", allow=frozenset({"group:hr"}), tags={"a": 1})
    commit(index, put("open", "plan open"), hidden)
    for principals, seen in (("{}", 1), ("{group:hr}", 2), ("{group:it}", 1)):
        for table in ("documents", "revisions", "contents", "texts", "passages"):
            ((count,),) = run(
                address,
                "SET ROLE ibid_reader",
                f"SET ibid.principals = '{principals}'",
                f"SELECT count(*) FROM {table}",
            )
            assert count == seen, (principals, table)
    found = run(address, "SET ROLE ibid_reader", "SELECT count(*) FROM attributes")
    assert found == [(0,)], "nothing is said of the caller: public documents only"
    for statement in ("SELECT * FROM answers", "DELETE FROM passages"):
        with pytest.raises(Exception, match="permission denied"):
            run(address, "SET ROLE ibid_reader", statement)


def test_the_second_fence_stands_where_the_first_one_falls(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ibid.index.postgres import scope
    from ibid.index.postgres.scope import Condition

    commit(index, put("open", "plan open"), put("hr", "plan hr", allow=frozenset({"group:hr"})))
    monkeypatch.setattr(scope, "list_seen", lambda principals: Condition("true"))
    snapshot = index.snapshot()
    assert find_both(snapshot, "plan") == {"plan open"}
    assert find_both(snapshot, "plan", HR) == {"plan open", "plan hr"}
    assert list_ids(snapshot) == ["open"]
    assert len(snapshot.search_documents("plan", 9, PUBLIC)) == 1
    with pytest.raises(UnknownDocument):
        snapshot.document("hr", PUBLIC)
    with pytest.raises(UnknownDocument):
        index.answers.read_document("hr", snapshot.version, frozenset())


def test_names_that_no_database_holds_find_nothing(index: Index) -> None:
    commit(index, put("a", "plan a"))
    for name in ("a\0", "\ud83d"):
        snapshot = index.snapshot()
        with pytest.raises(UnknownDocument):
            snapshot.document(name, PUBLIC)
        with pytest.raises(UnknownDocument):
            index.history(name, ALL)
        with pytest.raises(UnknownDocument):
            index.purge([name])
        assert find_lexical(snapshot, f"plan {name}", scope=Scope(frozenset({name}))) == ["plan a"]


# -- ranking ------------------------------------------------------------------------------------


RETRIEVERS: Final[Sequence[Callable[[Snapshot, str, Scope], list[Scored]]]] = (
    lambda snapshot, terms, scope: snapshot.search_lexical(terms, 20, scope),
    lambda snapshot, terms, scope: snapshot.search_documents(terms, 20, scope),
    lambda snapshot, terms, scope: snapshot.search_dense(
        EMBEDDER.embed([terms], kind="query")[0], 20, scope
    ),
)


@pytest.mark.parametrize("seed", range(2))
def test_both_engines_rank_alike(address: str, tmp_path: Path, seed: int) -> None:
    """The same hits with the same scores, where no document is longer than tantivy counts exactly:
    40 terms. Longer ones it rounds down by up to an eighth."""
    chance = random.Random(seed)
    words = [f"w{n}" for n in range(40)]
    engines: list[Index] = [
        open_postgres(address, analyze=analyze_words),
        EmbeddedIndex(tmp_path / "embedded", analyze=analyze_words),
    ]
    for part in range(4):
        puts = [
            put(
                f"{part}/{n}",
                *(" ".join(chance.choices(words, k=chance.randint(3, 13))) for _ in range(3)),
                tags={"team": chance.choice(["x", "y"])},
                allow=chance.choice([None, frozenset({"group:hr"})]),
            )
            for n in range(8)
        ]
        for index in engines:
            commit(index, *puts)
    scopes = [PUBLIC, HR, ALL, Scope(filter='tag.team = "x"'), Scope(OWNER, phrases=("w1",))]
    scopes += [Scope(OWNER, excluded=("w2",)), Scope(OWNER, phrases=("w1 w2",))]
    for scope in scopes:
        terms = " ".join(chance.choices(words, k=5))
        for ask in RETRIEVERS:
            mine, theirs = (ask(index.snapshot(), terms, scope) for index in engines)
            np.testing.assert_allclose(
                sorted(one.score for one in mine), sorted(one.score for one in theirs), atol=2e-3
            )
            exact = {one.row: one.score for one in theirs}
            assert all(abs(exact.get(one.row, one.score) - one.score) < 2e-3 for one in mine)
            assert len({one.row for one in mine} & set(exact)) >= 0.9 * len(mine)
    for index in engines:
        index.close()


def test_a_version_keeps_its_statistics(index: Index) -> None:
    """What came later changes no score of a version; a purge does, for all of them."""
    first = commit(index, put("a", "tax form"), put("b", "tax"))
    scores = index.snapshot().search_lexical("form tax", 9, PUBLIC)
    commit(index, *(put(f"{n}", "form and much else") for n in range(5)))
    assert index.snapshot(first).search_lexical("form tax", 9, PUBLIC) == scores
    assert index.snapshot(first).measure_rarity(["form"]) != index.snapshot().measure_rarity(
        ["form"]
    )
    index.purge(["b"])
    ((hit),) = index.snapshot(first).search_lexical("form", 9, PUBLIC)
    assert hit.score == pytest.approx(np.log(1 + 0.5 / 1.5), rel=1e-3)
    assert index.check() == []


def test_a_wide_search_goes_by_the_index_of_vectors(address: str) -> None:
    """It finds nearly what a look at every vector finds; a narrow one looks at every vector."""
    index = open_postgres(address, analyze=analyze_words, approximation=Approximation(min_rows=200))
    texts = [f"plan {n} of {n % 7} {n % 11}" for n in range(300)]
    allow = [None, frozenset({"group:hr"})]
    commit(index, *(put(f"{n}", text, allow=allow[n % 50 == 0]) for n, text in enumerate(texts)))
    ((indexes,),) = run(
        address, "SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'vectors_near%'"
        " AND schemaname = current_schema()",
    )  # fmt: skip
    assert indexes == 1
    exact = open_postgres(address, analyze=analyze_words)
    for scope in (ALL, PUBLIC, Scope(filter="id like '1%'")):
        shared = 0
        for text in texts[:20]:
            vector = EMBEDDER.embed([text], kind="query")[0]
            near = index.snapshot().search_dense(vector, 10, scope)
            all_of_them = exact.snapshot().search_dense(vector, 10, scope)
            assert [-one.score for one in near] == sorted(-one.score for one in near)
            assert len(near) == 10
            shared += len({one.row for one in near} & {one.row for one in all_of_them})
        assert shared >= 180
    commit(index, put("new", "plan zebra"))
    assert find_dense(index.snapshot(), "plan zebra", 1) == ["plan zebra"]
    index.close()
    exact.close()


# -- many writers -------------------------------------------------------------------------------


def test_writers_at_once_lose_nothing(address: str) -> None:
    """Each commit is one version with its own documents, whichever opener and thread it is of."""
    engines = [open_postgres(address, analyze=analyze_words) for _ in range(2)]
    made: list[int] = []

    def write(number: int) -> None:
        for step in range(6):
            made.append(commit(engines[number % 2], put(f"{number}/{step}", f"plan {number}")))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(1, 25))
    assert len(list_ids(engines[0].snapshot())) == 24
    for version in (1, 7, 24):
        assert len(find_lexical(engines[1].snapshot(version), "plan", 99)) == version
    assert engines[0].check() == []
    for engine in engines:
        engine.close()


def test_a_writer_that_waits_too_long_is_told(address: str, index: Index) -> None:
    hasty = open_postgres(address, analyze=analyze_words, lock_timeout_s=0.05)
    commit(index, put("a", "plan a"))
    with index._database.publishing():  # type: ignore[attr-defined]  # another writer, held up
        with pytest.raises(LibraryLocked):
            commit(hasty, put("b", "plan b"))
        assert find_both(hasty.snapshot(), "plan") == {"plan a"}, "readers wait for nobody"
        keep(hasty, draw_answer(hasty, "a"))
    with index.stage(MANIFEST), pytest.raises(LibraryLocked), hasty.stage(MANIFEST):
        pass
    commit(hasty, put("b", "plan b"))
    hasty.close()


def test_another_embedder_is_refused(index: Index) -> None:
    commit(index, put("a", "plan a"))
    other = put("b", "plan b")
    vectors = {other.passages[0].text_hash: turn(0)}
    with pytest.raises(EmbedderMismatch):
        index.commit([other], vectors, manifest=replace(MANIFEST, embedder="another"))
    with pytest.raises(EmbedderMismatch):
        index.commit([other], {other.passages[0].text_hash: turn(0)[:8]}, manifest=MANIFEST)
    assert list_ids(index.snapshot()) == ["a"]


# -- readers ------------------------------------------------------------------------------------


def test_readers_may_lag_behind(postgres: str, tmp_path: Path) -> None:
    """A search goes to the readers' server at its version, writing to the library itself."""
    name = f"replica{os.getpid()}"
    main, copy = (
        urlsplit(locate(postgres, tmp_path))._replace(path=f"/{database}").geturl()
        for database in (name, f"{name}_copy")
    )
    run(locate(postgres, tmp_path), f"CREATE DATABASE {name}")
    index = open_postgres(main, analyze=analyze_words)
    first = commit(index, put("a", "plan a"))
    index.close()
    run(locate(postgres, tmp_path), f"CREATE DATABASE {name}_copy TEMPLATE {name}")
    index = open_postgres(main, analyze=analyze_words, readers=copy)
    last = commit(index, put("a", "plan new"), put("b", "plan b"))
    assert index.snapshot().version == first, "the copy still holds the version before"
    assert find_both(index.snapshot(), "plan") == {"plan a"}
    answer = draw_answer(index, "a")
    keep(index, answer)
    assert index.answers.find("one", frozenset()).answer.version == first
    with index.writing():
        assert index.snapshot().version == last, "who writes sees what was written"
        assert find_both(index.snapshot(), "plan") == {"plan new", "plan b"}
    index.close()


# -- upkeep -------------------------------------------------------------------------------------


def test_history_is_told_as_far_as_it_may_be_seen(index: Index) -> None:
    commit(index, put("a", "plan a"))
    commit(index, put("a", "plan b"), put("hr", "plan hr", allow=frozenset({"group:hr"})))
    commit(index, RemoveDocument("a"))
    found = index.history("a", PUBLIC)
    assert [(one.info.version, one.removed_in) for one in found] == [(1, 2), (2, 3)]
    assert len({one.identity for one in found}) == 1
    assert len(index.history("hr", HR)) == 1
    with pytest.raises(UnknownDocument):
        index.history("hr", PUBLIC)
    assert [one.info.id for one in index.snapshot(2).revisions(PUBLIC)] == ["a"]


def test_a_vacuum_drops_what_only_old_versions_held(index: Index) -> None:
    commit(index, put("a", "plan old"), put("b", "plan b"), put("c", "plan cited"))
    keep(index, draw_answer(index, "c"))
    commit(index, put("a", "plan new"), put("c", "plan other"))
    found = index.vacuum(datetime(2100, 1, 1, tzinfo=UTC))
    assert (found.version, found.versions, found.revisions, found.passages) == (2, 1, 1, 1)
    assert found.cited == 1
    assert index.answers.find("one", frozenset()).answer.text == "plan cited [1]."
    assert find_both(index.snapshot(), "plan old") == {"plan new", "plan b", "plan other"}
    assert index.find_vectors([hash_text("plan old")]) == {}
    assert index.check() == []
    found = index.vacuum(datetime(2100, 1, 1, tzinfo=UTC), cited=True)
    assert (found.revisions, found.cited) == (1, 0)
    check_withheld(index.answers.find("one", frozenset()).answer)
    assert index.vacuum(datetime(2000, 1, 1, tzinfo=UTC)).versions == 0
    assert index.check() == []


def test_a_purge_that_was_killed_is_ended_by_the_next_writer(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documents are gone with its transaction; answers show nothing, and then hold nothing."""
    from ibid.index.postgres import answers

    commit(index, put("a", "plan a"), put("b", "plan b"))
    keep(index, draw_answer(index, "a"))

    def die(database: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(answers, "forget_purged", die)
        with pytest.raises(KeyboardInterrupt):
            index.purge(["a"])
    assert list_ids(index.snapshot()) == ["b"]
    check_withheld(index.answers.find("one", OWNER).answer)
    assert index.answers.list_drawn() == [("a", 1)]
    commit(index, put("c", "plan c"))
    assert index.answers.list_drawn() == []
    assert index.answers.find("one", OWNER).answer.question == ""


DAMAGES = {
    "UPDATE postings SET packed = substr(packed, 11)": "postings",
    "UPDATE document_postings SET packed = set_byte(packed, 9, 9)": "postings",
    "INSERT INTO postings VALUES (1, 0, '\\x004d0000000100000001')": "postings",
    "DELETE FROM vectors WHERE row = 1": "vectors",
    "UPDATE vectors SET embedding = embedding + embedding WHERE row = 0": "vectors",
    "UPDATE versions SET terms = terms + 1": "statistics",
    "INSERT INTO contents SELECT 99, 'x', NULL, 2, 0, 0": "contents",
    "INSERT INTO documents VALUES (98, NULL, NULL, '{}')": "documents",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_derived_is_checked_and_made_anew(address: str, index: Index, damage: str) -> None:
    commit(index, put("a", "plan one", "plan two"))
    before = look(index)
    assert index.check() == []
    run(address, damage)
    found = index.check()
    assert DAMAGES[damage] in {problem.part for problem in found}
    index.repair(lambda texts: EMBEDDER.embed(list(texts), kind="passage"))
    assert index.check() == []
    assert look(index) == before


def look(index: Index) -> list[object]:
    """What the last version finds and lists."""
    snapshot = index.snapshot()
    return [
        snapshot.search_lexical("plan two", 9, ALL),
        snapshot.search_documents("plan two", 9, ALL),
        snapshot.search_dense(turn(3), 9, ALL),
        snapshot.documents(ALL),
    ]


@pytest.mark.parametrize(
    ("damage", "part"),
    [
        ("UPDATE passages SET end_at = 999 WHERE row = 0", "spans"),
        ("UPDATE contents SET characters = 3", "texts"),
        ("UPDATE contents SET rows = 5", "passages"),
        ("UPDATE library SET next_row = 1", "rows"),
        ("UPDATE library SET version = 0", "unwritten"),
        ("INSERT INTO versions SELECT version + 1, 0, 0, 0, 0, 0, 0 FROM library", "versions"),
        (
            "INSERT INTO revisions SELECT 99, document, content, name, version, 9, title,"
            " source_uri, media_type, modified_at, archived, tags, metadata FROM revisions",
            "revisions",
        ),
    ],
)
def test_damage_to_the_truth_is_told(address: str, index: Index, damage: str, part: str) -> None:
    commit(index, put("a", "plan one", "plan two"))
    run(address, damage)
    found = index.check()
    assert part in {problem.part for problem in found}
    assert not all(problem.repairable for problem in found)


# -- another generation -------------------------------------------------------------------------

WIDE = HashingEmbedder(dimension=32)
OTHER = Manifest(WIDE.name, "other", WIDE.dimension, "words", "whole")


def restage(document: PutDocument) -> PutDocument:
    """The same text with all of it as one passage."""
    whole = put_document(replace(document.document, text=document.document.text))
    merged = make_document("x", document.document.text.replace("\n\n", " and "))
    (passage,) = put_document(merged).passages
    text = document.document.text
    return replace(
        whole,
        passages=[replace(passage, passage=replace(passage.passage, end=len(text), text=text))],
        content_hash="new" + document.content_hash,
    )


def stage_all(index: Index, manifest: Manifest = OTHER) -> int:
    """Stage what is pending under another embedder, and publish it."""
    with index.stage(manifest) as staging:
        for content in staging.pending():
            staged = restage(put_document(content.document))
            texts = [indexed.passage.text for indexed in staged.passages]
            found = zip(
                (indexed.text_hash for indexed in staged.passages),
                WIDE.embed(texts, kind="passage"),
                strict=True,
            )
            staging.stage({content.key: staged}, dict(found))
        with index.writing():
            return staging.publish()


def test_a_library_is_embedded_and_cut_anew(index: Index) -> None:
    """Every version reads the new passages, with statistics of its own; access stays."""
    first = commit(index, put("a", "plan one", "tea two"), put("b", "plan b", tags={"x": 1}))
    commit(index, put("a", "plan new"), put("hr", "plan hr", allow=frozenset({"group:hr"})))
    held = index.snapshot()
    found = held.search_lexical("plan", 9, PUBLIC)
    version = stage_all(index)
    assert index.manifest == OTHER
    assert index.snapshot().version == version == 3
    assert list_ids(index.snapshot()) == ["b", "a"]
    assert find_lexical(index.snapshot(), "plan") == ["plan b", "plan new"]
    assert set(find_lexical(index.snapshot(first), "tea")) == {"plan one\n\ntea two"}
    query = WIDE.embed(["plan hr"], kind="query")[0]
    assert find_dense(index.snapshot(), query, 1, HR) == ["plan hr"]
    assert len(find_dense(index.snapshot(first), query, 9, HR)) == 2
    assert index.snapshot(first).measure_rarity(["tea"])["tea"] == pytest.approx(
        np.log(1 + 1.5 / 1.5)
    )
    # Who was reading goes on with the passages and vectors that there were.
    assert held.search_lexical("plan", 9, PUBLIC) == found
    assert set(held.passages([one.row for one in found])) == {one.row for one in found}
    assert find_dense(held, "plan new", 1) == ["plan new"]
    assert index.check() == []
    index.repair(lambda texts: WIDE.embed(list(texts), kind="passage"))
    assert index.check() == []


def test_what_was_replaced_goes_after_some_time(address: str, index: Index) -> None:
    commit(index, put("a", "plan one", "plan two"))
    stage_all(index)
    new = put("b", "plan b")
    vectors = {new.passages[0].text_hash: WIDE.embed(["plan b"], kind="passage")[0]}
    index.commit([new], vectors, manifest=OTHER)
    assert run(address, "SELECT count(*) FROM passages") == [(4,)]
    run(address, "UPDATE library SET replaced_at = 0")
    index.commit([RemoveDocument("b")], {}, manifest=OTHER)
    for table in ("passages", "vectors"):
        assert run(address, f"SELECT min(row), count(*) FROM {table}") == [(BUCKET, 2)]
    assert index.check() == []


def test_a_staging_goes_on_and_refuses_what_is_pending(index: Index) -> None:
    commit(index, put("a", "plan a"), put("b", "plan b"))
    with index.stage(OTHER) as staging:
        content = next(staging.pending())
        staged = restage(put_document(content.document))
        vector = WIDE.embed(["plan a"], kind="passage")[0]
        staging.stage({content.key: staged}, {staged.passages[0].text_hash: vector})
        assert (staging.staged, staging.count_contents()) == (1, 2)
    with index.stage(OTHER) as staging:
        assert staging.staged == 1
        held = staging.find_vectors([staged.passages[0].text_hash, b"absent"])
        assert list(held) == [staged.passages[0].text_hash]
        np.testing.assert_allclose(held[staged.passages[0].text_hash], vector, atol=2e-3)
        with pytest.raises(LibraryError):
            staging.publish()
        staging.discard()
    with index.stage(replace(OTHER, chunking="other")) as staging:
        assert staging.staged == 0
    assert index.snapshot().version == 1


# -- the whole library --------------------------------------------------------------------------


def test_a_library_at_an_address_is_one_like_any(address: str, tmp_path: Path) -> None:
    import ibid

    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text("# Leave\n\nLeave lasts sixteen weeks.\n")
    with ibid.open(address, embedder=HashingEmbedder()) as library:
        assert library.sync(tmp_path / "handbook").added == ("leave.md",)
        assert library.sync(tmp_path / "handbook").unchanged == 1
        answer = library.ask("How long does leave last?")
        assert [citation.document_id for citation in answer.citations] == ["leave.md"]
        assert library.status().documents == 1
    with ibid.open(address, embedder=HashingEmbedder()) as library:
        assert [hit.document_id for hit in library.search("leave")] == ["leave.md"]
        assert library.answers()[0].answer.text == answer.text
        assert library.verify() == []
        assert library.reindex().contents == 1
        assert [hit.document_id for hit in library.search("leave")] == ["leave.md"]
