"""The rows of a version, and which of them a scope lets through, as flags for the searches."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibid.index.codec import read_allow
from ibid.index.embedded.reads import LIVE, read_first_row
from ibid.index.embedded.schema import reading_one_state
from ibid.record import record

Restricted: TypeAlias = tuple[frozenset[str], NDArray[np.int64]]
"""Who may see some revisions, and these."""


@record
class AllowedRows:
    """What a scope lets through: flags by live revision, in the order of their rows, flags by row
    of the library, those of the first row of each document, and the contents they belong to."""

    revisions: NDArray[np.bool_]
    rows: NDArray[np.bool_]
    first_rows: NDArray[np.bool_]
    contents: NDArray[np.int64]


class LiveRows:
    """The live revisions of a version in the order of their rows, column by column."""

    def __init__(self, connection: sqlite3.Connection, version: int) -> None:
        with reading_one_state(connection):
            self.first_row = read_first_row(connection)
            found = connection.execute(
                "SELECT r.id, c.id, c.first_row, c.rows, r.archived"
                " FROM revisions r JOIN contents c ON c.id = r.content"
                f" WHERE {LIVE} ORDER BY c.first_row",
                (version, version),
            ).fetchall()
        columns = np.array(found, np.int64).reshape(-1, 5).T.copy()
        self._ids, self._contents, self._first_rows, self._counts, archived = columns
        self._archived = archived.astype(np.bool_)
        self._by_id = np.argsort(self._ids)

    def locate(self, rows: Sequence[int]) -> dict[int, int]:
        """The revision that each row belongs to."""
        places = np.searchsorted(self._first_rows, rows, side="right") - 1
        return dict(zip(rows, self._ids[places].tolist(), strict=True))

    def find_first_rows(self, rows: Sequence[int]) -> list[int]:
        """For each row the first one of its document."""
        places = np.searchsorted(self._first_rows, rows, side="right") - 1
        found: list[int] = self._first_rows[places].tolist()
        return found

    def find_place(self, revision: int) -> int | None:
        """Where a revision stands among the live ones; None for one that isn't live."""
        found = self._find_places(np.array([revision]))
        return int(found[0]) if len(found) else None

    def list_revisions(self, flags: NDArray[np.bool_]) -> list[int]:
        """The flagged revisions in the order of their rows."""
        found: list[int] = self._ids[flags].tolist()
        return found

    def allow(
        self,
        *,
        archived: bool,
        hidden: Sequence[NDArray[np.int64]],
        chosen: NDArray[np.int64] | None,
    ) -> AllowedRows:
        """The rows of the revisions that aren't `hidden`, and are `chosen` (None: all are).

        `archived` lets archived ones through.
        """
        flags = np.full(len(self._ids), chosen is None)
        if chosen is not None:
            flags[self._find_places(chosen)] = True
        if not archived:
            flags &= ~self._archived
        for revisions in hidden:
            flags[self._find_places(revisions)] = False
        rows = self._flag_rows(flags)
        first_rows = np.zeros_like(rows)
        first_rows[self._first_rows[flags]] = True
        return AllowedRows(flags, rows, first_rows, self._contents[flags])

    def _find_places(self, revisions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where those of these revisions stand that are live."""
        near = np.searchsorted(self._ids, revisions, sorter=self._by_id)
        inside = near < len(self._ids)
        places = self._by_id[near[inside]]
        live: NDArray[np.int64] = places[self._ids[places] == revisions[inside]]
        return live

    def _flag_rows(self, revisions: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """One flag for each row of the library, from one for each revision."""
        first, count = self._first_rows[revisions], self._counts[revisions]
        edges = np.zeros(int((self._first_rows + self._counts).max(initial=0)) + 1, np.int8)
        edges[first] += 1
        edges[first + count] -= 1
        return np.cumsum(edges[:-1], dtype=np.int8).astype(np.bool_)


def read_restricted(connection: sqlite3.Connection, version: int) -> list[Restricted]:
    """The revisions of a version that aren't public, by the principals that may see them today."""
    found = defaultdict(list)
    for revision, allow in connection.execute(
        "SELECT r.id, d.allow FROM revisions r JOIN documents d ON d.id = r.document"
        f" WHERE d.allow IS NOT NULL AND {LIVE}",
        (version, version),
    ):
        found[allow].append(revision)
    return [
        (read_allow(allow) or frozenset(), np.array(revisions, np.int64))
        for allow, revisions in found.items()
    ]


def read_filtered(
    connection: sqlite3.Connection, version: int, condition: str, values: Sequence[object]
) -> NDArray[np.int64]:
    """The revisions of a version for which a condition of `compile_filter` holds."""
    found = connection.execute(
        f"SELECT r.id FROM revisions r WHERE {LIVE} AND ({condition})", (version, version, *values)
    )
    return np.array(found.fetchall(), np.int64).reshape(-1)
