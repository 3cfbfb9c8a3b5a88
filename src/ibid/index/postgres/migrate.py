"""A library's tables in PostgreSQL made, or brought to today's format: whole, and once.

Each step is statements that lead from one format to the next; the tables are made as today's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ibid.errors import FormatTooNew, LibraryError, LibraryNotFound
from ibid.index.postgres.schema import CLOSED, FIRST_ROWS, FORMAT, POLICIES, QUEUE, READER, TABLES

if TYPE_CHECKING:
    import psycopg

MIN_SERVER: Final = 16
MIN_PGVECTOR: Final = (0, 8, 0)
"""The oldest that has an iterative scan."""

_PACK: Final = """
ALTER TABLE {table} RENAME TO unpacked;
ALTER TABLE unpacked RENAME CONSTRAINT {table}_pkey TO unpacked_pkey;
CREATE TABLE {table} (
    term bigint NOT NULL,
    bucket bigint NOT NULL,
    packed bytea STORAGE EXTERNAL NOT NULL,
    PRIMARY KEY (term, bucket)
);
INSERT INTO {table} SELECT term, row / 4096, string_agg(
    int2send((row % 4096)::smallint) || int4send(count) || int4send(length), '' ORDER BY row)
    FROM unpacked WHERE row >= (SELECT first_row FROM library) GROUP BY 1, 2;
DROP TABLE unpacked;
CREATE INDEX {table}_by_bucket ON {table} (bucket);
"""

STEPS: Final[Mapping[int, Sequence[str]]] = {
    1: ("ALTER TABLE files ADD COLUMN tag text NOT NULL DEFAULT ''",),
    2: (
        *(_PACK.format(table=table) for table in ("postings", "document_postings")),
        f"GRANT SELECT ON postings, document_postings TO {READER}",
        QUEUE,
        CLOSED,
    ),
}
"""The statements that lead from each format to the next."""

_MAKE_READER: Final = f"""
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{READER}') THEN
        CREATE ROLE {READER} NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
    IF NOT pg_has_role(current_user, '{READER}', 'SET') THEN
        GRANT {READER} TO CURRENT_USER WITH SET TRUE, INHERIT FALSE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""


def migrate_schema(connection: psycopg.Connection[Any], schema: str, *, create: bool) -> None:
    """Bring the library in a schema to today's format, or make it; one at a time, all or nothing.

    Raises LibraryNotFound where there is none and `create` forbids, FormatTooNew, and LibraryError
    for a server that is too old or a role that may not make what is missing.
    """
    _check_reader(connection)
    found = read_format(connection, schema)
    if found > FORMAT:
        raise FormatTooNew(
            f"the library in the schema {schema} has format {found}; this ibid reads up to"
            f" {FORMAT}",
            hint="install a newer ibid",
        )
    if found == FORMAT:
        return
    if found == 0 and not create:
        raise LibraryNotFound(
            f"no library in the schema {schema}",
            hint="make one with `ibid sync FOLDER` or `ibid add PATH`, or name another with"
            " ?schema=NAME in the address",
        )
    _check_server(connection)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"ibid {schema}",))
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        _check_pgvector(connection)
        connection.execute(_MAKE_READER)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {READER}")
        connection.execute(
            "SELECT set_config('search_path', %s, true)", (tell_path(connection, schema),)
        )
        for statements in _list_steps(read_format(connection, schema)):  # another may be first
            connection.execute(statements)
        connection.execute("UPDATE library SET format = %s", (FORMAT,))


def _check_reader(connection: psycopg.Connection[Any]) -> None:
    """Raise LibraryError where the role of readers could see past the policies."""
    found = connection.execute(
        "SELECT rolname FROM pg_roles WHERE rolname = %s AND (rolsuper OR rolbypassrls)", (READER,)
    ).fetchone()
    if found is not None:
        raise LibraryError(
            f"the role {READER} may bypass row-level security, so it fences nothing off",
            hint=f"run ALTER ROLE {READER} NOSUPERUSER NOBYPASSRLS",
        )


def _list_steps(found: int) -> Sequence[str]:
    """The statements that lead from a format to today's; 0 is a schema without a library."""
    if found == 0:
        return (TABLES, QUEUE, FIRST_ROWS, POLICIES)
    return [statements for step in range(found, FORMAT) for statements in STEPS[step]]


def read_format(connection: psycopg.Connection[Any], schema: str) -> int:
    """The format of the library in a schema; 0 where there is none."""
    (held,) = _fetch(connection, "SELECT to_regclass(%s) IS NOT NULL", f"{schema}.library")
    if not held:
        return 0
    (format,) = _fetch(connection, f"SELECT format FROM {schema}.library")
    return int(format)


def tell_path(connection: psycopg.Connection[Any], schema: str) -> str:
    """Where names are looked up: in the schema, and in that of pgvector."""
    (other,) = _fetch(
        connection, "SELECT extnamespace::regnamespace::text FROM pg_extension"
        " WHERE extname = 'vector'",
    )  # fmt: skip
    return f"{schema}, {other}"


def _check_server(connection: psycopg.Connection[Any]) -> None:
    major = connection.info.server_version // 10_000
    if major < MIN_SERVER:
        raise LibraryError(
            f"the server is PostgreSQL {major}; ibid needs {MIN_SERVER} or later",
            hint="name another server in the library's address",
        )


def _check_pgvector(connection: psycopg.Connection[Any]) -> None:
    (found,) = _fetch(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if tuple(int(part) for part in str(found).split(".")) < MIN_PGVECTOR:
        wanted = ".".join(map(str, MIN_PGVECTOR))
        raise LibraryError(
            f"the server has pgvector {found}; ibid needs {wanted} or later",
            hint="install a newer one there, then run ALTER EXTENSION vector UPDATE",
        )


def _fetch(connection: psycopg.Connection[Any], statement: str, *values: object) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = connection.execute(statement, values).fetchone()
    assert found is not None  # these statements always give a row
    return found
