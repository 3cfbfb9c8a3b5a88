"""Vacuum: versions older than a time are dropped, and what only they held leaves every file.

As with a purge, derived files are written anew beside the old ones, the transaction switches to
them, and only then do the old ones go.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from ibid.index.embedded import reads, writes
from ibid.index.embedded.drawn import Drawn
from ibid.index.embedded.purge import (
    erase_contents,
    note_erasures,
    rebuild_postings,
    rewrite_segments,
)
from ibid.index.embedded.reads import LIVE
from ibid.index.embedded.schema import transacting
from ibid.protocols import Vacuumed


def vacuum_versions(
    connection: sqlite3.Connection,
    folder: Path,
    before: datetime,
    *,
    drawn: Iterable[Drawn],
    analyze: Callable[[str, str | None], str],
) -> Vacuumed:
    """What was dropped; the caller holds the writer's lock and clears the files left behind.

    Revisions that are among the documents `drawn` on by answers stay.
    """
    oldest = _find_oldest(connection, before)
    with transacting(connection):
        dropped = connection.execute(
            "DELETE FROM versions WHERE version < ? RETURNING version", (oldest,)
        ).fetchall()
        cited = _mark_cited(connection, oldest, drawn)
        old = "removed_in <= ? AND id NOT IN (SELECT id FROM temp.cited)"
        note_erasures(connection, old, oldest)
        revisions = connection.execute(f"DELETE FROM revisions WHERE {old}", (oldest,)).rowcount
        unused = connection.execute(
            "SELECT id FROM contents WHERE id NOT IN (SELECT content FROM revisions)"
        )
        erased = erase_contents(connection, [content for (content,) in unused])
        connection.execute("DELETE FROM documents WHERE id NOT IN (SELECT document FROM revisions)")
        if erased:
            version = reads.read_version(connection)
            generation = reads.read_generation(connection) + 1
            replaced, written = rewrite_segments(
                connection, folder / "vectors", erased, f"v{version}g{generation}"
            )
            rebuild_postings(connection, folder / "lexical" / str(generation), analyze)
            writes.replace_segments(connection, replaced, written)
    versions = sum(version > 0 for (version,) in dropped)  # nobody wrote the empty one
    return Vacuumed(oldest, versions, revisions, sum(rows for _, rows in erased), cited)


def _mark_cited(connection: sqlite3.Connection, oldest: int, drawn: Iterable[Drawn]) -> int:
    """How many revisions only stay for answers that cite them; the table `cited` holds them."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS cited (id INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.cited")
    connection.executemany(
        "INSERT OR IGNORE INTO temp.cited SELECT r.id FROM revisions r"
        f" WHERE r.name = ? AND r.removed_in <= ? AND {LIVE}",
        ((name, oldest, version, version) for name, version in drawn),
    )
    (count,) = connection.execute("SELECT count(*) FROM temp.cited").fetchone()
    return int(count)


def _find_oldest(connection: sqlite3.Connection, before: datetime) -> int:
    """The version that was the last one at that time; the first that is held, if none was."""
    (oldest,) = connection.execute(
        "SELECT coalesce(max(CASE WHEN created_at <= ? THEN version END), min(version))"
        " FROM versions",
        (before.timestamp(),),
    ).fetchone()
    return int(oldest)
