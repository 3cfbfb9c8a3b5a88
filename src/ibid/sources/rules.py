"""The rules of a synced folder: what its `ibid.toml` says of the files below it.

    [[rules]]
    match = "hr/**"                  # in gitignore's language, from the top of the folder
    allow = ["group:hr"]
    tags = { department = "hr" }
    archived = false
    chunking = { by = "structure", size = 256, overlap = 0 }
    ignore = false
    locked = true                    # stronger than front matter

All rules that match a file are merged: a later one wins key by key, tags name by name.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from typing import Any, Final, NoReturn, TypedDict, cast
from urllib.parse import unquote

from ibid.errors import BadSetting, InputError
from ibid.protocols import Source
from ibid.records import JSON, is_principal
from ibid.sources.patterns import Patterns, parse_pattern, read_small_file

RULES_FILE: Final = "ibid.toml"


class ChunkingRule(TypedDict, total=False):
    """How a rule has files cut; what is absent is as the method has it."""

    by: str
    size: int
    overlap: int


@dataclass(frozen=True, slots=True)
class Said:
    """What rules say of a document; None and an absent tag say nothing."""

    allow: frozenset[str] | None = None
    tags: Mapping[str, JSON] = field(default_factory=dict)
    archived: bool | None = None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """What all rules together say of one file; `locked` is what front matter can't change.

    `chunking` is empty where no rule says.
    """

    open: Said = Said()
    locked: Said = Said()
    chunking: ChunkingRule = field(default_factory=ChunkingRule)
    ignore: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its patterns, and its keys as they were checked."""

    patterns: Patterns
    keys: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a folder in their order; `hash` changes when any of them does."""

    rules: tuple[Rule, ...] = ()
    hash: str = ""

    def for_path(self, path: str) -> RuleSet:
        """The merged rules for a file, by its path relative to the folder."""
        return merge_rules(rule.keys for rule in self.rules if rule.patterns.cover(path))

    def ignore(self, path: str) -> bool:
        """The same as `for_path(path).ignore`, which every file of a folder is asked."""
        for rule in reversed(self.rules):
            if "ignore" in rule.keys and rule.patterns.cover(path):
                return bool(rule.keys["ignore"])
        return False


def merge_rules(rules: Iterable[Mapping[str, Any]]) -> RuleSet:
    """The rule set of checked rules, in their order; a value is locked when its own rule is."""
    values: dict[str, tuple[Any, bool]] = {}
    tags: dict[str, tuple[JSON, bool]] = {}
    for keys in rules:
        locked = keys.get("locked", False)
        values |= {name: (value, locked) for name, value in keys.items()}
        tags |= {name: (value, locked) for name, value in keys.get("tags", {}).items()}

    def select(locked: bool) -> Said:
        chosen = {name: value for name, (value, lock) in values.items() if lock is locked}
        return Said(
            allow=chosen.get("allow"),
            tags={name: value for name, (value, lock) in tags.items() if lock is locked},
            archived=chosen.get("archived"),
        )

    return RuleSet(
        open=select(False),
        locked=select(True),
        chunking=values.get("chunking", ({}, False))[0],
        ignore=values.get("ignore", (False, False))[0],
    )


def join_rule_sets(outer: RuleSet, inner: RuleSet) -> RuleSet:
    """What the rules of a folder, and of one inside it, say of one file together.

    It is for those whom each of them allows, and left out where any leaves it out; of all else the
    inner ones have the last word. Who may see it is locked where any locks it.
    """
    said = [rules for both in (outer, inner) for rules in (both.open, both.locked)]
    allowing = [one.allow for one in said if one.allow is not None]
    allow = frozenset.intersection(*allowing) if allowing else None
    locks = outer.locked.allow is not None or inner.locked.allow is not None
    return RuleSet(
        open=_join_said(outer.open, inner.open, None if locks else allow),
        locked=_join_said(outer.locked, inner.locked, allow if locks else None),
        chunking=inner.chunking or outer.chunking,
        ignore=outer.ignore or inner.ignore,
    )


def _join_said(outer: Said, inner: Said, allow: frozenset[str] | None) -> Said:
    archived = outer.archived if inner.archived is None else inner.archived
    return Said(allow, {**outer.tags, **inner.tags}, archived)


def read_rules(source: Source) -> Rules:
    """The rules of a source; none without an `ibid.toml`.

    Raises BadSetting for a file that can't be understood whole, InputError for one that can't be
    read: a folder is never synced without the rules that say who may see it.
    """
    return _read_rules(source.read_text, _tell_place(source.location))


def read_folder_rules(folder: Path) -> Rules:
    """The same of a folder on this machine."""
    return _read_rules(lambda name: read_small_file(folder / name), str(folder))


def _read_rules(read_text: Callable[[str], str | None], place: str) -> Rules:
    where = f"{place}/{RULES_FILE}"
    try:
        text = read_text(RULES_FILE)
    except ValueError as error:
        raise InputError(
            f"{where} can't be read: {error}",
            hint="nothing was changed; mend the file, or remove it if it has no purpose",
        ) from error
    return Rules() if text is None else parse_rules(text, where)


def _tell_place(location: str) -> str:
    """Where a source lies, as people write it."""
    folder = location.removeprefix("file://")
    return location if folder == location else unquote(folder)


def parse_rules(text: str, where: str) -> Rules:
    """The rules in the text of an `ibid.toml`; `where` names the file in errors.

    Raises BadSetting.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(f"{where}: {error}", hint="mend the TOML at that place") from error
    for key in sorted(found.keys() - {"rules"}):
        _refuse(where, f"{key!r} is not read here", "only [[rules]] is; settings live elsewhere")
    tables = found.get("rules", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        _refuse(where, "rules is no list of tables", "begin each rule with a line [[rules]]")
    rules = tuple(
        _read_rule(table, f"{where}: rule {number}") for number, table in enumerate(tables, start=1)
    )
    return Rules(rules, _hash_tables(tables))


def _hash_tables(tables: list[dict[str, Any]]) -> str:
    if not tables:
        return ""
    canonical = json.dumps(tables, sort_keys=True, default=str)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _read_rule(table: Mapping[str, Any], where: str) -> Rule:
    for key in sorted(table.keys() - _KEYS.keys() - {"match"}):
        near = difflib.get_close_matches(key, ["match", *_KEYS], n=1)
        guess = f"did you mean {near[0]}? " if near else ""
        _refuse(where, f"unknown key {key!r}", f"{guess}a rule has match, {', '.join(_KEYS)}")
    match = table.get("match")
    if not isinstance(match, str):
        _refuse(where, "match is missing or no text", 'write for example match = "hr/**"')
    try:
        patterns = parse_pattern(match)
    except ValueError as error:
        _refuse(where, f"match = {match!r} is no pattern: {error}", 'an example is "hr/**"')
    keys = {}
    for key in sorted(table.keys() & _KEYS.keys()):
        check, allowed = _KEYS[key]
        keys[key] = check(table[key])
        if keys[key] is None:
            _refuse(where, f"{key} = {table[key]!r} can't be used", f"{key} is {allowed}")
    return Rule(patterns, keys)


# Each check gives the value as it is used, None for one that isn't allowed.


def _check_flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _check_allow(value: object) -> frozenset[str] | None:
    """A list of principals; the owner is none of them."""
    if not isinstance(value, list):
        return None
    return frozenset(value) if all(map(is_principal, value)) else None


def _check_tags(value: object) -> dict[str, JSON] | None:
    """A table of single values or lists of them; dates become text, as in front matter."""
    if not isinstance(value, dict):
        return None
    tags = {name: _read_tag(tag) for name, tag in value.items()}
    return None if any(tag is None for tag in tags.values()) else tags


def _read_tag(value: object) -> JSON:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list):
        elements = [_read_tag(element) for element in value]
        return None if any(not isinstance(one, str | int | float) for one in elements) else elements
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float) else None


