"""Postings, packed: each term has one value for a bucket of rows, read whole and scored here.

A posting is a row's place in its bucket, how often the term is in it, and how many terms it has:
ten bytes, as PostgreSQL sends such numbers. A commit adds its postings at the end of its bucket's
values, so they stand in the order of rows. A table's row for each posting would take some ten times
the room, and the server far longer to add them up than numpy takes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibid.index.postgres.bulk import insert_rows
from ibid.index.postgres.terms import count_terms

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection

Numbers: TypeAlias = "NDArray[np.int64]"

BUCKET: Final = 4_096
"""Rows of a bucket: what a commit adds to is short, and a search reads few values."""

_POSTING: Final = struct.Struct(">hii")
_PACKED: Final = np.dtype([("place", ">i2"), ("count", ">i4"), ("length", ">i4")])


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of one term: its rows in their order, with counts and lengths."""

    rows: Numbers
    counts: Numbers
    lengths: Numbers


@dataclass(slots=True)
class NewPostings:
    """Postings that wait to be written: packed, by term and bucket."""

    packed: dict[tuple[int, int], bytearray] = field(default_factory=dict)

    def add(self, row: int, terms: list[str]) -> None:
        """The postings of a row that has these terms; rows come in their order."""
        bucket, place = divmod(row, BUCKET)
        length = len(terms)
        for term, count in count_terms(terms).items():
            posting = _POSTING.pack(place, count, length)
            self.packed.setdefault((term, bucket), bytearray()).extend(posting)

    def write(self, connection: Connection, table: str) -> None:
        """Write all that waits, in the order of terms, behind what is there."""
        insert_rows(
            connection,
            table,
            {"term": "int8", "bucket": "int8", "packed": "bytea"},
            [(*key, bytes(packed)) for key, packed in sorted(self.packed.items())],
            conflict="(term, bucket) DO UPDATE SET packed = x.packed || excluded.packed",
        )
        self.packed.clear()


def read_postings(
    connection: Connection, table: str, terms: Sequence[int], first_row: int, end_row: int
) -> dict[int, Postings]:
    """The postings of these terms in the rows from `first_row` to `end_row`; none: absent."""
    asked = connection.cursor(binary=True).execute(
        f"SELECT term, bucket, packed FROM {table}"
        " WHERE term = ANY (%s) AND bucket BETWEEN %s AND %s ORDER BY term, bucket",
        (list(terms), first_row // BUCKET, end_row // BUCKET),
    )
    found: dict[int, list[tuple[int, bytes]]] = {}
    for term, bucket, packed in asked.fetchall():
        found.setdefault(term, []).append((bucket, packed))
    unpacked = {term: _cut(unpack(values), first_row, end_row) for term, values in found.items()}
    return {term: postings for term, postings in unpacked.items() if len(postings.rows)}


def unpack(values: Iterable[tuple[int, bytes]]) -> Postings:
    """The postings of buckets, in the order in which these are given."""
    buckets, packed = zip(*values, strict=True)
    parts = [np.frombuffer(one, _PACKED) for one in packed]
    whole = np.concatenate(parts)
    starts = np.repeat(np.array(buckets, np.int64) * BUCKET, [len(part) for part in parts])
    return Postings(
        whole["place"] + starts,
        whole["count"].astype(np.int64),
        whole["length"].astype(np.int64),
    )


def _cut(postings: Postings, first_row: int, end_row: int) -> Postings:
    start, end = np.searchsorted(postings.rows, (first_row, end_row))
    inside = slice(start, end)
    return Postings(postings.rows[inside], postings.counts[inside], postings.lengths[inside])


# -- erasing and checking -------------------------------------------------------------------------


def erase_postings(connection: Connection, table: str, rows: Sequence[int]) -> None:
    """Take these rows out of all values that have them; one of no other row goes."""
    by_bucket: dict[int, list[int]] = {}
    for row in rows:
        by_bucket.setdefault(row // BUCKET, []).append(row % BUCKET)
    for bucket, places in by_bucket.items():
        changed = list(_leave_out(connection, table, bucket, places))
        connection.execute(
            f"UPDATE {table} x SET packed = n.packed"
            " FROM unnest(%b::int8[], %b::bytea[]) AS n (term, packed)"
            " WHERE x.term = n.term AND x.bucket = %s",
            ([term for term, _ in changed], [packed for _, packed in changed], bucket),
        )
        connection.execute(f"DELETE FROM {table} WHERE bucket = %s AND packed = ''", (bucket,))


def _leave_out(
    connection: Connection, table: str, bucket: int, places: Sequence[int]
) -> Iterator[tuple[int, bytes]]:
    """The terms of a bucket that any of these places has, and their values without these."""
    left_out = np.array(places, np.int16)
    for term, packed in connection.cursor(binary=True).execute(
        f"SELECT term, packed FROM {table} WHERE bucket = %s", (bucket,)
    ):
        postings = np.frombuffer(packed, _PACKED)
        kept = ~np.isin(postings["place"], left_out)
        if not kept.all():
            yield term, postings[kept].tobytes()


def find_damaged(
    connection: Connection, table: str, expected: Mapping[int, int], first_row: int
) -> list[int]:
    """The rows, from `first_row` on, whose postings don't add up to the terms `expected` of them.

    Rows that aren't expected may have none.
    """
    damaged: set[int] = set()
    ((last,),) = connection.execute(f"SELECT max(bucket) FROM {table}").fetchall()
    last = max(-1 if last is None else last, max(expected, default=-1) // BUCKET)
    wanted = np.zeros((last + 1) * BUCKET, np.int64)
    wanted[list(expected)] = list(expected.values())
    for bucket in range(first_row // BUCKET, last + 1):
        rows = slice(bucket * BUCKET, (bucket + 1) * BUCKET)
        places = _find_unequal(connection, table, bucket, wanted[rows])
        damaged.update(int(place) + bucket * BUCKET for place in places)
    return sorted(row for row in damaged if row >= first_row)


def _find_unequal(connection: Connection, table: str, bucket: int, wanted: Numbers) -> NDArray[Any]:
    """The places of a bucket whose postings add up to another number, or tell another length."""
    packed = [
        one
        for (one,) in connection.cursor(binary=True).execute(
            f"SELECT packed FROM {table} WHERE bucket = %s", (bucket,)
        )
    ]
    postings = np.frombuffer(b"".join(packed), _PACKED)
    places = postings["place"].astype(np.int64)
    sums = np.bincount(places, weights=postings["count"], minlength=BUCKET)
    lies = places[postings["length"] != wanted[places]]
    return np.union1d(np.flatnonzero(sums != wanted), lies)
