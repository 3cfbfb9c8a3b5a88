"""What the tests of the whole library share: small folders and libraries, the command line as a
child process, and no settings but those that a test makes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

import ibid
from ibid.testing.embedders import HashingEmbedder
from postgres_server import start_server

# A machine may be slow: no property is a test of time.
settings.register_profile("ibid", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ibid")

DATA_VARIABLES: Final = ("IBID_DATA", "IBID_CONFORMANCE")

HASHING_CLI: Final = """
from ibid.openers import EMBEDDERS
from ibid.testing.embedders import HashingEmbedder
EMBEDDERS["hashing"] = lambda settings: HashingEmbedder()
from ibid.cli import run
run()
"""
"""The command line with one more embedder to name, which needs no model."""


@pytest.fixture(scope="session", autouse=True)
def _no_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep whoever runs the tests, and their own libraries, out of them."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("IBID_") and name not in DATA_VARIABLES:
                patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server with an empty database; one for a run."""
    with start_server() as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to sync."""
    folder = tmp_path / "handbook"
    folder.mkdir()
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ibid.Library]:
    """An empty library with the hashing embedder."""
    with open_hashing(tmp_path / "library") as library:
        yield library


def open_hashing(place: Path) -> ibid.Library:
    """The library at a place, with the embedder that needs no model."""
    return ibid.open(place, embedder=HashingEmbedder())


def write(folder: Path, files: dict[str, str]) -> None:
    """Write texts to paths below a folder, each with a later time than what was there."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.stat().st_mtime_ns if file.exists() else None
        file.write_text(text, encoding="utf-8")
        if before is not None:  # a clock may be coarser than a test is fast
            os.utime(file, ns=(before + 10**9, before + 10**9))


def hide_change(place: Path, file: Path) -> None:
    """Let a library believe that it has read a file as it is now: no time tells otherwise."""
    connection = sqlite3.connect(place / "library.db")
    with connection:
        changed = file.stat().st_ctime_ns
        connection.execute("UPDATE files SET changed_ns = ? WHERE path = ?", (changed, file.name))
    connection.close()


def list_ids(library: ibid.Library) -> list[str]:
    """The ids of all documents, archived and restricted ones too, in order."""
    return sorted(info.id for info in library.documents(ibid.OWNER))


def find(library: ibid.Library, text: str, mode: Any = "lexical", **options: Any) -> list[str]:
    """The ids that a search gives the owner, best first."""
    options = {"principals": ibid.OWNER, "k": 50, **options}
    return [hit.document_id for hit in library.search(text, mode=mode, **options)]


def run_ibid(
    *arguments: str | Path, library: Path, code: int = 0, real: bool = False, **options: Any
) -> dict[str, Any]:
    """The JSON that a verb prints when it is run as a child process and leaves with this code.

    The hashing embedder is used unless the `real` one is asked for.
    """
    command = command_line([*arguments, "--json"], real=real)
    environ = {**os.environ, "IBID_LIBRARY": str(library), **options.pop("environ", {})}
    if not real:
        environ.setdefault("IBID_EMBEDDER_NAME", "hashing")
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=120, check=False, **options
    )
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["schema_version"] == 1
    return found


def command_line(arguments: Sequence[str | Path], *, real: bool = False) -> list[str]:
    """The command that runs a verb in a child process."""
    start = ["-m", "ibid"] if real else ["-c", HASHING_CLI]
    return [sys.executable, *start, *map(str, arguments)]
