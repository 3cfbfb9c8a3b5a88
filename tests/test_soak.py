"""A short form of what `bench/soak.py` does for long: every verb killed, and readers beside a
writer that changes the library in every way."""

from __future__ import annotations

import random
from pathlib import Path

from library_kills import VERBS, Kills
from library_readers import run_readers


def test_every_verb_is_killed_and_finished_by_the_next_run(tmp_path: Path) -> None:
    struck = Kills(tmp_path, random.Random(20261130))
    struck.prepare()
    for verb in VERBS:
        struck.strike(verb)
    assert struck.hits.total() >= len(VERBS) // 2


def test_readers_see_whole_documents_whatever_a_writer_does(tmp_path: Path) -> None:
    found = run_readers(tmp_path, readers=3, seconds=4)
    assert found["faults"] == []
    assert min(found["counts"][kind] for kind in ("searches", "lists", "documents")) > 0
    assert found["counts"]["updates"] > 0
