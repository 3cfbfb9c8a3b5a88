"""The searches, each one statement: BM25 from postings, cosines from vectors, entities.

BM25 has k1 1.2 and b 0.75, with the statistics of the version that is searched. A score is rounded
to 32 bits, as sums of the same parts in another order differ in the last of 64.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from pgvector import HalfVector

from ibid.index.postgres.scope import IN_SCOPE, Condition, Generation
from ibid.index.postgres.terms import hash_term
from ibid.protocols import Mention, Role, Scored

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors

QUERY_TERMS: Final = 1_024
"""Different terms of a query that count; a pasted page is searched by its first ones."""

SCANNED: Final = (100, 1_000)
"""Candidates that a walk through the graph of vectors holds: the least, and the most there may be
(pgvector's own limit of hnsw.ef_search)."""

NEAR_INDEX: Final = "vectors_near"
"""The index of the live generation's vectors, where there is one."""

_MATCHED: Final = """matched AS MATERIALIZED (
    SELECT o.term, o.row, o.count, o.length FROM {table} o
    WHERE o.term = ANY (%s) AND o.row >= %s AND o.row < %s
)"""

_RANK: Final = f"""
WITH {_MATCHED},
weights AS (
    SELECT w.term, w.times
        * ln(1 + (greatest(%s::float8 - h.holding, 0) + 0.5) / (h.holding + 0.5)) AS weight
    FROM unnest(%s::bigint[], %s::float8[]) AS w (term, times)
    JOIN (SELECT term, count(*)::float8 AS holding FROM matched GROUP BY term) h USING (term)
),
scored AS (
    SELECT m.row, sum(w.weight * 2.2 * m.count
        / (m.count + 1.2 * (0.25 + 0.75 * m.length / %s::float8)))::real AS score
    FROM matched m JOIN weights w USING (term) GROUP BY m.row
)
SELECT s.row, s.score FROM scored s JOIN passages p ON p.row = s.row {IN_SCOPE}
WHERE {{condition}} ORDER BY s.score DESC, s.row LIMIT %s
"""


def rank_passages(
    connection: Connection, terms: Sequence[str], k: int, condition: Condition, held: Generation
) -> list[Scored]:
    """The k best passages by BM25, best first, equal scores in the order of rows."""
    sizes = (held.passages, held.terms)
    return _rank(connection, "postings", sizes, terms, k, condition, held)


def rank_documents(
    connection: Connection, terms: Sequence[str], k: int, condition: Condition, held: Generation
) -> list[Scored]:
    """The k best documents by BM25 as their first rows, in the same order."""
    sizes = (held.documents, held.document_terms)
    return _rank(connection, "document_postings", sizes, terms, k, condition, held)


def _rank(
    connection: Connection,
    table: str,
    sizes: tuple[int, int],
    terms: Sequence[str],
    k: int,
    condition: Condition,
    held: Generation,
) -> list[Scored]:
    posted, length = sizes
    if not terms or not posted or k < 1:
        return []
    asked = dict(islice(Counter(terms).items(), QUERY_TERMS))
    numbers = [hash_term(term) for term in asked]
    found = connection.execute(
        _RANK.format(table=table, condition=condition.sql),
        (
            numbers,
            held.first_row,
            held.end_row,
            posted,
            numbers,
            [float(times) for times in asked.values()],
            max(length, 1) / posted,
            *condition.values,
            k,
        ),
    )
    return [Scored(row, score) for row, score in found]


def measure_rarity(
    connection: Connection, terms: Sequence[str], held: Generation
) -> dict[str, float]:
    """The idf of each term over all passages of a version."""
    numbers = {hash_term(term): term for term in terms}
    counted = connection.execute(
        f"WITH {_MATCHED.format(table='postings')}"
        " SELECT term, count(*) FROM matched GROUP BY term",
        (list(numbers), held.first_row, held.end_row),
    )
    holding = dict.fromkeys(terms, 0) | {numbers[number]: count for number, count in counted}
    return {
        term: math.log1p((max(held.passages - df, 0) + 0.5) / (df + 0.5))
        for term, df in holding.items()
    }


# -- vectors ------------------------------------------------------------------------------------


def search_all(
    connection: Connection, vector: Vectors, k: int, condition: Condition
) -> list[Scored]:
    """The k nearest passages by cosine, of all that the condition lets through."""
    found = connection.execute(
        f"""
        SELECT v.row, (v.embedding <#> %s)::real AS away
        FROM vectors v JOIN passages p ON p.row = v.row {IN_SCOPE}
        WHERE {condition.sql} ORDER BY away, v.row LIMIT %s
        """,
        (HalfVector(vector), *condition.values, k),
    )
    return [Scored(row, -away) for row, away in found]


def search_near(
    connection: Connection, vector: Vectors, k: int, condition: Condition, held: Generation
) -> list[Scored]:
    """About the same by the index of vectors, which walks on until it has k; fewer where it fails.

    The planner is told to take it, as it would sort all of a table that it thinks small.
    """
    least, most = SCANNED
    for name, value in (
        ("hnsw.iterative_scan", "strict_order"),
        ("hnsw.ef_search", str(min(max(least, 2 * k), most))),
        ("enable_sort", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        ("enable_seqscan", "off"),
    ):
        connection.execute("SELECT set_config(%s, %s, true)", (name, value))
    shape = f"halfvec({len(vector)})"
    found = connection.execute(
        f"""
        SELECT v.row, (v.embedding::{shape} <#> %s::{shape})::real AS away
        FROM vectors v JOIN passages p ON p.row = v.row {IN_SCOPE}
        WHERE v.row >= {held.first_row} AND {condition.sql}
        ORDER BY v.embedding::{shape} <#> %s::{shape} LIMIT %s
        """,
        (HalfVector(vector), *condition.values, HalfVector(vector), k),
    ).fetchall()
    return [Scored(row, -away) for row, away in sorted(found, key=lambda one: (one[1], one[0]))]


def has_near_index(connection: Connection, held: Generation) -> bool:
    """Whether the vectors of a generation have their index, whole."""
    (found,) = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid)",
        (name_index(held.first_row),),
    ).fetchall()
    return bool(found[0])


def name_index(first_row: int) -> str:
    """The name of the index of the generation that begins with this row."""
    return f"{NEAR_INDEX}_{first_row}"


def count_passages(connection: Connection, condition: Condition, most: int) -> int:
    """How many passages a condition lets through, counted up to `most`."""
    ((count,),) = connection.execute(
        "SELECT count(*) FROM"
        f" (SELECT FROM passages p {IN_SCOPE} WHERE {condition.sql} LIMIT %s) counted",
        (*condition.values, most),
    ).fetchall()
    return int(count)


# -- entities -----------------------------------------------------------------------------------


def find_mentions(
    connection: Connection, entities: Sequence[int], most: int, condition: Condition
) -> list[Mention]:
    """The mentions that a condition lets through, by row; none of an entity with more than `most`.

    Rows that aren't let through are not counted: they change nothing.
    """
    asked = list(dict.fromkeys(entities))
    found = connection.execute(
        f"""
        SELECT entity, row, role FROM (
            SELECT m.entity, m.row, m.role, count(*) OVER (PARTITION BY m.entity) AS naming
            FROM mentions m JOIN passages p ON p.row = m.row {IN_SCOPE}
            WHERE m.entity = ANY (%s) AND {condition.sql}
        ) found
        WHERE naming <= %s ORDER BY row, array_position(%s::bigint[], entity)
        """,
        (asked, *condition.values, most, asked),
    )
    return [Mention(entity, row, Role(role)) for entity, row, role in found]
