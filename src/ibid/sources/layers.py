"""Who has the last word on a document's metadata.

Later wins:

    file < rules < front matter < locked rules < what was set < flags of this call

A reader gives file and front matter as one, above the rules. Each layer speaks of what it names:

| of       | says nothing       | otherwise                                                  |
|----------|--------------------|------------------------------------------------------------|
| title    | absent             | the last layer's                                           |
| archived | absent; file False | the last layer's                                           |
| tags     | an absent name     | name by name the last layer's; null (set, flags) removes   |
| allow    | absent; file None  | flags, locked rules, file or rules; if all are silent the  |
|          |                    | document keeps what it has, and a new one is public        |

So for `allow` alone, what was set yields to a file or rule that speaks: it is the document's access
as it stands, and isn't kept beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from ibid.errors import BadSetting
from ibid.records import JSON, Document
from ibid.sources.rules import RuleSet


def layer_metadata(
    document: Document,
    rules: RuleSet | None = None,
    *,
    kept: Mapping[str, JSON],
    flags: Mapping[str, JSON],
    previous_allow: frozenset[str] | None,
) -> Document:
    """The document, as read, with the metadata that all layers give it together.

    `kept` is what `merge_overrides` kept of earlier calls, `flags` what this call says: any of
    allow (a list, or null for public), tags, archived and title. `previous_allow` is who may see
    the document so far, None for a public or a new one.
    """
    rules = rules or RuleSet()
    spoken = (rules.locked.allow, document.allow, rules.open.allow, previous_allow)
    layered = replace(
        document,
        tags={**rules.open.tags, **document.tags, **rules.locked.tags},
        archived=_choose_archived(document, rules),
        allow=next((allow for allow in spoken if allow is not None), None),
    )
    settled = {name: value for name, value in kept.items() if name != "allow"}
    return apply_overrides(apply_overrides(layered, settled), flags)


def _choose_archived(document: Document, rules: RuleSet) -> bool:
    if rules.locked.archived is not None:
        return rules.locked.archived
    return document.archived or rules.open.archived or False


def apply_overrides(document: Document, said: Mapping[str, JSON]) -> Document:
    """The document with what `ibid set` or flags say of it; what they leave out stays.

    Raises BadSetting for another name than allow, tags, archived or title, or a value amiss.
    """
    if unknown := said.keys() - _READERS.keys():
        raise BadSetting(
            f"{', '.join(sorted(unknown))} can't be set", hint=f"set {', '.join(_READERS)}"
        )
    changes = {name: _READERS[name](value, document) for name, value in said.items()}
    return replace(document, **changes)


def _read_allow(value: JSON, document: Document) -> frozenset[str] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _amiss(document, "allow", value, "a list of principals, or null for public")
    return frozenset(map(str, value))


def _read_tags(value: JSON, document: Document) -> dict[str, JSON]:
    if not isinstance(value, dict):
        raise _amiss(document, "tags", value, "names with their values")
    tags = {**document.tags, **value}
    return {name: tag for name, tag in tags.items() if tag is not None}


def _read_archived(value: JSON, document: Document) -> bool:
    if not isinstance(value, bool):
        raise _amiss(document, "archived", value, "true or false")
    return value


def _read_title(value: JSON, document: Document) -> str:
    if not isinstance(value, str):
        raise _amiss(document, "title", value, "a text")
    return value


_READERS: Final[dict[str, Callable[[JSON, Document], Any]]] = {
    "allow": _read_allow,
    "tags": _read_tags,
    "archived": _read_archived,
    "title": _read_title,
}


def _amiss(document: Document, name: str, value: JSON, allowed: str) -> BadSetting:
    return BadSetting(f"{name} of {document.id!r} can't be {value!r}", hint=f"it is {allowed}")


def merge_overrides(kept: Mapping[str, JSON], said: Mapping[str, JSON]) -> dict[str, JSON]:
    """What to keep after a call: what was kept, with what the call says over it.

    Tags merge name by name; a removed one stays as null, so that the file does not bring it back.
    """
    merged = {name: value for name, value in {**kept, **said}.items() if name != "allow"}
    earlier, later = kept.get("tags"), said.get("tags")
    if isinstance(earlier, dict) and isinstance(later, dict):
        merged["tags"] = {**earlier, **later}
    return merged
