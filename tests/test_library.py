"""The Python face: what goes in, what is refused, and what is never done twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ibid
from conftest import find, list_ids, open_hashing
from ibid.testing.embedders import HashingEmbedder

LEAVE = "Parental leave lasts sixteen weeks."
TRAVEL = "Trains are booked through the portal."


class Counting:
    """A plain function as an embedder that remembers the texts it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: list[str]) -> Any:
        self.texts += texts
        return HashingEmbedder().embed(texts, kind="passage")


@pytest.fixture
def counting(tmp_path: Path) -> Any:
    embed = Counting()
    with ibid.open(tmp_path / "counted", embedder=embed) as library:
        yield library, embed


def state(library: ibid.Library) -> Any:
    """All of a library that a caller can see."""
    infos = library.documents(ibid.OWNER)
    texts = {info.id: library.document(info.id, ibid.OWNER) for info in infos}
    return library.status(ibid.OWNER).version, infos, texts


# -- creating and overwriting -------------------------------------------------------------------


def test_what_is_ingested_is_found_in_every_mode(library: ibid.Library) -> None:
    report = library.ingest(ibid.Document("leave", LEAVE, title="Leave"))
    assert report.version == 1
    assert report.added == ("leave",)
    assert report.passages.added == report.passages.embedded == 1
    for mode in ("lexical", "dense", "hybrid"):
        assert find(library, "parental leave", mode) == ["leave"]
    assert library.document("leave").text == LEAVE


def test_an_existing_id_is_refused_and_nothing_changes(library: ibid.Library) -> None:
    library.ingest(ibid.Document("leave", LEAVE))
    before = state(library)
    with pytest.raises(ibid.DuplicateDocument, match="leave") as refused:
        library.ingest(ibid.Document("leave", "Leave was abolished."))
    assert "update" in refused.value.hint
    with pytest.raises(ibid.DuplicateDocument):
        library.ingest(ibid.Document("leave", LEAVE))  # even the same text
    assert state(library) == before


def test_a_batch_with_one_duplicate_changes_nothing(library: ibid.Library) -> None:
    library.ingest(ibid.Document("b", TRAVEL))
    before = state(library)
    with pytest.raises(ibid.DuplicateDocument, match="'b'"):
        library.ingest([ibid.Document(id, LEAVE) for id in "abc"])
    with pytest.raises(ibid.DuplicateDocument, match="more than once"):
        library.ingest([ibid.Document("d", LEAVE), ibid.Document("d", TRAVEL)])
    with pytest.raises(ibid.DuplicateDocument, match="more than once"):
        library.update([ibid.Document("d", LEAVE), ibid.Document("d", TRAVEL)])
    assert state(library) == before
    assert find(library, "parental") == []


@pytest.mark.parametrize("text", ["", " \n\t ", "\ufeff", "\u3000\u00a0"])
def test_a_document_without_text_is_refused_with_its_batch(
    library: ibid.Library, text: str
) -> None:
    for put in (library.ingest, library.update):
        with pytest.raises(ibid.EmptyDocument, match="blank"):
            put([ibid.Document("good", LEAVE), ibid.Document("blank", text)])
    assert state(library) == (0, [], {})


@pytest.mark.parametrize("id", ["", "  ", "\n"])
def test_a_document_without_an_id_is_refused(library: ibid.Library, id: str) -> None:
    with pytest.raises(ibid.EmptyDocument):
        library.ingest(ibid.Document(id, LEAVE))
    assert list_ids(library) == []


def test_a_batch_is_one_version(library: ibid.Library) -> None:
    report = library.ingest([ibid.Document(str(number), LEAVE) for number in range(7)])
    assert report.version == 1
    assert library.ingest([]).version == 1


def test_an_update_replaces_every_old_passage(library: ibid.Library) -> None:
    old = "\n\n".join(f"# Part {n}\n\nwalrus number{n} here" for n in range(6))
    library.ingest(ibid.Document("doc", old))
    were = library.describe("doc").passages
    report = library.update(ibid.Document("doc", "Only a penguin is left."))
    assert report.updated == ("doc",)
    assert (report.passages.removed, report.passages.added) == (were, 1)
    assert find(library, "walrus number3") == []
    assert find(library, "penguin") == ["doc"]
    hits = library.search("walrus number3", mode="dense", principals=ibid.OWNER)
    assert [hit.passage.text for hit in hits] == ["Only a penguin is left."]
    assert len(library.passages("doc")) == 1


