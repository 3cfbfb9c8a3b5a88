r"""The filter language: from an expression to its tree.

    any        = every ("or" every)*
    every      = one ("and" one)*
    one        = "not" one | "(" any ")" | comparison
    comparison = field ("=" | "!=" | "<" | "<=" | ">" | ">=") value
               | field ["not"] "in" "(" value ("," value)* ")"
               | field ["not"] "like" text
               | field "is" ["not"] "null"

Fields are id, title, source, media_type, modified, version, archived, tag.NAME and metadata.NAME;
a name may be quoted, as in tag."cost center". Reserved words may be written in capitals. Texts
stand in single or double quotes, where `\` makes a quote, `\`, `%` or `_` literal. `like` compares
capitals too.

A comparison with a missing value is false, and `not` of it true; `!=` asks for a value that is
there and does not equal (of several values, none equals). Dates are UTC unless they say otherwise,
and one without a time is the whole day: `modified <= 2025-01-01` includes that day. Tags and
metadata hold texts and numbers; a date is compared with them as the text that it is.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from ibid.errors import BadQuery
from ibid.index.filter_tree import (
    COLUMNS,
    ORDERS,
    Every,
    Expression,
    Field,
    IsNull,
    Kind,
    Like,
    Not,
    OneOf,
    Order,
    Ordered,
    Some,
    Value,
    to_seconds,
)

MAX_CHARACTERS: Final = 10_000
MAX_VALUES: Final = 500
MAX_LEVELS: Final = 50
"""Limits of one expression, above any use and below what the parsers of the engines take."""

DAY_SECONDS: Final = 86_400.0

_QUOTED: Final = r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """
_TOKEN: Final = re.compile(
    rf"""
      (?P<text>   {_QUOTED} )
    | (?P<date>   [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}
                  (?: T [0-9:.]+ (?: Z | [+-][0-9:]+ )? )? (?! \w ) )
    | (?P<number> [+-]? (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: e [+-]?[0-9]+ )? (?! \w ) )
    | (?P<word>   [^\W\d][\w-]* (?: \. (?: [\w-]+ | {_QUOTED} ) )* )
    | (?P<mark>   [<>!]= | [=<>(),] )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_NAME_PART: Final = re.compile(rf"{_QUOTED} | [\w-]+", re.VERBOSE | re.DOTALL)
_RESERVED: Final = {
    **dict.fromkeys(("and", "or", "not", "in", "like", "is", "null"), "keyword"),
    **dict.fromkeys(("true", "false"), "flag"),
}
_EXPECTED: Final[dict[Kind, str]] = {
    "text": 'a text such as "hr"',
    "number": "a number such as 3",
    "time": "a date such as 2025-01-01 or 2025-01-01T10:00:00Z",
    "flag": "true or false",
    "attribute": 'a value such as "hr", 3, true or 2025-01-01',
}
_SHOWN: Final = 60
"""Characters of a long expression that a message shows on either side of an error."""


@dataclass(frozen=True, slots=True)
class _Token:
    """`text` is as it was written; reserved words are in small letters."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _Period:
    """A day, from `start` until `end`, or one moment, which has no end."""

    start: float
    end: float | None


def parse_filter(expression: str) -> Expression:
    """The tree of a filter expression.

    Raises BadQuery with the column, from 1, and what was expected there.
    """
    if len(expression) > MAX_CHARACTERS:
        raise BadQuery(
            f"a filter of {len(expression):,} characters, where {MAX_CHARACTERS:,} are allowed",
            hint="give the documents a tag, and filter by that",
        )
    return _Parser(expression).read_whole()


class _Parser:
    """Reads one expression by recursive descent, a method for each rule of the grammar."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._levels = 0
        self._values = 0
        self._next = self._read_token(0)

    def read_whole(self) -> Expression:
        tree = self._read_any()
        if self._next.kind != "end":
            raise self._error(self._next, "and, or, or the end")
        return tree

    def _read_any(self) -> Expression:
        operands = [self._read_every()]
        while self._take("or"):
            operands.append(self._read_every())
        return _combine(Some, operands)

    def _read_every(self) -> Expression:
        operands = [self._read_one()]
        while self._take("and"):
            operands.append(self._read_one())
        return _combine(Every, operands)

    def _read_one(self) -> Expression:
        if self._next.text not in ("not", "("):
            return self._read_comparison()
        self._levels += 1
        if self._levels > MAX_LEVELS:
            raise self._error(self._next, f"at most {MAX_LEVELS} levels of parentheses and not")
        if self._take("not"):
            tree: Expression = Not(self._read_one())
        else:
            self._expect("(")
            tree = self._read_any()
            self._expect(")")
        self._levels -= 1
        return tree

    def _read_comparison(self) -> Expression:
        field = self._read_field()
        readers = {"in": self._read_in, "like": self._read_like, "is": self._read_is}
        sign = self._advance()
        if sign.text == "not" and self._next.text in ("in", "like"):
            return Not(readers[self._advance().text](field))
        if sign.text in readers:
            return readers[sign.text](field)
        if sign.text not in ("=", "!=", *ORDERS):
            raise self._error(sign, "=, !=, <, <=, >, >=, in, like or is")
        if sign.text in ORDERS and self._next.kind == "flag":
            raise self._error(sign, "= or != before true and false")
        return _compare(field, sign.text, self._read_value(field))

    def _read_in(self, field: Field) -> Expression:
        self._expect("(")
        values = [self._read_value(field)]
        while self._take(","):
            values.append(self._read_value(field))
        self._expect(")")
        return _equal_any(field, values)

    def _read_like(self, field: Field) -> Expression:
        if field.kind not in ("text", "attribute"):
            raise self._error(self._next, f"no like after {field.name}, which holds no text")
        if self._next.kind != "text":
            raise self._error(self._next, 'a pattern such as "guides/%"')
        quoted = self._next.text
        self._read_value(field)
        return Like(field, re.sub(r"\\(['\"])", r"\1", quoted[1:-1]))

    def _read_is(self, field: Field) -> Expression:
        negated = self._take("not")
        self._expect("null")
        self._count_value()
        return Not(IsNull(field)) if negated else IsNull(field)

    def _read_field(self) -> Field:
        token = self._advance()
        if token.kind != "word":
            raise self._error(token, "a field such as title or tag.department")
        self._check_escapes(token)
        head, *parts = _NAME_PART.findall(token.text)
        head = head.lower()
        if head in COLUMNS and not parts:
            return Field(head, COLUMNS[head])
        if head in ("tag", "metadata") and parts:
            name = ".".join(_unquote(part) if part[0] in "\"'" else part for part in parts)
            return Field(f"{head}.{name}", "attribute")
        near = difflib.get_close_matches(head, COLUMNS, n=1)
        names = ", ".join(near or [*COLUMNS, "tag.NAME", "metadata.NAME"])
        raise self._error(token, f"a field such as {names}" if near else f"a field: {names}")

    def _read_value(self, field: Field) -> Value | _Period:
        self._count_value()
        token = self._advance()
        if token.kind == "text":
            self._check_escapes(token)
        found: Value | _Period | None = None
        match field.kind, token.kind:
            case "text" | "attribute", "text":
                found = _unquote(token.text)
            case "number" | "attribute", "number":
                found = float(token.text)
            case "attribute", "date" | "flag":
                found = token.text
            case "flag", "flag":
                found = float(token.text == "true")
            case "time", "date":
                found = _read_period(token.text)
            case "time", "text":
                found = _read_period(_unquote(token.text))
        if found is None or found in (math.inf, -math.inf):
            raise self._error(token, f"{_EXPECTED[field.kind]} for {field.name}")
        return found

    def _check_escapes(self, token: _Token) -> None:
        for escape in re.finditer(r"\\(.)", token.text, re.DOTALL):
            if escape[1] not in "\\\"'%_":
                place = _Token("escape", escape[0], token.start + escape.start())
                raise self._error(place, "a quote, %, _ or a backslash after a backslash")

    def _count_value(self) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            raise self._error(self._next, f"at most {MAX_VALUES} values in one filter")

    def _take(self, text: str) -> bool:
        return self._next.text == text and self._advance().text == text

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._error(self._next, text)

    def _advance(self) -> _Token:
        token = self._next
        self._next = self._read_token(token.start + len(token.text))
        return token

    def _read_token(self, position: int) -> _Token:
        rest = self._expression[position:].lstrip()
        start = len(self._expression) - len(rest)
        if not rest:
            return _Token("end", "", start)
        found = _TOKEN.match(rest)
        if found is None or not _is_storable(found[0]):
            unknown = _Token("unknown", rest[0], start)
            quoted = rest[0] in "\"'" and found is None
            raise self._error(unknown, "a closing quote" if quoted else "a field, sign or value")
        kind, text = str(found.lastgroup), found[0]
        if text.lower() in _RESERVED:
            kind, text = _RESERVED[text.lower()], text.lower()
        return _Token(kind, text, start)

    def _error(self, token: _Token, expected: str) -> BadQuery:
        start, end = max(token.start - _SHOWN, 0), token.start + _SHOWN
        shown = "…" * (start > 0) + self._expression[start:end]
        shown += "…" * (end < len(self._expression))
        found = token.text[:_SHOWN] or "the end"
        return BadQuery(
            f"filter {shown!r}, column {token.start + 1}: expected {expected}, found {found}",
            hint='write for example tag.department = "hr" and modified >= 2025-01-01',
        )


def _unquote(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)


def _is_storable(text: str) -> bool:
    """No document holds a NUL or half a character, and engines refuse to compare with them."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _read_period(text: str) -> _Period | None:
    """A date as the day that it is, one with a time as that moment, None for any other text."""
    try:
        start = to_seconds(datetime.fromisoformat(text))
    except ValueError:
        return None
    return _Period(start, None if "T" in text.upper() else start + DAY_SECONDS)


def _combine(junction: type[Every] | type[Some], operands: Sequence[Expression]) -> Expression:
    return operands[0] if len(operands) == 1 else junction(tuple(operands))


def _compare(field: Field, sign: str, value: Value | _Period) -> Expression:
    if sign == "=":
        return _equal_any(field, [value])
    if sign == "!=":
        return Every((Not(IsNull(field)), Not(_equal_any(field, [value]))))
    if isinstance(value, _Period):
        if value.end is not None and sign in ("<=", ">"):
            return Ordered(field, "<" if sign == "<=" else ">=", value.end)
        value = value.start
    return Ordered(field, cast(Order, sign), value)


def _equal_any(field: Field, values: Sequence[Value | _Period]) -> Expression:
    """The field equals one of the values, or lies within one of the days."""
    exact: list[Value] = []
    days: list[Expression] = []
    for value in values:
        if not isinstance(value, _Period):
            exact.append(value)
        elif value.end is None:
            exact.append(value.start)
        else:
            days.append(Every((Ordered(field, ">=", value.start), Ordered(field, "<", value.end))))
    return _combine(Some, [OneOf(field, tuple(exact)), *days] if exact else days)
