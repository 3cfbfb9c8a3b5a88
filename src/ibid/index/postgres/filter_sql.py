"""A filter as a condition of PostgreSQL over `revisions r` and `attributes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from ibid.index.filter_tree import (
    Every,
    Expression,
    Field,
    IsNull,
    Like,
    Not,
    OneOf,
    Ordered,
    Some,
    Value,
    translate_like,
)

_COLUMNS: Final[dict[str, tuple[str, bool]]] = {
    "id": ("r.name", False),
    "title": ("r.title", True),
    "source": ("r.source_uri", True),
    "media_type": ("r.media_type", False),
    "modified": ("r.modified_at", True),
    "version": ("r.version", False),
    "archived": ("r.archived::integer", False),
}
"""Where a field lies, and whether it may be NULL."""


def compile_filter(expression: Expression) -> tuple[str, list[object]]:
    """The condition, in which each revision is true or false and never NULL, and its parameters."""
    match expression:
        case Some(operands):
            return _join(" OR ", [compile_filter(operand) for operand in operands])
        case Every(operands):
            return _join(" AND ", [compile_filter(operand) for operand in operands])
        case Not(operand):
            condition, parameters = compile_filter(operand)
            return f"NOT {condition}", parameters
        case IsNull(field):
            return _compile_is_null(field)
        case OneOf(field, values):
            return _compile_one_of(field, values)
        case Ordered(field, order, value):
            return _compile_test(field, f"{order} %s", value, [value])
        case Like(field, pattern):
            like = translate_like(pattern, many="%", one="_", quote=_quote_like)
            return _compile_test(field, "LIKE %s", like, [like])
        case _:
            assert_never(expression)


def _join(junction: str, parts: Sequence[tuple[str, list[object]]]) -> tuple[str, list[object]]:
    conditions = junction.join(condition for condition, _ in parts)
    return f"({conditions})", [value for _, parameters in parts for value in parameters]


def _compile_is_null(field: Field) -> tuple[str, list[object]]:
    if field.kind == "attribute":
        named = "SELECT FROM attributes a WHERE a.revision = r.id AND a.name = %s"
        return f"(NOT EXISTS ({named}))", [field.name]
    return f"({_COLUMNS[field.name][0]} IS NULL)", []


def _compile_one_of(field: Field, values: Sequence[Value]) -> tuple[str, list[object]]:
    """One test for the texts and one for the numbers: they lie in different columns."""
    kinds = [[value for value in values if isinstance(value, kind)] for kind in (str, float)]
    tests = [_compile_test(field, "= ANY (%s)", kind[0], [kind]) for kind in kinds if kind]
    return _join(" OR ", tests)


def _compile_test(
    field: Field, test: str, like: Value, values: Sequence[object]
) -> tuple[str, list[object]]:
    """A test of one column, or of an attribute of the kind of `like`, as a lookup in its index."""
    if field.kind == "attribute":
        column = "text" if isinstance(like, str) else "number"
        condition = f"SELECT a.revision FROM attributes a WHERE a.name = %s AND a.{column} {test}"
        return f"(r.id IN ({condition}))", [field.name, *values]
    column, nullable = _COLUMNS[field.name]
    condition = f"{column} {test}"
    return f"(coalesce({condition}, false))" if nullable else f"({condition})", [*values]


def _quote_like(literal: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in literal)
