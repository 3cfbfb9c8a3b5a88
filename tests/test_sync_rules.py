"""What is said beside files, in rules, front matter and by `set`, and who has the last word."""

from __future__ import annotations

from pathlib import Path

import pytest

import ibid
from conftest import find, list_ids, run_ibid, write

PAGES = {
    "hr/leave.md": "# Leave\n\nParental leave lasts sixteen weeks.\n",
    "hr/pay.md": "# Pay\n\nSalaries are paid on the last day.\n",
    "it/laptops.md": "# Laptops\n\nA laptop is replaced after four years.\n",
}


def rule(match: str, *lines: str) -> str:
    return "\n".join(["[[rules]]", f'match = "{match}"', *lines, ""])


def allowed(library: ibid.Library, id: str) -> frozenset[str] | None:
    return library.describe(id, ibid.OWNER).allow


def test_rules_give_access_tags_and_archiving(folder: Path, library: ibid.Library) -> None:
    rules = rule("hr/**", 'allow = ["group:hr"]', 'tags = {department = "hr", level = 2}')
    write(folder, {**PAGES, "ibid.toml": rules + rule("hr/pay.md", "archived = true")})
    report = library.sync(folder)
    assert report.added == tuple(PAGES)  # ibid.toml is none of them
    assert report.skipped == ()
    leave = library.describe("hr/leave.md", ibid.OWNER)
    assert leave.allow == frozenset({"group:hr"})
    assert leave.tags == {"department": "hr", "level": 2}
    assert not leave.archived
    assert library.describe("hr/pay.md", ibid.OWNER).archived
    assert allowed(library, "it/laptops.md") is None
    for mode in ("lexical", "dense", "hybrid"):
        question = "parental leave laptop"
        assert find(library, question, mode, principals=()) == ["it/laptops.md"]
        assert "hr/leave.md" in find(library, question, mode, principals={"group:hr"})
    assert find(library, "leave", filter='tag.department = "hr"') == ["hr/leave.md"]


def test_a_change_of_rules_reaches_unchanged_files_and_embeds_nothing(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, PAGES)
    library.sync(folder)
    write(folder, {"ibid.toml": rule("hr/**", 'allow = ["group:hr"]')})
    report = library.sync(folder)
    assert report.metadata_changed == ("hr/leave.md", "hr/pay.md")
    assert (report.unchanged, report.passages.embedded) == (1, 0)
    assert find(library, "parental leave", principals=()) == []
    assert find(library, "parental leave", principals=(), version=1) == []
    write(folder, {"ibid.toml": rule("hr/**", 'allow = ["user:ann"]')})
    assert len(library.sync(folder).metadata_changed) == 2
    assert allowed(library, "hr/pay.md") == frozenset({"user:ann"})
    (folder / "ibid.toml").unlink()  # says nothing any more: what was, stays
    assert library.sync(folder).unchanged == 3
    assert allowed(library, "hr/pay.md") == frozenset({"user:ann"})
    assert library.sync(folder).unchanged == 3


def test_a_file_that_rules_come_to_ignore_goes(folder: Path, library: ibid.Library) -> None:
    write(folder, PAGES)
    library.sync(folder)
    write(folder, {"ibid.toml": rule("hr/pay.md", "ignore = true")})
    report = library.sync(folder)
    assert report.removed == ("hr/pay.md",)
    assert [(s.id, s.reason) for s in report.skipped] == [("hr/pay.md", "ignored by ibid.toml")]
    assert find(library, "salaries") == []
    (folder / "ibid.toml").unlink()
    assert library.sync(folder).added == ("hr/pay.md",)


def test_a_rule_may_cut_files_its_own_way(folder: Path, library: ibid.Library) -> None:
    text = " ".join(f"word{n}" for n in range(40))
    write(folder, {"a.md": text, "code/b.md": text})
    library.sync(folder)
    cut = rule("code/**", 'chunking = {by = "words", size = 10, overlap = 2}')
    write(folder, {"ibid.toml": cut})
    report = library.sync(folder)
    assert (report.updated, report.unchanged) == (("code/b.md",), 1)
    assert len(library.passages("a.md")) == 1
    passages = library.passages("code/b.md")
    assert [len(passage.text.split()) for passage in passages] == [10, 10, 10, 10, 8]
    assert passages[1].text.split()[0] == "word8"
    assert library.sync(folder).unchanged == 2
    assert library.status().manifest.chunking.startswith("structure")


@pytest.mark.parametrize(
    "broken",
    [
        "[[rules]\n",
        "[search]\nk = 3\n",
        'k = 3\n[[rules]]\nmatch = "a"\n',
        "[[rules]]\nallow = []\n",
        rule("hr/**", 'alow = ["group:hr"]'),
        rule("hr/**", 'allow = "group:hr"'),
        rule("hr/**", "locked = 1"),
        rule("hr/**", 'chunking = {by = "magic"}'),
        rule("hr/**", 'chunking = {by = "words", size = 5, overlap = 5}'),
    ],
)
def test_a_broken_rule_stops_all_and_changes_nothing(
    folder: Path, library: ibid.Library, broken: str
) -> None:
    write(folder, PAGES)
    library.sync(folder)
    (folder / "hr/leave.md").unlink()
    write(folder, {"it/laptops.md": "Changed.", "new.md": "New.", "ibid.toml": broken})
    before = library.documents(ibid.OWNER), library.status(ibid.OWNER), library.sources()
    with pytest.raises(ibid.BadSetting, match=r"ibid\.toml"):
        library.sync(folder)
    assert library.documents(ibid.OWNER) == before[0]
    assert (library.status(ibid.OWNER), library.sources()) == before[1:]


