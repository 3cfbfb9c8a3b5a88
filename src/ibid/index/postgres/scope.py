"""What a search may touch, as a condition of its statement: what is live, seen and passes.

Each condition is over `revisions r` and `documents d`.
Liveness is the version's; who may see a document is today's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ibid.index.postgres.database import list_principals
from ibid.protocols import Scope
from ibid.records import OWNER, Principals

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.index.postgres.postings import Numbers

LIVE: Final = "r.version <= %s AND (r.removed_in IS NULL OR r.removed_in > %s)"
"""The condition that a revision is live at a version, which is given twice."""

IN_SCOPE: Final = """JOIN revisions r ON r.content = p.content
    JOIN documents d ON d.id = r.document"""
"""What leads from passages p to the tables of a condition."""


NARROW: Final = (1_000, 0.05, 10_000)
"""Passages that a filter may leave for them to be listed before anything is ranked: so many, or
this part of all, but no more than these."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, and the values of its parameters."""

    sql: str
    values: tuple[object, ...] = ()

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"{self.sql} AND {other.sql}", self.values + other.values)


@dataclass(frozen=True, slots=True)
class Generation:
    """What a snapshot reads: its version, the rows of it, and the statistics of BM25 there."""

    version: int
    first_row: int
    end_row: int
    passages: int
    terms: int
    documents: int
    document_terms: int


def compile_scope(scope: Scope, version: int) -> Condition:
    """The condition of the documents of a version that are in a scope. Raises BadQuery."""
    condition = Condition(LIVE, (version, version))
    if not scope.include_archived:
        condition &= Condition("NOT r.archived")
    if scope.principals is not OWNER:
        condition &= list_seen(scope.principals)
    if scope.filter is not None:
        from ibid.index.filters import parse_filter  # noqa: PLC0415 - seldom needed
        from ibid.index.postgres.filter_sql import compile_filter  # noqa: PLC0415 - likewise

        sql, values = compile_filter(parse_filter(scope.filter))
        condition &= Condition(sql, tuple(values))
    return condition


def list_seen(principals: Principals) -> Condition:
    """The condition of the documents that a caller may see."""
    if principals is OWNER:
        return Condition("true")
    return Condition("(d.allow IS NULL OR d.allow && %s::text[])", (list_principals(principals),))


@dataclass(frozen=True, slots=True)
class Within:
    """The passages of a scope at a version, with its phrases.

    `narrow` is one with a filter, which may leave few. `listed` are the rows that hold its phrases
    and are in it otherwise; None where it has none. `excluded` are those that hold what they must
    not.
    """

    held: Generation
    condition: Condition
    narrow: bool
    listed: Sequence[int] | None = None
    excluded: frozenset[int] = frozenset()

    def keep(self, connection: Connection, rows: Sequence[int]) -> set[int]:
        """Those of these rows that are in the scope."""
        wanted = set(rows) if self.listed is None else set(rows).intersection(self.listed)
        wanted -= self.excluded
        if not wanted:
            return set()
        # The passages first: else the planner may look for the rows among those of each document.
        found = connection.execute(
            "WITH p AS MATERIALIZED (SELECT row, content FROM passages"
            f" WHERE row = ANY (%s::bigint[])) SELECT p.row FROM p {IN_SCOPE}"
            f" WHERE {self.condition.sql}",
            (sorted(wanted), *self.condition.values),
        ).fetchall()
        return {row for (row,) in found}

    def list_few(self, connection: Connection) -> Numbers | None:
        """All rows of the scope in their order; None unless it is narrow and has but few."""
        if self.listed is None and not self.narrow:
            return None
        least, part, most = NARROW
        few = min(max(least, int(part * self.held.passages)), most)
        rows = self.list_rows(connection, most=few + 1)
        return rows if len(rows) <= few else None

    def list_rows(self, connection: Connection, *, most: int | None = None) -> Numbers:
        """The rows of the scope in their order; of a long list, any `most` of them."""
        import numpy as np  # noqa: PLC0415 - for a search

        rows = self.listed
        if rows is None:
            found = connection.execute(
                f"SELECT p.row FROM passages p {IN_SCOPE} WHERE p.row >= %s AND p.row < %s"
                f" AND {self.condition.sql} LIMIT %s",
                (self.held.first_row, self.held.end_row, *self.condition.values, most),
            ).fetchall()
            rows = [row for (row,) in found]
        return np.array(sorted(set(rows) - self.excluded), np.int64)


