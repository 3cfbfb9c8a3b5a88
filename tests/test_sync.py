"""A folder and its documents: what a sync sees, does, leaves alone and reports."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import ibid
from conftest import find, hide_change, list_ids, open_hashing, run_ibid, write
from ibid.records import Failed, IngestReport, Moved, PassageCounts

MODES = ("lexical", "dense", "hybrid")

NOTES = {
    "leave.md": "# Leave\n\nParental leave lasts sixteen weeks.\n",
    "travel.txt": "Trains are booked through the portal.\n",
    "it/laptops.md": "# Laptops\n\nA laptop is replaced after four years.\n",
}


def counts(report: IngestReport) -> dict[str, int]:
    """What a report counts of files, without what is zero."""
    listed = ("added", "updated", "metadata_changed", "moved", "removed", "skipped", "failed")
    found = {name: len(getattr(report, name)) for name in listed}
    return {n: c for n, c in (found | {"unchanged": report.unchanged}).items() if c}


# -- new, unchanged, changed, gone --------------------------------------------------------------


def test_every_file_becomes_a_document_under_its_path(folder: Path, library: ibid.Library) -> None:
    write(folder, NOTES)
    report = library.sync(folder)
    assert report.added == ("it/laptops.md", "leave.md", "travel.txt")
    assert counts(report) == {"added": 3}
    assert report.passages == PassageCounts(added=3, removed=0, embedded=3, truncated=0)
    assert list_ids(library) == sorted(NOTES)
    info = library.describe("it/laptops.md")
    assert info.source == (folder / "it/laptops.md").as_uri()
    assert info.title == "Laptops"
    assert set(report.seconds) == {"reading", "chunking", "embedding", "writing", "total"}


def test_a_second_sync_changes_and_embeds_nothing(folder: Path, library: ibid.Library) -> None:
    write(folder, NOTES)
    version = library.sync(folder).version
    for checksum in (False, True):
        again = library.sync(folder, checksum=checksum)
        assert counts(again) == {"unchanged": 3}
        assert again.version == version
        assert again.passages == PassageCounts()


def test_a_changed_file_replaces_its_document(folder: Path, library: ibid.Library) -> None:
    write(folder, NOTES)
    library.sync(folder)
    write(folder, {"leave.md": "# Leave\n\nSabbaticals exist.\n"})
    report = library.sync(folder)
    assert report.updated == ("leave.md",)
    assert counts(report) == {"updated": 1, "unchanged": 2}
    assert report.passages == PassageCounts(added=1, removed=1, embedded=1)
    assert find(library, "sabbatical") == ["leave.md"]
    assert find(library, "sixteen weeks") == []


def test_a_change_embeds_only_the_changed_passages(folder: Path, library: ibid.Library) -> None:
    parts = [f"## Part {n}\n\nParagraph number {n} stands alone.\n" for n in range(8)]
    write(folder, {"long.md": "# All\n\n" + "\n".join(parts)})
    assert library.sync(folder).passages.embedded >= 8
    parts[3] += "\nWith one more sentence.\n"
    write(folder, {"long.md": "# All\n\n" + "\n".join(parts)})
    assert library.sync(folder).passages.embedded == 1


def test_a_touched_file_is_unchanged(folder: Path, library: ibid.Library) -> None:
    write(folder, NOTES)
    version = library.sync(folder).version
    before = library.describe("leave.md").modified_at
    os.utime(folder / "leave.md", (10**9, 10**9))
    report = library.sync(folder)
    assert counts(report) == {"unchanged": 3}
    assert report.version == version
    assert library.describe("leave.md").modified_at == before


def test_a_deleted_file_is_gone_at_once(folder: Path, library: ibid.Library) -> None:
    write(folder, NOTES)
    library.sync(folder)
    (folder / "leave.md").unlink()
    report = library.sync(folder)
    assert report.removed == ("leave.md",)
    assert report.passages == PassageCounts(removed=1)
    for mode in MODES:
        assert "leave.md" not in find(library, "parental leave lasts sixteen weeks", mode)
    assert list_ids(library) == ["it/laptops.md", "travel.txt"]
    answer = library.ask("How long is parental leave?")
    assert "leave.md" not in {hit.document_id for hit in answer.sources}


def test_a_moved_file_keeps_its_passages_and_what_was_set(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, NOTES)
    library.sync(folder)
    library.set("leave.md", allow=["group:hr"], tags={"reviewed": True})
    (folder / "hr").mkdir()
    (folder / "leave.md").rename(folder / "hr/time off.md")
    (folder / "travel.txt").rename(folder / "trips.txt")
    report = library.sync(folder)
    assert set(report.moved) == {
        Moved("leave.md", "hr/time off.md"),
        Moved("travel.txt", "trips.txt"),
    }
    assert counts(report) == {"moved": 2, "unchanged": 1}
    assert report.passages == PassageCounts()
    for mode in MODES:
        found = find(library, "parental leave sixteen weeks", mode)
        assert found[0] == "hr/time off.md"
        assert "leave.md" not in found
    info = library.describe("hr/time off.md", ibid.OWNER)
    assert info.source == (folder / "hr/time off.md").as_uri()
    assert info.allow == frozenset({"group:hr"})
    assert info.tags == {"reviewed": True}
    assert find(library, "parental leave", version=1) == ["leave.md"]


def test_a_renamed_folder_is_moves(folder: Path, library: ibid.Library) -> None:
    write(folder, {f"old/{n}.md": f"# Page {n}\n\nAbout topic{n}.\n" for n in range(12)})
    library.sync(folder)
    (folder / "old").rename(folder / "new")
    report = library.sync(folder)
    assert sorted(report.moved, key=str) == sorted(
        (Moved(f"old/{n}.md", f"new/{n}.md") for n in range(12)), key=str
    )
    assert report.passages == PassageCounts()
    assert counts(library.sync(folder)) == {"unchanged": 12}


def test_a_copy_is_no_move(folder: Path, library: ibid.Library) -> None:
    write(folder, NOTES)
    library.sync(folder)
    shutil.copy(folder / "leave.md", folder / "copy.md")
    report = library.sync(folder)
    assert counts(report) == {"added": 1, "unchanged": 3}
    assert report.passages == PassageCounts(added=1)
    assert set(find(library, "parental leave")) == {"leave.md", "copy.md"}


def test_two_files_may_change_places(folder: Path, library: ibid.Library) -> None:
    write(folder, {"a.md": "The walrus sleeps.", "b.md": "The penguin swims."})
    library.sync(folder)
    (folder / "a.md").rename(folder / "c.md")
    (folder / "b.md").rename(folder / "a.md")
    (folder / "c.md").rename(folder / "b.md")
    report = library.sync(folder)
    assert report.passages.embedded == 0
    assert find(library, "walrus") == ["b.md"]
    assert find(library, "penguin") == ["a.md"]
    assert counts(library.sync(folder)) == {"unchanged": 2}


def test_a_file_moved_over_another_takes_its_place(folder: Path, library: ibid.Library) -> None:
    write(folder, {"a.md": "The walrus sleeps.", "b.md": "The penguin swims."})
    library.sync(folder)
    (folder / "a.md").rename(folder / "b.md")
    library.sync(folder)
    assert list_ids(library) == ["b.md"]
    assert find(library, "walrus penguin") == ["b.md"]
    assert library.document("b.md").text == "The walrus sleeps."


@pytest.mark.parametrize("blank", ["", "  \n\n", "---\nauthor: Ann\n---\n"])
def test_the_document_of_an_emptied_file_goes(
    folder: Path, library: ibid.Library, blank: str
) -> None:
    write(folder, NOTES)
    library.sync(folder)
    write(folder, {"leave.md": blank})
    report = library.sync(folder)
    assert counts(report) == {"removed": 1, "skipped": 1, "unchanged": 2}
    assert find(library, "parental leave") == []
    assert counts(library.sync(folder)) == {"skipped": 1, "unchanged": 2}
    write(folder, NOTES)
    assert library.sync(folder).added == ("leave.md",)


def test_a_dry_run_changes_nothing(folder: Path, library: ibid.Library) -> None:
    write(folder, NOTES)
    foretold = library.sync(folder, dry_run=True)
    assert counts(foretold) == {"added": 3}
    assert (foretold.version, list_ids(library), library.sources()) == (0, [], [])
    library.sync(folder)
    (folder / "leave.md").unlink()
    write(folder, {"travel.txt": "Walk.\n", "new.md": "New."})
    before = library.status(ibid.OWNER), library.documents(ibid.OWNER), library.sources()
    foretold = library.sync(folder, dry_run=True)
    assert counts(foretold) == {"added": 1, "updated": 1, "removed": 1, "unchanged": 1}
    assert (library.status(ibid.OWNER), library.documents(ibid.OWNER)) == before[:2]
    assert library.sources() == before[2]
    assert counts(library.sync(folder)) == counts(foretold)


# -- what a sync leaves alone -------------------------------------------------------------------


def test_two_folders_and_python_live_side_by_side(
    tmp_path: Path, folder: Path, library: ibid.Library
) -> None:
    other = tmp_path / "elsewhere" / "wiki"
    write(folder, {"readme.md": "The walrus sleeps."})
    write(other, {"readme.md": "The penguin swims."})
    library.ingest(ibid.Document("note-1", "The seal barks."))
    assert library.sync(folder).added == ("readme.md",)
    assert library.sync(other).added == ("wiki/readme.md",)
    everything = ["note-1", "readme.md", "wiki/readme.md"]
    assert list_ids(library) == everything
    for place in (folder, other):
        assert counts(library.sync(place)) == {"unchanged": 1}
    (folder / "readme.md").unlink()
    assert library.sync(folder).removed == ("readme.md",)
    assert list_ids(library) == ["note-1", "wiki/readme.md"]
    assert find(library, "penguin") == ["wiki/readme.md"]
    listed = [
        (source.name, source.prefix, source.documents) for source in library.sources(ibid.OWNER)
    ]
    assert listed == [("handbook", "", 0), ("wiki", "wiki", 1)]


def test_a_prefix_in_use_is_a_usage_error(
    tmp_path: Path, folder: Path, library: ibid.Library
) -> None:
    write(folder, NOTES)
    library.sync(folder, prefix="docs/")
    assert list_ids(library) == ["docs/it/laptops.md", "docs/leave.md", "docs/travel.txt"]
    assert counts(library.sync(folder)) == {"unchanged": 3}
    other = tmp_path / "docs"
    write(other, {"a.md": "A."})
    for prefix in (None, "docs"):
        with pytest.raises(ibid.BadQuery, match="in use"):
            library.sync(other, prefix=prefix)
    with pytest.raises(ibid.BadQuery, match="was synced with the prefix"):
        library.sync(folder, prefix="other")
    assert [source.prefix for source in library.sources()] == ["docs"]
    found = run_ibid("sync", other, "--prefix", "docs", library=tmp_path / "library", code=2)
    assert found["error"]["type"] == "BadQuery"
    assert library.sync(other, prefix="more").added == ("more/a.md",)


def test_an_id_of_another_source_is_one_line_in_failed(
    tmp_path: Path, folder: Path, library: ibid.Library
) -> None:
    library.ingest(ibid.Document("leave.md", "Mine."))
    write(folder, NOTES)
    report = library.sync(folder)
    assert report.added == ("it/laptops.md", "travel.txt")
    (failed,) = report.failed
    assert (failed.id, failed.error) == ("leave.md", "DuplicateDocument")
    assert library.document("leave.md").text == "Mine."
    assert [f.id for f in library.sync(folder).failed] == ["leave.md"]
    (folder / "leave.md").unlink()
    assert counts(library.sync(folder)) == {"unchanged": 2}
    assert library.document("leave.md").text == "Mine."


def test_an_id_that_becomes_free_is_taken_at_the_next_sync(
    folder: Path, library: ibid.Library
) -> None:
    library.ingest(ibid.Document("leave.md", "Mine."))
    write(folder, NOTES)
    library.sync(folder)
    library.remove("leave.md")
    assert library.sync(folder).added == ("leave.md",)


def test_a_library_inside_the_folder_is_none_of_its_documents(folder: Path) -> None:
    write(folder, NOTES)
    with open_hashing(folder / "handbook.ibid") as library:
        library.sync(folder)
        assert list_ids(library) == sorted(NOTES)
        assert counts(library.sync(folder)) == {"unchanged": 3, "skipped": 1}


def test_forgetting_a_source_removes_its_documents_alone(
    tmp_path: Path, folder: Path, library: ibid.Library
) -> None:
    other = tmp_path / "wiki"
    write(folder, NOTES)
    write(other, {"leave.md": "Ask the people team."})
    library.ingest(ibid.Document("note-1", "The seal barks."))
    library.sync(folder)
    library.sync(other)
    report = library.forget("handbook")
    assert sorted(report.removed) == sorted(NOTES)
    assert report.passages.removed == 3
    assert list_ids(library) == ["note-1", "wiki/leave.md"]
    assert [source.name for source in library.sources()] == ["wiki"]
    with pytest.raises(ibid.UnknownSource, match="handbook"):
        library.forget("handbook")
    assert library.sync(folder, prefix="").added == tuple(sorted(NOTES))


def test_a_document_removed_by_hand_comes_back_from_its_folder(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, NOTES)
    library.sync(folder)
    library.remove("leave.md", purge=True)
    assert library.sync(folder).added == ("leave.md",)
    assert find(library, "parental leave") == ["leave.md"]


# -- the guard ----------------------------------------------------------------------------------


def make_pages(folder: Path, count: int) -> None:
    write(folder, {f"{n:02}.md": f"Page {n:02}" + "!" * n for n in range(count)})


@pytest.mark.parametrize(
    ("held", "lost", "refused"), [(10, 6, True), (10, 5, False), (9, 9, False)]
)
def test_more_than_half_of_ten_or_more_never_go_at_once(
    folder: Path, library: ibid.Library, held: int, lost: int, refused: bool
) -> None:
    make_pages(folder, held)
    library.sync(folder)
    for number in range(lost):
        (folder / f"{number:02}.md").unlink()
    if not refused:
        assert counts(library.sync(folder))["removed"] == lost
        return
    for dry_run in (False, True):
        with pytest.raises(ibid.InputError, match=f"{lost} of the {held}"):
            library.sync(folder, dry_run=dry_run)
    assert len(list_ids(library)) == held
    assert counts(library.sync(folder, allow_emptying=True))["removed"] == lost


def test_an_unmounted_drive_empties_nothing(tmp_path: Path, folder: Path) -> None:
    make_pages(folder, 12)
    place = tmp_path / "library"
    run_ibid("sync", folder, library=place)
    shutil.rmtree(folder)
    assert run_ibid("sync", folder, library=place, code=2)["error"]["type"] == "UsageError"
    folder.mkdir()
    assert "--yes" in run_ibid("sync", folder, library=place, code=1)["error"]["hint"]
    assert len(run_ibid("list", library=place)["documents"]) == 12
    assert len(run_ibid("sync", folder, "--yes", library=place)["removed"]) == 12


def test_one_new_file_of_a_common_size_does_not_pass_the_guard(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, {f"{n:02}.md": f"Page number {n:02}." for n in range(12)})
    library.sync(folder)
    for file in folder.iterdir():
        file.unlink()
    write(folder, {"new.md": "Other text 123."})
    with pytest.raises(ibid.InputError, match="would be removed"):
        library.sync(folder)
    assert len(list_ids(library)) == 12


# -- failures are kept --------------------------------------------------------------------------


def test_a_failed_file_is_not_read_again_until_it_changes(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, {**NOTES, "broken.md": "%PDF-1.7 and no more"})
    first = library.sync(folder)
    (failed,) = first.failed
    assert failed.id == "broken.md"
    assert failed.error == "UnreadableDocument"
    stat = (folder / "broken.md").stat()
    with (folder / "broken.md").open("r+") as file:  # what a second reading would find
        file.write("Mended! ")
    os.utime(folder / "broken.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    hide_change(Path(library.location), folder / "broken.md")
    again = library.sync(folder)
    assert again.failed == (Failed(failed.id, failed.error, failed.message),)
    assert counts(again) == {"failed": 1, "unchanged": 3}
    assert again.version == first.version
    os.utime(folder / "broken.md", (10**9, 10**9))
    assert library.sync(folder).added == ("broken.md",)


def test_a_file_that_became_unreadable_keeps_its_document(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, NOTES)
    library.sync(folder)
    (folder / "leave.md").write_bytes(b"%PDF-1.7 broken" * 9)
    for _ in range(2):
        assert [failed.id for failed in library.sync(folder).failed] == ["leave.md"]
        assert find(library, "parental leave") == ["leave.md"]
    (folder / "leave.md").unlink()
    assert library.sync(folder).removed == ("leave.md",)


def test_a_checksum_run_tries_failed_files_again(folder: Path, library: ibid.Library) -> None:
    write(folder, {"a.txt": "x" * 2000, "b.txt": "Short."})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IBID_INGEST_MAX_FILE_BYTES", "1000")
        with open_hashing(folder.parent / "other") as limited:
            assert [failed.id for failed in limited.sync(folder).failed] == ["a.txt"]
    with open_hashing(folder.parent / "other") as raised:
        assert [failed.id for failed in raised.sync(folder).failed] == ["a.txt"]
        assert raised.sync(folder, checksum=True).added == ("a.txt",)


# -- through the command line ---------------------------------------------------------------------


def test_the_report_of_the_command_line(tmp_path: Path, folder: Path) -> None:
    place = tmp_path / "library"
    write(folder, {**NOTES, "logo.png": "", ".hidden.md": "Hidden."})
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    report = run_ibid("sync", folder, library=place)
    assert report["added"] == sorted(NOTES)
    assert report["skipped"] == [
        {"id": ".hidden.md", "reason": "hidden"},
        {"id": "logo.png", "reason": "unsupported type image/png"},
    ]
    assert report["passages"] == {"added": 3, "removed": 0, "embedded": 3, "truncated": 0}
    (folder / "travel.txt").rename(folder / "trips.txt")
    report = run_ibid("sync", folder, library=place)
    assert report["moved"] == [{"from": "travel.txt", "to": "trips.txt"}]
    assert report["unchanged"] == 2
    assert len(report["skipped"]) == 2
    (source,) = run_ibid("sources", library=place)["sources"]
    assert (source["name"], source["documents"]) == ("handbook", 3)
    assert run_ibid("sync", folder, "--dry-run", library=place)["unchanged"] == 3
    assert run_ibid("forget", "handbook", library=place)["removed"] == [
        "it/laptops.md",
        "leave.md",
        "trips.txt",
    ]
    assert run_ibid("search", "leave", library=place, code=3)["hits"] == []


def test_adding_files_checks_every_id_first(tmp_path: Path, folder: Path) -> None:
    place = tmp_path / "library"
    write(folder, {"one/a.md": "The walrus.", "one/b.md": "The penguin.", "one/c.png": "\0\1\2"})
    report = run_ibid("add", "one", library=place, cwd=folder)
    assert report["added"] == ["one/a.md", "one/b.md"]
    assert [skipped["id"] for skipped in report["skipped"]] == ["one/c.png"]
    write(folder, {"one/aa.md": "The seal.", "one/b.md": "The gopher."})
    refused = run_ibid("add", "one", library=place, cwd=folder, code=1)
    assert refused["error"]["type"] == "DuplicateDocument"
    assert len(run_ibid("list", library=place)["documents"]) == 2
    updated = run_ibid("update", "one", library=place, cwd=folder)
    assert (updated["added"], updated["updated"]) == (["one/aa.md"], ["one/b.md"])
    assert updated["unchanged"] == 1
    named = run_ibid("add", "one/c.png", library=place, cwd=folder, code=1)
    assert [failed["error"] for failed in named["failed"]] == ["UnsupportedFormat"]
    (tmp_path / "desk").mkdir()
    outside = ("add", folder / "one/a.md")
    refused = run_ibid(*outside, library=place, cwd=tmp_path / "desk", code=2)
    assert "--id" in refused["error"]["hint"]
    added = run_ibid(*outside, "--id", "walrus", library=place, cwd=tmp_path / "desk")
    assert added["added"] == ["walrus"]