_METHODS: Final = ("structure", "sentences", "words", "characters")


def _check_chunking(value: object) -> ChunkingRule | None:
    checks: dict[str, Callable[[Any], bool]] = {
        "by": lambda by: by in _METHODS,
        "size": lambda size: type(size) is int and size > 0,
        "overlap": lambda overlap: type(overlap) is int and overlap >= 0,
    }
    if not isinstance(value, dict) or not value or value.keys() - checks.keys():
        return None
    if not all(checks[name](part) for name, part in value.items()):
        return None
    if "size" in value and value.get("overlap", 0) >= value["size"]:
        return None
    return cast(ChunkingRule, value)


_KEYS: Final[dict[str, tuple[Callable[[object], Any], str]]] = {
    "allow": (_check_allow, 'a list of principals such as ["group:hr"]'),
    "tags": (_check_tags, "a table of texts, numbers, true or false, or lists of these"),
    "archived": (_check_flag, "true or false"),
    "chunking": (
        _check_chunking,
        f"a table of by ({', '.join(_METHODS)}), size and overlap < size",
    ),
    "ignore": (_check_flag, "true or false"),
    "locked": (_check_flag, "true or false"),
}
"""What a rule may say beside `match`: the check of its value, and what is allowed in words."""


def _refuse(where: str, what: str, hint: str) -> NoReturn:
    raise BadSetting(f"{where}: {what}", hint=f"{hint}; nothing was changed")
