"""A filter as a condition of SQL over `revisions r` and `attributes`, in an engine's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Final, TypeAlias, assert_never

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
)
from ibid.record import record

Test: TypeAlias = tuple[str, list[object]]
"""What stands behind a column, or a whole condition, with its parameters."""

COLUMNS: Final[Mapping[str, tuple[str, bool]]] = MappingProxyType(
    {
        "id": ("r.name", False),
        "title": ("r.title", True),
        "source": ("r.source_uri", True),
        "media_type": ("r.media_type", False),
        "modified": ("r.modified_at", True),
        "version": ("r.version", False),
        "archived": ("r.archived", False),
    }
)
"""Where a field lies, and whether it may be NULL."""


@record
class Dialect:
    """How an engine says what each says in its own way.

    `mark` stands for a parameter, `lacks` is the condition that a revision has no attribute of a
    name, `or_false` makes a condition false where it is NULL.
    """

    mark: str
    lacks: str
    or_false: str
    test_one_of: Callable[[Sequence[Value]], Test]
    test_like: Callable[[str], Test]
    columns: Mapping[str, tuple[str, bool]] = field(default_factory=lambda: COLUMNS)

    def compile(self, expression: Expression) -> Test:
        """The condition, in which each revision is true or false and never NULL."""
        match expression:
            case Some(operands):
                return _join(" OR ", [self.compile(operand) for operand in operands])
            case Every(operands):
                return _join(" AND ", [self.compile(operand) for operand in operands])
            case Not(operand):
                condition, parameters = self.compile(operand)
                return f"NOT {condition}", parameters
            case IsNull(column):
                return self._compile_is_null(column)
            case OneOf(column, values):
                # One test for the texts and one for the numbers: they lie in different columns.
                kinds = [[one for one in values if isinstance(one, kind)] for kind in (str, float)]
                tests = [
                    self._place(column, kind[0], self.test_one_of(kind)) for kind in kinds if kind
                ]
                return _join(" OR ", tests)
            case Ordered(column, order, value):
                return self._place(column, value, (f"{order} {self.mark}", [value]))
            case Like(column, pattern):
                return self._place(column, pattern, self.test_like(pattern))
            case _:
                assert_never(expression)

    def _compile_is_null(self, asked: Field) -> Test:
        if asked.kind == "attribute":
            return f"({self.lacks})", [asked.name]
        return f"({self.columns[asked.name][0]} IS NULL)", []

    def _place(self, asked: Field, like: Value, test: Test) -> Test:
        """A test of a column, or of an attribute of the kind of `like`, found by its index."""
        said, values = test
        if asked.kind == "attribute":
            column = "text" if isinstance(like, str) else "number"
            found = "SELECT a.revision FROM attributes a WHERE a.name ="
            return f"(r.id IN ({found} {self.mark} AND a.{column} {said}))", [asked.name, *values]
        column, nullable = self.columns[asked.name]
        condition = f"{column} {said}"
        return f"({self.or_false.format(condition) if nullable else condition})", [*values]


def _join(junction: str, parts: Sequence[Test]) -> Test:
    conditions = junction.join(condition for condition, _ in parts)
    return f"({conditions})", [value for _, parameters in parts for value in parameters]
