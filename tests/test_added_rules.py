"""Files that are added obey the folders that they lie in, alone or with any of these."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

import ibid
from conftest import list_ids, run_ibid, write
from ibid.records import JSON

HR = frozenset({"group:hr"})
ALL = frozenset({"group:all"})
ANN = frozenset({"user:ann"})
PAGES = {
    "hr/leave.md": "# Leave\n\nParental leave lasts sixteen weeks.\n",
    "hr/deep/pay.md": "# Pay\n\nSalaries are paid on the last day.\n",
    "it/laptops.md": "# Laptops\n\nA laptop is replaced after four years.\n",
}
RULES = '[[rules]]\nmatch = "hr/**"\nallow = ["group:hr"]\ntags = { department = "hr" }\n'


def allowed(library: ibid.Library, id: str) -> frozenset[str] | None:
    return library.describe(id, ibid.OWNER).allow


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("named", [".", "hr", "hr/leave.md"])
def test_rules_hold_however_a_file_is_named(
    folder: Path, library: ibid.Library, named: str, overwrite: bool
) -> None:
    write(folder, {**PAGES, "ibid.toml": RULES})
    report = library.add_files([folder / named], folder=folder, overwrite=overwrite)
    assert "hr/leave.md" in report.added
    assert not report.failed
    for id in report.added:
        assert allowed(library, id) == (HR if id.startswith("hr/") else None)
    assert library.describe("hr/leave.md", ibid.OWNER).tags == {"department": "hr"}
    assert {hit.document_id for hit in library.search("leave laptop", 9)} <= {"it/laptops.md"}


@pytest.mark.parametrize("verb", ["add", "update"])
def test_both_verbs_obey_from_inside_the_ruled_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    write(tmp_path, {**PAGES, "ibid.toml": RULES})
    monkeypatch.chdir(tmp_path / "hr")
    assert run_ibid(verb, "leave.md", library=tmp_path / "library")["added"] == ["leave.md"]
    found = run_ibid("list", "--as", "*", library=tmp_path / "library")
    assert [one["allow"] for one in found["documents"]] == [["group:hr"]]


def test_an_id_of_its_own_escapes_no_rule(folder: Path, library: ibid.Library) -> None:
    write(folder, {**PAGES, "ibid.toml": RULES})
    library.add_files([folder / "hr/leave.md"], id="public/leave.md", folder=folder)
    assert allowed(library, "public/leave.md") == HR


def test_flags_of_the_call_have_the_last_word(folder: Path, library: ibid.Library) -> None:
    write(folder, {**PAGES, "ibid.toml": RULES})
    flags: dict[str, JSON] = {"allow": ["user:ann"], "tags": {"department": "it"}}
    library.add_files([folder / "hr/leave.md"], folder=folder, flags=flags)
    assert allowed(library, "hr/leave.md") == ANN
    assert library.describe("hr/leave.md", ibid.OWNER).tags == {"department": "it"}


def test_front_matter_stands_above_rules_and_below_locked_ones(
    folder: Path, library: ibid.Library
) -> None:
    front = '---\nallow: ["group:all"]\n---\n'
    write(folder, {"open/a.md": front + "Herons wade.\n", "shut/a.md": front + "Herons fly.\n"})
    locked = '[[rules]]\nmatch = "shut/**"\nallow = ["group:hr"]\nlocked = true\n'
    write(folder, {"ibid.toml": RULES.replace("hr/**", "**") + locked})
    library.add_files([folder], folder=folder)
    assert allowed(library, "open/a.md") == ALL
    assert allowed(library, "shut/a.md") == HR


def test_what_one_folder_closes_none_inside_it_opens(folder: Path, library: ibid.Library) -> None:
    inner = '[[rules]]\nmatch = "**"\nallow = ["group:hr", "group:all"]\ntags = {level = 2}\n'
    write(folder, {**PAGES, "ibid.toml": RULES, "hr/ibid.toml": inner})
    write(folder, {"hr/deep/ibid.toml": '[[rules]]\nmatch = "**"\nallow = ["group:board"]\n'})
    library.add_files([folder], folder=folder)
    assert allowed(library, "hr/leave.md") == HR
    assert allowed(library, "hr/deep/pay.md") == frozenset()
    assert library.describe("hr/leave.md", ibid.OWNER).tags == {"department": "hr", "level": 2}


def test_a_lock_of_an_outer_folder_stays_locked(folder: Path, library: ibid.Library) -> None:
    front = '---\nallow: ["group:all"]\n---\nHerons wade.\n'
    outer = RULES + "locked = true\n"
    inner = '[[rules]]\nmatch = "**"\nallow = ["group:hr", "group:all"]\n'
    write(folder, {"hr/a.md": front, "ibid.toml": outer, "hr/ibid.toml": inner})
    library.add_files([folder / "hr"], folder=folder)
    assert allowed(library, "hr/a.md") == HR


def test_an_update_that_a_rule_speaks_of_follows_it(folder: Path, library: ibid.Library) -> None:
    write(folder, PAGES)
    library.add_files([folder], folder=folder)
    assert allowed(library, "hr/leave.md") is None
    write(folder, {"ibid.toml": RULES})
    library.add_files([folder], folder=folder, overwrite=True)
    assert allowed(library, "hr/leave.md") == HR
    (folder / "ibid.toml").unlink()  # says nothing any more: what was, stays
    library.add_files([folder], folder=folder, overwrite=True)
    assert allowed(library, "hr/leave.md") == HR


def test_ignored_files_stay_out_and_one_that_is_named_is_told_of(
    folder: Path, library: ibid.Library
) -> None:
    write(folder, {**PAGES, ".ibidignore": "deep/\nl*.md\n!laptops.md\n"})
    report = library.add_files([folder / "hr", folder / "it"], folder=folder)
    assert report.added == ("it/laptops.md",)
    assert {one.id for one in report.skipped} == {"hr/leave.md", "hr/deep"}
    for named in ("hr/leave.md", "hr/deep", "hr/deep/pay.md"):
        (line,) = library.add_files([folder / named], folder=folder).failed
        assert (line.id, line.message) == (named, "ignored by .ibidignore")
    assert list_ids(library) == ["it/laptops.md"]


def test_a_rule_may_leave_files_out(folder: Path, library: ibid.Library) -> None:
    write(folder, {**PAGES, "ibid.toml": '[[rules]]\nmatch = "hr/**"\nignore = true\n'})
    report = library.add_files([folder], folder=folder)
    assert report.added == ("it/laptops.md",)
    assert {one.reason for one in report.skipped} == {"ignored by ibid.toml"}
    assert library.add_files([folder / "hr/leave.md"], folder=folder).failed


@pytest.mark.parametrize("name", ["ibid.toml", ".ibidignore"])
def test_what_rules_a_folder_is_no_document(folder: Path, library: ibid.Library, name: str) -> None:
    write(folder, {name: "# nothing\n", "a.md": "Herons wade.\n"})
    (line,) = library.add_files([folder / name], folder=folder).failed
    assert "no document" in line.message
    assert not library.add_files([folder], folder=folder).failed


def test_rules_that_cannot_be_read_let_nothing_in(folder: Path, library: ibid.Library) -> None:
    write(folder, {**PAGES, "ibid.toml": '[[rules]]\nmatch = "hr/**"\nalow = ["group:hr"]\n'})
    for named in (".", "hr/leave.md"):
        with pytest.raises(ibid.BadSetting, match="did you mean allow"):
            library.add_files([folder / named], folder=folder)
    write(folder, {"ibid.toml": "", ".ibidignore": "[z-a]\n"})
    with pytest.raises(ibid.InputError, match="ibidignore"):
        library.add_files([folder / "hr/leave.md"], folder=folder)
    assert list_ids(library) == []


def test_a_rule_says_how_an_added_file_is_cut(folder: Path, library: ibid.Library) -> None:
    cut = '[[rules]]\nmatch = "**"\nchunking = { by = "words", size = 3 }\n'
    write(folder, {"a.md": "One two three four five six.\n", "ibid.toml": cut})
    library.add_files([folder], folder=folder)
    assert len(library.passages("a.md")) == 2


def test_what_comes_inside_a_file_is_for_those_who_may_see_the_file(
    folder: Path, library: ibid.Library
) -> None:
    def post(*names: str) -> None:
        message = EmailMessage()
        message["Subject"] = "Wages"
        message.set_content("See below.")
        for name in names:
            message.add_attachment(b"Salaries rise.", "text", "plain", filename=name)
        (folder / "mail.eml").write_bytes(bytes(message))

    post()
    library.add_files([folder / "mail.eml"], folder=folder)
    library.set("mail.eml", allow=["group:hr"])
    post("wages.txt")
    library.add_files([folder / "mail.eml"], folder=folder, overwrite=True)
    assert allowed(library, "mail.eml/wages.txt") == HR
    write(folder, {"ibid.toml": '[[rules]]\nmatch = "*.eml"\nallow = ["user:ann"]\n'})
    post("wages.txt", "more.txt")
    library.add_files([folder / "mail.eml"], folder=folder, overwrite=True)
    for id in ("mail.eml", "mail.eml/wages.txt", "mail.eml/more.txt"):
        assert allowed(library, id) == ANN


def test_an_added_file_overwrites_nothing_with_what_comes_inside_it(
    folder: Path, library: ibid.Library
) -> None:
    message = EmailMessage()
    message.set_content("See below.")
    message.add_attachment(b"Salaries rise.", "text", "plain", filename="a.txt")
    (folder / "mail.eml").write_bytes(bytes(message))
    library.ingest(ibid.Document("mail.eml/a.txt", "Herons wade."))
    report = library.add_files([folder / "mail.eml"], folder=folder)
    assert report.added == ("mail.eml",)
    assert [line.error for line in report.failed] == ["DuplicateDocument"]
    assert library.document("mail.eml/a.txt").text == "Herons wade."
