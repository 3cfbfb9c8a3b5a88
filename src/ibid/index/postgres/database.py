"""Connections to a library in PostgreSQL: pools, transactions, and what goes wrong as our errors.

A transaction that reads sees one state, and one that reads for a caller does so in the role that
the policies hold. Reads go to the readers' address, where one is set, but for those of a thread
that is writing: it must see what it wrote, and a replica may lag behind.
"""

from __future__ import annotations

import re
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ibid.errors import BadSetting, LibraryError, LibraryLocked, LibraryUnreachable
from ibid.index.postgres.migrate import migrate_schema, tell_path
from ibid.index.postgres.schema import CALLER, READER
from ibid.records import OWNER, Principals

if TYPE_CHECKING:
    from typing import TypeAlias

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

DEFAULT_SCHEMA: Final = "ibid"
CONNECT_SECONDS: Final = 10
"""How long a server may take to answer where the address says nothing of it."""

MOST_CONNECTIONS: Final = 16
"""Connections that one process holds; a call that finds none free waits for one."""

_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

_AWAY: Final = ("08", "28", "3D", "57P")
"""Classes of SQLSTATE by which no server, user or database is there to go on with."""

_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def split_address(address: str) -> tuple[str, str]:
    """The address that the server is reached at, and the schema that `?schema=` names in it.

    Raises BadSetting for one that names no schema of ours.
    """
    parts = urlsplit(address)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    schema = options.pop("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise BadSetting(
            f"a library can't lie in the schema {schema!r}",
            hint="name it with small letters, figures and underscores",
        )
    options.setdefault("connect_timeout", str(CONNECT_SECONDS))
    return urlunsplit(parts._replace(query=urlencode(options, quote_via=quote))), schema


