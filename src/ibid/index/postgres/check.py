"""Every invariant of a library in PostgreSQL, checked: texts, passages, vectors, postings agree.

The checks read the whole library in one transaction and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ibid.index.postgres.postings import find_damaged
from ibid.index.postgres.purge import find_problem_rows
from ibid.protocols import Problem

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection

MOST: Final = 20
"""Cases of one kind that are told one by one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is wrong, whether it can be mended, and the query that finds where."""

    part: str
    message: str
    repairable: bool
    query: str


def check_library(connection: Connection) -> list[Problem]:
    """The problems found, the truth's own first."""
    problems = [
        Problem(rule.part, str(where), rule.message, rule.repairable)
        for rule in RULES
        for (where,) in connection.execute(f"{rule.query} LIMIT {MOST}").fetchall()
    ]
    problems += _check_postings(connection)
    rows = find_problem_rows(connection)
    if rows:
        where = f"{len(rows)} rows from {rows[0]} on"
        problems.append(Problem("vectors", where, "have no vector, or a damaged one", True))
    return problems


def _check_postings(connection: Connection) -> Iterator[Problem]:
    """The rows whose postings don't add up to the terms of their passage, or of their document."""
    ((first_row,),) = connection.execute("SELECT first_row FROM library").fetchall()
    for table, word, counted in (
        ("postings", "postings", "SELECT row, terms FROM passages WHERE row >= %s"),
        (
            "document_postings",
            "postings as a whole",
            "SELECT first_row, sum(lead_terms) FROM passages WHERE row >= %s GROUP BY 1",
        ),
    ):
        expected = {row: int(terms) for row, terms in connection.execute(counted, (first_row,))}
        for row in find_damaged(connection, table, expected, first_row)[:MOST]:
            yield Problem("postings", f"row {row}", f"has other {word} than its text", True)


RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "versions",
        "is published, and the last version is another one",
        False,
        "SELECT 'version ' || max(v.version) FROM versions v, library l GROUP BY l.version"
        " HAVING max(v.version) != l.version",
    ),
    Rule(
        "revisions",
        "holds two documents of this name at one version",
        False,
        "SELECT DISTINCT a.name FROM revisions a JOIN revisions b ON a.name = b.name"
        " AND a.id < b.id AND (a.removed_in IS NULL OR b.version < a.removed_in)"
        " AND (b.removed_in IS NULL OR a.version < b.removed_in)",
    ),
    Rule(
        "unwritten",
        "belongs to a version that was never published",
        False,
        "SELECT r.name FROM revisions r, library l"
        " WHERE greatest(r.version, r.removed_in) > l.version",
    ),
    Rule(
        "contents",
        "is held, and no document has it",
        True,
        "SELECT 'content ' || c.id FROM contents c"
        " WHERE NOT EXISTS (SELECT FROM revisions r WHERE r.content = c.id)",
    ),
    Rule(
        "documents",
        "is held, and was nothing at any version",
        True,
        "SELECT 'document ' || d.id FROM documents d"
        " WHERE NOT EXISTS (SELECT FROM revisions r WHERE r.document = d.id)",
    ),
    Rule(
        "passages",
        "has other passages than it should",
        False,
        "SELECT 'content ' || c.id FROM contents c WHERE c.rows !="
        " (SELECT count(*) FROM passages p WHERE p.content = c.id"
        " AND p.row >= c.first_row AND p.row < c.first_row + c.rows AND p.first_row = c.first_row)",
    ),
    Rule(
        "rows",
        "lies in rows that another content has too, or beyond the last row",
        False,
        "SELECT 'content ' || id FROM (SELECT c.id, c.first_row + c.rows AS end_row,"
        " lead(c.first_row, 1, l.next_row) OVER (ORDER BY c.first_row, c.id) AS after"
        " FROM contents c, library l) placed WHERE end_row > after",
    ),
    Rule(
        "spans",
        "has a passage outside its text",
        False,
        "SELECT DISTINCT 'content ' || p.content FROM passages p"
        " JOIN texts t ON t.content = p.content"
        " WHERE p.start_at < 0 OR p.end_at <= p.start_at OR p.end_at > length(t.text)",
    ),
    Rule(
        "texts",
        "has a text of another length than it should",
        False,
        "SELECT 'content ' || c.id FROM contents c LEFT JOIN texts t ON t.content = c.id"
        " WHERE c.characters IS DISTINCT FROM length(t.text)",
    ),
    Rule(
        "statistics",
        "has other sizes than its passages",
        True,
        "SELECT 'version ' || v.version FROM versions v, library l WHERE (v.passages, v.terms,"
        " v.documents, v.document_terms) != (SELECT count(*), coalesce(sum(p.terms), 0),"
        " count(*) FILTER (WHERE p.row = p.first_row), coalesce(sum(p.lead_terms), 0)"
        " FROM passages p WHERE p.row >= l.first_row AND p.row < v.end_row)"
        " AND v.version = l.version",
    ),
)
