"""Any changes in any order: after each of them library and model say the same, in either engine."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings

from library_walk import LibraryWalk
from postgres_server import locate

SETTINGS = settings(
    max_examples=8,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

TestWalk = LibraryWalk.TestCase
TestWalk.settings = SETTINGS


class PostgresWalk(LibraryWalk):
    """The walk over a library in PostgreSQL, which breaks in its own places."""

    server: ClassVar[str] = ""

    def find_place(self) -> str:
        return locate(self.server, self.root)


@pytest.fixture
def _served(postgres: str) -> None:
    from ibid.index.postgres import postings, writes

    PostgresWalk.server = postgres
    PostgresWalk.breaks = {
        "vectors": (writes.Rows, "write"),
        "postings": (postings.NewPostings, "write"),
        "publishing": (writes, "publish"),
    }


TestPostgresWalk = pytest.mark.usefixtures("_served")(PostgresWalk.TestCase)
TestPostgresWalk.settings = settings(SETTINGS, max_examples=2, stateful_step_count=20)