def test_an_update_of_a_new_id_creates(library: ibid.Library) -> None:
    assert library.update(ibid.Document("doc", LEAVE)).added == ("doc",)
    again = library.update(ibid.Document("doc", LEAVE))
    assert (again.version, again.unchanged, again.updated) == (1, 1, ())


def test_what_an_update_does_not_say_stays_set(library: ibid.Library) -> None:
    library.ingest(ibid.Document("doc", LEAVE))
    library.set("doc", allow=["group:hr"], tags={"team": "people"}, archived=True)
    library.update(ibid.Document("doc", TRAVEL))
    info = library.describe("doc", ibid.OWNER)
    assert info.allow == frozenset({"group:hr"})
    assert info.tags == {"team": "people"}
    assert info.archived
    library.update(ibid.Document("doc", TRAVEL, allow=frozenset({"user:ann"})))
    assert library.describe("doc", ibid.OWNER).allow == frozenset({"user:ann"})


# -- never embedded twice -----------------------------------------------------------------------


def test_two_documents_of_one_text_share_a_vector_and_nothing_else(
    counting: tuple[ibid.Library, Counting],
) -> None:
    library, embed = counting
    library.ingest(
        [
            ibid.Document("apple", LEAVE, tags={"company": "apple"}),
            ibid.Document("google", LEAVE, tags={"company": "google"}, allow=frozenset({"g"})),
        ]
    )
    assert embed.texts == [LEAVE]
    library.ingest(ibid.Document("later", LEAVE, tags={"company": "later"}))
    assert embed.texts == [LEAVE]
    infos = {info.id: info for info in library.documents(ibid.OWNER)}
    assert {id: info.tags["company"] for id, info in infos.items()} == {id: id for id in infos}
    assert infos["google"].allow == frozenset({"g"})
    assert find(library, "parental leave", "dense") == ["apple", "google", "later"]
    assert find(library, "parental leave", principals={"g"}) == ["apple", "google", "later"]
    assert find(library, "parental leave", principals=()) == ["apple", "later"]
    assert find(library, "leave", filter='tag.company = "google"') == ["google"]

    answer = library.ask("How long is parental leave?", principals=ibid.OWNER)
    assert answer.status is ibid.AnswerStatus.ANSWERED
    assert [hit.passage.text for hit in answer.sources] == [LEAVE]

    library.remove("apple")
    assert find(library, "parental leave", "hybrid") == ["google", "later"]


def test_a_change_of_metadata_or_access_embeds_nothing(
    counting: tuple[ibid.Library, Counting],
) -> None:
    library, embed = counting
    library.ingest(ibid.Document("doc", LEAVE))
    embed.texts.clear()
    reports = [
        library.update(ibid.Document("doc", LEAVE, metadata={"author": "Ann"})),
        library.update(ibid.Document("doc", LEAVE, tags={"team": "people"})),
        library.update(ibid.Document("doc", LEAVE, allow=frozenset({"group:hr"}))),
        library.set("doc", public=True),
        library.set("doc", archived=True, tags={"team": None}),
    ]
    assert [report.metadata_changed for report in reports] == [("doc",)] * 5
    assert [report.version for report in reports] == [2, 3, 4, 5, 6]
    assert sum(report.passages.embedded for report in reports) == 0
    assert embed.texts == []
    assert library.set("doc", public=True).unchanged == 1


def test_the_unchanged_passages_of_an_edited_document_are_not_embedded_again(
    counting: tuple[ibid.Library, Counting],
) -> None:
    library, embed = counting
    words = "Every one of these sentences fills its own section up to some length. "
    parts = [f"Section number {n} says this. {words * 12}" for n in range(5)]
    library.ingest(ibid.Document("doc", "\n\n".join(parts)))
    before = list(embed.texts)
    assert len(before) >= 5
    embed.texts.clear()
    parts[4] += "And one more."
    report = library.update(ibid.Document("doc", "\n\n".join(parts)))
    assert 0 < len(embed.texts) <= 2
    assert report.passages.embedded == len(embed.texts)
    assert not set(embed.texts) & set(before)
    assert report.passages.added == len(library.passages("doc"))
    embed.texts.clear()
    library.remove("doc")
    library.ingest(ibid.Document("doc", "\n\n".join(parts)))
    assert embed.texts == []


# -- removing and erasing -----------------------------------------------------------------------


