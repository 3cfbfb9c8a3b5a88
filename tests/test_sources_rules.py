"""The rules of a folder, and the layers of metadata that they are one of."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from ibid.errors import BadSetting, InputError
from ibid.records import JSON, Document
from ibid.sources.folder import FolderSource
from ibid.sources.layers import apply_overrides, layer_metadata, merge_overrides
from ibid.sources.rules import RuleSet, Said, parse_rules, read_rules

HR, ALL, BOSS = frozenset({"group:hr"}), frozenset({"group:all"}), frozenset({"user:boss"})


# -- ibid.toml


def test_a_rule_says_what_it_names() -> None:
    rules = parse_rules(
        """
        [[rules]]
        match = "hr/**"
        allow = ["group:hr"]
        tags = { department = "hr", since = 2025-01-01, levels = [1, 2], open = false }
        archived = true
        chunking = { by = "words", size = 200, overlap = 20 }
        """,
        "ibid.toml",
    )
    assert rules.for_path("hr/deep/a.md") == RuleSet(
        open=Said(
            allow=HR,
            tags={"department": "hr", "since": "2025-01-01", "levels": [1, 2], "open": False},
            archived=True,
        ),
        chunking={"by": "words", "size": 200, "overlap": 20},
    )
    assert rules.for_path("other/hr/a.md") == RuleSet()


@pytest.mark.parametrize(
    ("match", "matched", "others"),
    [
        ("hr/**", ["hr/a.md", "hr/b/c.md"], ["hr", "x/hr/a.md"]),
        ("hr/", ["hr/a.md", "x/hr/a.md"], ["hr"]),
        ("/hr/", ["hr/a.md"], ["x/hr/a.md"]),
        ("*.md", ["a.md", "x/a.md"], ["a.txt"]),
        ("/*.md", ["a.md"], ["x/a.md"]),
        ("a/**/z.md", ["a/z.md", "a/b/c/z.md"], ["b/z.md"]),
        ("**", ["a.md", "x/y"], []),
    ],
)
def test_patterns_are_those_of_gitignore(match: str, matched: list[str], others: list[str]) -> None:
    rules = parse_rules(f"[[rules]]\nmatch = '{match}'\nignore = true", "ibid.toml")
    assert [path for path in matched + others if rules.for_path(path).ignore] == matched


def test_later_rules_win_key_by_key_and_tags_name_by_name() -> None:
    rules = parse_rules(
        """
        [[rules]]
        match = "**"
        allow = ["group:all"]
        tags = { a = 1, b = 1 }
        chunking = { by = "words", size = 9 }
        ignore = true
        locked = true
        [[rules]]
        match = "x/**"
        tags = { b = 2, c = 2 }
        chunking = { by = "sentences" }
        ignore = false
        archived = true
        [[rules]]
        match = "x/y/**"
        allow = ["user:boss"]
        """,
        "ibid.toml",
    )
    locked = Said(allow=ALL, tags={"a": 1, "b": 1})
    assert rules.for_path("a.md") == RuleSet(
        locked=locked, chunking={"by": "words", "size": 9}, ignore=True
    )
    assert rules.for_path("x/a.md") == RuleSet(
        open=Said(tags={"b": 2, "c": 2}, archived=True),
        locked=Said(allow=ALL, tags={"a": 1}),
        chunking={"by": "sentences"},
    )
    assert rules.for_path("x/y/a.md").open.allow == BOSS
    assert rules.for_path("x/y/a.md").locked.allow is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rules]", "line 1"),
        ("[search]\nk = 3", "'search' is not read here; only [[rules]] is"),
        ("rules = 3", "rules is no list of tables"),
        ("[[rules]]\nallow = []", "rule 1: match is missing"),
        ("[[rules]]\nmatch = '**'\n[[rules]]\nmatch = 3", "rule 2: match is missing"),
        ("[[rules]]\nmatch = ''", "is no pattern"),
        ("[[rules]]\nmatch = '!hr'", "is no pattern"),
        ("[[rules]]\nmatch = '#hr'", "is no pattern"),
        ("[[rules]]\nmatch = '/'", "is no pattern"),
        ("[[rules]]\nmatch = '[z-a]'", "is no pattern"),
        ('[[rules]]\nmatch = "a\\nb"', "is no pattern"),
        ("[[rules]]\nmatch = '**'\nalow = []", "unknown key 'alow'; did you mean allow?"),
        ("[[rules]]\nmatch = '**'\nallow = 'group:hr'", "allow = 'group:hr' can't be used"),
        ("[[rules]]\nmatch = '**'\nallow = ['*']", "allow = ['*'] can't be used"),
        ("[[rules]]\nmatch = '**'\nallow = [' x']", "allow is a list of principals"),
        ("[[rules]]\nmatch = '**'\nallow = [3]", "allow is a list of principals"),
        ("[[rules]]\nmatch = '**'\ntags = ['a']", "tags is a table"),
        ("[[rules]]\nmatch = '**'\ntags = {a = {b = 1}}", "tags is a table"),
        ("[[rules]]\nmatch = '**'\ntags = {a = nan}", "tags is a table"),
        ("[[rules]]\nmatch = '**'\narchived = 1", "archived is true or false"),
        ("[[rules]]\nmatch = '**'\nlocked = 'yes'", "locked is true or false"),
        ("[[rules]]\nmatch = '**'\nchunking = {}", "chunking is a table"),
        ("[[rules]]\nmatch = '**'\nchunking = {by = 'magic'}", "chunking is a table"),
        ("[[rules]]\nmatch = '**'\nchunking = {by = []}", "chunking is a table"),
        ("[[rules]]\nmatch = '**'\nchunking = {size = 0}", "chunking is a table"),
        ("[[rules]]\nmatch = '**'\nchunking = {size = true}", "chunking is a table"),
        ("[[rules]]\nmatch = '**'\nchunking = {size = 2, overlap = 2}", "chunking is a table"),
        ("[[rules]]\nmatch = '**'\nchunking = {width = 2}", "chunking is a table"),
    ],
)
def test_a_broken_rule_stops_and_names_file_rule_and_key(text: str, said: str) -> None:
    with pytest.raises(BadSetting) as caught:
        parse_rules(text, "docs/ibid.toml")
    assert str(caught.value).startswith("docs/ibid.toml: ")
    assert said in str(caught.value)


def test_a_folder_without_rules_has_none(tmp_path: Path) -> None:
    rules = read_rules(FolderSource(tmp_path))
    assert (rules.for_path("a.md"), rules.hash) == (RuleSet(), "")


def test_rules_that_cannot_be_read_are_not_taken_for_none(tmp_path: Path) -> None:
    path = tmp_path / "ibid.toml"
    path.symlink_to("nothing")
    with pytest.raises(InputError, match=r"ibid\.toml can't be read: it is a link to nothing"):
        read_rules(FolderSource(tmp_path))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="isn't a regular file"):
        read_rules(FolderSource(tmp_path))
    path.unlink()
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="can't be read"):
        read_rules(FolderSource(tmp_path))
    path.write_text("#" * 1_000_001)
    with pytest.raises(InputError, match="larger than 1,000,000 bytes"):
        read_rules(FolderSource(tmp_path))


def test_the_hash_changes_with_the_rules_and_not_with_their_look(tmp_path: Path) -> None:
    path = tmp_path / "ibid.toml"

    def read_hash(text: str) -> str:
        path.write_bytes(text.encode())
        return read_rules(FolderSource(tmp_path)).hash

    first = read_hash("[[rules]]\nmatch = 'a'\ntags = {x = 1, y = 2}\n")
    assert read_hash("\ufeff# say\r\n[[rules]]\r\ntags = {y = 2, x = 1}\r\nmatch='a'") == first
    assert read_hash("[[rules]]\nmatch = 'a'\ntags = {x = 1, y = '2'}\n") != first
    one, two = "[[rules]]\nmatch = 'a'\n", "[[rules]]\nmatch = 'b'\n"
    assert read_hash(one + two) != read_hash(two + one)


# -- layers


@pytest.mark.parametrize("spoken", list(itertools.product([False, True], repeat=5)))
def test_the_last_that_says_who_may_see_is_heard(spoken: tuple[bool, ...]) -> None:
    names = ("before", "rule", "file", "locked", "flag")
    said = [name if speaks else None for name, speaks in zip(names, spoken, strict=True)]
    before, rule, file, locked, flag = (frozenset({name}) if name else None for name in said)
    layered = layer_metadata(
        Document("a", "text", allow=file),
        RuleSet(open=Said(allow=rule), locked=Said(allow=locked)),
        kept={},
        flags={"allow": ["flag"]} if flag else {},
        previous_allow=before,
    )
    last = next((name for name in reversed(said) if name), None)
    assert layered.allow == (frozenset({last}) if last else None)


def test_nobody_and_everybody_are_said_too() -> None:
    nobody: frozenset[str] = frozenset()
    document = Document("a", "text")
    silent = layer_metadata(document, kept={}, flags={}, previous_allow=nobody)
    assert silent.allow == nobody
    closed = Document("a", "text", allow=nobody)
    assert layer_metadata(closed, kept={}, flags={}, previous_allow=HR).allow == nobody
    public = layer_metadata(document, kept={}, flags={"allow": None}, previous_allow=HR)
    assert public.allow is None


def test_what_was_set_long_ago_does_not_open_a_document_again() -> None:
    """Set public, then closed by its front matter, which then falls silent: it stays closed."""
    kept: dict[str, JSON] = {"allow": None}
    closed = layer_metadata(
        Document("a", "text", allow=HR), kept=kept, flags={}, previous_allow=None
    )
    assert closed.allow == HR
    later = layer_metadata(Document("a", "text"), kept=kept, flags={}, previous_allow=HR)
    assert later.allow == HR


@pytest.mark.parametrize("spoken", list(itertools.product([False, True], repeat=5)))
def test_the_last_tag_counts(spoken: tuple[bool, ...]) -> None:
    names = ("rule", "file", "locked", "set", "flag")
    said = [{"x": name} if speaks else {} for name, speaks in zip(names, spoken, strict=True)]
    rule, file, locked, kept, flag = said
    layered = layer_metadata(
        Document("a", "text", tags={"own": 1, **file}),
        RuleSet(open=Said(tags=rule), locked=Said(tags=locked)),
        kept={"tags": {**kept}},
        flags={"tags": {**flag}},
        previous_allow=None,
    )
    last = [speaker["x"] for speaker in said if speaker][-1:]
    assert layered.tags == {"own": 1, **({"x": last[0]} if last else {})}


@pytest.mark.parametrize("spoken", list(itertools.product([None, False, True], repeat=4)))
@pytest.mark.parametrize("file", [False, True])
def test_the_last_that_says_archived_counts(spoken: tuple[bool | None, ...], file: bool) -> None:
    rule, locked, kept, flag = spoken
    layered = layer_metadata(
        Document("a", "text", archived=file),
        RuleSet(open=Said(archived=rule), locked=Said(archived=locked)),
        kept={} if kept is None else {"archived": kept},
        flags={} if flag is None else {"archived": flag},
        previous_allow=None,
    )
    last = [value for value in (False, rule, file or None, locked, kept, flag) if value is not None]
    assert layered.archived is last[-1]


def test_a_title_that_was_set_stays() -> None:
    document = Document("a", "text", title="From the file")
    kept = layer_metadata(document, kept={"title": "Set"}, flags={}, previous_allow=None)
    assert kept.title == "Set"
    flags: dict[str, JSON] = {"title": "Flag"}
    last = layer_metadata(document, kept={"title": "Set"}, flags=flags, previous_allow=None)
    assert last.title == "Flag"


def test_a_tag_that_was_removed_stays_away() -> None:
    document = Document("a", "text", tags={"x": 1, "y": 1})
    kept = merge_overrides({"tags": {"z": 1}}, {"tags": {"x": None}})
    assert kept == {"tags": {"z": 1, "x": None}}
    layered = layer_metadata(document, kept=kept, flags={}, previous_allow=None)
    assert layered.tags == {"y": 1, "z": 1}


def test_access_is_not_kept_beside_the_document() -> None:
    assert merge_overrides({"archived": True}, {"allow": ["group:hr"], "title": "T"}) == {
        "archived": True,
        "title": "T",
    }


@pytest.mark.parametrize(
    "said", [{"allow": "group:hr"}, {"tags": []}, {"archived": 1}, {"title": 1}, {"text": "x"}]
)
def test_what_cannot_be_set_is_refused(said: dict[str, JSON]) -> None:
    with pytest.raises(BadSetting):
        apply_overrides(Document("a", "text"), said)