def compile_within(connection: Connection, scope: Scope, held: Generation) -> Within:
    """The passages of a scope. Raises BadQuery."""
    within = compile_documents(scope, held)
    if scope.excluded:
        condition = within.condition & _leave_titled(connection, scope.excluded, held.version)
        within = replace(within, condition=condition)
    for phrase in scope.phrases:
        rows = _find_holding(connection, phrase, within, exactly=True)
        within = replace(within, listed=rows)
    for phrase in scope.excluded:
        rows = _find_holding(connection, phrase, within, exactly=False)
        within = replace(within, excluded=within.excluded.union(rows))
    return within


def compile_documents(scope: Scope, held: Generation) -> Within:
    """The passages of the documents of a scope, whatever its phrases. Raises BadQuery."""
    condition = compile_scope(scope, held.version)
    return Within(held, condition, narrow=scope.filter is not None)


def _leave_titled(connection: Connection, phrases: Sequence[str], version: int) -> Condition:
    """The condition that a title holds none of the phrases, a word in any of its forms."""
    from ibid.language.phrases import holds_form  # noqa: PLC0415 - seldom needed

    titles = connection.execute(
        "SELECT r.id, r.title, c.language FROM revisions r JOIN contents c ON c.id = r.content"
        f" WHERE r.title IS NOT NULL AND {LIVE}",
        (version, version),
    )
    titled = [
        revision
        for revision, title, language in titles
        if any(holds_form(title, phrase, language) for phrase in phrases)
    ]
    return Condition("r.id != ALL (%s::bigint[])", (titled,))


def _find_holding(
    connection: Connection, phrase: str, within: Within, *, exactly: bool
) -> list[int]:
    """The rows in the scope whose passage holds the phrase, in order.

    Unless `exactly`, one word is found in all its forms, as the keyword search finds it.
    """
    from ibid.index.postgres.reads import count_languages, read_passages  # noqa: PLC0415 - seldom
    from ibid.language.phrases import holds_phrase, list_alternatives  # noqa: PLC0415 - likewise

    alternatives = list_alternatives(phrase, {None, *count_languages(connection)})
    holding = {
        row for terms in alternatives if terms for row in _find_terms(connection, terms, within)
    }
    rows = sorted(within.keep(connection, sorted(holding)))
    if not exactly and all(len(terms) <= 1 for terms in alternatives):
        return rows
    passages = read_passages(connection, rows)
    return [
        row
        for row in rows
        if row in passages and holds_phrase(passages[row][1].indexed_text, phrase)
    ]


def _find_terms(connection: Connection, terms: tuple[str, ...], within: Within) -> list[int]:
    """The rows that have all of these terms, whether they are in the scope or not."""
    from functools import reduce  # noqa: PLC0415 - seldom needed

    import numpy as np  # noqa: PLC0415 - likewise

    from ibid.index.postgres.postings import read_postings  # noqa: PLC0415 - likewise
    from ibid.index.postgres.terms import hash_term  # noqa: PLC0415 - likewise

    asked = {hash_term(term) for term in terms}
    held = within.held
    postings = read_postings(connection, "postings", sorted(asked), held.first_row, held.end_row)
    if len(postings) < len(asked):
        return []
    rows: list[int] = reduce(np.intersect1d, (one.rows for one in postings.values())).tolist()
    return rows