def test_what_is_removed_is_found_in_no_mode_and_can_come_back(library: ibid.Library) -> None:
    library.ingest([ibid.Document("leave", LEAVE), ibid.Document("travel", TRAVEL)])
    report = library.remove("leave")
    assert report.removed == ("leave",)
    assert report.passages.removed == 1
    for mode in ("lexical", "dense", "hybrid"):
        assert "leave" not in find(library, "parental leave weeks", mode)
    with pytest.raises(ibid.UnknownDocument):
        library.document("leave", ibid.OWNER)
    assert library.ingest(ibid.Document("leave", LEAVE)).added == ("leave",)
    assert find(library, "parental leave") == ["leave"]


@pytest.mark.parametrize("purge", [False, True])
def test_removing_what_is_not_there_changes_nothing(library: ibid.Library, purge: bool) -> None:
    library.ingest(ibid.Document("leave", LEAVE))
    before = state(library)
    with pytest.raises(ibid.UnknownDocument, match="absent"):
        library.remove("leave", "absent", purge=purge)
    with pytest.raises(ibid.UnknownDocument, match="absent"):
        library.set("leave", "absent", archived=True)
    assert state(library) == before


def test_a_purged_document_is_in_no_file_of_the_library(tmp_path: Path) -> None:
    secret = "Quetzalcoatlus"
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([ibid.Document(f"other{n}", f"{TRAVEL} {n}") for n in range(40)])
        library.ingest(
            ibid.Document(
                f"papers/{secret}.md",
                f"The {secret} codeword.\n\nIt has more than one passage." * 30,
                title=f"On {secret}",
                tags={"animal": secret},
                metadata={"author": secret},
                source=f"file:///{secret}",
                allow=frozenset({f"user:{secret}"}),
            )
        )
        library.update(ibid.Document(f"papers/{secret}.md", f"Still the {secret}, edited."))
        library.set(f"papers/{secret}.md", tags={"note": secret})
        library.ingest(ibid.Document("after", LEAVE))
        library.search(secret, principals=ibid.OWNER)
        assert find_bytes(place, secret)
        report = library.remove(f"papers/{secret}.md", purge=True)
        assert report.removed == (f"papers/{secret}.md",)
        assert find_bytes(place, secret) == []  # while it is open, its log included
        for version in range(report.version + 1):
            hits = library.search(secret, principals=ibid.OWNER, version=version)
            assert not any(secret in hit.passage.text for hit in hits)
            assert find(library, secret, version=version) == []
        assert find(library, "parental leave") == ["after"]
        assert len(find(library, "trains portal")) == 40
    assert find_bytes(place, secret) == []
    with open_hashing(place) as library:
        assert find(library, secret) == []
        library.ingest(ibid.Document(f"papers/{secret}.md", "A new one."))