def test_a_broken_rule_is_a_usage_error_that_names_its_place(tmp_path: Path, folder: Path) -> None:
    write(folder, {**PAGES, "ibid.toml": rule("it/**") + rule("hr/**", 'alow = ["group:hr"]')})
    found = run_ibid("sync", folder, library=tmp_path / "library", code=2)
    assert found["error"]["type"] == "BadSetting"
    assert "rule 2" in found["error"]["message"]
    assert "allow" in found["error"]["hint"]


def test_ignored_files_are_skipped_and_their_documents_go(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, {**PAGES, "draft.md": "A draft.", "drafts/keep.md": "Keep it."})
    library.sync(folder)
    write(folder, {".ibidignore": "# drafts\ndraft*\n!drafts/\nhr/*\n!hr/pay.md\n"})
    report = library.sync(folder)
    assert sorted(report.removed) == ["draft.md", "hr/leave.md"]
    assert {s.id: s.reason for s in report.skipped} == {
        "draft.md": "ignored by .ibidignore",
        "hr/leave.md": "ignored by .ibidignore",
    }
    assert list_ids(library) == ["drafts/keep.md", "hr/pay.md", "it/laptops.md"]
    (folder / ".ibidignore").unlink()
    assert library.sync(folder).added == ("draft.md", "hr/leave.md")


def test_front_matter_is_over_rules_unless_they_are_locked(
    folder: Path, library: ibid.Library
) -> None:
    said = "---\nallow: [user:ann]\ntags: {department: people, place: paris}\n---\n\nSaid.\n"
    write(folder, {"open/a.md": said, "locked/a.md": said, "open/b.md": "Silent."})
    rules = [
        rule("**", 'allow = ["group:all"]', 'tags = {department = "all"}'),
        rule("locked/**", 'allow = ["group:hr"]', 'tags = {department = "hr"}', "locked = true"),
    ]
    write(folder, {"ibid.toml": "".join(rules)})
    library.sync(folder)
    assert allowed(library, "open/a.md") == frozenset({"user:ann"})
    assert allowed(library, "locked/a.md") == frozenset({"group:hr"})
    assert allowed(library, "open/b.md") == frozenset({"group:all"})
    tags = {info.id: info.tags for info in library.documents(ibid.OWNER)}
    assert tags["open/a.md"] == {"department": "people", "place": "paris"}
    assert tags["locked/a.md"] == {"department": "hr", "place": "paris"}
    assert tags["open/b.md"] == {"department": "all"}


def test_what_was_set_stays_until_the_file_speaks(folder: Path, library: ibid.Library) -> None:
    write(folder, {"a.md": "The walrus sleeps."})
    library.sync(folder)
    library.set("a.md", allow=["group:zoo"], tags={"animal": "walrus"}, archived=True)
    write(folder, {"a.md": "The walrus woke."})
    assert library.sync(folder).updated == ("a.md",)
    info = library.describe("a.md", ibid.OWNER)
    assert info.allow == frozenset({"group:zoo"})
    assert (info.tags, info.archived) == ({"animal": "walrus"}, True)

    write(folder, {"a.md": "---\nallow: [user:ann]\ntags: {animal: seal}\n---\n\nThe walrus woke."})
    report = library.sync(folder)
    assert report.metadata_changed == ("a.md",)
    assert report.passages.embedded == 0
    info = library.describe("a.md", ibid.OWNER)
    assert info.allow == frozenset({"user:ann"})
    assert info.tags == {"animal": "walrus"}  # of tags, what was set has the last word

    write(folder, {"a.md": "---\nallow: []\n---\n\nThe walrus woke."})
    library.sync(folder)
    assert allowed(library, "a.md") == frozenset()
    assert find(library, "walrus", principals={"user:ann", "group:zoo"}, version=1) == []


def test_front_matter_alone_is_text_when_it_has_a_title(
    folder: Path, library: ibid.Library
) -> None:
    write(
        folder,
        {
            "titled.md": "---\ntitle: Walrus index\ndescription: All about tusks\n---\n",
            "bare.md": "---\nweight: 3\n---\n",
        },
    )
    report = library.sync(folder)
    assert report.added == ("titled.md",)
    assert [skipped.id for skipped in report.skipped] == ["bare.md"]
    assert report.failed == ()
    assert find(library, "walrus") == find(library, "tusks") == ["titled.md"]


def test_set_and_flags_at_the_command_line(tmp_path: Path, folder: Path) -> None:
    place = tmp_path / "library"
    write(folder, PAGES)
    run_ibid("add", "hr", "--allow", "group:hr", "--tag", "team=hr", library=place, cwd=folder)
    owner = ("list", "--as", "*")
    listed = {info["id"]: info for info in run_ibid(*owner, library=place)["documents"]}
    assert listed["hr/pay.md"]["allow"] == ["group:hr"]
    assert listed["hr/pay.md"]["tags"] == {"team": "hr"}
    assert run_ibid("list", library=place)["documents"] == []
    run_ibid("show", "hr/pay.md", library=place, code=1)
    run_ibid("search", "salaries", library=place, code=3)
    hits = run_ibid("search", "salaries", "--as", "group:hr", library=place)["hits"]
    assert hits[0]["document_id"] == "hr/pay.md"
    status = run_ibid("status", library=place)
    assert (status["documents"], "restricted_documents" in status) == (0, False)
    assert run_ibid("status", "--as", "*", library=place)["restricted_documents"] == 2
    report = run_ibid("set", "hr/pay.md", "--public", "--tag", "team=", library=place)
    assert report["metadata_changed"] == ["hr/pay.md"]
    (info,) = run_ibid("list", library=place)["documents"]
    assert (info["id"], info["allow"], info["tags"]) == ("hr/pay.md", None, {})
