"""A filter as a condition of SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ibid.index.filter_sql import Dialect, Test
from ibid.index.filter_tree import Expression, Value, translate_like


def compile_filter(expression: Expression) -> Test:
    """The condition over `revisions r`, and its parameters."""
    return _SQLITE.compile(expression)


def _test_one_of(values: Sequence[Value]) -> Test:
    return f"IN ({', '.join('?' * len(values))})", [*values]


def _test_like(pattern: str) -> Test:
    """SQLite's own LIKE takes capitals for small letters; GLOB does not."""
    return "GLOB ?", [translate_like(pattern, many="*", one="?", quote=_quote)]


def _quote(literal: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in literal)


_SQLITE: Final = Dialect(
    mark="?",
    lacks="r.id NOT IN (SELECT revision FROM attributes WHERE name = ?)",
    or_false="ifnull({}, 0)",
    test_one_of=_test_one_of,
    test_like=_test_like,
)
