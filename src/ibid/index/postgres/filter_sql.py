"""A filter as a condition of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ibid.index.filter_sql import COLUMNS, Dialect, Test
from ibid.index.filter_tree import Expression, Value, translate_like


def compile_filter(expression: Expression) -> Test:
    """The condition over `revisions r`, and its parameters."""
    return _POSTGRES.compile(expression)


def _test_one_of(values: Sequence[Value]) -> Test:
    return "= ANY (%s)", [[*values]]


def _test_like(pattern: str) -> Test:
    return "LIKE %s", [translate_like(pattern, many="%", one="_", quote=_quote)]


def _quote(literal: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in literal)


_POSTGRES: Final = Dialect(
    mark="%s",
    lacks="NOT EXISTS (SELECT FROM attributes a WHERE a.revision = r.id AND a.name = %s)",
    or_false="coalesce({}, false)",
    test_one_of=_test_one_of,
    test_like=_test_like,
    columns={**COLUMNS, "archived": ("r.archived::integer", False)},
)
