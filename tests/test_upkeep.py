"""The past, the health, the models and the copies of a library."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ibid
from conftest import find, list_ids, open_hashing, write
from ibid.errors import DuplicateDocument, EmbedderMismatch, InputError, UnknownDocument
from ibid.openers import open_library
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder

TEXTS = {
    "leave.md": "# Leave\n\nParental leave lasts sixteen weeks.\n",
    "trips.md": "# Trips\n\nTrains are booked through the portal.\n",
    "hr/pay.md": "---\nallow: [group:hr]\n---\n# Pay\n\nBonuses are paid in quagmire.\n",
}


@pytest.fixture
def synced(library: ibid.Library, folder: Path) -> ibid.Library:
    write(folder, TEXTS)
    library.sync(folder)
    return library


def read_all(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())


# -- the past -------------------------------------------------------------------------------------


def test_history_follows_edits_and_moves(synced: ibid.Library, folder: Path) -> None:
    write(folder, {"leave.md": "# Leave\n\nParental leave lasts twenty weeks.\n"})
    synced.sync(folder)
    (folder / "leave.md").rename(folder / "absence.md")
    synced.sync(folder)
    for id in ("leave.md", "absence.md"):
        history = synced.history(id)
        assert [one.info.id for one in history] == ["leave.md", "leave.md", "absence.md"]
        assert [one.removed_in for one in history] == [2, 3, None]
        assert history[0].content_hash != history[1].content_hash == history[2].content_hash
        assert all(one.written_at is not None for one in history)


def test_a_past_that_the_caller_may_not_see_is_none(synced: ibid.Library) -> None:
    assert len(synced.history("hr/pay.md", {"group:hr"})) == 1
    for id in ("hr/pay.md", "absent.md"):
        with pytest.raises(UnknownDocument, match="no version holds"):
            synced.history(id)


def test_versions_are_compared(synced: ibid.Library, folder: Path) -> None:
    (folder / "trips.md").rename(folder / "travel.md")
    write(folder, {"leave.md": "# Leave\n\nNone.\n", "new.md": "New."})
    synced.sync(folder)
    synced.set("new.md", tags={"team": "x"})
    synced.remove("hr/pay.md")
    last = synced.status().version
    found = synced.diff(1, last)
    assert (found.added, found.updated) == (("new.md",), ("leave.md",))
    assert [(moved.old_id, moved.new_id) for moved in found.moved] == [("trips.md", "travel.md")]
    assert found.removed == ()  # the public don't see that it went
    assert synced.diff(1, last, {"group:hr"}).removed == ("hr/pay.md",)
    assert synced.diff(2, last).metadata_changed == ("new.md",)
    back = synced.diff(last, 1)
    assert (back.added, back.removed) == ((), ("new.md",))
    assert synced.diff(last, last) == ibid.flows.history.Difference(last, last, (), (), (), (), ())


def test_a_document_that_came_back_counts_as_updated(synced: ibid.Library, folder: Path) -> None:
    synced.remove("trips.md")
    synced.ingest(ibid.Document(id="trips.md", text="Buses only."))
    assert synced.diff(1, synced.status().version).updated == ("trips.md",)


def test_texts_are_compared(synced: ibid.Library, folder: Path) -> None:
    write(folder, {"leave.md": "# Leave\n\nParental leave lasts twenty weeks.\n"})
    synced.sync(folder)
    lines = synced.diff_text("leave.md", 1, 2)
    assert "-Parental leave lasts sixteen weeks." in lines
    assert "+Parental leave lasts twenty weeks." in lines
    assert synced.diff_text("leave.md", 2, 2) == []
    assert "+Leave" in synced.diff_text("leave.md", 0, 1)
    with pytest.raises(UnknownDocument, match="neither version 1 nor 2"):
        synced.diff_text("hr/pay.md", 1, 2)


# -- vacuum ---------------------------------------------------------------------------------------


def test_a_vacuum_drops_what_only_old_versions_held(
    synced: ibid.Library, folder: Path, tmp_path: Path
) -> None:
    write(folder, {"leave.md": "# Leave\n\nParental leave lasts twenty weeks.\n"})
    synced.sync(folder)
    synced.remove("hr/pay.md")
    assert synced.vacuum(days=1).revisions == 0  # all of it is of today
    before = find(synced, "weeks", mode="hybrid")
    done = synced.vacuum(days=0)
    last = synced.status().version
    assert (done.version, done.versions, done.revisions, done.cited) == (last, last - 1, 2, 0)
    assert done.passages == 2
    assert find(synced, "weeks", mode="hybrid") == before
    with pytest.raises(ibid.BadQuery, match="no version 1"):
        synced.search("leave", version=1)
    assert synced.verify() == []
    synced.close()
    left = read_all(tmp_path / "library")
    assert b"quagmire" not in left
    assert b"sixteen" not in left
    assert b"twenty" in left
    with open_hashing(tmp_path / "library") as reopened:
        write(folder, {"more.md": "Quagmires are left alone."})
        reopened.sync(folder)
        assert find(reopened, "quagmires", mode="hybrid")[0] == "more.md"
        assert reopened.verify() == []


def test_a_vacuum_keeps_what_a_kept_answer_cites(synced: ibid.Library, folder: Path) -> None:
    answer = synced.ask("How long does parental leave last?")
    assert [c.document_id for c in answer.citations] == ["leave.md"]
    write(folder, {"leave.md": "# Leave\n\nIt was abolished.\n", "trips.md": "# Trips\n\nNone.\n"})
    synced.sync(folder)
    done = synced.vacuum(days=0)
    assert (done.revisions, done.cited) == (0, 2)  # both were sent as sources
    kept = synced.answer(answer.id).answer
    assert kept.text == answer.text
    done = synced.vacuum(days=0, cited=True)
    assert (done.revisions, done.cited) == (2, 0)
    assert synced.answer(answer.id).answer.status == "withheld"
    assert synced.verify() == []


@pytest.mark.parametrize("days", [-1.0, float("nan"), float("inf"), 1e9])
def test_a_time_that_cannot_be_told_is_refused(synced: ibid.Library, days: float) -> None:
    for call in (synced.vacuum, synced.stale):
        with pytest.raises(ibid.BadQuery, match="can't be used"):
            call(days)


def test_an_answer_is_replayed_after_its_version_was_dropped(synced: ibid.Library) -> None:
    answer = synced.ask("How long does parental leave last?")
    synced.ingest(ibid.Document("note", "Another text."))
    synced.vacuum(days=0)
    again, identical = synced.replay(answer.id)
    assert (again.text, identical) == (answer.text, True)


def test_hidden_documents_do_not_show_in_how_questions_are_read(library: ibid.Library) -> None:
    library.ingest(
        ibid.Document("pub", "Severance is paid in three parts. A merger changes nothing.")
    )
    before = find(library, "severance", principals=())
    german = "Wir schließen die Küche im Mai, und niemand weiß davon. Der Urlaub wird gekürzt."
    library.ingest(
        [ibid.Document(f"h{n}", f"{german} Nummer {n}.", allow=frozenset({"u"})) for n in range(3)]
    )
    assert find(library, "severance", principals=()) == before == ["pub"]


def test_a_purge_drops_the_golden_cases_of_every_name(synced: ibid.Library, folder: Path) -> None:
    answer = synced.ask("How long does parental leave last?")
    synced.add_golden(answer.id)
    (folder / "leave.md").rename(folder / "moved.md")
    synced.sync(folder)
    synced.remove("moved.md", purge=True)
    assert synced.golden_file is not None
    assert "sixteen" not in synced.golden_file.read_text()


# -- verify ---------------------------------------------------------------------------------------


def damage_vectors(place: Path) -> None:
    for file in (place / "vectors").iterdir():
        file.write_bytes(file.read_bytes()[:-100])


def lose_vectors(place: Path) -> None:
    for file in (place / "vectors").iterdir():
        file.unlink()


def spoil_vectors(place: Path) -> None:
    for file in (place / "vectors").iterdir():
        data = file.read_bytes()
        file.write_bytes(data[:-64] + b"\x7b" * 64)


def lose_postings(place: Path) -> None:
    import shutil

    shutil.rmtree(place / "lexical")
    (place / "lexical").mkdir()


def spoil_postings(place: Path) -> None:
    for file in (place / "lexical").rglob("meta.json"):
        file.write_text("{}")


def leave_a_file(place: Path) -> None:
    (place / "vectors" / "stray.faiss").write_bytes(b"x")


@pytest.mark.parametrize(
    ("damage", "part", "repairable"),
    [
        (damage_vectors, "vectors", True),
        (lose_vectors, "vectors", True),
        (spoil_vectors, "vectors", True),
        (lose_postings, "postings", True),
        (spoil_postings, "postings", True),
    ],
)
def test_derived_files_are_checked_and_made_anew(
    synced: ibid.Library, tmp_path: Path, damage: object, part: str, repairable: bool
) -> None:
    before = {mode: find(synced, "leave weeks", mode=mode) for mode in ("lexical", "dense")}
    synced.close()
    place = tmp_path / "library"
    assert callable(damage)
    damage(place)
    with open_hashing(place) as library:
        problems = library.verify()
        assert {one.part for one in problems} == {part}
        assert all(one.repairable is repairable for one in problems)
        assert library.verify(repair=True) == []
    with open_hashing(place) as library:
        assert {m: find(library, "leave weeks", mode=m) for m in ("lexical", "dense")} == before
        assert library.ingest(ibid.Document(id="x", text="More leave.")).added == ("x",)
        assert library.verify() == []


@pytest.mark.parametrize(
    ("statement", "part", "repairable"),
    [
        ("UPDATE library SET value = '9' WHERE key = 'version'", "versions", False),
        ("UPDATE revisions SET version = 99 WHERE name = 'leave.md'", "unwritten", False),
        (
            "UPDATE contents SET rows = rows + 1 WHERE id IN (SELECT max(id) FROM contents)",
            "rows",
            False,
        ),
        ("DELETE FROM passages WHERE row = 0", "passages", False),
        (
            "UPDATE texts SET text = text || 'x' WHERE content IN (SELECT min(id) FROM contents)",
            "texts",
            False,
        ),
        ("UPDATE passages SET end = end + 500 WHERE row = 1", "spans", False),
        ("DELETE FROM revisions WHERE name = 'leave.md'", "contents", True),
    ],
)
def test_the_tables_are_checked(
    synced: ibid.Library, tmp_path: Path, statement: str, part: str, repairable: bool
) -> None:
    import sqlite3

    synced.close()
    place = tmp_path / "library"
    connection = sqlite3.connect(place / "library.db")
    connection.execute(statement)
    connection.commit()
    connection.close()
    with open_hashing(place) as library:
        problems = library.verify()
        assert part in {one.part for one in problems}
        assert {one.repairable for one in problems if one.part == part} == {repairable}
        left = library.verify(repair=True)
        assert bool(left) is not all(one.repairable for one in problems)


def test_a_file_that_nothing_names_is_told(synced: ibid.Library, tmp_path: Path) -> None:
    leave_a_file(tmp_path / "library")
    (problem,) = synced.verify()
    assert (problem.part, problem.where) == ("folder", "vectors/stray.faiss")


# -- other models ---------------------------------------------------------------------------------


def open_with(
    place: Path, dimension: int, size: int = 200, *, reindexing: bool = False
) -> ibid.Library:
    settings = load_settings({"chunking.size": size}, library=str(place))
    embedder = HashingEmbedder(dimension=dimension)
    return open_library(place, embedder=embedder, settings=settings, reindexing=reindexing)


def test_a_library_is_embedded_and_cut_anew(
    synced: ibid.Library, folder: Path, tmp_path: Path
) -> None:
    place = tmp_path / "library"
    write(folder, {"leave.md": "# Leave\n\nParental leave lasts twenty weeks.\n"})
    synced.sync(folder)
    old = synced.search("sixteen", version=1)[0].passage.text
    before = synced.status(ibid.OWNER)
    synced.close()
    with pytest.raises(EmbedderMismatch, match="ibid reindex"):
        open_with(place, 48)
    with open_with(place, 48, reindexing=True) as library:
        done = library.reindex()
        assert (done.contents, done.embedded) == (4, 4)
        assert done.version == before.version + 1
    with open_with(place, 48) as library:
        assert library.verify() == []
        assert library.status(ibid.OWNER).manifest.dimension == 48
        assert find(library, "weeks", mode="dense")
        assert library.search("sixteen", version=1)[0].passage.text == old
        assert library.search("bonuses", mode="lexical") == []
        report = library.sync(folder)
        assert (report.unchanged, report.updated, report.passages.embedded) == (3, (), 0)
        write(folder, {"trips.md": "# Trips\n\nBy boat.\n"})
        assert library.sync(folder).updated == ("trips.md",)
        assert library.verify() == []


def test_an_open_reader_survives_a_reindex(synced: ibid.Library, tmp_path: Path) -> None:
    place = tmp_path / "library"
    with open_hashing(place) as reader:
        before = find(reader, "leave weeks", mode="hybrid")
        held = reader._index.snapshot()
        with open_hashing(place) as other:
            other.reindex()
        (row, *_) = (hit.row for hit in held.search_lexical("leav", 5, ibid.protocols.Scope()))
        assert row in held.passages([row])
        assert find(reader, "leave weeks", mode="hybrid") == before


def test_a_killed_reindex_goes_on_and_hurts_nothing(
    synced: ibid.Library, folder: Path, tmp_path: Path
) -> None:
    place = tmp_path / "library"
    write(folder, {f"{n}.md": f"Text number {n} on leave." for n in range(60)})
    synced.sync(folder)
    synced.close()
    program = (
        "import os, signal, sys, ibid\n"
        "from dataclasses import replace\n"
        "from ibid.testing.embedders import HashingEmbedder\n"
        "from ibid.openers import open_library\n"
        "library = open_library(sys.argv[1], embedder=HashingEmbedder(dimension=40),"
        " reindexing=True)\n"
        "library._parts = replace(library._parts,"
        " ingest=replace(library._parts.ingest, commit_passages=8))\n"
        "def tell(progress):\n"
        "    if progress.done >= 24:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "library.reindex(on_progress=tell)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(place)], check=False)
    assert done.returncode == -signal.SIGKILL
    with open_hashing(place) as library:
        assert library.verify() == []
        assert len(find(library, "leave", k=100)) > 50
    with open_library(place, embedder=HashingEmbedder(dimension=40), reindexing=True) as library:
        again = library.reindex()
        assert 0 < again.contents <= 63 - 24
        assert library.verify() == []
    assert not list(place.glob("staging*"))


# -- copies ---------------------------------------------------------------------------------------


def test_an_exported_library_is_taken_in_whole(
    synced: ibid.Library, folder: Path, tmp_path: Path
) -> None:
    synced.set("trips.md", tags={"team": "travel"}, archived=True)
    synced.ingest(ibid.Document(id="note", text="A note\udcff of one's own.", title="Note"))
    done = synced.export(tmp_path / "copy.zip")
    assert (done.documents, done.sources) == (4, 1)
    with open_hashing(tmp_path / "other") as other:
        taken = other.import_file(tmp_path / "copy.zip")
        assert (taken.documents, taken.passages, taken.unchanged) == (4, done.passages, 0)
        assert list_ids(other) == list_ids(synced)
        for id in list_ids(synced):
            assert other.document(id, ibid.OWNER) == synced.document(id, ibid.OWNER)
            ours, theirs = other.passages(id, ibid.OWNER), synced.passages(id, ibid.OWNER)
            assert ours == theirs
        for mode in ("lexical", "dense", "hybrid"):
            assert find(other, "leave trains", mode=mode) == find(synced, "leave trains", mode=mode)
        assert other.search("bonuses", mode="lexical") == []
        assert other.search("bonuses", principals={"group:hr"})
        assert other.verify() == []
        report = other.sync(folder)
        assert (report.unchanged, report.passages.embedded, report.removed) == (3, 0, ())
        again = other.import_file(tmp_path / "copy.zip")
        assert (again.documents, again.unchanged) == (0, 4)


def test_imports_that_cannot_be_change_nothing(
    synced: ibid.Library, folder: Path, tmp_path: Path
) -> None:
    synced.export(tmp_path / "copy.zip")
    with pytest.raises(InputError, match="exists"):
        synced.export(tmp_path / "copy.zip")
    write(folder, {"leave.md": "# Leave\n\nNone.\n"})
    synced.sync(folder)
    version = synced.status().version
    with pytest.raises(DuplicateDocument, match="another text"):
        synced.import_file(tmp_path / "copy.zip")
    (tmp_path / "not.zip").write_bytes(b"no archive")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("manifest.json", "[]")
    for name in ("not.zip", "other.zip", "absent.zip"):
        with pytest.raises(InputError, match="can't be imported"):
            synced.import_file(tmp_path / name)
    assert synced.status().version == version
    with (
        ibid.open(tmp_path / "third", embedder=HashingEmbedder(dimension=16)) as third,
        pytest.raises(EmbedderMismatch),
    ):
        third.import_file(tmp_path / "copy.zip")
    with open_hashing(tmp_path / "empty") as empty, pytest.raises(InputError, match="no document"):
        empty.export(tmp_path / "none.zip")
    assert not list(tmp_path.glob("*.part"))