def test_what_was_removed_long_ago_can_still_be_purged(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest([ibid.Document("a", "The axolotl."), ibid.Document("b", TRAVEL)])
        library.remove("a")
        assert find(library, "axolotl", version=1) == ["a"]
        library.remove("a", purge=True)
        assert find(library, "axolotl", version=1) == []
        assert find_bytes(place, "axolotl") == []


def find_bytes(place: Path, word: str) -> list[str]:
    """The files that hold a word, in their bytes or in their names, whatever its case."""
    return [
        str(file)
        for file in place.rglob("*")
        if word.lower() in file.name.lower()
        or (file.is_file() and word.lower().encode() in file.read_bytes().lower())
    ]


# -- versions and access ------------------------------------------------------------------------


def test_an_old_version_has_the_old_text(library: ibid.Library) -> None:
    library.ingest(ibid.Document("doc", "The walrus sleeps."))
    library.update(ibid.Document("doc", "The penguin swims."))
    library.remove("doc")
    for mode in ("lexical", "dense", "hybrid"):
        (hit,) = library.search("walrus", mode=mode, version=1)
        assert hit.passage.text == "The walrus sleeps."
        (hit,) = library.search("penguin", mode=mode, version=2)
        assert hit.passage.text == "The penguin swims."
        assert library.search("penguin walrus", mode=mode) == []
    assert library.search("walrus", mode="lexical", version=2) == []
    assert library.search("walrus", version=0) == []
    for version in (4, -1):
        with pytest.raises(ibid.BadQuery, match="version"):
            library.search("walrus", version=version)


def test_access_is_todays_at_every_version(library: ibid.Library) -> None:
    library.ingest(ibid.Document("doc", "The walrus sleeps."))
    library.update(ibid.Document("doc", "The penguin swims."))
    library.set("doc", allow=["group:zoo"])
    for version in (1, 2, 3):
        for mode in ("lexical", "dense", "hybrid"):
            query = "walrus penguin"
            assert find(library, query, mode, version=version, principals=()) == []
            assert find(library, query, mode, version=version, principals={"x"}) == []
            assert find(library, query, mode, version=version, principals={"group:zoo"})
    library.set("doc", public=True)
    assert find(library, "walrus", version=1, principals=()) == ["doc"]


def test_removed_and_created_anew_with_less_access_hides_the_old_text_too(
    library: ibid.Library,
) -> None:
    library.ingest(ibid.Document("doc", "The walrus sleeps."))
    library.remove("doc")
    library.ingest(ibid.Document("doc", "The walrus woke.", allow=frozenset({"group:zoo"})))
    for mode in ("lexical", "dense", "hybrid"):
        assert find(library, "walrus", mode, version=1, principals=()) == []
        assert find(library, "walrus", mode, version=1, principals={"group:zoo"}) == ["doc"]


def test_what_a_caller_may_not_see_shows_nowhere(library: ibid.Library) -> None:
    library.ingest(
        [
            ibid.Document("public", TRAVEL),
            ibid.Document("hr", LEAVE, allow=frozenset({"group:hr"})),
            ibid.Document("nobody", LEAVE + " Secret.", allow=frozenset()),
        ]
    )
    seen: dict[Any, set[str]] = {
        (): {"public"},
        ("group:it",): {"public"},
        ("group:hr", "user:ann"): {"public", "hr"},
        ibid.OWNER: {"public", "hr", "nobody"},
    }
    for principals, ids in seen.items():
        assert {info.id for info in library.documents(principals)} == ids
        assert set(find(library, "parental leave trains", principals=principals)) == ids
        assert set(find(library, "parental leave", "dense", principals=principals)) == ids
        status = library.status(principals)
        assert (status.documents, status.passages) == (len(ids), len(ids))
        for id in {"public", "hr", "nobody"} - ids:
            for look in (library.document, library.describe, library.passages):
                with pytest.raises(ibid.UnknownDocument):
                    look(id, principals)
    assert library.status().restricted_documents is None
    assert library.status(ibid.OWNER).restricted_documents == 2
    answer = library.ask("How long is parental leave?")
    assert answer.status is ibid.AnswerStatus.ABSTAINED
    with pytest.raises(ibid.BadQuery, match="one text"):
        library.search("leave", principals="group:hr")


def test_archived_documents_are_found_only_where_asked_for(library: ibid.Library) -> None:
    library.ingest(ibid.Document("old", LEAVE, archived=True))
    for mode in ("lexical", "dense", "hybrid"):
        assert find(library, "parental leave", mode) == []
    found = library.run_search(ibid.Query("parental leave", include_archived=True))
    assert [hit.document_id for hit in found.hits] == ["old"]
    library.set("old", archived=False)
    assert find(library, "parental leave") == ["old"]


# -- odd input ----------------------------------------------------------------------------------


def test_an_empty_library_answers_everything_with_nothing(library: ibid.Library) -> None:
    for mode in ("lexical", "dense", "hybrid"):
        assert find(library, "anything", mode) == []
    assert library.ask("Anything at all?").status is ibid.AnswerStatus.ABSTAINED
    assert library.documents(ibid.OWNER) == []
    assert library.status().version == 0


@pytest.mark.parametrize(
    "query",
    ["", "   ", '"', '"--error-on-warnings"', "don't", "a/b", "title:x AND (", "*", "x" * 20_000],
)
def test_a_query_is_always_literal(library: ibid.Library, query: str) -> None:
    library.ingest(ibid.Document("doc", f"Before {query} after."))
    for mode in ("lexical", "dense", "hybrid"):
        find(library, query, mode)


def test_text_that_cannot_be_stored_is_replaced_and_offsets_hold(library: ibid.Library) -> None:
    library.ingest(ibid.Document("doc", "\ufeffone\r\ntwo\rthree \ud800 four \0 five 🦒"))
    document = library.document("doc")
    assert document.text == "one\ntwo\nthree \ufffd four \ufffd five 🦒"
    for passage in library.passages("doc"):
        assert document.text[passage.span] == passage.text


def test_an_embedder_that_fails_changes_nothing(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> Any:
        if any("walrus" in text for text in texts):
            raise RuntimeError("the model broke")
        return np.eye(len(texts), 8)

    with ibid.open(tmp_path / "library", embedder=embed) as library:
        library.ingest(ibid.Document("a", "penguin"))
        before = state(library)
        with pytest.raises(RuntimeError, match="broke"):
            library.ingest([ibid.Document("b", "seal"), ibid.Document("c", "walrus")])
        assert state(library) == before
        assert library.ingest(ibid.Document("b", "seal")).version == 2
