"""The documents that bear the names of a commit, as its changes find and leave them.

All are read at once and changed here, in the order of the changes; then what became of them is
written at once. So a commit takes as many round trips for a thousand documents as for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ibid.index.closed import hash_name
from ibid.index.codec import dump_json
from ibid.index.postgres.bulk import insert_rows
from ibid.index.postgres.database import is_storable
from ibid.records import JSON

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection

_LOOK_UP = """
SELECT b.name, b.document, d.allow, l.id, l.name, l.content
FROM (SELECT name, document, max(id) AS last FROM revisions WHERE name = ANY (%s)
      GROUP BY name, document) b
JOIN documents d ON d.id = b.document
LEFT JOIN revisions l ON l.document = b.document AND l.removed_in IS NULL
ORDER BY b.last
"""

_LOOK_UP_CLOSED = """
SELECT n.name FROM unnest(%b::text[], %b::bytea[]) AS n (name, hash)
JOIN closed c ON c.name = n.hash
"""


@dataclass(frozen=True, slots=True)
class LiveRevision:
    """The revision that a document has now, under its name."""

    id: int
    name: str
    content: int


@dataclass(slots=True, eq=False)
class Bearer:
    """A document, who may see it (None: everyone), and its live revision, if it has one."""

    id: int
    allow: frozenset[str] | None
    live: LiveRevision | None = None
    source: str | None = None
    is_new: bool = False


@dataclass(slots=True)
class Bearers:
    """The documents by the names that they bear or bore, the last one last; `closed` are the
    names of those that were not for everyone, and of which nothing else is left."""

    by_name: dict[str, list[Bearer]]
    closed: frozenset[str] = frozenset()
    said: dict[int, str] = field(default_factory=dict)
    """What was said by hand of the documents that are set anew, as JSON."""
    restricted: dict[int, Bearer] = field(default_factory=dict)
    """The documents whose access is written anew."""

    def find_live(self, name: str) -> Bearer | None:
        """The document that has this name now."""
        for bearer in reversed(self.by_name.get(name, ())):
            if bearer.live is not None and bearer.live.name == name:
                return bearer
        return None

    def read_last_access(self, name: str) -> frozenset[str] | None:
        """Who may see the last document of this name; None: everyone, or there was none."""
        known = self.by_name.get(name)
        if known:
            return known[-1].allow
        return frozenset() if name in self.closed else None

    def bear(self, name: str, bearer: Bearer, live: LiveRevision) -> None:
        """Let a document have this name and revision from now on."""
        known = self.by_name.setdefault(name, [])
        if bearer in known:
            known.remove(bearer)
        known.append(bearer)
        bearer.live = live

    def set_access(
        self, bearer: Bearer, allow: frozenset[str] | None, overrides: Mapping[str, JSON]
    ) -> None:
        """Set who may see a document, at every version, and what was said of it by hand."""
        bearer.allow = allow
        self.said[bearer.id] = dump_json(overrides)
        self.restricted[bearer.id] = bearer

    def narrow_past(self, name: str, bearer: Bearer) -> None:
        """Let nobody see more of the earlier documents of this name than of today's one.

        What they were restricted to stays as well: a new document opens nothing of an old one.
        """
        if bearer.allow is None:
            return
        for past in self.by_name.get(name, ()):
            if past is not bearer and past.live is None:
                both = bearer.allow if past.allow is None else bearer.allow & past.allow
                past.allow = both
                self.restricted[past.id] = past

    def write(self, connection: Connection) -> None:
        """Write the new documents, and what was set of those there were."""
        changed = self.restricted.values()
        insert_rows(
            connection,
            "documents",
            {"id": "int8", "source": "text", "overrides": "text"},
            [(one.id, one.source, self.said[one.id]) for one in changed if one.is_new],
        )
        connection.execute(
            "UPDATE documents d SET allow = n.allow::text[],"
            " overrides = coalesce(n.overrides, d.overrides)"
            " FROM unnest(%b::int8[], %b::text[], %b::text[]) AS n (id, allow, overrides)"
            " WHERE d.id = n.id",
            (
                [one.id for one in changed],
                [_write_array(one.allow) for one in changed],
                [self.said.get(one.id) for one in changed],
            ),
        )


def find_bearers(connection: Connection, names: Iterable[str]) -> Bearers:
    """The documents that bear, or ever bore, one of these names."""
    by_name: dict[str, list[Bearer]] = {}
    by_id: dict[int, Bearer] = {}
    asked = sorted({name for name in names if is_storable(name)})
    found = connection.execute(_LOOK_UP, (asked,))
    gone = connection.execute(_LOOK_UP_CLOSED, (asked, [*map(hash_name, asked)]))
    for name, id, allow, revision, live_name, content in found:
        live = None if revision is None else LiveRevision(revision, live_name, content)
        seen_by = None if allow is None else frozenset(allow)
        bearer = by_id.setdefault(id, Bearer(id, seen_by, live))
        by_name.setdefault(name, []).append(bearer)
    return Bearers(by_name, frozenset(name for (name,) in gone))


def _write_array(principals: frozenset[str] | None) -> str | None:
    """Principals as PostgreSQL writes an array: arrays of arrays must be of one length each."""
    if principals is None:
        return None
    quoted = (one.replace("\\", "\\\\").replace('"', '\\"') for one in sorted(principals))
    return "{" + ",".join(f'"{one}"' for one in quoted) + "}"
