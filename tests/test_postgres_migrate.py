"""Libraries in PostgreSQL of older formats are brought to today's when they are opened."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from ibid.protocols import FileStat, FileState, Index, SourceInfo
from ibid.testing.index_parts import ALL, PUBLIC, analyze_words, commit, put, turn
from postgres_server import locate, open_postgres

ROW_FOR_EACH: Final = """
CREATE TABLE old AS
    SELECT term, bucket * 4096 + get_byte(packed, at) * 256 + get_byte(packed, at + 1) AS row,
        ('x' || encode(substr(packed, at + 3, 4), 'hex'))::bit(32)::integer AS count,
        ('x' || encode(substr(packed, at + 7, 4), 'hex'))::bit(32)::integer AS length
    FROM {table}, generate_series(0, length(packed) - 1, 10) AS at;
DROP TABLE {table};
ALTER TABLE old RENAME TO {table};
ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY (term, row);
CREATE INDEX {table}_by_row ON {table} (row);
"""
"""Packed postings as the first two formats had them."""

BACK: Final = {
    2: [
        *(ROW_FOR_EACH.format(table=table) for table in ("postings", "document_postings")),
        "DROP TABLE queued, runs, closed",
    ],
    1: ["ALTER TABLE files DROP COLUMN tag"],
}
"""What leads back to each format from the next one."""


@pytest.mark.parametrize("format", BACK)
def test_a_library_of_an_older_format_is_brought_to_todays(
    postgres: str, tmp_path: Path, format: int
) -> None:
    """It finds what it found, and what it knows of its files stays."""
    import psycopg

    address = locate(postgres, tmp_path)
    state = FileState("a", FileStat(6, 1, 7, 3), "read")
    index = open_postgres(address, analyze=analyze_words)
    index.put_source(SourceInfo("handbook", "file:///handbook", ""))
    index.commit([], {}, source="handbook", files=[state])
    commit(index, put("a", "plan one plan", "plan two"), put("b", "tea"))
    commit(index, put("a", "plan three", "tea four"))
    before = look(index)
    index.close()
    schema = address.rpartition("=")[2]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}, public")
        for older in [known for known in BACK if known >= format]:
            for statement in BACK[older]:
                connection.execute(statement)
        connection.execute(f"UPDATE library SET format = {format}")
    index = open_postgres(address, analyze=analyze_words)
    assert index.files("handbook") == {"a": state}
    assert look(index) == before
    assert index.check() == []
    commit(index, put("c", "plan five"))
    assert index.check() == []
    index.close()


def look(index: Index) -> list[object]:
    """What each version finds."""
    return [
        found
        for version in (1, 2)
        for snapshot in [index.snapshot(version)]
        for found in (
            snapshot.search_lexical("plan tea", 9, ALL),
            snapshot.search_documents("plan two", 9, PUBLIC),
            snapshot.search_dense(turn(3), 9, ALL),
            snapshot.documents(ALL),
        )
    ]
