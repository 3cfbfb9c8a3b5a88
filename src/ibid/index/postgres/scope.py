"""What a search may touch, as a condition of its statement: what is live, seen and passes.

Each condition is over `revisions r` and `documents d`, and those of passages over `passages p` too.
Liveness is the version's; who may see a document is today's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ibid.index.postgres.database import list_principals
from ibid.protocols import Scope
from ibid.records import OWNER, Principals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ibid.index.postgres.database import Connection

LIVE: Final = "r.version <= %s AND (r.removed_in IS NULL OR r.removed_in > %s)"
"""The condition that a revision is live at a version, which is given twice."""

IN_SCOPE: Final = """JOIN revisions r ON r.content = p.content
    JOIN documents d ON d.id = r.document"""
"""What leads from passages p to the tables of a condition."""


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


def compile_passages(connection: Connection, scope: Scope, held: Generation) -> Condition:
    """The condition of the passages in a scope, with its phrases. Raises BadQuery."""
    condition = compile_scope(scope, held.version)
    condition &= Condition("p.row >= %s AND p.row < %s", (held.first_row, held.end_row))
    for phrases, exactly, test in (
        (scope.phrases, True, "p.row = ANY (%s::bigint[])"),
        (scope.excluded, False, "p.row != ALL (%s::bigint[])"),
    ):
        for phrase in phrases:
            rows = _find_holding(connection, phrase, condition, held, exactly=exactly)
            condition &= Condition(test, (rows,))
    return condition


def _find_holding(
    connection: Connection, phrase: str, among: Condition, held: Generation, *, exactly: bool
) -> list[int]:
    """The rows `among` these whose passage holds the phrase.

    Unless `exactly`, one word is found in all its forms, as the keyword search finds it.
    """
    from ibid.index.postgres.reads import count_languages, read_passages  # noqa: PLC0415 - seldom
    from ibid.language.phrases import holds_phrase, list_alternatives  # noqa: PLC0415 - likewise

    alternatives = list_alternatives(phrase, {None, *count_languages(connection)})
    rows = _find_terms(connection, alternatives, among, held)
    if not exactly and all(len(terms) <= 1 for terms in alternatives):
        return rows
    passages = read_passages(connection, rows)
    return [
        row
        for row in rows
        if row in passages and holds_phrase(passages[row][1].indexed_text, phrase)
    ]


def _find_terms(
    connection: Connection,
    alternatives: Iterable[tuple[str, ...]],
    among: Condition,
    held: Generation,
) -> list[int]:
    """The rows, in order, that have all terms of one of the alternatives."""
    from ibid.index.postgres.terms import hash_term  # noqa: PLC0415 - seldom needed

    rows: set[int] = set()
    for terms in filter(None, alternatives):
        found = connection.execute(
            f"""
            SELECT p.row FROM passages p {IN_SCOPE}
            WHERE {among.sql} AND p.row IN (
                SELECT o.row FROM postings o
                WHERE o.term = ANY (%s) AND o.row >= %s AND o.row < %s
                GROUP BY o.row HAVING count(*) = %s)
            """,
            (
                *among.values,
                [hash_term(term) for term in terms],
                held.first_row,
                held.end_row,
                len(set(terms)),
            ),
        )
        rows |= {row for (row,) in found}
    return sorted(rows)
