"""The searches: BM25 from packed postings, cosines from vectors, entities.

A search first finds the best of all rows, and then which of these are in its scope: of a wide scope
nearly all are, and no more is looked at than is shown. Where a filter or a phrase leaves few
documents, their rows are listed first, and only they are ranked. Either way the k best of the scope
come back, whatever it is.

BM25 has k1 1.2 and b 0.75, with the statistics of the version that is searched. A score is rounded
to 32 bits, as sums of the same parts in another order differ in the last of 64.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from ibid.index.postgres.postings import Numbers, Postings, read_postings
from ibid.index.postgres.scope import Generation, Within
from ibid.index.postgres.terms import hash_term
from ibid.protocols import Mention, Role, Scored

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors

QUERY_TERMS: Final = 1_024
"""Different terms of a query that count; a pasted page is searched by its first ones."""

CANDIDATES: Final = (2, 16)
"""How many of the best rows are looked up in the scope, as parts of what is wanted: at first, and
where these give too few. Where those do too, the rows of the scope are listed."""

MOST_WALKED: Final = 1_000
"""Candidates that one walk through the graph of vectors holds, at most: pgvector's own limit of
hnsw.ef_search, past which it walks again."""

DEEPER: Final = 8
"""Mentions of an entity are looked up in parts, each so many times as long as the one before."""

NEAR_INDEX: Final = "vectors_near"
"""The index of the live generation's vectors, where there is one."""


def rank_passages(
    connection: Connection, terms: Sequence[str], k: int, within: Within
) -> list[Scored]:
    """The k best passages by BM25, best first, equal scores in the order of rows."""
    held = within.held
    return _rank(connection, "postings", (held.passages, held.terms), terms, k, within)


def rank_documents(
    connection: Connection, terms: Sequence[str], k: int, within: Within
) -> list[Scored]:
    """The k best documents by BM25 as their first rows, in the same order."""
    held = within.held
    sizes = (held.documents, held.document_terms)
    return _rank(connection, "document_postings", sizes, terms, k, within)


def _rank(
    connection: Connection,
    table: str,
    sizes: tuple[int, int],
    terms: Sequence[str],
    k: int,
    within: Within,
) -> list[Scored]:
    posted, length = sizes
    if not terms or not posted or k < 1:
        return []
    times = dict(islice(Counter(map(hash_term, terms)).items(), QUERY_TERMS))
    held = within.held
    postings = read_postings(connection, table, list(times), held.first_row, held.end_row)
    if not postings:
        return []
    rows, scores = _score(postings, times, held, posted, max(length, 1) / posted)
    listed = within.list_few(connection)
    if listed is None:
        best = _tell(rows, scores, CANDIDATES[-1] * k)
        found = _keep_first(connection, best, k, within)
        if len(found) == k or len(best) == len(rows):
            return found
        listed = within.list_rows(connection)
    inside = np.isin(rows, listed)
    return _tell(rows[inside], scores[inside], k)


def _score(
    postings: dict[int, Postings],
    times: dict[int, int],
    held: Generation,
    posted: int,
    mean_length: float,
) -> tuple[Numbers, NDArray[np.float32]]:
    """The rows that have any of the terms, in their order, and the BM25 of each."""
    sums = np.zeros(held.end_row - held.first_row)
    for term, found in postings.items():
        weight = times[term] * measure_idf(posted, len(found.rows))
        norms = found.counts + 1.2 * (0.25 + 0.75 * found.lengths / mean_length)
        sums[found.rows - held.first_row] += weight * 2.2 * found.counts / norms
    places = np.flatnonzero(sums)
    return places + held.first_row, sums[places].astype(np.float32)


def measure_idf(posted: int, holding: int) -> float:
    """How rare a term is that so many of those posted hold, as BM25 weighs it."""
    return math.log1p((max(posted - holding, 0) + 0.5) / (holding + 0.5))


def _keep_first(
    connection: Connection, best: Sequence[Scored], k: int, within: Within
) -> list[Scored]:
    """The first k of the best rows that are in the scope; fewer where there are fewer."""
    found: list[Scored] = []
    start = 0
    for end in (part * k for part in CANDIDATES):
        if len(found) < k and start < len(best):
            inside = within.keep(connection, [one.row for one in best[start:end]])
            found += [one for one in best[start:end] if one.row in inside]
        start = end
    return found[:k]


def _tell(rows: Numbers, scores: NDArray[np.float32], k: int) -> list[Scored]:
    """The k best, best first, equal scores in the order of rows."""
    if k < len(rows):
        # Equal scores at the cut come whole, so that the first of them are taken.
        least = -np.partition(-scores, k - 1)[k - 1]
        best = np.flatnonzero(scores >= least)
        rows, scores = rows[best], scores[best]
    order = np.lexsort((rows, -scores))[:k]
    return [
        Scored(row, score)
        for row, score in zip(rows[order].tolist(), scores[order].tolist(), strict=True)
    ]


