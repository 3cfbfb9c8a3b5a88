"""What a filter says, as a small tree, and what it means: the reference for every engine.

A comparison is true or false, never unknown: of a value that is missing it is false, so that `not`
of it is true. An attribute may hold several values; a comparison holds when it does for any.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias, assert_never

from ibid.records import JSON, DocumentInfo

Kind: TypeAlias = Literal["text", "number", "time", "flag", "attribute"]
Order: TypeAlias = Literal["<", "<=", ">", ">="]
Value: TypeAlias = str | float
"""Times are seconds since 1970 in UTC, flags 1 or 0."""

COLUMNS: Final[dict[str, Kind]] = {
    "id": "text",
    "title": "text",
    "source": "text",
    "media_type": "text",
    "modified": "time",
    "version": "number",
    "archived": "flag",
}
"""The fields that every document has, by what they hold."""


@dataclass(frozen=True, slots=True)
class Field:
    """What is compared: one of COLUMNS, or an attribute such as `tag.department`."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of the values."""

    field: Field
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """The field lies on this side of the value; texts are ordered by code point."""

    field: Field
    order: Order
    value: Value


@dataclass(frozen=True, slots=True)
class Like:
    r"""The whole field has this form: `%` any characters, `_` one, `\` makes the next literal."""

    field: Field
    pattern: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """The field has no value."""

    field: Field


@dataclass(frozen=True, slots=True)
class Not:
    """The operand is false."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Every:
    """All operands are true."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one operand is true."""

    operands: tuple[Expression, ...]


Expression: TypeAlias = OneOf | Ordered | Like | IsNull | Not | Every | Some

ORDERS: Final[dict[Order, Callable[[Value, Value], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def matches(expression: Expression, info: DocumentInfo) -> bool:
    """Whether a document passes."""
    match expression:
        case Some(operands):
            return any(matches(operand, info) for operand in operands)
        case Every(operands):
            return all(matches(operand, info) for operand in operands)
        case Not(operand):
            return not matches(operand, info)
        case IsNull(field):
            return not _values(field, info)
        case OneOf(field, wanted):
            return any(held in wanted for held in _values(field, info))
        case Ordered(field, order, limit):
            alike = (held for held in _values(field, info) if type(held) is type(limit))
            return any(ORDERS[order](held, limit) for held in alike)
        case Like(field, pattern):
            form = translate_like(pattern, many=".*", one=".", quote=re.escape)
            texts = (held for held in _values(field, info) if isinstance(held, str))
            return any(re.fullmatch(form, held, re.DOTALL) is not None for held in texts)
        case _:
            assert_never(expression)


def _values(field: Field, info: DocumentInfo) -> list[Value]:
    """What a document holds in a field; a number among its attributes also as text."""
    if field.kind == "attribute":
        group, _, name = field.name.partition(".")
        held = info.tags if group == "tag" else info.metadata
        pairs = attribute_values(held.get(name))
        return [value for pair in pairs for value in pair if value is not None]
    value = info.modified_at if field.name == "modified" else getattr(info, field.name)
    if value is None:
        return []
    if isinstance(value, datetime):
        return [to_seconds(value)]
    return [value if isinstance(value, str) else float(value)]


def attribute_values(value: JSON) -> Iterator[tuple[str, float | None]]:
    """What a tag or a piece of metadata is compared by: a text, with its number if it is one.

    A list is its elements, true and false are also 1 and 0, an object is its JSON, null nothing.
    """
    if isinstance(value, list):
        for element in value:
            yield from attribute_values(element)
    elif isinstance(value, str):
        yield value, None
    elif isinstance(value, bool | int | float):
        text = json.dumps(value)
        fits = isinstance(value, bool) or math.isfinite(float(text))
        yield text, float(value) if fits else None
    elif value is not None:
        yield json.dumps(value, ensure_ascii=False, sort_keys=True), None


def to_seconds(moment: datetime) -> float:
    """Seconds since 1970; a time without a zone is UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_LIKE_PIECE: Final = re.compile(r"\\.|[%_]|[^\\%_]+", re.DOTALL)


def translate_like(pattern: str, *, many: str, one: str, quote: Callable[[str], str]) -> str:
    """A pattern in another notation: its two wild cards, and what is literal quoted."""
    wild_cards = {"%": many, "_": one}
    return _LIKE_PIECE.sub(
        lambda piece: wild_cards.get(piece[0]) or quote(piece[0].removeprefix("\\")), pattern
    )
