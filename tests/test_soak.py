"""A short form of what `bench/soak.py` does for long: every verb killed, and readers beside a
writer that changes the library in every way."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from library_kills import ADDRESS, VERBS, Kills
from library_readers import run_readers
from postgres_server import locate
from service_load import fill_place, run_load


@pytest.fixture(params=["embedded", "postgres"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder for a library of either engine and all that belongs to it."""
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        (tmp_path / ADDRESS).write_text(locate(server, tmp_path))
    return tmp_path


IN_POSTGRES: Final = ("sync", "reindex", "purge")
"""The verbs that are more than one transaction there."""


def test_every_verb_is_killed_and_finished_by_the_next_run(root: Path) -> None:
    verbs = IN_POSTGRES if (root / ADDRESS).exists() else tuple(VERBS)
    struck = Kills(root, random.Random(20261130), verbs)
    struck.prepare()
    for verb in verbs:
        struck.strike(verb)
    assert struck.hits.total() >= len(verbs) // 2


def test_readers_see_whole_documents_whatever_a_writer_does(root: Path) -> None:
    found = run_readers(root, readers=3, seconds=8)
    assert found["faults"] == []
    assert min(found["counts"][kind] for kind in ("searches", "lists", "documents")) > 0
    assert found["counts"]["updates"] > 0


def test_many_callers_are_answered_while_one_writes(tmp_path: Path) -> None:
    documents = fill_place(tmp_path / "library", 600)
    told = run_load(tmp_path / "library", documents, askers=10, searchers=30, seconds=10)
    assert told.faults == []
    assert min(told.count(kind) for kind in ("search", "ask", "read", "write")) > 0
