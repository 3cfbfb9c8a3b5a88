"""Any changes in any order: after each of them library and model say the same."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from library_walk import LibraryWalk

TestWalk = LibraryWalk.TestCase
TestWalk.settings = settings(
    max_examples=8,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
