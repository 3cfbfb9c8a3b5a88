"""Programs of the system that some tests need: they are skipped without, or fail if asked to."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

# Read before the settings of whoever runs the tests are taken away.
_ALL_MUST_RUN = os.environ.get("IBID_ALL_SYSTEM_TESTS") == "1"


def require(program: str) -> None:
    """Skip the test, with the reason, where a program isn't installed.

    With IBID_ALL_SYSTEM_TESTS=1 it fails instead: there nothing may be left out.
    """
    if shutil.which(program):
        return
    miss(f"the program {program} is not installed")


def miss(reason: str) -> NoReturn:
    """Skip the test for want of something of the system, or fail where nothing may be left out."""
    if _ALL_MUST_RUN:
        pytest.fail(reason)
    pytest.skip(reason)
