"""Vacuum: versions older than a time are dropped, and what only they held leaves every table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ibid.index.postgres.drawn import Drawn
from ibid.index.postgres.purge import drop_staged, erase_unused, note_erasures, recount_versions
from ibid.protocols import Vacuumed

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection


def vacuum_versions(
    connection: Connection, before: datetime, *, drawn: Sequence[Drawn]
) -> Vacuumed:
    """What was dropped; the caller commits.

    Revisions that are among the documents `drawn` on by answers stay.
    """
    ((oldest,),) = connection.execute(
        "SELECT coalesce(max(version) FILTER (WHERE created_at <= %s), min(version)) FROM versions",
        (before.timestamp(),),
    ).fetchall()
    dropped = connection.execute(
        "DELETE FROM versions WHERE version < %s RETURNING version", (oldest,)
    ).fetchall()
    versions = sum(version > 0 for (version,) in dropped)  # nobody wrote the empty one
    cited = _find_cited(connection, oldest, drawn)
    old = "removed_in <= %s AND id != ALL (%s::bigint[])"
    note_erasures(connection, old, oldest, cited)
    revisions = connection.execute(f"DELETE FROM revisions WHERE {old}", (oldest, cited)).rowcount
    passages = erase_unused(connection)
    if passages:
        recount_versions(connection)
    drop_staged(connection)
    return Vacuumed(oldest, versions, revisions, passages, len(cited))


def _find_cited(connection: Connection, oldest: int, drawn: Sequence[Drawn]) -> list[int]:
    """The revisions that only stay for answers that cite them."""
    found = connection.execute(
        "SELECT DISTINCT r.id FROM unnest(%s::text[], %s::bigint[]) AS a (name, version)"
        " JOIN revisions r ON r.name = a.name AND r.removed_in <= %s"
        " AND r.version <= a.version AND r.removed_in > a.version",
        ([name for name, _ in drawn], [version for _, version in drawn], oldest),
    )
    return [revision for (revision,) in found]
