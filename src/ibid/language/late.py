"""Regular expressions that are compiled when they are first used.

A class of thousands of characters takes milliseconds to compile, and most runs meet only text for
which a small one will do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache


def late(build: Callable[[], str]) -> Callable[[], re.Pattern[str]]:
    """A function that gives the compiled expression, which it builds and compiles once."""
    return cache(lambda: re.compile(build()))
