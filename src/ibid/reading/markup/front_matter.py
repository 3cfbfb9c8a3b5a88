"""What a Markdown file says of itself before its text: YAML between `---`, TOML between `+++`."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import Any, Final

import yaml

from ibid.errors import UnreadableDocument
from ibid.records import JSON, Document

# The closing line may be missing; then all of the text is the body.
_FRONT_MATTER: Final = re.compile(
    r"(?P<fence>---|\+\+\+)[ \t]*\n(?P<fields>.*?)^(?P=fence)[ \t]*(?:\n|\Z)", re.S | re.M
)
_FENCE: Final = re.compile(r"(---|\+\+\+)[ \t]*\n")
_SAYS_WHO: Final = re.compile(r"""^[ \t]*["']?allow["']?[ \t]*[:=]""", re.M | re.I)
_KNOWN: Final = frozenset({"title", "allow", "archived", "tags", "description"})
_MAX_VALUES: Final = 10_000  # a few aliases of YAML can stand for billions


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields before a text, the text after them, and the number of lines they took."""

    fields: Mapping[str, JSON] = field(default_factory=dict)
    body: str = ""
    lines: int = 0


def split_front_matter(text: str) -> FrontMatter:
    r"""The front matter of a text whose lines end with `\n`; without one all of it is the body.

    Front matter that isn't YAML or TOML, or no table of fields, stays in the body, so that no
    text is lost. Dates become ISO strings. The names that ibid knows are read in any case.

    Raises UnreadableDocument where it can't be read but sets `allow`: a file that says who may
    see it is never shown to all because of a slip of the pen.
    """
    match = _FRONT_MATTER.match(text)
    fields = _parse_fields(match["fields"], match["fence"]) if match else None
    if match and fields is not None:
        return FrontMatter(_fold_names(fields), text[match.end() :], match.group().count("\n"))
    if _FENCE.match(text):
        unread = match["fields"] if match else text.partition("\n\n")[0]
        if _SAYS_WHO.search(unread):
            raise UnreadableDocument(
                "its front matter can't be read, so that who may see it is unknown",
                hint="mend the lines between the two fences at its top",
            )
    return FrontMatter(body=text)


def apply_front_matter(document: Document, fields: Mapping[str, JSON]) -> Document:
    """The document with what its front matter says; other fields than the known are metadata.

    Raises UnreadableDocument for a value of `allow`, `archived` or `tags` that means nothing.
    """
    title = fields.get("title")
    rest = {k: v for k, v in fields.items() if k not in ("title", "allow", "archived", "tags")}
    return replace(
        document,
        title=document.title if title is None else str(title),
        metadata={**document.metadata, **rest},
        tags=_read_tags(fields.get("tags")),
        allow=_read_allow(fields["allow"]) if "allow" in fields else None,
        archived=_read_archived(fields.get("archived", False)),
    )


def _parse_fields(source: str, fence: str) -> dict[str, JSON] | None:
    """The fields as JSON values; None where the source is broken or holds something else."""
    try:
        found = tomllib.loads(source) if fence == "+++" else yaml.safe_load(source)
        value = _Converter().convert({} if found is None else found)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class _Converter:
    """Turns what YAML and TOML give into JSON values, and gives up when there are too many."""

    def __init__(self) -> None:
        self._left = _MAX_VALUES

    def convert(self, value: Any) -> JSON:
        """The value in JSON's terms. Raises ValueError beyond the limit."""
        self._left -= 1
        if self._left < 0:
            raise ValueError("too many values")
        if isinstance(value, dict):
            return {_name(key): self.convert(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
            return [self.convert(item) for item in items]
        if isinstance(value, datetime | date | time):
            return value.isoformat()
        if isinstance(value, bool | int | str | None):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _name(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) or key is None else str(key)


def _fold_names(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """The fields with the known names in small letters. Raises UnreadableDocument for a double."""
    folded: dict[str, JSON] = {}
    for name, value in fields.items():
        known = name.strip().lower()
        name = known if known in _KNOWN else name
        if name in folded:
            raise UnreadableDocument(f"its front matter gives {name} twice")
        folded[name] = value
    return folded


def _read_allow(value: JSON) -> frozenset[str]:
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list):
        allow = frozenset(name.strip() for name in names if isinstance(name, str) and name.strip())
        if len([name for name in names if isinstance(name, str) and name.strip()]) == len(names):
            return allow
    raise UnreadableDocument(
        f"allow in its front matter is {value!r}, not a list of principals",
        hint='write it like allow: ["group:hr", "user:ann"], or [] for nobody',
    )


def _read_archived(value: JSON) -> bool:
    if isinstance(value, bool):
        return value
    raise UnreadableDocument(f"archived in its front matter is {value!r}, neither true nor false")


def _read_tags(value: JSON) -> dict[str, JSON]:
    if isinstance(value, dict):
        return value
    if value is None:
        return {}
    return {"tags": value if isinstance(value, list) else [value]}
