"""The graph's rows: which passage names which entity; they come and go with the passages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ibid.index.embedded.reads import read_content_passages
from ibid.index.graph import mention_entities
from ibid.protocols import Mention, Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def insert_mentions(
    connection: sqlite3.Connection, first_row: int, passages: Iterable[Mapping[int, Role]]
) -> None:
    """Write what the passages name, which lie in consecutive rows from `first_row` on."""
    connection.executemany(
        "INSERT INTO mentions VALUES (?,?,?)",
        (
            (entity, row, role)
            for row, entities in enumerate(passages, start=first_row)
            for entity, role in entities.items()
        ),
    )


def delete_mentions(connection: sqlite3.Connection) -> None:
    """Erase what rows name that are no passages any more; one scan, as this is seldom."""
    connection.execute("DELETE FROM mentions WHERE row NOT IN (SELECT row FROM passages)")


def find_mentions(
    connection: sqlite3.Connection,
    entities: Sequence[int],
    most: int,
    allowed: NDArray[np.bool_],
) -> list[Mention]:
    """The mentions in the allowed rows, by row; none of an entity that more than `most` name.

    Rows that aren't allowed are passed over and not counted: they change nothing.
    """
    found = (
        mention
        for entity in dict.fromkeys(entities)
        for mention in _find_rare(connection, entity, most, allowed)
    )
    return sorted(found, key=lambda mention: mention.row)


def _find_rare(
    connection: sqlite3.Connection, entity: int, most: int, allowed: NDArray[np.bool_]
) -> list[Mention]:
    seen: list[Mention] = []
    next_row, step = 0, 2 * most
    while len(seen) <= most:
        found = connection.execute(
            "SELECT row, role FROM mentions WHERE entity = ? AND row >= ? ORDER BY row LIMIT ?",
            (entity, next_row, step),
        ).fetchall()
        seen += [
            Mention(entity, row, Role(role))
            for row, role in found
            if row < len(allowed) and allowed[row]
        ]
        if len(found) < step:
            return seen if len(seen) <= most else []
        next_row = found[-1][0] + 1
    return []


def fill_mentions(connection: sqlite3.Connection) -> None:
    """Write what every passage of a library names that has kept none of it so far."""
    contents = connection.execute(
        "SELECT c.id, c.first_row, c.language, (SELECT r.title FROM revisions r"
        " WHERE r.content = c.id ORDER BY r.id DESC LIMIT 1) FROM contents c ORDER BY c.first_row"
    )
    for content, first_row, language, title in contents.fetchall():
        passages = read_content_passages(connection, content, "")
        insert_mentions(
            connection, first_row, (mention_entities(p, title, language) for p, _ in passages)
        )