def measure_rarity(
    connection: Connection, terms: Sequence[str], held: Generation
) -> dict[str, float]:
    """The idf of each term over all passages of a version."""
    numbers = {term: hash_term(term) for term in terms}
    postings = read_postings(
        connection, "postings", list(numbers.values()), held.first_row, held.end_row
    )
    holding = {number: len(found.rows) for number, found in postings.items()}
    return {
        term: measure_idf(held.passages, holding.get(number, 0)) for term, number in numbers.items()
    }


# -- vectors ------------------------------------------------------------------------------------


def search_dense(
    connection: Connection, vector: Vectors, k: int, within: Within, *, walk: bool
) -> list[Scored]:
    """The k nearest passages by cosine of those in the scope.

    They are found by looking at all vectors, or, with `walk`, by their index: so about them, unless
    the scope is so narrow that its rows are listed.
    """
    if k < 1:
        return []
    listed, held = within.list_few(connection), within.held
    if listed is None:
        for part in CANDIDATES if walk else CANDIDATES[-1:]:
            if walk:
                best = _walk(connection, vector, part * k, held)
            else:
                rows = ("v.row >= %s AND v.row < %s", held.first_row, held.end_row)
                best = _scan(connection, vector, part * k, *rows)
            found = _keep_first(connection, best, k, within)
            if len(found) == k or len(best) == held.passages:
                return found
        listed = within.list_rows(connection)
    return _scan(connection, vector, k, "v.row = ANY (%s)", listed.tolist())


def _scan(
    connection: Connection, vector: Vectors, k: int, condition: str, *values: object
) -> list[Scored]:
    """The k nearest of the rows of a condition, by a look at each."""
    found = connection.execute(
        "SELECT v.row, (v.embedding <#> %s)::real AS away FROM vectors v"
        f" WHERE {condition} ORDER BY away, v.row LIMIT %s",
        (HalfVector(vector), *values, k),
    ).fetchall()
    return [Scored(row, -away) for row, away in found]


def _walk(connection: Connection, vector: Vectors, k: int, held: Generation) -> list[Scored]:
    """About the k nearest of all rows, by the index of vectors.

    The planner is told to take it, as it would sort all of a table that it thinks small.
    """
    for name, value in (
        ("hnsw.iterative_scan", "relaxed_order"),
        ("hnsw.ef_search", str(min(2 * k, MOST_WALKED))),
        ("enable_seqscan", "off"),
    ):
        connection.execute("SELECT set_config(%s, %s, true)", (name, value))
    shape = f"halfvec({len(vector)})"
    found = connection.execute(
        f"""
        SELECT v.row, (v.embedding::{shape} <#> %s::{shape})::real AS away FROM vectors v
        WHERE v.row >= {held.first_row} AND v.row < %s
        ORDER BY v.embedding::{shape} <#> %s::{shape} LIMIT %s
        """,
        (HalfVector(vector), held.end_row, HalfVector(vector), k),
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


# -- entities -----------------------------------------------------------------------------------


def find_mentions(
    connection: Connection, entities: Sequence[int], most: int, within: Within
) -> list[Mention]:
    """The mentions in the scope, by row; none of an entity with more than `most` of them there.

    Rows outside the scope are not counted: they change nothing.
    """
    asked = {entity: place for place, entity in enumerate(dict.fromkeys(entities))}
    waiting: dict[int, list[Mention]] = {entity: [] for entity in asked}
    for entity, row, role in connection.execute(
        "SELECT entity, row, role FROM mentions WHERE entity = ANY (%s)"
        " AND row >= %s AND row < %s ORDER BY row",
        (list(asked), within.held.first_row, within.held.end_row),
    ).fetchall():
        waiting[entity].append(Mention(entity, row, Role(role)))
    found = dict[int, list[Mention]]()
    part = 2 * most
    while waiting:  # an entity that is named too often is seen to be so by its first mentions
        rows = {one.row for mentions in waiting.values() for one in mentions[:part]}
        inside = within.keep(connection, sorted(rows))
        for entity, mentions in list(waiting.items()):
            kept = found.setdefault(entity, [])
            kept += [one for one in mentions[:part] if one.row in inside]
            waiting[entity] = mentions[part:]
            if len(kept) > most or not waiting[entity]:
                del waiting[entity]
        part *= DEEPER
    named = [one for kept in found.values() if len(kept) <= most for one in kept]
    return sorted(named, key=lambda one: (one.row, asked[one.entity]))
