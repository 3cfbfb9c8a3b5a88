"""The rows of a version, and which of them a scope lets through, as flags for the searches."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibid.index.embedded.reads import LIVE, read_first_row
from ibid.index.embedded.schema import reading_one_state


@dataclass(frozen=True, slots=True)
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
                "SELECT r.id, c.id, c.first_row, c.rows, r.archived, r.name"
                " FROM revisions r JOIN contents c ON c.id = r.content"
                f" WHERE {LIVE} ORDER BY c.first_row",
                (version, version),
            ).fetchall()
        ids, contents, first_rows, counts, archived, names = (
            zip(*found, strict=True) if found else ((),) * 6
        )
        self._ids = np.array(ids, np.int64)
        self._contents = np.array(contents, np.int64)
        self._first_rows = np.array(first_rows, np.int64)
        self._counts = np.array(counts, np.int64)
        self._archived = np.array(archived, np.bool_)
        self._names: tuple[str, ...] = tuple(names)
        self._places = {id: place for place, id in enumerate(ids)}

    def locate(self, rows: Sequence[int]) -> dict[int, tuple[int, str]]:
        """The revision that each row belongs to, and its document's id."""
        places = np.searchsorted(self._first_rows, rows, side="right") - 1
        return {
            row: (int(self._ids[place]), self._names[place])
            for row, place in zip(rows, places.tolist(), strict=True)
        }

    def find_first_rows(self, rows: Sequence[int]) -> list[int]:
        """For each row the first one of its document."""
        places = np.searchsorted(self._first_rows, rows, side="right") - 1
        found: list[int] = self._first_rows[places].tolist()
        return found

    def find_place(self, revision: int) -> int | None:
        """Where a revision stands among the live ones; None for one that isn't live."""
        return self._places.get(revision)

    def list_revisions(self, flags: NDArray[np.bool_]) -> list[int]:
        """The flagged revisions in the order of their rows."""
        found: list[int] = self._ids[flags].tolist()
        return found

    def allow(
        self,
        *,
        archived: bool,
        hidden: Iterable[int],
        chosen: Iterable[int] | None,
    ) -> AllowedRows:
        """The rows of the revisions that aren't `hidden`, and are `chosen` (None: all are).

        `archived` lets archived ones through.
        """
        flags = self._flag(chosen) if chosen is not None else np.ones(len(self._ids), np.bool_)
        if not archived:
            flags &= ~self._archived
        flags &= ~self._flag(hidden)
        rows = self._flag_rows(flags)
        first_rows = np.zeros_like(rows)
        first_rows[self._first_rows[flags]] = True
        return AllowedRows(flags, rows, first_rows, self._contents[flags])

    def _flag(self, revisions: Iterable[int]) -> NDArray[np.bool_]:
        flags = np.zeros(len(self._ids), np.bool_)
        flags[[self._places[revision] for revision in revisions]] = True
        return flags

    def _flag_rows(self, revisions: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """One flag for each row of the library, from one for each revision."""
        first, count = self._first_rows[revisions], self._counts[revisions]
        edges = np.zeros(int((self._first_rows + self._counts).max(initial=0)) + 1, np.int8)
        edges[first] += 1
        edges[first + count] -= 1
        return np.cumsum(edges[:-1], dtype=np.int8).astype(np.bool_)
