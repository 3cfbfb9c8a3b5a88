"""Whose turn it is: the numbers of files, given to workers by procrastinate's queue.

Its tables lie in a schema beside the library's, which is made anew when another procrastinate
comes: what waits is known without it. A worker beats while it lives; the jobs of one that was
silent for too long go back to the queue, which any other worker sees to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import psycopg

from ibid.errors import BadSetting, LibraryUnreachable

if TYPE_CHECKING:
    import procrastinate

    from ibid.index.postgres.database import Database

Deal: TypeAlias = Callable[[int], object]
"""Lets a file, by its number, have its turn."""

TASK: Final = "ibid.take"
QUEUE: Final = "files"
BEATS: Final = 4
"""How often a worker tells that it lives, in the time after which it is taken for dead."""

PAUSE_SECONDS: Final = 1.0
"""Between the attempts at a file, and between looks at a queue that nobody announced."""

WAIT_SECONDS: Final = 5.0
"""How long a worker waits for a connection before it ends."""

LONGEST_NAME: Final = 63
_SUFFIX: Final = "_queue"


class Turns:
    """The queue of a library's files."""

    def __init__(self, database: Database, *, lost_s: float) -> None:
        """Take a worker that was silent for `lost_s` seconds for dead."""
        self._database = database
        self._lost_s = lost_s
        self._schema = database.schema[: LONGEST_NAME - len(_SUFFIX)] + _SUFFIX
        self._options = {"options": f"{database.options} -c search_path={self._schema}"}

    @contextmanager
    def dealing(self) -> Iterator[Deal]:
        """What gives a file its turn, for a `with`."""
        procrastinate = self._prepare()
        connector = procrastinate.SyncPsycopgConnector(
            conninfo=self._database.url, kwargs=self._options, min_size=1, max_size=1
        )
        with self._translating(), procrastinate.App(connector=connector).open() as app:
            task = app.configure_task(TASK, queue=QUEUE)
            yield lambda number: task.defer(number=number)

    def count_workers(self) -> int:
        """How many workers were heard of lately."""
        self._prepare()
        with self._database.changing() as connection:
            ((count,),) = connection.execute(
                f"SELECT count(*) FROM {self._schema}.procrastinate_workers"
                " WHERE last_heartbeat > now() - make_interval(secs => %s)",
                (self._lost_s,),
            ).fetchall()
            return int(count)

    def work(self, take: Callable[[int], None], *, drain: bool) -> None:
        """Take files as their turn comes, until a signal ends it, or with `drain` none waits."""
        procrastinate = self._prepare()
        connector = procrastinate.PsycopgConnector(
            conninfo=self._database.url,
            kwargs=self._options,
            min_size=1,
            max_size=4,
            timeout=WAIT_SECONDS,
        )
        app = procrastinate.App(connector=connector)
        retry = procrastinate.RetryStrategy(wait=int(PAUSE_SECONDS))
        app.task(name=TASK, queue=QUEUE, retry=retry)(lambda number: take(number))
        with self._translating():
            asyncio.run(self._run(app, drain=drain))

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """What goes wrong with the queue, as the error of a library."""
        from procrastinate.exceptions import ConnectorException  # noqa: PLC0415 - an extra

        try:
            with self._database.translating():
                yield
        except ConnectorException as error:
            raise LibraryUnreachable(
                f"the queue of {self._database.shown} can't be reached ({error})",
                hint="look at the server, then start the worker again",
            ) from error

    async def _run(self, app: procrastinate.App, *, drain: bool) -> None:
        async with app.open_async():
            watch = asyncio.create_task(self._take_back(app))
            try:
                await app.run_worker_async(
                    queues=[QUEUE],
                    concurrency=1,
                    wait=not drain,
                    fetch_job_polling_interval=PAUSE_SECONDS,
                    delete_jobs="always",
                    update_heartbeat_interval=self._lost_s / BEATS,
                    stalled_worker_timeout=self._lost_s,
                )
            finally:
                watch.cancel()

    async def _take_back(self, app: procrastinate.App) -> None:
        """Put back, again and again, what dead workers were at."""
        from procrastinate.exceptions import ConnectorException  # noqa: PLC0415 - an extra

        while True:
            for job in await app.job_manager.get_stalled_jobs(
                queue=QUEUE, seconds_since_heartbeat=self._lost_s
            ):
                with suppress(ConnectorException):  # another worker was first
                    await app.job_manager.retry_job(job)
            await asyncio.sleep(self._lost_s / BEATS)

    def _prepare(self) -> Any:
        """procrastinate, with its tables made where they are not, or are those of another one."""
        try:
            import procrastinate  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise BadSetting(
                f"workers need the extra postgres ({error})",
                hint="run `pip install 'ibid-rag[postgres]'`",
            ) from error
        with self._database.changing() as connection:
            self._database.lock(connection, QUEUE)
            found = connection.execute(
                "SELECT obj_description(to_regnamespace(%s)::oid, 'pg_namespace')", (self._schema,)
            ).fetchone()
            if found != (procrastinate.__version__,):
                self._make_tables(connection, procrastinate.__version__)
        return procrastinate

    def _make_tables(self, connection: psycopg.Connection[Any], version: str) -> None:
        from procrastinate.schema import SchemaManager  # noqa: PLC0415 - an extra

        connection.execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")
        connection.execute(f"CREATE SCHEMA {self._schema}")
        connection.execute(f"COMMENT ON SCHEMA {self._schema} IS '{version}'")
        connection.execute(f"SET LOCAL search_path = {self._schema}")
        connection.execute(SchemaManager.get_schema())
        connection.execute(
            "SELECT procrastinate_defer_jobs_v1(array_agg(ROW(%s, %s, 0, NULL, NULL,"
            " jsonb_build_object('number', number), NULL)::procrastinate_job_to_defer_v1))"
            f" FROM {self._database.schema}.queued WHERE outcome IS NULL HAVING count(*) > 0",
            (QUEUE, TASK),
        )
