"""A library in PostgreSQL whose server restarts, stops, is slow, or is followed by another one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ibid
from conftest import run_ibid, write
from ibid.errors import LibraryError, LibraryUnreachable
from ibid.openers import open_library
from ibid.protocols import Index
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.index_parts import PUBLIC, analyze_words, commit, find_both, list_ids, put
from postgres_server import Server, locate, open_postgres, running_server
from worker_kills import open_place, start_worker


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def address(server: Server, tmp_path: Path) -> str:
    return locate(server.address, tmp_path)


@pytest.fixture
def index(address: str) -> Iterator[Index]:
    index = open_postgres(address, analyze=analyze_words, lock_timeout_s=1.0)
    yield index
    index.close()


# -- restarts -----------------------------------------------------------------------------------


def test_a_restart_between_two_calls_is_not_noticed(server: Server, index: Index) -> None:
    """Connections that the server closed are seen before they are used."""
    commit(index, put("a", "plan a"))
    held = index.snapshot()
    server.stop()
    server.start()
    assert find_both(held, "plan") == {"plan a"}
    commit(index, put("b", "plan b"))
    assert list_ids(index.snapshot()) == ["a", "b"]


def test_a_server_that_is_down_is_told_and_nothing_is_lost(
    server: Server, address: str, index: Index, tmp_path: Path
) -> None:
    commit(index, put("a", "plan a"))
    server.stop()
    try:
        with pytest.raises(LibraryUnreachable, match="can't be reached"):
            index.snapshot()
        with pytest.raises(LibraryUnreachable):
            commit(index, put("b", "plan b"))
        place: Any = address
        told = run_ibid("search", "plan", library=place, code=4)
        assert told["error"]["type"] == "LibraryUnreachable"
    finally:
        server.start()
    reach(index)
    assert list_ids(index.snapshot()) == ["a"]
    assert index.check() == []


def reach(index: Index) -> None:
    """Wait until connections are made again; the pool tries at growing intervals."""
    until = time.monotonic() + 60
    while True:
        try:
            index.snapshot()
        except LibraryUnreachable:
            assert time.monotonic() < until
        else:
            return


def test_a_commit_that_the_server_breaks_off_leaves_nothing(
    address: str, index: Index, server: Server
) -> None:
    """Whole or not at all; the next one has the next version."""
    import psycopg

    commit(index, put("a", "plan a"))
    database: Any = index._database  # type: ignore[attr-defined]  # this engine's own
    told: list[Exception] = []

    def write_late() -> None:
        try:
            commit(index, put("b", "plan b"))
        except LibraryError as error:
            told.append(error)

    with database.publishing():
        writing = threading.Thread(target=write_late)
        writing.start()
        with psycopg.connect(server.address, autocommit=True) as connection:
            ended = False
            while not ended:  # the one that waits for the library's row
                time.sleep(0.02)
                ended = bool(
                    connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT FROM library%'"
                    ).fetchall()
                )
        writing.join()
    assert [type(error) for error in told] == [LibraryUnreachable]
    assert list_ids(index.snapshot()) == ["a"]
    assert commit(index, put("c", "plan c")) == 2
    assert index.check() == []


def test_a_sync_goes_on_after_a_restart(
    server: Server, address: str, tmp_path: Path, folder: Path
) -> None:
    """It ends with an error where the server went away; the next one does the rest."""
    write(folder, {f"{number}.md": f"Page {number} of many." for number in range(20)})
    said = {"ingest.batch": 1, "lock_timeout_s": 1.0}
    settings = load_settings(said, library=address)
    library = open_library(address, embedder=HashingEmbedder(), settings=settings)

    def stop(progress: Any) -> None:
        if progress.done == 5:
            server.stop()

    with library:
        with pytest.raises(LibraryUnreachable):
            library.sync(folder, on_progress=stop)
        server.start()
        reach(library._index)
        report = library.sync(folder)
        assert report.unchanged == 5
        assert len(report.added) == 15
        assert library.verify() == []


def test_a_worker_whose_server_goes_away_ends_with_its_code(server: Server, address: str) -> None:
    """Whoever runs it starts it again."""
    with open_place(address) as library:
        worker = start_worker(address)
        while not library.count_workers():
            assert worker.poll() is None
            time.sleep(0.05)
        server.stop()
        try:
            assert worker.wait(60) == 4
        finally:
            worker.kill()
            server.start()


# -- limits -------------------------------------------------------------------------------------


def test_a_statement_that_takes_too_long_is_told(address: str) -> None:
    """The address may limit it; the connection serves on."""
    import psycopg

    from ibid.index.postgres.database import split_address

    patient = open_postgres(address, analyze=analyze_words)
    commit(patient, put("a", "plan a"))
    hasty = open_postgres(f"{address}&options=-c%20statement_timeout%3D200", analyze=analyze_words)
    url, schema = split_address(address)
    with psycopg.connect(url) as connection:
        connection.execute(f"LOCK TABLE {schema}.passages")
        with pytest.raises(LibraryError, match="statement timeout") as told:
            hasty.snapshot().search_lexical("plan", 5, PUBLIC)
        assert not isinstance(told.value, LibraryUnreachable)
        connection.rollback()
    assert find_both(hasty.snapshot(), "plan") == {"plan a"}
    for opened in (patient, hasty):
        opened.close()


def test_a_role_of_readers_that_sees_all_is_refused(server: Server, address: str) -> None:
    import psycopg

    open_postgres(address, analyze=analyze_words).close()
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("ALTER ROLE ibid_reader BYPASSRLS")
        try:
            with pytest.raises(LibraryError, match="fences nothing off"):
                open_postgres(address, analyze=analyze_words)
        finally:
            connection.execute("ALTER ROLE ibid_reader NOBYPASSRLS")


def test_more_callers_than_connections_wait(index: Index) -> None:
    from ibid.index.postgres.database import MOST_CONNECTIONS

    commit(index, put("a", "plan a"))
    found: list[set[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(find_both(index.snapshot(), "plan")))
        for _ in range(2 * MOST_CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"plan a"}] * len(threads)


# -- replicas -----------------------------------------------------------------------------------


def test_readers_follow_a_replica(server: Server, address: str, folder: Path) -> None:
    """An answer tells the version that the replica had; who writes reads what was written."""
    schema = address.rpartition("=")[2]
    write(folder, {"leave.md": "# Leave\n\nLeave lasts sixteen weeks.\n"})
    with ibid.open(address, embedder=HashingEmbedder()) as library:
        library.sync(folder)
        with server.replicate() as replica:
            readers = f"{replica}&schema={schema}"
            settings = load_settings({"index.readers": readers}, library=address)
            with open_library(address, embedder=HashingEmbedder(), settings=settings) as reader:
                first = reader.ask("How long does leave last?")
                assert first.version == 1
                run_on(replica, "SELECT pg_wal_replay_pause()")
                write(folder, {"leave.md": "# Leave\n\nLeave lasts twenty weeks.\n"})
                assert reader.sync(folder).updated == ("leave.md",)
                lagging = reader.ask("How long does leave last?")
                assert (lagging.version, lagging.text) == (1, first.text)
                run_on(replica, "SELECT pg_wal_replay_resume()")
                until = time.monotonic() + 30
                while reader.status().version < 2 and time.monotonic() < until:
                    time.sleep(0.05)
                last = reader.ask("How long does leave last?")
                assert last.version == 2
                assert "twenty" in last.text
                assert {kept.answer.version for kept in reader.answers()} == {1, 2}


def run_on(address: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement)