def tell_address(address: str) -> str:
    """An address without its password and options, as messages may show it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can hold, and so compare, a text: no NUL, no half of a character."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


class Database:
    """A library's schema, opened: made when there is none, brought to today's format when older."""

    def __init__(
        self, address: str, *, readers: str | None, lock_timeout_s: float, create: bool
    ) -> None:
        """Raises LibraryNotFound, FormatTooNew, or LibraryError for a server that isn't there."""
        self.shown = tell_address(address)
        self.lock_timeout_s = lock_timeout_s
        url, self.schema = split_address(address)
        self.url = url
        self.options = conninfo_to_dict(url).get("options") or ""
        with self.translating(), psycopg.connect(url, autocommit=True) as connection:
            migrate_schema(connection, self.schema, create=create)
            self._path = tell_path(connection, self.schema)
        self._pool = self._open_pool(url)
        self._readers = self._pool if readers is None else self._open_readers(readers)
        self._writing = threading.local()

    def _open_readers(self, address: str) -> ConnectionPool[Connection]:
        """The pool of another address of the library; one that isn't there is told at once."""
        url, _ = split_address(address)
        try:
            with self.translating(), psycopg.connect(url):
                return self._open_pool(url)
        except BaseException:
            self._pool.close()
            raise

    def _open_pool(self, url: str) -> ConnectionPool[Connection]:
        return ConnectionPool(
            url,
            min_size=1,
            max_size=MOST_CONNECTIONS,
            open=True,
            timeout=max(self.lock_timeout_s, 1.0),
            kwargs={
                "autocommit": True,
                # A plan that suits any scope suits a narrow one badly: some ten times as long.
                "options": f"{self.options} -c search_path={self._path.replace(' ', '')}"
                " -c plan_cache_mode=force_custom_plan",
            },
            configure=register_vector,
            check=check_alive,
        )

    @contextmanager
    def asking(self) -> Iterator[Connection]:
        """A connection for one statement that reads, which by itself sees one state."""
        pool = self._pool if self.is_writing else self._readers
        with self.translating(), pool.connection() as connection:
            yield connection

    @contextmanager
    def reading(self, principals: Principals = OWNER) -> Iterator[Connection]:
        """A transaction that sees one state, as far as this caller may see it.

        Its statements go out together, and the server is waited for when one is read.
        """
        pool = self._pool if self.is_writing else self._readers
        with self._beginning(pool, _READ, pipelined=True) as connection:
            take_role(connection, principals)
            yield connection

    @contextmanager
    def changing(self, *, pipelined: bool = False) -> Iterator[Connection]:
        """A transaction that writes, beside others; `pipelined`, nothing waits but what is read."""
        with self._beginning(self._pool, _WRITE, pipelined=pipelined) as connection:
            yield connection

    @contextmanager
    def publishing(self, *, pipelined: bool = False) -> Iterator[Connection]:
        """A transaction that may make a version; one at a time, so versions come in their order.

        Raises LibraryLocked when another one takes longer than the time to wait.
        """
        with self.changing(pipelined=pipelined) as connection:
            self._limit_waiting(connection)
            connection.execute("SELECT FROM library FOR UPDATE")
            if (guard := getattr(self._writing, "guard", None)) is not None:
                guard(connection)
            yield connection

    @contextmanager
    def _beginning(
        self, pool: ConnectionPool[Connection], begin: str, *, pipelined: bool
    ) -> Iterator[Connection]:
        """A transaction that is committed at the end, or rolled back where anything is raised."""
        with self.translating(), pool.connection() as connection:
            try:
                with connection.pipeline() if pipelined else nullcontext():
                    connection.execute(begin)
                    yield connection
                    connection.execute("COMMIT")
            except BaseException:
                if not connection.closed:
                    connection.rollback()
                raise

    @contextmanager
    def holding(self, name: str, *, wait: bool = True) -> Iterator[None]:
        """Holds a lock of this library that lasts beyond transactions. Raises LibraryLocked."""
        key = f"ibid {self.schema} {name}"
        with self.translating(), self._pool.connection() as connection:
            limit = self._milliseconds() if wait else "1"
            connection.execute("SELECT set_config('lock_timeout', %s, false)", (limit,))
            try:
                connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (key,))
                try:
                    yield
                finally:
                    connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", (key,))
            finally:
                connection.execute("RESET lock_timeout")

    def lock(self, connection: Connection, name: str, *, shared: bool = False) -> None:
        """Hold a lock of this library until the end of the transaction."""
        function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        connection.execute(f"SELECT {function}(hashtext(%s))", (f"ibid {self.schema} {name}",))

    def clean(self, *tables: str) -> None:
        """Free the room of what was deleted from these tables, for others to overwrite."""
        for table in tables:
            self.run_alone(f"VACUUM {table}")

    def analyze(self, *tables: str) -> None:
        """Tell the planner what these tables have come to hold."""
        self.run_alone(f"ANALYZE {', '.join(tables)}")

    def run_alone(self, statement: str) -> None:
        """Run a statement that can't be part of a transaction."""
        with self.translating(), self._pool.connection() as connection:
            connection.execute(statement)

    @property
    def is_writing(self) -> bool:
        """Whether this thread holds the right to write."""
        return getattr(self._writing, "depth", 0) > 0

    @contextmanager
    def marking_writer(self) -> Iterator[None]:
        """Lets this thread read what was written last, whatever readers are set."""
        self._writing.depth = getattr(self._writing, "depth", 0) + 1
        try:
            yield
        finally:
            self._writing.depth -= 1

    @contextmanager
    def guarding(self, guard: Callable[[Connection], None]) -> Iterator[None]:
        """Lets this thread publish only what `guard` does not refuse in the same transaction."""
        self._writing.guard = guard
        try:
            yield
        finally:
            self._writing.guard = None

    def close(self) -> None:
        """Let go of all connections; calling it again does nothing."""
        self._pool.close()
        self._readers.close()

    def _limit_waiting(self, connection: Connection) -> None:
        connection.execute("SELECT set_config('lock_timeout', %s, true)", (self._milliseconds(),))

    def _milliseconds(self) -> str:
        return str(max(int(self.lock_timeout_s * 1000), 1))

    @contextmanager
    def translating(self) -> Iterator[None]:
        """What the server or the way to it refuses, as the error of a library."""
        try:
            yield
        except psycopg.errors.LockNotAvailable as error:
            raise LibraryLocked(
                f"another process is writing to {self.shown}",
                hint=f"waited {self.lock_timeout_s:g} s; try again when it is done",
            ) from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise LibraryError(
                f"{self.shown} refuses this role something ({_first_line(error)})",
                hint="docs/OPERATING.md lists the rights that a library's role needs",
            ) from error
        except PoolClosed as error:
            raise LibraryError(f"{self.shown} was closed", hint="open the library again") from error
        except PoolTimeout as error:
            raise _tell_unreachable(self.shown, error) from error
        except psycopg.OperationalError as error:
            if error.sqlstate is None or error.sqlstate.startswith(_AWAY):
                raise _tell_unreachable(self.shown, error) from error
            raise LibraryError(
                f"{self.shown} can't go on ({_first_line(error)})",
                hint="look at the server's log and its limits, then try again",
            ) from error


def _tell_unreachable(shown: str, error: Exception) -> LibraryUnreachable:
    return LibraryUnreachable(
        f"{shown} can't be reached ({_first_line(error)})",
        hint="look at the server and at the address, then try again",
    )


def check_alive(connection: Connection) -> None:
    """Raise OperationalError for a connection that the server has closed meanwhile.

    What a server says unasked can be seen without asking it: mostly that it goes away.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(connection)


def take_role(connection: Connection, principals: Principals) -> None:
    """Do the rest of the transaction in the role that the policies hold, for this caller."""
    if principals is OWNER:
        return
    connection.execute(
        "SELECT set_config('role', %s, true), set_config(%s, %s::text[]::text, true)",
        (READER, CALLER, list_principals(principals)),
    )


def list_principals(principals: frozenset[str]) -> list[str]:
    """Those of the principals that a document may name, as PostgreSQL holds no others."""
    return sorted(filter(is_storable, principals))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
