"""The part of the index suite about answers: kept, found again, withheld, erased, rated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from ibid.errors import UnknownAnswer, UnknownDocument
from ibid.protocols import FileOrigin, FileStat, FileState, Index, RemoveDocument, SourceInfo
from ibid.records import (
    OWNER,
    Answer,
    AnswerStatus,
    Citation,
    Claim,
    Contribution,
    Feedback,
    Hit,
    KeptAnswer,
    Move,
    NearDocument,
    Principals,
    Request,
    TraceStep,
    Verdict,
)
from ibid.testing.index_parts import (
    EMBEDDER,
    PUBLIC,
    commit,
    hash_text,
    make_document,
    put,
    put_document,
)

NOW: Final = datetime(2026, 5, 4, 12, tzinfo=UTC)
HR: Final = frozenset({"group:hr"})


SHOWN: Final = {
    "id", "question", "request", "status", "version", "embedder", "generator",
    "settings_hash", "prompt_hash", "timings_ms", "tokens",
}  # fmt: skip
"""The fields of a withheld answer that show."""


def draw_answer(
    index: Index,
    *ids: str,
    id: str = "one",
    principals: Principals = frozenset(),
    history: tuple[str, ...] = (),
) -> Answer:
    """An answer from the first passage of each of these documents, as they are now."""
    snapshot = index.snapshot()
    scope = replace(PUBLIC, principals=OWNER)
    given = {"lexical": Contribution(1, 2.5, 0.016)}
    sources = tuple(
        Hit(
            rank,
            0.016,
            snapshot.document_passages(name, scope)[0],
            replace(snapshot.document(name, scope).info, allow=None),
            given,
            moves=(Move("rerank", 2, rank, 0.016, -1.5),),
        )
        for rank, name in enumerate(ids, start=1)
    )
    text = " ".join(f"{hit.passage.text} [{hit.rank}]." for hit in sources)
    citations = tuple(
        Citation(
            marker=hit.rank,
            claim=Claim(hit.passage.text, 0, len(hit.passage.text), (hit.rank,)),
            verdict=Verdict.SUPPORTED,
            document_id=hit.document_id,
            title=hit.document.title,
            quote=hit.passage.text,
            modified_at=hit.document.modified_at,
        )
        for hit in sources
    )
    return Answer(
        id=id,
        question="What is planned?",
        request=Request(None, principals, "hybrid", 6, history),
        status=AnswerStatus.ANSWERED,
        text=text,
        citations=citations,
        sources=sources,
        version=snapshot.version,
        embedder="hash",
        generator="scripted",
        settings_hash="s",
        prompt_hash="p",
        warnings=("one doubt",),
        timings_ms={"total": 1.5},
        tokens={"prompt": 3, "completion": 4},
        found=sources,
        draft=text,
        standalone="What is planned there?",
        nearest=(NearDocument(ids[0], "A near title"),),
    )


def keep(index: Index, answer: Answer, *, hours: int = 0, key: str = "") -> KeptAnswer:
    """Keep an answer as asked so many hours after NOW."""
    kept = KeptAnswer(answer, NOW + timedelta(hours=hours), key, {"strict": True})
    index.answers.put(kept)
    return kept


def check_withheld(answer: Answer) -> None:
    """Nothing is left of an answer but who asked what and how, whatever fields answers get."""
    assert answer.status is AnswerStatus.WITHHELD, answer.id
    assert answer.request.history == (), answer.id
    for field in fields(Answer):
        assert field.name in SHOWN or not getattr(answer, field.name), (answer.id, field.name)


class IndexAnswerTests:
    """The log of answers: what it keeps, for whom, and what it must not hold any more."""

    def test_an_answer_is_kept_whole(self, index: Index) -> None:
        """All of it but its trace, which is for whoever asked; what was not sent as well."""
        when = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
        commit(index, put("a", "plan a", title="A", tags={"n": [1, 2]}, modified_at=when))
        commit(index, put("b", "plan b"))
        answer = draw_answer(index, "a")
        more = replace(answer, id="two", found=draw_answer(index, "a", "b").sources)
        odd = replace(answer, id="odd", text="half a pair \ud83d, “quoted”\n")
        for each in (answer, more, odd):
            kept = keep(index, replace(each, trace=(TraceStep("search", "words"),)), key="k")
            assert index.answers.find(each.id, frozenset()) == replace(kept, answer=each)
        assert index.answers.list_drawn() == [("a", 2), ("b", 2)]

    def test_who_asked_sees_it_and_the_owner(self, index: Index) -> None:
        """Exactly the same principals: no subset, no superset, and nothing that looks like all."""
        commit(index, put("a", "plan a"))
        sets: list[Principals] = [frozenset(), HR, HR | {"user:ann"}, frozenset({"*"}), OWNER]
        for number, principals in enumerate(sets):
            keep(index, draw_answer(index, "a", id=f"{number}", principals=principals), hours=1)
        for number, principals in enumerate(sets):
            listed = index.answers.newest(principals, most=9)
            expected = ["4", "3", "2", "1", "0"] if principals is OWNER else [f"{number}"]
            assert [kept.answer.id for kept in listed] == expected
            for other in range(len(sets)):
                if principals is OWNER or other == number:
                    assert index.answers.find(f"{other}", principals).answer.id == f"{other}"
                    continue
                with pytest.raises(UnknownAnswer):
                    index.answers.find(f"{other}", principals)
                with pytest.raises(UnknownAnswer):
                    index.answers.rate(f"{other}", Feedback(True), principals)
        assert index.answers.newest(OWNER, most=9)[0].feedback == ()
        with pytest.raises(UnknownAnswer):
            index.answers.find("absent", OWNER)

    def test_the_newest_come_first(self, index: Index) -> None:
        """As many as are asked for; an empty log gives none."""
        assert index.answers.newest(OWNER, most=9) == []
        with pytest.raises(UnknownAnswer):
            index.answers.rate("absent", Feedback(True), OWNER)
        assert index.answers.list_drawn() == []
        commit(index, put("a", "plan a"))
        for number in range(4):
            keep(index, draw_answer(index, "a", id=f"{number}"), hours=number)
        found = index.answers.newest(frozenset(), most=3)
        assert [kept.answer.id for kept in found] == ["3", "2", "1"]

    def test_old_answers_are_dropped(self, index: Index) -> None:
        """With the next one that is kept, those before the time it names."""
        commit(index, put("a", "plan a"))
        for number in range(3):
            keep(index, draw_answer(index, "a", id=f"{number}"), hours=number)
        last = KeptAnswer(draw_answer(index, "a", id="last"), NOW + timedelta(hours=3))
        index.answers.put(last, oldest=NOW + timedelta(hours=1))
        found = index.answers.newest(OWNER, most=9)
        assert [kept.answer.id for kept in found] == ["last", "2", "1"]

    def test_ratings_are_kept_in_order(self, index: Index) -> None:
        """And the last one chooses."""
        commit(index, put("a", "plan a"))
        for id in ("x", "y", "z"):
            keep(index, draw_answer(index, "a", id=id))
        said = Feedback(False, "wrong floor", NOW), Feedback(True, "", NOW + timedelta(hours=1))
        for feedback in said:
            index.answers.rate("x", feedback, frozenset())
        index.answers.rate("y", said[0], OWNER)
        assert index.answers.find("x", OWNER).feedback == said
        for good, ids in ((True, ["x"]), (False, ["y"]), (None, ["z", "y", "x"])):
            found = index.answers.newest(OWNER, most=9, good=good)
            assert [kept.answer.id for kept in found] == ids

    def test_an_answer_from_what_is_hidden_now_is_withheld(self, index: Index) -> None:
        """Its words do not show, whichever of its sources it is; to the owner they do."""
        commit(index, put("a", "plan a"), put("b", "plan b", title="Secret title"))
        kept = keep(index, draw_answer(index, "a", "b", principals=HR), key="k")
        assert index.answers.find_same("k", HR) == kept
        commit(index, put("b", "plan new", allow=frozenset({"user:ann"})))
        for found in (index.answers.find("one", HR), *index.answers.newest(HR, most=9)):
            check_withheld(found.answer)
            assert found.answer.question == "What is planned?"
        assert index.answers.find_same("k", HR) is None
        assert index.answers.find("one", OWNER).answer == kept.answer
        commit(index, put("b", "plan new", allow=HR))
        assert index.answers.find("one", HR) == kept

    def test_a_removed_document_stays_for_those_who_see_it(self, index: Index) -> None:
        """Versions before still hold it; a new one of its name opens nothing of it."""
        commit(index, put("a", "plan a", allow=HR))
        kept = keep(index, draw_answer(index, "a", principals=HR))
        commit(index, RemoveDocument("a"))
        assert index.answers.find("one", HR) == kept
        commit(index, replace(put("a", "plan new", allow=frozenset()), opens=True))
        assert index.answers.find("one", HR).answer.status is AnswerStatus.WITHHELD

    def test_history_is_withheld_with_what_it_was_drawn_from(self, index: Index) -> None:
        """An answer repeats words of those before it, so it stands on their sources too."""
        commit(index, put("a", "plan a"), put("b", "plan b"))
        first = draw_answer(index, "a", id="first")
        keep(index, first)
        second = draw_answer(index, "b", id="second", history=("What first?", first.text))
        keep(index, second)
        third = draw_answer(index, "b", id="third", history=("What then?", second.text))
        kept = keep(index, third)
        assert index.answers.find("third", frozenset()) == kept
        commit(index, put("a", "plan a", allow=HR))
        for id in ("first", "second", "third"):
            check_withheld(index.answers.find(id, frozenset()).answer)

    def test_history_from_nowhere_is_not_kept(self, index: Index) -> None:
        """What another caller was told, or nobody, leaves its questions only."""
        commit(index, put("a", "plan a", allow=HR), put("b", "plan b"))
        told = draw_answer(index, "a", id="told", principals=HR)
        keep(index, told)
        history = ("What a?", told.text, "What b?", "Words of my own.", "And?", "")
        answer = draw_answer(index, "b", history=history)
        keep(index, answer)
        found = index.answers.find("one", frozenset()).answer
        assert found.request.history == ("What a?", "", "What b?", "", "And?", "")
        assert found.text == answer.text

    def test_purging_erases_the_words(self, index: Index) -> None:
        """Of answers from any version and name of the document, and of those that followed."""
        commit(index, put("a", "plan old"), put("b", "plan b"))
        old = draw_answer(index, "a", id="old")
        keep(index, old, key="k")
        commit(index, put("a", "plan new"))
        keep(index, draw_answer(index, "a", "b", id="new"))
        keep(index, draw_answer(index, "b", id="next", history=("What?", old.text)))
        other = keep(index, draw_answer(index, "b", id="other"))
        index.answers.rate("old", Feedback(False, "plan old is wrong", NOW), OWNER)
        late = draw_answer(index, "a", id="late")
        index.purge(["a"])
        keep(index, late, key="k")
        for id in ("old", "new", "next", "late"):
            found = index.answers.find(id, OWNER)
            check_withheld(found.answer)
            assert found.answer.question == "", id
        assert index.answers.find("old", OWNER).feedback == (Feedback(False, "", NOW),)
        assert index.answers.find_same("k", frozenset()) is None
        assert index.answers.find("other", OWNER) == other
        commit(index, put("a", "plan again"))
        assert index.answers.find("old", OWNER).answer.status is AnswerStatus.WITHHELD

    def test_the_same_is_found_for_the_same_caller_alone(self, index: Index) -> None:
        """The key alone opens nothing, and an empty one is no key."""
        commit(index, put("a", "plan a"))
        keep(index, draw_answer(index, "a", id="first", principals=HR), key="k")
        kept = keep(index, draw_answer(index, "a", id="second", principals=HR), key="k")
        keep(index, draw_answer(index, "a", id="none", principals=HR))
        assert index.answers.find_same("k", HR) == kept
        for principals in (frozenset[str](), HR | {"user:ann"}, OWNER):
            assert index.answers.find_same("k", principals) is None
        assert index.answers.find_same("", HR) is None
        assert index.answers.find_same("other", HR) is None

    def test_an_answer_that_comes_back_is_known(self, index: Index) -> None:
        """By its text, to who was given it; a withheld one has none."""
        commit(index, put("a", "plan a"))
        keep(index, draw_answer(index, "a", id="first", principals=HR))
        answer = draw_answer(index, "a", id="second", principals=HR)
        kept = keep(index, answer)
        assert index.answers.find_told(answer.text, HR) == kept
        for text, principals in ((answer.text, OWNER), (answer.text, frozenset[str]()), ("", HR)):
            assert index.answers.find_told(text, principals) is None
        index.purge(["a"])
        assert index.answers.find_told(answer.text, HR) is None
        assert index.answers.find_told("", HR) is None

    def test_a_cited_document_is_read_as_it_was(self, index: Index) -> None:
        """At its version, by those who may see it today."""
        old = commit(index, put("a", "plan old", title="Old"))
        commit(index, put("a", "plan new"))
        found = index.answers.read_document("a", old, frozenset())
        assert (found.text, found.title) == ("plan old", "Old")
        commit(index, put("a", "plan new", allow=HR))
        assert index.answers.read_document("a", old, HR).text == "plan old"
        for id, version, principals in (("a", old, frozenset[str]()), ("a", 0, HR), ("b", old, HR)):
            with pytest.raises(UnknownDocument):
                index.answers.read_document(id, version, principals)

    def test_the_files_of_documents_are_known(self, index: Index) -> None:
        """Under any prefix, attachments by the file they came in; others have none."""
        states = {
            "first": FileState("x/a.md", FileStat(6, 1, 2**63 + 5), "read", "b", "c"),
            "wiki": FileState("m.eml/b.pdf", FileStat(7, 2, 3), "read", "b", container="m.eml"),
        }
        vectors = dict(
            zip([hash_text("plan")], EMBEDDER.embed(["plan"], kind="passage"), strict=True)
        )
        for name, prefix in (("first", ""), ("wiki", "wiki")):
            index.put_source(SourceInfo(name, f"file:///{name}", prefix))
            id = "/".join(filter(None, (prefix, states[name].path)))
            document = put_document(make_document(id, "plan"), source=name)
            index.commit([document], vectors, source=name, files=[states[name]])
        commit(index, put("own", "plan own"))
        found = index.answers.find_origins(["x/a.md", "wiki/m.eml/b.pdf", "own", "absent"])
        assert found == {
            "x/a.md": FileOrigin("file:///first", "x/a.md", states["first"].stat),
            "wiki/m.eml/b.pdf": FileOrigin("file:///wiki", "m.eml", states["wiki"].stat),
        }

    def test_answers_stay_when_a_library_is_reopened(
        self, index: Index, open_index: Callable[[Path], Index], tmp_path: Path
    ) -> None:
        """And another opener sees them at once."""
        commit(index, put("a", "plan a"))
        kept = keep(index, draw_answer(index, "a"))
        other = open_index(tmp_path / "library")
        assert other.answers.find("one", frozenset()) == kept
        index.close()
        second = keep(other, draw_answer(other, "a", id="two"))
        other.close()
        again = open_index(tmp_path / "library")
        assert again.answers.newest(OWNER, most=9) == [second, kept]
        again.close()
