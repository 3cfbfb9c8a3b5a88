"""Libraries of older formats: opened with all they hold and a copy kept, or left whole."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import ibid
from conftest import find, list_ids, open_hashing
from ibid.index.embedded import migrate, schema

FORMATS: Final = Path(__file__).parent / "formats"

PAGES: Final = [ibid.Document(f"{n}", f"The walrus sleeps on floe number {n}.") for n in range(9)]


def describe_tables(connection: sqlite3.Connection) -> dict[str, object]:
    """What the tables and indexes of a database are, whatever words made them."""
    names = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2"
    ).fetchall()
    asked = {"table": ("table_xinfo", "foreign_key_list"), "index": ("index_xinfo",)}
    return {
        name: [
            connection.execute(f"PRAGMA {pragma}('{name}')").fetchall() for pragma in asked[kind]
        ]
        for kind, name in names
    }


def turn_back(place: Path, format: int) -> None:
    """Give a library the tables of an older format, with all that these can hold."""
    path, old = place / "library.db", place / "old.db"
    connection = sqlite3.connect(old, isolation_level=None)
    connection.executescript((FORMATS / f"{format}.sql").read_text())
    connection.execute("ATTACH ? AS new", (str(path),))
    connection.execute("BEGIN")
    tables = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")
    for (table,) in tables.fetchall():
        columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(
            f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}"
        )
    connection.execute("DELETE FROM main.library WHERE key = 'last_id'")
    connection.execute("COMMIT")
    connection.close()
    for beside in place.glob("library.db*"):
        beside.unlink()
    old.rename(path)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a library of format 1 lies."""
    place = tmp_path / "library"
    with open_hashing(place) as library:
        library.ingest(PAGES)
        library.remove("3")
    turn_back(place, 1)
    return place


def read_format(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


@pytest.mark.parametrize("format", range(1, schema.FORMAT))
def test_tables_brought_here_are_those_of_a_new_library(tmp_path: Path, format: int) -> None:
    schema.create_database(tmp_path / "new.db")
    old = tmp_path / "library.db"
    connection = sqlite3.connect(old)
    connection.executescript((FORMATS / f"{format}.sql").read_text())
    connection.close()
    opened = schema.connect(old)
    migrate.migrate_database(opened, old)
    new = schema.connect(tmp_path / "new.db")
    assert describe_tables(opened) == describe_tables(new)
    assert schema.read_format(opened) == schema.read_format(new) == schema.FORMAT
    opened.close()
    new.close()


def test_an_old_library_is_opened_with_all_it_holds(place: Path) -> None:
    before = (place / "library.db").read_bytes()
    with open_hashing(place) as library:
        assert list_ids(library) == [str(n) for n in range(9) if n != 3]
        assert len(find(library, "walrus floe", "hybrid")) == 8
        assert len(find(library, "walrus", "lexical", version=1)) == 9
        library.ingest(ibid.Document("new", "A text of its own."))
    assert read_format(place / "library.db") == schema.FORMAT
    copy = place / "library.db.format1"
    assert read_format(copy) == 1
    assert not list(place.glob("*.part"))
    with open_hashing(place) as library:  # once is enough
        assert "new" in list_ids(library)
    restored = sqlite3.connect(copy)
    kept = sqlite3.connect(":memory:")
    kept.deserialize(before)
    assert list(restored.iterdump()) == list(kept.iterdump())
    restored.close()
    kept.close()


def test_the_copy_does_not_keep_what_is_purged(place: Path) -> None:
    with open_hashing(place) as library:
        assert (place / "library.db.format1").exists()
        library.remove("5", purge=True)
    for file in place.rglob("*"):
        assert file.is_dir() or b"floe number 5" not in file.read_bytes(), file


def break_copy(patch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    patch.setattr(migrate, "_keep_copy", fail)


def break_step(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(migrate, "STEPS", {1: (*migrate.STEPS[1], "CREATE TABLE library (x)")})


@pytest.mark.parametrize("damage", [break_copy, break_step])
def test_what_fails_on_the_way_leaves_the_old_library(
    place: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[pytest.MonkeyPatch], None]
) -> None:
    with monkeypatch.context() as patch:
        damage(patch)
        with pytest.raises(ibid.LibraryError):
            open_hashing(place)
    assert read_format(place / "library.db") == 1
    with open_hashing(place) as library:
        assert len(list_ids(library)) == 8


@pytest.mark.parametrize("statement", ["CREATE TABLE erasures", "PRAGMA user_version ="])
def test_a_kill_on_the_way_leaves_the_old_library(place: Path, statement: str) -> None:
    script = f"""
import os, signal, sqlite3
from pathlib import Path
from ibid.index.embedded import migrate, schema
path = Path({str(place / "library.db")!r})
connection = schema.connect(path)
def watch(sql):
    if {statement!r} in sql:
        os.kill(os.getpid(), signal.SIGKILL)
connection.set_trace_callback(watch)
migrate.migrate_database(connection, path)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    shutil.copytree(place, place.with_name("seen"))
    assert read_format(place.with_name("seen") / "library.db") == 1
    with open_hashing(place) as library:
        assert len(list_ids(library)) == 8
    assert read_format(place / "library.db") == schema.FORMAT
