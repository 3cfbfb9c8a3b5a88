"""What is derived from the documents, made anew: postings, lost or damaged vectors, statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from ibid.index.postgres import reads
from ibid.index.postgres.purge import BY_ROW, erase_unused, find_problem_rows, recount_versions
from ibid.index.postgres.writes import Rows
from ibid.protocols import EmbedTexts

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection

T = TypeVar("T")

CONTENTS_AT_ONCE: Final = 200
ROWS_AT_ONCE: Final = 500


def repair_library(
    connection: Connection, *, analyze: Callable[[str, str | None], str], embed: EmbedTexts
) -> None:
    """Make the library whole from its texts; the caller commits."""
    erase_unused(connection)
    for table in BY_ROW:
        connection.execute(
            f"DELETE FROM {table} x WHERE NOT EXISTS (SELECT FROM passages p WHERE p.row = x.row)"
        )
    _rebuild_postings(connection, analyze)
    _rebuild_vectors(connection, embed)
    recount_versions(connection)


def _rebuild_postings(connection: Connection, analyze: Callable[[str, str | None], str]) -> None:
    """Write the postings of every passage of the live generation anew."""
    connection.execute("DELETE FROM postings")
    connection.execute("DELETE FROM document_postings")
    contents = connection.execute(
        "SELECT c.id, c.first_row, c.language FROM contents c ORDER BY c.first_row"
    ).fetchall()
    for some in _split(contents, CONTENTS_AT_ONCE):
        rows = Rows()
        for content, first_row, language in some:
            lead: list[str] = []
            passages = reads.read_content_passages(connection, content, "")
            for row, passage in enumerate(passages, start=first_row):
                analysed = analyze(passage.indexed_text, language)
                terms, leading = analysed.split(), analysed.partition("\n")[0].split()
                rows.add_postings("postings", row, terms)
                lead += leading
                connection.execute(
                    "UPDATE passages SET terms = %s, lead_terms = %s WHERE row = %s",
                    (len(terms), len(leading), row),
                )
            if passages:
                rows.add_postings("document_postings", first_row, lead)
        rows.write(connection)


def _rebuild_vectors(connection: Connection, embed: EmbedTexts) -> None:
    """Give every passage whose vector is lost or damaged one anew."""
    for some in _split(find_problem_rows(connection), ROWS_AT_ONCE):
        passages = reads.read_passages(connection, some)
        found = embed([passages[row][1].indexed_text for row in some])
        connection.execute("DELETE FROM vectors WHERE row = ANY (%s)", (list(some),))
        rows = Rows()
        rows.add_vectors(zip(some, found, strict=True))
        rows.write(connection)


def _split(values: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """The values in parts of at most so many."""
    for start in range(0, len(values), most):
        yield values[start : start + most]
